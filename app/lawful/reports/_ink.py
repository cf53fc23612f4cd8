"""Lines for a terminal: colour or none, signs or ASCII, and a grid that fits the width."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._plain import printable
from .marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lawful.laws.law import Status

__all__ = ["Ink", "Square"]

_GAP = "  "
_DIM = "2"
_BOLD = "1"


@dataclass(frozen=True, slots=True)
class Square:
    """One square of a grid.

    Attributes:
        status: How it ended; None if there is no such check.
        word: What to say in place of the status's own word.
    """

    status: Status | None
    word: str = ""


@dataclass(frozen=True, slots=True)
class Ink:
    """What a terminal can show.

    Attributes:
        width: Columns.
        colour: Whether it shows colours.
        ascii: Whether it shows ASCII alone.
    """

    width: int
    colour: bool
    ascii: bool

    def plain(self, text: str, *, lines: bool = False) -> str:
        """Return foreign text without anything that acts, in ASCII if need be."""
        text = printable(text, lines=lines)
        return text.encode("ascii", "backslashreplace").decode() if self.ascii else text

    def paint(self, text: str, colour: str) -> str:
        """Return text in a colour."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour and text.strip() else text

    def bold(self, text: str) -> str:
        """Return a heading."""
        return self.paint(self.plain(text), _BOLD)

    def dim(self, text: str) -> str:
        """Return what stands beside."""
        return self.paint(self.plain(text), _DIM)

    def sign(self, status: Status) -> str:
        """Return a status's sign."""
        mark = MARKS[status]
        return self.paint(mark.plain if self.ascii else mark.sign, mark.colour)

    def marked(self, status: Status, text: str = "") -> str:
        """Return a status's sign and a word, its own if none is given."""
        mark = MARKS[status]
        sign = mark.plain if self.ascii else mark.sign
        return self.paint(f"{sign} {self.plain(text or mark.word)}", mark.colour)

    def wrapped(self, text: str, *, first: str, rest: str) -> list[str]:
        """Return foreign text in lines that fit.

        Args:
            text: The text.
            first: What the first line begins with.
            rest: What the others begin with.
        """
        return textwrap.wrap(
            self.plain(text),
            max(self.width, len(rest) + 20),
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [first.rstrip()]

    def grid(self, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[Square]]]) -> list[str]:
        """Return a grid: signs and words if they fit, else signs alone under the heads.

        If the heads don't fit either, they are numbered and named below.

        Args:
            heads: The columns' heads.
            rows: For each row its head and its squares.
        """
        heads = [self.plain(head) for head in heads]
        names = [self.plain(name) for name, _ in rows]
        side = max((len(name) for name in names), default=0)
        columns = range(len(heads))
        words = [[_word(square) for square in squares] for _, squares in rows]
        widths = [max([len(heads[i]), *(len(row[i]) + 2 for row in words)]) for i in columns]
        if not self._fits(side, widths):
            words = [["" for _ in row] for row in words]
            widths = [len(head) for head in heads]
        key: list[str] = []
        if not self._fits(side, widths):
            text = ", ".join(f"{i + 1} {heads[i]}" for i in columns)
            key = self.wrapped(text, first="", rest="  ")
            heads = [str(i + 1) for i in columns]
            widths = [len(head) for head in heads]
        top = " " * side + "".join(_GAP + heads[i].ljust(widths[i]) for i in columns)
        lines = [self.paint(top.rstrip(), _BOLD)]
        for name, (_, squares), row in zip(names, rows, words, strict=True):
            line = name.ljust(side)
            for square, word, width in zip(squares, row, widths, strict=True):
                line += _GAP + self._square(square, word, width)
            lines.append(line.rstrip())
        return [*lines, *key]

    def _fits(self, side: int, widths: Iterable[int]) -> bool:
        return side + sum(len(_GAP) + width for width in widths) <= self.width

    def _square(self, square: Square, word: str, width: int) -> str:
        if square.status is None:
            return " " * width
        mark = MARKS[square.status]
        text = f"{mark.plain if self.ascii else mark.sign} {word}".rstrip()
        # Calm: a refusal that passed is the ground that the rest stands out from.
        colour = _DIM if square.word == "refused" else mark.colour
        return self.paint(text, colour) + " " * (width - len(text))


def _word(square: Square) -> str:
    if square.status is None:
        return ""
    return square.word or MARKS[square.status].word

"""How each status looks: a sign, the same in ASCII, and a word, so that colour is never needed.

Every face takes its signs from here: terminal, HTML and summary show a status the same way.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.laws.law import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MARKS", "Mark"]


class Mark(NamedTuple):
    """How a status looks.

    Attributes:
        sign: One character.
        plain: One ASCII character.
        word: What it says, in one or two words.
        colour: The parameters of the ANSI sequence that colours it.
    """

    sign: str
    plain: str
    word: str
    colour: str


MARKS: Final[Mapping[Status, Mark]] = MappingProxyType(
    {
        Status.PASS: Mark("✓", ".", "pass", "32"),
        Status.FAIL: Mark("✗", "X", "FAIL", "1;31"),
        Status.ERROR: Mark("!", "!", "ERROR", "1;35"),
        Status.BLOCKED: Mark("■", "#", "blocked", "33"),
        Status.UNSUPPORTED: Mark("○", "o", "unsupported", "36"),
        Status.NOT_YET: Mark("◌", "+", "not yet", "36"),
        Status.KNOWN: Mark("≈", "~", "known", "34"),
        Status.STALE: Mark("⊘", "%", "STALE", "1;31"),
        Status.MOVED: Mark("»", ">", "MOVED", "1;31"),
        Status.NOT_RUN: Mark("?", "?", "not run", "33"),
    }
)
"""What makes a run unlawful stands in capitals."""

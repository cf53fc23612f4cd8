"""Where each key and each array item of a TOML document stands: the standard reader keeps no lines.

A scan of text that ``tomllib`` has accepted. It reads keys and skips over values, and knows
nothing of what a table file means.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KeyPath", "locate"]

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""Keys and array indices from the top: ``("table", "running", 3)``."""

_BLANK: Final = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_STRING: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'  # up to two quotes may stand before the closing three
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE: Final = re.compile(r"[^\[\]{}\"',#\n]+")


def locate(text: str) -> Mapping[KeyPath, int]:
    """Map the path of every key, table and array item to its line, counted from 1.

    A table that is only implied (by ``[event.start]``) has the line that first implies it.

    Args:
        text: A TOML document that ``tomllib`` accepts.

    Raises:
        ValueError: The text is not TOML.
        RecursionError: Its arrays are nested more deeply than Python can follow.
    """
    return _Scanner(text.replace("\r\n", "\n")).document()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._newlines = [at for at, character in enumerate(text) if character == "\n"]
        self._lines: dict[KeyPath, int] = {}
        self._lengths: dict[KeyPath, int] = {}  # of arrays of tables

    def document(self) -> dict[KeyPath, int]:
        prefix: KeyPath = ()
        self._take(_BLANK)
        while self._at < len(self._text):
            if self._skip("[["):
                prefix = self._header(is_item=True)
            elif self._skip("["):
                prefix = self._header(is_item=False)
            else:
                self._pair(prefix)
            self._take(_BLANK)
        return self._lines

    def _header(self, *, is_item: bool) -> KeyPath:
        line = self._line()
        *parents, last = self._key()
        path: KeyPath = ()
        for part in parents:
            path = self._latest((*path, part))
            self._lines.setdefault(path, line)
        path = (*path, last)
        self._lines.setdefault(path, line)
        if is_item:
            self._lengths[path] = self._lengths.get(path, 0) + 1
            path = self._latest(path)
            self._lines[path] = line
        self._need("]]" if is_item else "]")
        return path

    def _latest(self, path: KeyPath) -> KeyPath:
        """Add the index of the last item where the path names an array of tables."""
        length = self._lengths.get(path)
        return path if length is None else (*path, length - 1)

    def _pair(self, prefix: KeyPath) -> None:
        line = self._line()
        path = prefix
        for part in self._key():
            path = (*path, part)
            self._lines.setdefault(path, line)
        self._need("=")
        self._take(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        """Read a key, dotted or not, with the space after it."""
        parts = [self._part()]
        while self._skip("."):
            parts.append(self._part())
        return parts

    def _part(self) -> str:
        self._take(_SPACE)
        if self._text[self._at : self._at + 1] in {'"', "'"}:
            quoted = self._take(_STRING)
            part = str(tomllib.loads(f"key = {quoted}")["key"])
        else:
            part = self._take(_BARE_KEY)
        self._take(_SPACE)
        return part

    def _value(self, path: KeyPath) -> None:
        if self._skip("["):
            self._array(path)
        elif self._skip("{"):
            self._inline_table(path)
        elif self._text[self._at : self._at + 1] in {'"', "'"}:
            self._take(_STRING)
        else:
            self._take(_BARE_VALUE)

    def _array(self, path: KeyPath) -> None:
        index = 0
        self._take(_BLANK)
        while not self._skip("]"):
            item = (*path, index)
            self._lines[item] = self._line()
            self._value(item)
            self._comma()
            index += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._take(_BLANK)
        while not self._skip("}"):
            self._pair(path)
            self._comma()

    def _comma(self) -> None:
        self._take(_BLANK)
        self._skip(",")
        self._take(_BLANK)

    def _line(self) -> int:
        return bisect_left(self._newlines, self._at) + 1

    def _skip(self, mark: str) -> bool:
        found = self._text.startswith(mark, self._at)
        self._at += len(mark) if found else 0
        return found

    def _need(self, mark: str) -> None:
        if not self._skip(mark):
            raise ValueError(f"line {self._line()} is not TOML: {mark!r} is missing")

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise ValueError(f"line {self._line()} is not TOML")
        self._at = found.end()
        return found.group()

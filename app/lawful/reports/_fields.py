"""Plain JSON values read by name: each is of its type, or refused with the place where it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .report import ReportError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Fields"]

_SHOWN = 60
"""How much of a wrong value a message shows, in characters."""


class Fields:
    """An object of a JSON document.

    Args:
        value: What should be an object.
        place: Where it stands in the document.

    Raises:
        ReportError: It is no object.
    """

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise ReportError(f"{place} is {_shown(value)}; expected an object")
        self._value: dict[str, object] = value
        self._place = place
        self._read: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it holds."""
        return tuple(self._value)

    def wrong(self, name: str, expected: str) -> ReportError:
        """Return the error that a field is not what it must be."""
        return ReportError(
            f"{self._place}.{name} is {_shown(self._value.get(name))}; expected {expected}"
        )

    def text(self, name: str) -> str:
        """Return a string."""
        value = self._get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a string")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Return a string, or None."""
        return None if self._get(name) is None else self.text(name)

    def one_of(self, name: str, allowed: Iterable[str]) -> str:
        """Return one of the strings that are allowed."""
        value, every = self.text(name), tuple(allowed)
        if value not in every:
            raise self.wrong(name, f"one of {', '.join(every)}")
        return value

    def integer(self, name: str) -> int:
        """Return an integer that is not negative."""
        value = self._get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(name, "an integer, 0 or more")
        return value

    def number(self, name: str) -> float:
        """Return a finite number that is not negative."""
        value = self._get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(name, "a number")
        if value < 0 or (isinstance(value, float) and not math.isfinite(value)):
            raise self.wrong(name, "a finite number, 0 or more")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return an array of strings."""
        found = tuple(value for value in self._list(name) if isinstance(value, str))
        if len(found) != len(self._list(name)):
            raise self.wrong(name, "an array of strings")
        return found

    def fields(self, name: str) -> Fields:
        """Return an object."""
        return Fields(self._get(name), f"{self._place}.{name}")

    def items(self, name: str) -> Iterator[Fields]:
        """Yield the objects of an array."""
        for index, value in enumerate(self._list(name)):
            yield Fields(value, f"{self._place}.{name}[{index}]")

    def done(self) -> None:
        """Refuse every name that was not read.

        Raises:
            ReportError: There is one.
        """
        if unknown := [name for name in self._value if name not in self._read]:
            raise ReportError(f"{self._place} has an unknown name {_shown(unknown[0])}")

    def _list(self, name: str) -> list[object]:
        value = self._get(name)
        if not isinstance(value, list):
            raise self.wrong(name, "an array")
        return value

    def _get(self, name: str) -> object:
        if name not in self._value:
            raise ReportError(f"{self._place} lacks {name!r}")
        self._read.add(name)
        return self._value[name]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

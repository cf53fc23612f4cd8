"""A table file's raw values, each with its place, and the plain checks of their types.

Knows TOML's types and lawful's names; what the keys mean is said in ``_sections``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from reprlib import Repr
from typing import TYPE_CHECKING, Final

from .errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from .locate import KeyPath

__all__ = ["LARGEST", "NAME_RULE", "Node", "Source", "listed", "nearest", "shown"]

NAME_RULE: Final = (
    "a lower-case letter, then lower-case letters, digits or '_', 64 characters at most"
)
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
LARGEST: Final = 2**31 - 1
"""The largest integer that a table may hold: it fits wherever an implementation stores it."""
_LISTED: Final = 16
_TYPES: Final = {bool: "boolean", int: "integer", float: "float", str: "string"} | {
    list: "array",
    dict: "table",
}


class _Short(Repr):
    """Python's bounded repr, with TOML's booleans, safe for integers too long to print."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 80

    def repr_bool(self, x: bool, level: int) -> str:
        return str(x).lower()

    def repr_int(self, x: int, level: int) -> str:
        return str(x) if abs(x) < 10**40 else f"an integer of {x.bit_length()} bits"


def shown(value: object) -> str:
    """Return a value in one short line, however long or deep it is."""
    return _Short().repr(value)


def listed(names: Iterable[str]) -> str:
    """Return names separated by commas, the first few of a long list."""
    every = list(names)
    more = len(every) - _LISTED
    return ", ".join(every[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like a wrong one, if any is near."""
    return next(iter(get_close_matches(wrong, list(known), n=1)), None)


@dataclass(frozen=True, slots=True)
class Source:
    """A table file that is valid TOML.

    Attributes:
        file: The file, as it was named.
        lines: Key path to line.
    """

    file: str
    lines: Mapping[KeyPath, int]

    def error(
        self, path: KeyPath, problem: str, *, wrong: str | None = None, among: Iterable[str] = ()
    ) -> SpecError:
        """Return the refusal of what stands at ``path``.

        Args:
            path: Where; the whole file, the empty path, is refused in line 1.
            problem: One sentence: the value and what is allowed in its place.
            wrong: The name that is not known, where that is the mistake.
            among: The names that are known; the one nearest to ``wrong`` becomes the hint.
        """
        hint = nearest(wrong, among) if wrong is not None else None
        return SpecError(self.file, problem, line=self.lines.get(path, 1), hint=hint)


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a table file and its place.

    Attributes:
        source: The file.
        path: Keys and indices that lead to the value; empty for the whole file.
        value: What ``tomllib`` gave.
    """

    source: Source
    path: KeyPath
    value: object

    @property
    def label(self) -> str:
        """The place as a reader would write it: ``lease.granted_by[0]``."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return "".join(parts).removeprefix(".")

    def error(
        self, problem: str, *, wrong: str | None = None, among: Iterable[str] = ()
    ) -> SpecError:
        """Return the refusal of this value (see :meth:`Source.error`)."""
        return self.source.error(self.path, problem, wrong=wrong, among=among)

    def entries(self) -> dict[str, Node]:
        """Return the table's values by key, whatever the keys are."""
        if not isinstance(self.value, dict):
            raise self._type_error("a table")
        return {key: self._child(key, value) for key, value in self.value.items()}

    def fields(
        self, *, required: Sequence[str] = (), optional: Sequence[str] = ()
    ) -> dict[str, Node]:
        """Return the table's values by key: only known keys, and all that are required."""
        entries = self.entries()
        allowed = (*required, *optional)
        where = f"in {self.label}" if self.path else "at the top"
        for key, node in entries.items():
            if key not in allowed:
                raise node.error(
                    f"unknown key {shown(key)} {where}; known: {listed(allowed)}",
                    wrong=key,
                    among=allowed,
                )
        for key in required:
            if key not in entries:
                raise self.error(f"key {key!r} is missing {where}")
        return entries

    def items(self, *, least: int = 0) -> list[Node]:
        """Return the array's values, ``least`` of them or more."""
        if not isinstance(self.value, list):
            raise self._type_error("an array")
        if len(self.value) < least:
            raise self.error(f"{self.label} holds {len(self.value)} of at least {least} values")
        return [self._child(index, value) for index, value in enumerate(self.value)]

    def text(self) -> str:
        """Return the string."""
        if not isinstance(self.value, str):
            raise self._type_error("a string")
        return self.value

    def integer(self, *, least: int) -> int:
        """Return the integer, from ``least`` to ``LARGEST``; a boolean is none."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self._type_error("an integer")
        if not least <= self.value <= LARGEST:
            allowed = f"{least} or more" if self.value < least else f"{LARGEST} at most"
            raise self.error(f"{self.label} is {shown(self.value)}; it must be {allowed}")
        return self.value

    def name(self) -> str:
        """Return the string, which must be fit to stand in an id."""
        return self.checked_name(self.text())

    def checked_name(self, name: str) -> str:
        """Return ``name`` (this value, or its key), which must be fit to stand in an id."""
        if not _NAME.fullmatch(name):
            raise self.error(f"{shown(name)} is no name; a name is {NAME_RULE}")
        return name

    def names(self, *, least: int = 0) -> tuple[str, ...]:
        """Return the array's names, no two of them the same."""
        return self._distinct([(node, node.name()) for node in self.items(least=least)])

    def one_of(self, known: Collection[str], what: str) -> str:
        """Return the string, which must be one of ``known``.

        Args:
            known: What is allowed.
            what: What such a value is called, for the message: ``a state``.
        """
        value = self.text()
        if value not in known:
            raise self.error(
                f"{self.label}: {shown(value)} is not {what}; known: {listed(known)}",
                wrong=value,
                among=known,
            )
        return value

    def some_of(self, known: Collection[str], what: str, *, least: int = 0) -> tuple[str, ...]:
        """Return the array's strings: each one of ``known``, no two the same."""
        return self._distinct(
            [(node, node.one_of(known, what)) for node in self.items(least=least)]
        )

    def _distinct(self, nodes: Sequence[tuple[Node, str]]) -> tuple[str, ...]:
        seen: set[str] = set()
        for node, name in nodes:
            if name in seen:
                raise node.error(f"{shown(name)} stands twice in {self.label}")
            seen.add(name)
        return tuple(name for _, name in nodes)

    def _child(self, key: str | int, value: object) -> Node:
        return Node(self.source, (*self.path, key), value)

    def _type_error(self, expected: str) -> SpecError:
        found = _TYPES.get(type(self.value), "date or time")
        article = "an" if found[0] in "ai" else "a"
        return self.error(
            f"{self.label} is {article} {found}, {shown(self.value)}; it must be {expected}"
        )

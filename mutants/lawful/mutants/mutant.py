"""What a mutant is, and what became of one: values alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

__all__ = ["DETECTED", "EXCLUDED", "Fate", "Mutant", "Place", "Result"]


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    """A check went red that is green without it."""
    TIMEOUT = "timeout"
    """The checks came to no end within the limit, and again when it was tried alone."""
    SURVIVED = "survived"
    """Every check that was run stayed green, or one that claims to find it did."""
    UNREACHED = "unreached"
    """No check runs the code that it changes."""
    BROKEN = "broken"
    """It could not be judged: its source no longer matches, or the checks were not collected."""
    EQUIVALENT = "equivalent"
    """It is proven that nobody can tell it from the original."""
    SET_ASIDE = "set aside"
    """A rule says that its kind tells nothing about the checks."""
    PENDING = "pending"
    """It has not been tested yet."""


DETECTED: Final = frozenset({Fate.KILLED, Fate.TIMEOUT})
"""What counts as found."""
EXCLUDED: Final = frozenset({Fate.EQUIVALENT, Fate.SET_ASIDE})
"""What the adjusted score leaves out."""


class Place(NamedTuple):
    """Where a mutant changes something.

    Attributes:
        file: The file, from the source root, with slashes: ``lawful/sut/reference/store.py``; for
            a fault of a table the table's name.
        line: The first line, counted from 1; 0 where there is none.
        column: The first column, counted from 1; 0 where there is none.
        end_line: The last line.
        end_column: The column behind the last one.
        cell: The state and the event, where it is in a table.
    """

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    cell: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault, planted on purpose.

    Attributes:
        id: Its permanent id, ``engine/family/name``: no line number is part of it.
        engine: ``table``, ``planted`` or ``mutmut``.
        family: What kind of fault it is.
        says: What is wrong, in one sentence.
        place: Where.
        before: What stands there in the original.
        after: What stands there instead.
        claims: The checks of which each must find it by itself; none where nobody says.
        source: Where such a fault was seen, or the name of the operator.
    """

    id: str
    engine: str
    family: str
    says: str
    place: Place
    before: str = ""
    after: str = ""
    claims: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant.

    Attributes:
        mutant: The mutant.
        fate: What became of it.
        killers: The checks or tests that found it: the first one, or all of them where a matrix
            was asked for.
        reason: Why it is equivalent, set aside or broken; what was seen of one that was killed.
        trace: The shortest trace that shows it, as ``lawful replay`` reads it, if there is one.
        tested: How many checks were asked.
        seconds: How long it took.
    """

    mutant: Mutant
    fate: Fate
    killers: tuple[str, ...] = ()
    reason: str = ""
    trace: str = ""
    tested: int = 0
    seconds: float = 0.0

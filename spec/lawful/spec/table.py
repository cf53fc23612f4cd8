"""A lifecycle as one table: the values that a spec file is read into.

Everything here is frozen and hashable; nothing here decides anything (the oracle does) and
nothing reads a file (the reader does).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Branch",
    "Cell",
    "CellKind",
    "Condition",
    "Counts",
    "Event",
    "Expiry",
    "Guard",
    "Lease",
    "Letter",
    "Name",
    "Param",
    "Params",
    "Table",
    "Value",
]

Value: TypeAlias = bool | int | str
Params: TypeAlias = "Mapping[str, int]"


class Letter(NamedTuple):
    """An event with its finite payload: what a word is made of.

    Attributes:
        event: The event's name.
        payload: Field and value, in the order in which the table declares the fields.
    """

    event: str
    payload: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        """Return ``fail(retryable=true)``, or the event's name alone."""
        if not self.payload:
            return self.event
        fields = ",".join(f"{name}={_literal(value)}" for name, value in self.payload)
        return f"{self.event}({fields})"


def _literal(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class CellKind(StrEnum):
    """What a cell of the table says. A guarded cell is legal whichever branch it takes."""

    LEGAL = "legal"
    NOOP = "no-op"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: an event in a state.

    Attributes:
        kind: Legal, no-op or refused.
        to: The state it leads to, where it is legal and no guard decides.
        guard: The guard that decides, where one does.
    """

    kind: CellKind
    to: str | None = None
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A counter, a parameter or a payload field, named in a guard."""

    name: str


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a guard.

    Attributes:
        left: The name on the left.
        operator: One of ``== != < <= > >=``.
        right: A name or a literal.
        failure: What it is called when the comparison is false: the word in a branch's id.
    """

    left: Name
    operator: str
    right: Name | Value
    failure: str


@dataclass(frozen=True, slots=True)
class Branch:
    """One way a guard can go: taken if all its conditions hold and no earlier branch was.

    Attributes:
        conditions: All of them must hold; none on the last branch.
        to: The state it leads to.
        add: Counter and what is added to it, beside what the event adds.
    """

    conditions: tuple[Condition, ...]
    to: str
    add: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """Branches in order; the last is unconditional, so that a guard always decides."""

    name: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """An event: a column of the table.

    Attributes:
        name: Its name.
        payload: Field and the finite values it takes, in declared order.
        add: Counter and what each transition by this event adds to it.
    """

    name: str
    payload: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    add: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Param:
    """A number a task is submitted with.

    Attributes:
        name: Its name.
        default: The value where nothing else is said; part of ``check``.
        check: The values that every suite runs with.
    """

    name: str
    default: int
    check: tuple[int, ...]


class Expiry(StrEnum):
    """What an expired lease means before the reaper has run."""

    LAZY = "lazy"
    """Until the reaper runs, the holder's reports still count."""
    STRICT = "strict"
    """From the deadline on, the holder's reports are refused."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who may report, and until when.

    Attributes:
        granted_by: Events whose transition grants the lease to their actor.
        needed_by: Events that only the holder may fire.
        held_in: States in which the lease is held; leaving them releases it.
        seconds: How long it lasts from its start or the last heartbeat.
        expiry: Lazy or strict.
        on_expiry: What the reaper fires on an expired task.
    """

    granted_by: tuple[str, ...]
    needed_by: tuple[str, ...]
    held_in: tuple[str, ...]
    seconds: int
    expiry: Expiry
    on_expiry: Letter


class Counts(NamedTuple):
    """How many cells of each kind: written by hand in the file, and counted."""

    legal: int
    noop: int
    refused: int


@dataclass(frozen=True)
class Table:
    """A lifecycle: states x events, and what each cell says.

    Attributes:
        name: The lifecycle's name.
        version: The table's own version, from 1.
        initial: The state of a submitted task.
        states: All states, in the file's order (the rows).
        terminal: The states that nothing leaves.
        events: All events, in the file's order (the columns).
        cells: Rows of cells, states x events.
        guards: The guards that cells name.
        params: What a task is submitted with.
        counters: Names of the counters; each starts at 0.
        lease: Who may report; None if the lifecycle has no leases.
    """

    name: str
    version: int
    initial: str
    states: tuple[str, ...]
    terminal: tuple[str, ...]
    events: tuple[Event, ...]
    cells: tuple[tuple[Cell, ...], ...]
    guards: tuple[Guard, ...] = ()
    params: tuple[Param, ...] = ()
    counters: tuple[str, ...] = ()
    lease: Lease | None = None

    @cached_property
    def event_names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(event.name for event in self.events)

    @cached_property
    def letters(self) -> tuple[Letter, ...]:
        """Every event with every combination of its payload, in the table's order."""
        return tuple(
            Letter(
                event.name, tuple(zip((field for field, _ in event.payload), chosen, strict=True))
            )
            for event in self.events
            for chosen in product(*(values for _, values in event.payload))
        )

    @cached_property
    def defaults(self) -> dict[str, int]:
        """Each parameter's default."""
        return {param.name: param.default for param in self.params}

    @cached_property
    def valuations(self) -> tuple[dict[str, int], ...]:
        """Every combination of the parameters' ``check`` values, the defaults first."""
        names = [param.name for param in self.params]
        every = [
            dict(zip(names, chosen, strict=True))
            for chosen in product(*(param.check for param in self.params))
        ]
        return (self.defaults, *(one for one in every if one != self.defaults))

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Cell]:
        return {
            (state, event): cell
            for state, row in zip(self.states, self.cells, strict=True)
            for event, cell in zip(self.event_names, row, strict=True)
        }

    @cached_property
    def _events(self) -> dict[str, Event]:
        return {event.name: event for event in self.events}

    @cached_property
    def _guards(self) -> dict[str, Guard]:
        return {guard.name: guard for guard in self.guards}

    def cell(self, state: str, event: str) -> Cell:
        """Return the cell of ``event`` in ``state``; KeyError if the table has no such cell."""
        return self._by_name[state, event]

    def event(self, name: str) -> Event:
        """Return the event of that name; KeyError if there is none."""
        return self._events[name]

    def guard(self, name: str) -> Guard:
        """Return the guard of that name; KeyError if there is none."""
        return self._guards[name]

    def count(self) -> Counts:
        """Count the cells of each kind."""
        kinds = [cell.kind for row in self.cells for cell in row]
        return Counts(*(kinds.count(kind) for kind in CellKind))

"""Whether a table that could be read makes sense as a whole: exits, counts, ways, leases, size.

Everything here is read off the table; the places of the mistakes come from the source.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from ._source import listed
from .oracle import Position, step
from .table import CellKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._source import Source
    from .errors import SpecError
    from .locate import KeyPath
    from .table import Counts, Lease, Table

__all__ = ["check"]

_MOST_CELLS: Final = 2**17
"""Positions x letters of all parameters together: a second's work for the oracle."""


def check(table: Table, counts: Counts, source: Source) -> None:
    """Refuse a table that contradicts itself.

    Args:
        table: The table as it was read.
        counts: How many cells of each kind its author counted.
        source: Where everything stands.

    Raises:
        SpecError: The first contradiction.
    """
    _check_exits(table, source)
    _check_ways(table, source)
    _check_counts(table, counts, source)
    if table.lease is not None:
        _check_lease(table, table.lease, source)
    _check_size(table, source)


def _place(table: Table, state: str, event: str) -> KeyPath:
    return ("table", state, table.event_names.index(event))


def _targets(table: Table, state: str, event: str) -> tuple[str, ...]:
    """Return the states that a cell can lead to; none unless it is legal."""
    cell = table.cell(state, event)
    if cell.guard is not None:
        return tuple(branch.to for branch in table.guard(cell.guard).branches)
    return (cell.to,) if cell.to is not None else ()


def _moves(table: Table, state: str) -> Iterator[tuple[str, str]]:
    """Yield event and target of everything that is legal in a state."""
    for event in table.event_names:
        for target in _targets(table, state, event):
            yield event, target


def _check_exits(table: Table, source: Source) -> None:
    for state in table.states:
        first = next(_moves(table, state), None)
        if state in table.terminal and first is not None:
            event, target = first
            raise source.error(
                _place(table, state, event),
                f"{state!r} is terminal, but {event!r} leads from it to {target!r}; "
                "a terminal row holds '-' and '=' alone",
            )
        if state not in table.terminal and first is None:
            raise source.error(
                ("table", state), f"nothing leaves {state!r}: add it to terminal, or give it a way"
            )


def _check_ways(table: Table, source: Source) -> None:
    reached = {table.initial}
    queue = deque(reached)
    while queue:
        for _, target in _moves(table, queue.popleft()):
            if target not in reached:
                reached.add(target)
                queue.append(target)
    for state in table.states:
        if state not in reached:
            raise source.error(
                ("table", state), f"no way leads from {table.initial!r} to {state!r}"
            )


def _check_counts(table: Table, counts: Counts, source: Source) -> None:
    for kind, written, counted in zip(counts._fields, counts, table.count(), strict=True):
        if written != counted:
            raise source.error(
                ("counts", kind),
                f"counts.{kind} says {written}, but the table holds {counted}; "
                "find the slip in one or the other",
            )


def _check_lease(table: Table, lease: Lease, source: Source) -> None:
    held = listed(lease.held_in)
    for state in table.states:
        for event, target in _moves(table, state):
            grants = event in lease.granted_by
            if grants and target not in lease.held_in:
                raise source.error(
                    _place(table, state, event),
                    f"{event!r} grants a lease, but leads from {state!r} to {target!r}; "
                    f"the lease is held in {held}",
                )
            if not grants and state not in lease.held_in and target in lease.held_in:
                raise source.error(
                    _place(table, state, event),
                    f"{event!r} leads from {state!r} to {target!r}, where the lease is held, "
                    f"but only {listed(lease.granted_by)} grants it",
                )
    for state in (state for state in table.states if state not in lease.held_in):
        for event in lease.needed_by:
            if table.cell(state, event).kind is not CellKind.REFUSED:
                raise source.error(
                    _place(table, state, event),
                    f"{event!r} needs the lease, so it must be refused in {state!r}: "
                    f"the lease is held in {held}",
                )
    for state in lease.held_in:
        if table.cell(state, lease.on_expiry.event).kind is not CellKind.LEGAL:
            raise source.error(
                ("lease", "on_expiry", "event"),
                f"{lease.on_expiry.event!r} is not legal in {state!r}, where the lease is held, "
                "so the reaper could not fire it there",
            )


def _check_size(table: Table, source: Source) -> None:
    """Refuse a table whose positions are endless, or too many to judge one by one."""
    room = _MOST_CELLS // len(table.letters)
    for params in table.valuations:
        origin = Position(table.initial, (0,) * len(table.counters))
        seen = {origin}
        queue = deque(seen)
        while queue:
            position = queue.popleft()
            for letter in table.letters:
                after = step(table, params, position, letter).after
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
            if len(seen) > room:
                raise _endless(table, position, source)
        room -= len(seen)


def _endless(table: Table, position: Position, source: Source) -> SpecError:
    problem = f"the table has more than {_MOST_CELLS} cells (positions x letters, all parameters)"
    if not table.counters:
        return source.error(("table",), f"{problem}; take fewer parameters or payload values")
    value, counter = max(zip(position.counters, table.counters, strict=True))
    adding = next((event.name for event in table.events if counter in dict(event.add)), None)
    return source.error(
        ("table",) if adding is None else ("event", adding, "add", counter),
        f"{problem}: counter {counter!r} went up to {value}; bound each loop that adds to it "
        "by a guard, and take small parameters",
    )

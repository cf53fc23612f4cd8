"""A history, folded: what it says the reading must be, and where the two differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .seen import counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lawful.spec.table import Table
    from lawful.sut.contract import Entry

    from .seen import View

__all__ = ["Folded", "fold", "unfolded"]


class Folded(NamedTuple):
    """What a history says of its task: the fields of a reading that it can know."""

    state: str
    version: int | None
    counters: dict[str, int]
    owner: str | None


def fold(table: Table, history: Sequence[Entry]) -> Folded:
    """Replay a history: what must the reading be?

    Two branches of a guard may lead to one state and add differently; an entry does not tell which
    of them was taken, so the counter is left out.
    """
    state, version, owner = table.initial, None, None
    counters = dict.fromkeys(table.counters, 0)
    unsure: set[str] = set()
    lease = table.lease
    for entry in history:
        state, version = entry.after, entry.version
        if entry.event is None:
            continue
        if entry.event in table.event_names:
            _add(counters, table.event(entry.event).add)
        ways = _branches(table, entry)
        if ways:
            _add(counters, ways[0])
        if len(ways) > 1:
            unsure |= _unsure(ways)
        if lease and entry.event in lease.granted_by:
            owner = entry.actor
        if lease and entry.after not in lease.held_in:
            owner = None
    known = {name: value for name, value in counters.items() if name not in unsure}
    return Folded(state, version, known, owner)


def _add(counters: dict[str, int], amounts: Iterable[tuple[str, int]]) -> None:
    for name, amount in amounts:
        counters[name] += amount


def _unsure(ways: Sequence[tuple[tuple[str, int], ...]]) -> set[str]:
    """Return the counters of which an entry does not tell whether they were added to."""
    added = [dict(add) for add in ways]
    names = {name for add in added for name in add}
    return {name for name in names if len({add.get(name, 0) for add in added}) > 1}


def _branches(table: Table, entry: Entry) -> list[tuple[tuple[str, int], ...]]:
    """Return what the branches add that a guard may have taken."""
    if entry.event not in table.event_names or entry.before not in table.states:
        return []
    cell = table.cell(entry.before, entry.event)
    branches = table.guard(cell.guard).branches if cell.guard else ()
    return [branch.add for branch in branches if branch.to == entry.after]


def unfolded(
    table: Table,
    view: View,
    offered: frozenset[str],
    indistinct: Mapping[str, frozenset[str]],
) -> list[tuple[str, str, str]]:
    """Compare a reading with its history: (field, as folded, as read) where they differ."""
    history, reading = view.history or (), view.reading
    folded = fold(table, history)
    found = []
    if reading.state not in {folded.state, *indistinct.get(folded.state, ())}:
        found.append(("state", folded.state, reading.state))
    if None not in (folded.version, reading.version) and folded.version != reading.version:
        found.append(("version", str(folded.version), str(reading.version)))
    for name, value in folded.counters.items():
        read = counter(reading, name)
        if read is not None and read != value and history:
            found.append((name, str(value), str(read)))
    shown = "lease_owner" in offered and any(entry.actor for entry in history)
    if shown and reading.lease_owner != folded.owner:
        found.append(("lease_owner", repr(folded.owner), repr(reading.lease_owner)))
    return found

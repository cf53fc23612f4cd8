"""A history, folded: what it says the reading must be, and where the two differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .seen import counter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    """Replay a history: what must the reading be?"""
    state, version, owner = table.initial, None, None
    counters = dict.fromkeys(table.counters, 0)
    lease = table.lease
    for entry in history:
        state, version = entry.after, entry.version
        if entry.event is None:
            continue
        for name, amount in _added(table, entry):
            counters[name] += amount
        if lease and entry.event in lease.granted_by:
            owner = entry.actor
        if lease and entry.after not in lease.held_in:
            owner = None
    return Folded(state, version, counters, owner)


def _added(table: Table, entry: Entry) -> list[tuple[str, int]]:
    if entry.event not in table.event_names:
        return []
    added = list(table.event(entry.event).add)
    cell = table.cell(entry.before, entry.event) if entry.before in table.states else None
    if cell and cell.guard:
        branches = table.guard(cell.guard).branches
        added += next((b.add for b in branches if b.to == entry.after), ())
    return added


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

"""The sections of a table file, read one by one into a table; every name must be known.

Whether the table as a whole makes sense is judged in ``_soundness``.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ._guards import Scope, branch_nodes, read_additions, read_guard, refuse_chains
from ._source import listed, shown
from .table import Cell, CellKind, Counts, Event, Expiry, Lease, Letter, Param, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ._source import Node
    from .table import Guard, Value

__all__ = ["FORMAT", "read_counts", "read_table_node"]

FORMAT: Final = "lawful-spec/1"

_MOST_NAMES: Final = 64  # of states, events, guards and combinations of parameters alike
_MOST_LETTERS: Final = 1024

_REQUIRED: Final = ("format", "name", "initial", "terminal", "events", "counts", "table")
_OPTIONAL: Final = ("version", "guard", "event", "params", "lease")


def read_table_node(root: Node) -> Table:
    """Read a whole file: every section, and the names between them.

    Raises:
        SpecError: A key, a type or a name is wrong.
    """
    top = root.entries()
    if "format" in top:
        top["format"].one_of((FORMAT,), "a format that is known here")
    top = root.fields(required=_REQUIRED, optional=_OPTIONAL)
    name = top["name"].name()
    version = top["version"].integer(least=1) if "version" in top else 1
    states = _states(top["table"])
    row = "a state with a row in [table]"
    initial = top["initial"].one_of(states, row)
    terminal = top["terminal"].some_of(states, row)
    events = _events(top["events"], top.get("event"))
    guard_nodes = _named(top.get("guard"), "guards")
    cells = _cells(top["table"], states, [event.name for event in events], guard_nodes)
    params = _params(top.get("params"))
    counters = _counters(events, guard_nodes)
    _refuse_shared_names(top, counters, params, events)
    guards = _guards(guard_nodes, cells, states, events, (*counters, *(p.name for p in params)))
    return Table(
        name=name,
        version=version,
        initial=initial,
        states=states,
        terminal=terminal,
        events=events,
        cells=cells,
        guards=guards,
        params=params,
        counters=counters,
        lease=_lease(top["lease"], states, events) if "lease" in top else None,
    )


def read_counts(root: Node) -> Counts:
    """Read how many cells of each kind the file says it has."""
    fields = root.entries()["counts"].fields(required=Counts._fields)
    return Counts(*(fields[kind].integer(least=0) for kind in Counts._fields))


def _named(node: Node | None, what: str) -> dict[str, Node]:
    """Return a section's tables by name: names that may stand in ids, and not too many."""
    entries = node.entries() if node is not None else {}
    if node is not None and len(entries) > _MOST_NAMES:
        raise node.error(f"{len(entries)} {what}; {_MOST_NAMES} are allowed")
    for name, entry in entries.items():
        entry.checked_name(name)
    return entries


def _states(node: Node) -> tuple[str, ...]:
    states = tuple(_named(node, "states"))
    if not states:
        raise node.error("[table] has no rows; it needs one for each state")
    return states


def _events(names: Node, sections: Node | None) -> tuple[Event, ...]:
    items = names.items(least=1)
    if len(items) > _MOST_NAMES:
        raise names.error(f"{len(items)} events; {_MOST_NAMES} are allowed")
    events = names.names()
    details = sections.entries() if sections is not None else {}
    for key, node in details.items():
        if key not in events:
            raise node.error(
                f"[event.{key}]: {shown(key)} is not an event; known: {listed(events)}",
                wrong=key,
                among=events,
            )
    read = tuple(_event(name, details.get(name)) for name in events)
    letters = sum(prod(len(values) for _, values in event.payload) for event in read)
    if letters > _MOST_LETTERS:
        raise names.error(
            f"{letters} letters (events with every combination of their payload); "
            f"{_MOST_LETTERS} are allowed"
        )
    return read


def _event(name: str, node: Node | None) -> Event:
    if node is None:
        return Event(name)
    fields = node.fields(optional=("payload", "add"))
    payload = _named(fields.get("payload"), "payload fields")
    return Event(
        name,
        tuple((field, _values(entry)) for field, entry in payload.items()),
        read_additions(fields.get("add")),
    )


def _values(node: Node) -> tuple[Value, ...]:
    """Read what a payload field can be: ``"bool"``, or the words of an enum in order."""
    if isinstance(node.value, str):
        node.one_of(("bool",), "a payload type (or an array of its values)")
        return (True, False)
    return node.names(least=1)


def _cells(
    node: Node, states: Sequence[str], events: Sequence[str], guards: Iterable[str]
) -> tuple[tuple[Cell, ...], ...]:
    known = (*states, "-", "=", *(f"?{name}" for name in guards))
    rows = []
    for state, row in node.entries().items():
        items = row.items()
        if len(items) != len(events):
            raise row.error(
                f"row {state!r} has {len(items)} cells; it needs {len(events)}, "
                f"one for each event: {listed(events)}"
            )
        rows.append(tuple(_cell(item, known) for item in items))
    return tuple(rows)


def _cell(node: Node, known: Sequence[str]) -> Cell:
    text = node.one_of(known, "'-', '=', a state with a row in [table] or a '?guard'")
    if text == "-":
        return Cell(CellKind.REFUSED)
    if text == "=":
        return Cell(CellKind.NOOP)
    if text.startswith("?"):
        return Cell(CellKind.LEGAL, guard=text[1:])
    return Cell(CellKind.LEGAL, to=text)


def _params(node: Node | None) -> tuple[Param, ...]:
    params = tuple(_param(name, entry) for name, entry in _named(node, "parameters").items())
    runs = prod(len(param.check) for param in params)
    if node is not None and runs > _MOST_NAMES:
        raise node.error(
            f"the 'check' values make {runs} combinations, and every suite runs with each; "
            f"{_MOST_NAMES} are allowed"
        )
    return params


def _param(name: str, node: Node) -> Param:
    fields = node.fields(required=("default", "check"))
    default = fields["default"].integer(least=1)
    values: list[int] = []
    for item in fields["check"].items(least=1):
        value = item.integer(least=1)
        if value in values:
            raise item.error(f"{value} stands twice in {fields['check'].label}")
        values.append(value)
    if default not in values:
        raise fields["default"].error(
            f"{name}'s default {default} is not in its 'check' values "
            f"{listed(str(value) for value in values)}; add it there"
        )
    return Param(name, default, tuple(values))


def _counters(events: Iterable[Event], guards: Mapping[str, Node]) -> tuple[str, ...]:
    """Return whatever ``add`` names: the events' in their order, then the guards'."""
    names = [counter for event in events for counter, _ in event.add]
    for guard in guards.values():
        for branch in branch_nodes(guard):
            names += [counter for counter, _ in read_additions(branch.get("add"))]
    return tuple(dict.fromkeys(names))


def _refuse_shared_names(
    top: Mapping[str, Node],
    counters: Sequence[str],
    params: Iterable[Param],
    events: Iterable[Event],
) -> None:
    """Refuse a parameter or payload field that is named like something else in a guard's sight."""
    numbers = dict.fromkeys(counters, "a counter")
    for param in params:
        if param.name in numbers:
            raise (
                top["params"]
                .entries()[param.name]
                .error(f"{param.name!r} is a parameter and a counter; rename one of them")
            )
    numbers |= {param.name: "a parameter" for param in params}
    for event in events:
        for field, _ in event.payload:
            if field in numbers:
                payload = top["event"].entries()[event.name].entries()["payload"]
                raise payload.entries()[field].error(
                    f"{field!r} is a payload field and {numbers[field]}; rename one of them"
                )


def _guards(
    nodes: Mapping[str, Node],
    cells: Sequence[Sequence[Cell]],
    states: Sequence[str],
    events: Sequence[Event],
    numbers: tuple[str, ...],
) -> tuple[Guard, ...]:
    refuse_chains(nodes)
    guards = []
    for name, node in nodes.items():
        users = [
            event
            for event, column in zip(events, zip(*cells, strict=True), strict=True)
            if any(cell.guard == name for cell in column)
        ]
        if not users:
            raise node.error(f"guard {name!r} is not used: no cell is '?{name}'")
        guards.append(read_guard(name, node, states, Scope(numbers, tuple(users))))
    return tuple(guards)


def _lease(node: Node, states: Sequence[str], events: Sequence[Event]) -> Lease:
    fields = node.fields(
        required=("granted_by", "needed_by", "held_in", "seconds", "expiry", "on_expiry")
    )
    names = [event.name for event in events]
    return Lease(
        granted_by=fields["granted_by"].some_of(names, "an event", least=1),
        needed_by=fields["needed_by"].some_of(names, "an event"),
        held_in=fields["held_in"].some_of(states, "a state with a row in [table]", least=1),
        seconds=fields["seconds"].integer(least=1),
        expiry=Expiry(fields["expiry"].one_of(tuple(Expiry), "a kind of expiry")),
        on_expiry=_letter(fields["on_expiry"], events),
    )


def _letter(node: Node, events: Sequence[Event]) -> Letter:
    """Read an event with a value for each field of its payload."""
    fields = node.fields(required=("event",), optional=("payload",))
    known = {event.name: event for event in events}
    event = known[fields["event"].one_of(tuple(known), "an event")]
    declared = dict(event.payload)
    if not declared and "payload" in fields:
        raise fields["payload"].error(f"event {event.name!r} has no payload; leave it out")
    if not declared:
        return Letter(event.name)
    if "payload" not in fields:
        raise node.error(f"event {event.name!r} needs a payload: {listed(declared)}")
    given = fields["payload"].fields(required=tuple(declared))
    return Letter(
        event.name, tuple((field, _chosen(given[field], declared[field])) for field in declared)
    )


def _chosen(node: Node, values: tuple[Value, ...]) -> Value:
    for value in values:
        if type(node.value) is type(value) and node.value == value:
            return value
    words = [value for value in values if isinstance(value, str)]
    raise node.error(
        f"{node.label} is {shown(node.value)}; allowed: {listed(shown(one) for one in values)}",
        wrong=node.value if isinstance(node.value, str) else None,
        among=words,
    )

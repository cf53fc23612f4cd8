"""A table in its parsed form, as plain JSON values, and the JSON Schema of that form.

The form is the file's own, one to one, so that other languages can read what ``tomllib`` would.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

from ._sections import FORMAT
from .table import CellKind, Name

if TYPE_CHECKING:
    from .table import Cell, Condition, Event, Guard, Lease, Table, Value

__all__ = ["Json", "load_schema", "to_json"]

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"


def load_schema() -> dict[str, Json]:
    """Return the JSON Schema (draft 2020-12) that :func:`to_json` and every table file meet."""
    schema = files("lawful.spec") / "schemas" / "table.schema.json"
    loaded: dict[str, Json] = json.loads(schema.read_text("utf-8"))
    return loaded


def to_json(table: Table) -> dict[str, Json]:
    """Return the table as plain JSON values: what its file says, the version always said.

    Sections that say nothing are left out: ``[guard]``, ``[event]``, ``[params]``, ``[lease]``.
    """
    said: dict[str, Json] = {
        "format": FORMAT,
        "name": table.name,
        "version": table.version,
        "initial": table.initial,
        "terminal": list(table.terminal),
        "events": list(table.event_names),
        "counts": dict(table.count()._asdict()),
        "table": {
            state: [_cell(cell) for cell in row]
            for state, row in zip(table.states, table.cells, strict=True)
        },
    }
    guards: dict[str, Json] = {guard.name: _guard(guard) for guard in table.guards}
    events: dict[str, Json] = {
        event.name: _event(event) for event in table.events if event.payload or event.add
    }
    params: dict[str, Json] = {
        param.name: {"default": param.default, "check": list(param.check)} for param in table.params
    }
    sections: dict[str, Json] = {"guard": guards, "event": events, "params": params}
    said |= {section: content for section, content in sections.items() if content}
    if table.lease is not None:
        said["lease"] = _lease(table.lease)
    return said


def _cell(cell: Cell) -> str:
    if cell.kind is CellKind.REFUSED:
        return "-"
    if cell.kind is CellKind.NOOP:
        return "="
    return f"?{cell.guard}" if cell.guard is not None else str(cell.to)


def _guard(guard: Guard) -> Json:
    branches: list[Json] = []
    for branch in guard.branches:
        said: dict[str, Json] = {"to": branch.to}
        if branch.conditions:
            said["if"] = [_condition(condition) for condition in branch.conditions]
        if branch.add:
            said["add"] = dict(branch.add)
        branches.append(said)
    return {"when": branches}


def _condition(condition: Condition) -> Json:
    right = condition.right
    value = right.name if isinstance(right, Name) else right
    return [condition.left.name, condition.operator, value, condition.failure]


def _event(event: Event) -> Json:
    said: dict[str, Json] = {}
    if event.payload:
        said["payload"] = {field: _values(values) for field, values in event.payload}
    if event.add:
        said["add"] = dict(event.add)
    return said


def _values(values: tuple[Value, ...]) -> Json:
    return "bool" if values == (True, False) else list(values)


def _lease(lease: Lease) -> Json:
    on_expiry: dict[str, Json] = {"event": lease.on_expiry.event}
    if lease.on_expiry.payload:
        on_expiry["payload"] = dict(lease.on_expiry.payload)
    return {
        "granted_by": list(lease.granted_by),
        "needed_by": list(lease.needed_by),
        "held_in": list(lease.held_in),
        "seconds": lease.seconds,
        "expiry": str(lease.expiry),
        "on_expiry": on_expiry,
    }

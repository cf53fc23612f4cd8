"""What the table says: one pure step over state, counters and payload.

The expectation of every law comes from here, and here comes from the table alone.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

from .table import CellKind, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .table import Branch, Condition, Letter, Params, Table, Value

__all__ = ["OPERATORS", "Oracle", "Outcome", "Position", "step"]

OPERATORS: Mapping[str, Callable[[Value, Value], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Position(NamedTuple):
    """Where a task is: what the table can tell apart.

    Attributes:
        state: The state.
        counters: The counters' values, in the table's order.
    """

    state: str
    counters: tuple[int, ...]


class Outcome(NamedTuple):
    """What the table says of a letter at a position.

    Attributes:
        kind: Legal, no-op or refused.
        after: Where the task is then; unchanged unless legal.
        branch: The failed conditions that led to a guard's branch (``permanent+exhausted``);
            empty for a guard's first branch and where no guard decides.
    """

    kind: CellKind
    after: Position
    branch: str


def step(table: Table, params: Params, position: Position, letter: Letter) -> Outcome:
    """Say what ``letter`` does at ``position``, for a task submitted with ``params``.

    Counters may be off the table's map: the guards decide on whatever they are.

    Raises:
        KeyError: The table has no such state or event.
    """
    cell = table.cell(position.state, letter.event)
    if cell.kind is not CellKind.LEGAL:
        return Outcome(cell.kind, position, "")
    add = table.event(letter.event).add
    if cell.guard is None:
        return Outcome(cell.kind, _moved(table, position, cell.to or "", add), "")
    names: dict[str, Value] = {
        **params,
        **dict(zip(table.counters, position.counters, strict=True)),
    }
    names |= dict(letter.payload)
    failures: list[str] = []
    *conditional, last = table.guard(cell.guard).branches
    taken = next((b for b in conditional if _holds(b, names, failures)), last)
    to = _moved(table, position, taken.to, (*add, *taken.add))
    return Outcome(cell.kind, to, "+".join(failures))


def _holds(branch: Branch, names: Mapping[str, Value], failures: list[str]) -> bool:
    failed = [c.failure for c in branch.conditions if not _true(c, names)]
    failures += failed
    return not failed


def _true(condition: Condition, names: Mapping[str, Value]) -> bool:
    right = condition.right
    value = names[right.name] if isinstance(right, Name) else right
    return OPERATORS[condition.operator](names[condition.left.name], value)


def _moved(table: Table, position: Position, to: str, add: tuple[tuple[str, int], ...]) -> Position:
    if not add:
        return Position(to, position.counters)
    by_name = dict(zip(table.counters, position.counters, strict=True))
    for counter, amount in add:
        by_name[counter] += amount
    return Position(to, tuple(by_name.values()))


class Oracle:
    """The step of one table for one set of parameters, remembered.

    Args:
        table: The lifecycle.
        params: A value for each of the table's parameters.
    """

    def __init__(self, table: Table, params: Params) -> None:
        self.table = table
        self.params = dict(params)
        self._known: dict[tuple[Position, Letter], Outcome] = {}

    @property
    def origin(self) -> Position:
        """Where a task is when it has just been submitted."""
        return Position(self.table.initial, (0,) * len(self.table.counters))

    def step(self, position: Position, letter: Letter) -> Outcome:
        """Say what ``letter`` does at ``position`` (see :func:`step`)."""
        key = position, letter
        outcome = self._known.get(key)
        if outcome is None:
            outcome = self._known[key] = step(self.table, self.params, position, letter)
        return outcome

"""The family ``cell``: each cell and each branch of a guard, by itself.

A cell demands the right state and counters and exactly one step of version and one history
entry; or the right refusal and nothing written. Its base id covers every value of the counters
and, outside guards, every payload; a guard's further branches and parameters other than the
default have ids of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.table import CellKind
from lawful.spec.words import reachable

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle, Position
    from lawful.spec.table import Letter, Params, Table

__all__ = ["Cells", "cell_id", "sentence"]


class CellKey(NamedTuple):
    """A position and a letter, for one set of parameters: what a cell's id is made of."""

    position: Position
    letter: Letter


def place(oracle: Oracle, key: CellKey) -> str:
    """Name a position and a letter: ``running(attempts=1) fail(retryable=true)``."""
    pairs = zip(oracle.table.counters, key.position.counters, strict=True)
    counters = ",".join(f"{name}={value}" for name, value in pairs)
    at = f"{key.position.state}({counters})" if counters else key.position.state
    return f"{at} {key.letter}{suffix(oracle.table, oracle.params)}"


def suffix(table: Table, params: Params) -> str:
    """Return what an id ends in for parameters that are not the defaults."""
    other = [f"{name}={value}" for name, value in params.items() if value != table.defaults[name]]
    return "@" + ",".join(other) if other else ""


def cell_id(oracle: Oracle, position: Position, letter: Letter) -> str:
    """Return the id of the check that a letter at a position belongs to."""
    branch = oracle.step(position, letter).branch
    tail = f"?{branch}" if branch else ""
    return f"cell/{position.state}/{letter.event}{tail}{suffix(oracle.table, oracle.params)}"


def sentence(oracle: Oracle, position: Position, letter: Letter) -> str:
    """Say in one sentence what the table demands."""
    outcome = oracle.step(position, letter)
    what = f"{letter.event!r} on a task that is {position.state!r}"
    if outcome.kind is CellKind.NOOP:
        return f"{what} is accepted and writes nothing"
    if outcome.kind is CellKind.REFUSED:
        return f"{what} is refused as illegal and writes nothing"
    when = f" when {outcome.branch.replace('+', ' and ')}" if outcome.branch else ""
    return f"{what}{when} leads to {outcome.after.state!r}: one version, one history entry"


class Cells:
    """Every cell check of a table, for one set of parameters, in the table's order.

    Args:
        oracle: The table and the parameters.

    Attributes:
        says: Id to sentence, for everything that can be reached.
        keys: Id to the positions and letters that belong to it, nearest position first.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.says: dict[str, str] = {}
        self.keys: dict[str, list[CellKey]] = {}
        table = oracle.table
        order = {state: index for index, state in enumerate(table.states)}
        # A stable sort: within a state, the nearest position stays first.
        for position in sorted(reachable(oracle), key=lambda p: order[p.state]):
            for letter in table.letters:
                name = cell_id(oracle, position, letter)
                self.says.setdefault(name, sentence(oracle, position, letter))
                self.keys.setdefault(name, []).append(CellKey(position, letter))

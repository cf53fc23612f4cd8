"""Where races and accidents begin, and who makes which call there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.table import Letter
from lawful.strategies.moves import Begin, Resolver, Start
from lawful.strategies.trace import Fire, Heartbeat, Reap
from lawful.strategies.walk import CLIENT, STRANGER

from .law import Blocked

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle, Position
    from lawful.strategies.calls import Done
    from lawful.strategies.moves import Played
    from lawful.strategies.performing import Unready
    from lawful.strategies.trace import Op

    from .stage import Stage

__all__ = ["Begun", "begin", "call", "starts", "unready_blocks"]


def starts(stage: Stage, oracle: Oracle) -> list[Position]:
    """Return where things begin: everywhere, or at the nearest position of each state."""
    every = stage.positions(oracle.params)
    if stage.thorough:
        return list(every)
    nearest: dict[str, Position] = {}
    for position in every:
        nearest.setdefault(position.state, position)
    return list(nearest.values())


class Begun(NamedTuple):
    """Where something begins: what leads there, and the task as it is then."""

    before: tuple[Op, ...]
    task: Played


def begin(stage: Stage, oracle: Oracle, position: Position, *, tasks: int = 1) -> Begun:
    """Return what brings a task to a position, or several, one after the other.

    Raises:
        Blocked: The implementation breaks a cell on every way there.
    """
    start = Start(tuple(oracle.params.items()), position, stage.way(oracle.params, position))
    resolver = Resolver(stage.table)
    before = tuple(op for _ in range(tasks) for op in resolver.resolve(Begin(start)))
    return Begun(before, resolver.tasks[0])


def unready_blocks(unready: Unready) -> Blocked:
    """Return what it means that the way to a start was unlawful: the step is in the way."""
    op = unready.seen.op
    event = op.letter.event if isinstance(op, Fire) else type(op).__name__.lower()
    return Blocked(f"cell/{unready.seen.model.position.state}/{event}")


def call(one: Letter | type[Heartbeat | Reap], task: Played, number: int) -> Done:
    """Return a call by whoever should make it: two that start a task are two workers."""
    model, lease = task.model, task.oracle.table.lease
    holder = model.holding.owner if model.holding else STRANGER
    if one is Reap:
        return Reap()
    if not isinstance(one, Letter):
        return Heartbeat(holder)
    if lease and one.event in lease.granted_by:
        return Fire(one, f"worker-{model.grants + 1 + number}")
    return Fire(one, holder if lease and one.event in lease.needed_by else CLIENT)

"""Tasks that were submitted in a race: each must be one of its own, as if it had been alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.spec.model import submitted
from lawful.spec.table import CellKind

from .driver import Fault
from .linear import Order, shows
from .trace import TASK, Submit
from .walk import Cast, actor_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lawful.sut.contract import TaskId

    from .calls import Came, Raced
    from .session import Session
    from .tracked import Tracked

__all__ = ["misplaced"]


def misplaced(
    session: Session,
    task: Tracked,
    does: Mapping[str, Sequence[Raced]],
    came: Mapping[str, Sequence[Came]],
) -> tuple[str, str] | None:
    """Look at each task that was submitted in a race, and fire the first legal letter at it.

    Args:
        session: The store.
        task: The task that the race was about.
        does: What each worker did.
        came: What came of each worker's calls.

    Returns:
        What is demanded of the first that is not as it should be, and what it is; None if all are.
    """
    given: list[tuple[str, TaskId]] = [(TASK, task.id)]
    for op, made in _made(does, came):
        same = next((label for label, other in given if other == made), None)
        if same is not None:
            return f"{op.task} is a task of its own", f"{op.task} was given the id of {same}"
        given.append((op.task, made))
    for op, made in _made(does, came):
        if wrong := _wrong(session, op, made):
            return f"{op.task} is as if it had been submitted alone: {wrong[0]}", wrong[1]
    return None


def _made(
    does: Mapping[str, Sequence[Raced]], came: Mapping[str, Sequence[Came]]
) -> Iterator[tuple[Submit, TaskId]]:
    for name, ops in does.items():
        for op, one in zip(ops, came[name], strict=True):
            if isinstance(op, Submit) and one.made is not None:
                yield op, one.made


def _wrong(session: Session, op: Submit, made: TaskId) -> tuple[str, str] | None:
    """Return what is wrong with a task that was submitted; None if nothing is."""
    oracle = session.adapter.oracle(dict(op.params))
    beginning = submitted(oracle)
    try:
        tracked = session.take_in(made, oracle, op.task)
    except Fault as fault:
        return oracle.table.initial, f"{op.task}: {fault}"
    view = tracked.view
    entries = len(view.history or ())
    if entries > 1 or not shows(session.adapter, tracked, Order((), beginning, ()), view):
        reading = ", ".join(f"{k} {v}" for k, v in view.reading._asdict().items() if v is not None)
        return f"{oracle.table.initial}, nothing done", f"{op.task}: {reading}, {entries} entries"
    for letter in oracle.table.letters:
        if oracle.step(beginning.position, letter).kind is CellKind.LEGAL:
            seen = session.fire(letter, actor_for(tracked, letter, Cast.ANOTHER), task=op.task)
            problems = seen.problems
            return (problems[0].expected, f"{op.task}: {problems[0].got}") if problems else None
    return None

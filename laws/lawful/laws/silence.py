"""The family ``silence``: a refusal and a no-op change nothing, now or later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.spec.table import CellKind
from lawful.strategies.seen import Aspect
from lawful.strategies.trace import TASK, Fire, Submit
from lawful.strategies.tracked import relabelled
from lawful.strategies.walk import Cast, actor_for

from .applying import noops, quiet, refusals
from .law import Finding, ScenarioLaw, TraceLaw
from .stage import rows

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Table
    from lawful.strategies.session import Session
    from lawful.strategies.tracked import Tracked
    from lawful.strategies.walk import Walk

    from .law import Tally
    from .stage import Stage

__all__ = ["NOOP", "REFUSAL", "STORE"]

_WROTE = frozenset({Aspect.WROTE})


def _read(kind: CellKind, walk: Walk, tally: Tally) -> None:
    for length, seen in enumerate(walk.steps, 1):
        if seen.after is None:
            continue
        if seen.answer.kind is CellKind.LEGAL:
            # What a move leaves behind shows that this way of looking sees a change at all.
            tally.control(seen.before.reading != seen.after.reading)
        elif seen.answer.kind is kind:
            tally.trigger()
            if problems := seen.wrong(_WROTE):
                tally.step(walk, length, problems)


def _refusal(_: Table, walk: Walk, tally: Tally) -> None:
    _read(CellKind.REFUSED, walk, tally)


def _noop(_: Table, walk: Walk, tally: Tally) -> None:
    _read(CellKind.NOOP, walk, tally)


def _store(stage: Stage, tally: Tally) -> None:
    """Bring a task to every position of one store, then look at the whole of it."""
    row = rows(tally)
    for oracle in stage.oracles():
        for session, tracked in stage.everywhere(oracle, tally):
            with row():
                _whole(stage, session, oracle, tracked, tally)


def _whole(stage: Stage, session: Session, oracle: Oracle, tracked: Tracked, tally: Tally) -> None:
    moves, label = [], tracked.label
    for letter in stage.table.letters:
        if tracked.lost():
            return
        if oracle.step(tracked.model.position, letter).kind is CellKind.LEGAL:
            moves.append(letter)
            continue
        before = session.driver.dump()
        actor = actor_for(tracked, letter, Cast.ANOTHER)
        seen = session.fire(letter, actor, task=label)
        tally.trigger()
        if seen.problems:
            tally.stop(stage.broken(session, seen, oracle, seen.model.position, letter))
        elif session.driver.dump() != before:
            own = tuple(
                relabelled(op, TASK)
                for op in session.log
                if isinstance(op, Submit | Fire) and op.task == label
            )
            changed = Finding("nothing in the store changes", "the store's dump changed", own)
            tally.find(changed, session.log)
    if moves:
        before = session.driver.dump()
        stage.go(session, tracked, moves[0])
        tally.control(session.driver.dump() != before)


REFUSAL = TraceLaw(
    id="silence/refusal",
    says="a refused event writes nothing: reading, lease, history and dump stay as they were",
    why="A refusal that writes leaves a row that nobody asked for: a version that grew, a log line "
    "of a move that never happened, a mark that a later task trips over (arq issue 485).",
    applies=refusals,
    read=_refusal,
)

NOOP = TraceLaw(
    id="silence/noop",
    says="a no-op is accepted and writes nothing, not even a version or a history entry",
    why="A repeated cancel that is logged twice makes two cancellations out of one.",
    applies=noops,
    read=_noop,
)

STORE = ScenarioLaw(
    id="silence/store",
    says="a refusal or a no-op changes nothing anywhere in the store, other tasks included",
    why="Marks outside the task's own row (a table of requests, a cache, a counter) act later and "
    "on somebody else's task.",
    needs=("dump",),
    applies=quiet,
    run=_store,
)

"""The family ``durability``: what was accepted is there for the next process, and for another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.strategies.moves import elapsing
from lawful.strategies.seen import Aspect
from lawful.strategies.trace import Reopen, Second

from .applying import with_leases
from .law import Blocked, ScenarioLaw, finding
from .stage import own_trace

if TYPE_CHECKING:
    from lawful.spec.oracle import Position
    from lawful.strategies.seen import Seen
    from lawful.strategies.session import Session
    from lawful.strategies.tracked import Tracked

    from .law import Tally
    from .stage import Stage

__all__ = ["BOOT", "RESTART", "SECOND"]

_ALL = frozenset(Aspect)
_NOTES = {Reopen: "after a restart", Second: "a second instance was opened"}


def _kept(session: Session, seen: Seen, tally: Tally) -> None:
    tally.trigger()
    if problems := seen.wrong(_ALL):
        note = _NOTES.get(type(seen.op), "")
        tally.find(finding(seen, problems, own_trace(session, seen.task), note), session.log)


def _restart(stage: Stage, tally: Tally) -> None:
    """Restart with a task at every position, then go on with each."""
    for oracle in stage.oracles():
        for session, tasks in stage.populated(oracle, tally):
            for seen in session.reopen():
                _kept(session, seen, tally)
            for tracked in tasks:
                _onward(stage, session, tracked, tally)


def _onward(stage: Stage, session: Session, tracked: Tracked, tally: Tally) -> Seen | None:
    """Move a task on, if it can: what survived must be alive, not only legible."""
    moves = stage.moves(tracked.oracle, tracked.model.position)
    if not moves or tracked.lost():
        return None
    try:
        seen = stage.go(session, tracked, moves[0])
    except Blocked as blocked:
        tally.stop(blocked)
        return None
    tally.control()
    return seen


def _boot(stage: Stage, tally: Tally) -> None:
    """Restart where some leases have expired and others have not: each position is held twice."""
    lease = stage.table.lease
    part, whole = elapsing(lease) if lease else (0, 0)
    for oracle in stage.oracles():
        positions = stage.held(oracle)
        renewed: set[Position] = set()
        for session, tasks in stage.populated(oracle, tally, positions * 2):
            session.advance(part)
            for tracked in tasks:
                held, position = tracked.model.holding, tracked.model.position
                if held and position not in renewed and "heartbeat" in stage.adapter.offered:
                    renewed.add(position)
                    session.heartbeat(held.owner, task=tracked.label)
            stage.later(session, oracle, tally)
            session.advance(whole - part)
            for seen in session.reopen():
                _kept(session, seen, tally)
            for seen in session.reap():
                tally.control(not seen.problems)


def _second(stage: Stage, tally: Tally) -> None:
    """Open a second instance beside the first: it sees the same, and changes nothing."""
    for oracle in stage.oracles():
        for session, tasks in stage.populated(oracle, tally):
            for seen in session.second():
                _kept(session, seen, tally)
            for tracked in tasks:
                moved = _onward(stage, session, tracked, tally)
                if moved is not None:
                    session.elsewhere(moved)
                    _kept(session, moved, tally)


RESTART = ScenarioLaw(
    id="durability/restart",
    says="every task survives closing and opening: reading, lease, history and dump, and goes on",
    why="A cancel kept in the process's memory is forgotten with it.",
    needs=("restart",),
    run=_restart,
)

BOOT = ScenarioLaw(
    id="durability/boot",
    says="opening the store recovers nothing whose lease has not expired",
    why="A worker's restart that fails or requeues everything running takes live work from other "
    "workers (AntaREST 832; persist-queue's auto_resume).",
    needs=("restart", "lease_owner", "lease_until", "reap", "clock"),
    applies=with_leases,
    run=_boot,
)

SECOND = ScenarioLaw(
    id="durability/second-connection",
    says="a second instance on the same store reads the same, at once, and opening it changes "
    "nothing",
    why="Two workers are two processes: what one has been told, the other must see.",
    needs=("second_connection",),
    run=_second,
)

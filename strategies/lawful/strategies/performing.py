"""Any step of a trace, done in a session: what a replay, a search and a shrinking all do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.spec.oracle import Position

from .driver import Fault
from .trace import (
    ABSENT,
    TASK,
    Advance,
    Fire,
    Heartbeat,
    Poison,
    Put,
    Read,
    Reap,
    Reopen,
    Second,
    Submit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .seen import Seen
    from .session import Session
    from .trace import Op

__all__ = ["Unready", "bring", "perform"]


class Unready(Exception):
    """A step that only leads to where something begins was unlawful by itself.

    Attributes:
        seen: The step.
    """

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        super().__init__(", ".join(problem.got for problem in seen.problems))


def perform(session: Session, op: Op) -> list[Seen]:
    """Do a step and return what was judged, on whichever tasks.

    After a call on one task all the others are looked at too, and where a second instance was
    opened, what the step was about is read through it.

    Args:
        session: The store.
        op: The step. A task of a label of its own is submitted under that id, where the system
            lets one choose.

    Raises:
        Fault: A task could not be submitted or put, or the adapter lacks what the step needs.
        Hung: A call did not return in time.
    """
    match op:
        case Submit(params, task):
            session.submit(dict(params), task, None if task == TASK else task)
        case Put(state, counters, actor, task):
            named = dict(counters)
            values = tuple(named.get(name, 0) for name in session.table.counters)
            session.put(Position(state, values), actor, task)
        case Advance(seconds):
            session.advance(seconds)
        case Reap():
            _offered(session, "reap")
            return _through_both(session, session.reap())
        case Reopen():
            return _through_both(session, session.reopen())
        case Second():
            return session.second()
        case Poison(task):
            _offered(session, "poison")
            session.poison(task)
        case Fire() | Heartbeat() | Read() if op.task == ABSENT:
            return [_absent(session, op)]
        case Fire() | Heartbeat() | Read():
            return [] if session.tasks[op.task].ended else [_known(session, op)]
    return []


def bring(session: Session, ops: Sequence[Op]) -> None:
    """Do the steps that lead to where something begins.

    Raises:
        Unready: One of them is unlawful by itself.
        Fault: A task could not be submitted or put, or the adapter lacks what a step needs.
        Hung: A call did not return in time.
    """
    for op in ops:
        for seen in perform(session, op):
            if seen.problems:
                raise Unready(seen)


def _offered(session: Session, name: str) -> None:
    """See that the adapter has a method that a step needs.

    Raises:
        Fault: It has not.
    """
    if name not in session.adapter.offered:
        raise Fault(name, "the adapter does not offer it")


def _absent(session: Session, op: Fire | Heartbeat | Read) -> Seen:
    match op:
        case Fire(letter, actor, version):
            return session.fire_absent(letter, actor, version=version)
        case Heartbeat(actor):
            _offered(session, "heartbeat")
            return session.heartbeat_absent(actor)
        case Read():
            return session.read_absent()


def _through_both(session: Session, steps: list[Seen]) -> list[Seen]:
    """Read each task through the second instance too, where there is one."""
    for seen in steps:
        session.elsewhere(seen)
    return steps


def _known(session: Session, op: Fire | Heartbeat | Read) -> Seen:
    match op:
        case Fire(letter, actor, version, grant, task):
            grant = session.tasks[task].granted(grant)
            seen = session.fire(letter, actor, version=version, grant=grant, task=task)
        case Heartbeat(actor, grant, task):
            _offered(session, "heartbeat")
            grant = session.tasks[task].granted(grant)
            seen = session.heartbeat(actor, grant=grant, task=task)
        case Read(task):
            seen = session.read(task)
    session.neighbours(seen)
    session.elsewhere(seen)
    return seen

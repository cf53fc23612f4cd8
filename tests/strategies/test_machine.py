"""The state machine, driven by hand: what it finds, when, and what it says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.spec import Letter, shipped_table
from lawful.strategies import LifecycleMachine, format_trace
from lawful.strategies.moves import Begin, Firing, every_start
from lawful.strategies.seen import Aspect
from lawful.strategies.trace import Second, Submit
from lawful.strategies.unlawful import Unlawful
from miniatures import Honest
from miniatures.wrong_memory import CancelMarksANeighbour, SecondInstanceSeesThePast

if TYPE_CHECKING:
    from lawful.strategies.moves import Move
    from lawful.strategies.seen import Seen
    from lawful.strategies.session import Session

TABLE = shipped_table("task")
CANCEL, START = Letter("cancel"), Letter("start")
QUEUED = next(Begin(start) for start in every_start(TABLE) if start.position.state == "queued")


def found(machine: LifecycleMachine, *moves: Move) -> Unlawful:
    """Take moves one after the other; the last must be found out, at the latest at the end."""
    try:
        for move in moves:
            machine.take([move])
    except Unlawful as late:
        machine.teardown()
        return late
    with pytest.raises(Unlawful) as raised:
        machine.teardown()
    return raised.value


def test_a_task_that_another_step_has_changed_is_told_at_that_step() -> None:
    machine = LifecycleMachine.for_(CancelMarksANeighbour)()
    late = found(machine, QUEUED, QUEUED, Firing(CANCEL, task=1), Firing(CANCEL, task=1))
    assert [problem.aspect for problem in late.seen.problems] == [Aspect.NEIGHBOUR]
    assert format_trace(late.trace) == (
        "enqueue@client t2:SUBMIT t2:enqueue@client t2:cancel@client"
    )


def test_it_is_found_before_the_changed_task_goes_on() -> None:
    machine = LifecycleMachine.for_(CancelMarksANeighbour)()
    with pytest.raises(Unlawful) as raised:
        machine.take([QUEUED, QUEUED, Firing(CANCEL, task=1), Firing(START, task=0)])
    assert format_trace(raised.value.trace).endswith(" t2:cancel@client")
    machine.teardown()  # what was found is not found again


def test_a_second_instance_that_sees_the_past_is_found() -> None:
    machine = LifecycleMachine.for_(SecondInstanceSeesThePast)()
    seen = found(machine, QUEUED, Second(), Firing(START)).seen
    assert [problem.aspect for problem in seen.problems] == [Aspect.ELSEWHERE]


def test_a_second_instance_is_opened_once() -> None:
    machine = LifecycleMachine.for_(Honest)()
    machine.take([QUEUED, Second(), Second()])
    assert machine.done[2:] == [Second()]
    machine.teardown()


def test_no_more_tasks_are_begun_than_there_may_be() -> None:
    machine = LifecycleMachine.for_(Honest, tasks=2)()
    machine.take([QUEUED] * 4)
    assert sum(isinstance(op, Submit) for op in machine.done) == 2
    machine.teardown()


def test_after_what_is_known_nothing_more_is_done() -> None:
    told: list[Seen] = []

    def known(session: Session, seen: Seen) -> bool:
        told.append(seen)
        return True

    plain = LifecycleMachine.for_(CancelMarksANeighbour)
    machine = type("Knowing", (plain,), {"known": staticmethod(known)})()
    machine.take([QUEUED, QUEUED, Firing(CANCEL, task=1), Firing(START, task=0)])
    steps = len(machine.done)
    machine.take([Firing(CANCEL, task=0)])
    machine.teardown()
    assert len(told) == 1
    assert len(machine.done) == steps

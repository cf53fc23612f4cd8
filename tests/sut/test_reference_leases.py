"""The reference's leases: heartbeats, lazy expiry, fencing tokens, and the reaper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.sut import Entry, Reading
from lawful.sut.reference import StaleLease

if TYPE_CHECKING:
    from lawful.strategies.clock import ManualClock
    from lawful.sut import Reference


def started(system: Reference, worker: str = "w", *, task: str | None = None) -> str:
    """Submit, enqueue and start a task; return its id."""
    made = system.submit({}, task=task)
    system.fire(made, "enqueue", actor="client")
    system.fire(made, "start", actor=worker)
    return made


def test_a_heartbeat_extends_the_lease_from_now_and_writes_nothing_else(
    reference: Reference, clock: ManualClock
) -> None:
    task = started(reference)
    history = reference.history(task)
    clock.advance(20)
    reference.heartbeat(task, actor="w", token=2)
    assert reference.read(task) == Reading("running", 1, 2, "w", 1050.0, 2)
    assert reference.history(task) == history


def test_a_heartbeat_of_anyone_but_the_holder_is_a_stale_lease(
    reference: Reference, clock: ManualClock
) -> None:
    task = started(reference)
    before = reference.dump()
    clock.advance(20)
    with pytest.raises(StaleLease):
        reference.heartbeat(task, actor="stranger")
    with pytest.raises(StaleLease):
        reference.heartbeat(task, actor="w", token=1)
    assert reference.dump() == before
    reference.fire(task, "succeed", actor="w")
    with pytest.raises(StaleLease):
        reference.heartbeat(task, actor="w")


def test_an_expired_lease_is_still_its_holders_to_renew(
    reference: Reference, clock: ManualClock
) -> None:
    task = started(reference)
    clock.advance(3600)
    reference.heartbeat(task, actor="w")
    assert reference.read(task).lease_until == 4630.0
    assert reference.reap() == []


def test_before_the_reaper_runs_an_expired_holders_report_counts(
    reference: Reference, clock: ManualClock
) -> None:
    task = started(reference)
    clock.advance(3600)
    reference.fire(task, "succeed", actor="w")
    assert reference.read(task).state == "succeeded"
    assert reference.reap() == []


def test_the_token_only_grows_from_start_to_start(reference: Reference) -> None:
    task = started(reference, "w")
    tokens = [reference.read(task).lease_token]
    for _ in range(2):
        reference.fire(task, "fail", actor="w", payload={"retryable": True})
        reference.fire(task, "retry_due", actor="timer")
        reference.fire(task, "start", actor="w")
        tokens.append(reference.read(task).lease_token)
    assert tokens == [2, 5, 8]
    with pytest.raises(StaleLease):
        reference.fire(task, "succeed", actor="w", token=5)
    reference.fire(task, "succeed", actor="w", token=8)


def test_a_lease_is_not_expired_at_its_very_end(reference: Reference, clock: ManualClock) -> None:
    task = started(reference)
    clock.advance(30)
    assert reference.reap() == []
    clock.advance(0.001)
    assert reference.reap() == [task]


def test_the_reaper_takes_every_expired_task_and_no_other(
    reference: Reference, clock: ManualClock
) -> None:
    gone = started(reference, task="gone")
    asked = started(reference, task="asked")
    reference.fire(asked, "cancel", actor="client")
    beating = started(reference, task="beating")
    finished = started(reference, task="finished")
    reference.fire(finished, "succeed", actor="w")
    reference.submit({}, task="new")
    clock.advance(20)
    reference.heartbeat(beating, actor="w")
    fresh = started(reference, task="fresh")
    others = [reference.dump(task) for task in (beating, finished, "new", fresh)]
    clock.advance(11)
    assert reference.reap() == [asked, gone]
    assert reference.read(gone) == Reading("retry_wait", 1, 3)
    assert reference.read(asked) == Reading("cancelled", 1, 4)
    assert reference.history(gone)[-1] == Entry(
        3, "fail", "running", "retry_wait", "reaper", {"retryable": True}
    )
    assert [reference.dump(task) for task in (beating, finished, "new", fresh)] == others
    assert reference.reap() == []


def test_the_reaper_fails_a_task_that_has_no_attempt_left(
    reference: Reference, clock: ManualClock
) -> None:
    task = reference.submit({"max_attempts": 1})
    reference.fire(task, "enqueue", actor="client")
    reference.fire(task, "start", actor="w")
    clock.advance(31)
    assert reference.reap() == [task]
    assert reference.read(task) == Reading("failed", 1, 3)


@pytest.mark.parametrize("bad", ["a", "b", "c"])
def test_a_row_that_cannot_be_processed_is_reported_and_stops_no_other(
    reference: Reference, clock: ManualClock, bad: str
) -> None:
    for task in ("a", "b", "c"):
        started(reference, task=task)
    clock.advance(31)
    before = reference.dump(bad)
    reference.poison(bad)
    reclaimed = reference.store.reclaim_expired()
    assert reclaimed.tasks == tuple(task for task in "abc" if task != bad)
    assert [(left.task, str(left.error)) for left in reclaimed.unprocessable] == [(bad, "poisoned")]
    assert reference.dump(bad) == before  # neither its row nor its history is half written
    for task in reclaimed.tasks:
        assert reference.read(task).state == "retry_wait"


def test_a_poison_works_once_and_the_next_run_of_the_reaper_takes_the_task(
    reference: Reference, clock: ManualClock
) -> None:
    for task in ("a", 'it\'s "b"'):
        started(reference, task=task)
    clock.advance(31)
    reference.poison('it\'s "b"')
    assert reference.reap() == ["a"]
    assert reference.reap() == ['it\'s "b"']

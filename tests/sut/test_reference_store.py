"""The reference store: its schema, its transactions, its history, and what a restart keeps."""

from __future__ import annotations

import sqlite3
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from lawful.sut import Entry, Reading, Reference
from lawful.sut.reference import (
    DuplicateTask,
    IllegalTransition,
    StaleLease,
    Task,
    UnknownTask,
    VersionConflict,
    step,
)
from lawful.sut.reference.machine import Event
from lawful.sut.reference.store import Store
from lawful.sut.reference.storing import encoded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lawful.strategies.clock import ManualClock
    from lawful.sut import Payload

TERMINAL: Final = ("succeeded", "failed", "cancelled")
# A cancel or a success ends a walk: rarer ones let it go round through its retries.
WEIGHTS: Final = {
    Event.ENQUEUE: 16,
    Event.START: 16,
    Event.SUCCEED: 2,
    Event.FAIL: 12,
    Event.CANCEL: 1,
    Event.RETRY_DUE: 16,
    Event.CANCEL_ACK: 3,
}
# Every call that takes an id, on one that was never given out.
CALLS: Final[dict[str, Callable[[Reference], object]]] = {
    "read": lambda system: system.read("t"),
    "history": lambda system: system.history("t"),
    "heartbeat": lambda system: system.heartbeat("t", actor="w"),
    "poison": lambda system: system.poison("t"),
    "enqueue": lambda system: system.fire("t", "enqueue", actor="w"),
    "start": lambda system: system.fire("t", "start", actor="w"),
    "succeed": lambda system: system.fire("t", "succeed", actor="w"),
    "fail": lambda system: system.fire("t", "fail", actor="w", payload={"retryable": True}),
    "cancel": lambda system: system.fire("t", "cancel", actor="w"),
    "retry_due": lambda system: system.fire("t", "retry_due", actor="w"),
    "cancel_ack": lambda system: system.fire("t", "cancel_ack", actor="w"),
    "cancel at a version": lambda system: system.fire("t", "cancel", actor="w", expected_version=3),
}


def started(system: Reference, worker: str = "w", *, task: str | None = None) -> str:
    """Submit, enqueue and start a task; return its id."""
    made = system.submit({"max_attempts": 3}, task=task)
    system.fire(made, "enqueue", actor="client")
    system.fire(made, "start", actor=worker)
    return made


def test_a_tasks_life_is_read_as_it_is_written(reference: Reference) -> None:
    task = started(reference)
    assert reference.read(task) == Reading("running", 1, 2, "w", 1030.0, 2)
    reference.fire(task, "succeed", actor="w", token=2)
    assert reference.read(task) == Reading("succeeded", 1, 3)


def test_the_database_refuses_a_misspelt_state(reference: Reference) -> None:
    task = reference.submit({})
    update = "UPDATE tasks SET state = 'cancelld' WHERE id = ?"
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        reference.store.connection.execute(update, (task,))
    assert reference.read(task).state == "submitted"


def test_the_database_refuses_a_held_state_without_a_holder(reference: Reference) -> None:
    task = started(reference)
    update = "UPDATE tasks SET lease_owner = NULL WHERE id = ?"
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        reference.store.connection.execute(update, (task,))


def test_the_database_refuses_a_second_entry_for_one_version(reference: Reference) -> None:
    task = reference.submit({})
    insert = "INSERT INTO task_events SELECT * FROM task_events WHERE task = ?"
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        reference.store.connection.execute(insert, (task,))


def test_a_fault_in_the_history_write_rolls_the_row_back_too(reference: Reference) -> None:
    task = started(reference)
    before = reference.dump()
    reference.poison(task)
    with pytest.raises(sqlite3.IntegrityError, match="poisoned"):
        reference.fire(task, "succeed", actor="w")
    assert reference.dump() == before
    reference.fire(task, "succeed", actor="w")  # the poison works once
    assert reference.read(task).state == "succeeded"


def test_a_write_between_load_and_update_is_a_version_conflict(reference: Reference) -> None:
    task = started(reference)
    # The row moves on under the write, as another connection's would without the lock.
    reference.store.connection.execute(
        "CREATE TRIGGER ahead BEFORE UPDATE ON tasks WHEN NEW.version = 3"
        " BEGIN UPDATE tasks SET version = 99 WHERE id = NEW.id; SELECT RAISE(IGNORE); END"
    )
    before = reference.dump()
    with pytest.raises(VersionConflict) as refused:
        reference.fire(task, "succeed", actor="w")
    assert (refused.value.task, refused.value.expected, refused.value.actual) == (task, 2, None)
    assert reference.dump() == before


def test_the_write_lock_is_held_from_before_the_row_is_read(
    reference: Reference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = started(reference)
    other = sqlite3.connect(tmp_path / "tasks.db", timeout=0, isolation_level=None)
    tried = []

    def now() -> float:  # called after the row is read and before anything is written
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        tried.append(True)
        return 0.0

    monkeypatch.setattr(reference.store, "_now", now)
    reference.fire(task, "succeed", actor="w")
    other.close()
    assert tried


def test_each_commit_is_synced_as_sqlite_does_by_default(reference: Reference) -> None:
    (level,) = reference.store.connection.execute("PRAGMA synchronous").fetchone()
    assert level == 2  # FULL


def test_a_stale_version_is_refused_before_a_noop_is_granted(reference: Reference) -> None:
    task = reference.submit({})
    reference.fire(task, "cancel", actor="client")
    before = reference.dump()
    with pytest.raises(VersionConflict):
        reference.fire(task, "cancel", actor="client", expected_version=0)
    reference.fire(task, "cancel", actor="client", expected_version=1)
    assert reference.dump() == before


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_id_is_a_key_error_in_every_call_and_leaves_no_mark(
    reference: Reference, name: str
) -> None:
    reference.submit({}, task="t1")
    before = reference.dump()
    with pytest.raises(KeyError) as refused:
        CALLS[name](reference)
    assert isinstance(refused.value, UnknownTask)
    assert refused.value.task == "t"
    assert str(refused.value) == "no task 't' was ever submitted"
    assert reference.dump() == before


def test_one_tasks_dump_is_its_own_rows_and_an_unknown_tasks_is_empty(reference: Reference) -> None:
    reference.submit({}, task="t")
    started(reference, task="t1")
    rows, entries = reference.dump("t")
    assert [row[0] for row in rows] == ["t"]
    assert [entry[0] for entry in entries] == ["t"]
    assert reference.dump(reference.absent()) == ((), ())


def test_an_id_is_the_callers_or_the_stores_and_given_out_once(reference: Reference) -> None:
    assert reference.submit({}, task="task-2") == "task-2"
    ids = [reference.submit({}) for _ in range(3)]
    assert len({"task-2", *ids}) == 4
    with pytest.raises(DuplicateTask) as refused:
        reference.submit({}, task="task-2")
    assert refused.value.task == "task-2"
    assert reference.absent() == "absent"
    reference.submit({}, task="absent")
    assert reference.absent() == "absent-"
    reference.submit({}, task="absent-")
    with pytest.raises(UnknownTask):
        reference.read(reference.absent())


@pytest.mark.parametrize(
    "params", [{"max_attempts": 0}, {"max_attempts": True}, {"max_attempt": 3}]
)
def test_a_parameter_that_cannot_be_is_refused(
    reference: Reference, params: dict[str, int]
) -> None:
    with pytest.raises(ValueError, match="expected"):
        reference.submit(params)
    assert reference.dump() == ((), ())


def test_an_unknown_event_or_field_is_refused_and_leaves_no_mark(reference: Reference) -> None:
    task = started(reference)
    before = reference.dump()
    with pytest.raises(ValueError, match="unknown event"):
        reference.fire(task, "finish", actor="w")
    with pytest.raises(ValueError, match="reason"):
        reference.fire(task, "succeed", actor="w", payload={"reason": "x"})
    assert reference.dump() == before


def test_a_late_report_is_illegal_while_the_task_waits_and_stale_once_it_is_retaken(
    reference: Reference, clock: ManualClock
) -> None:
    task = started(reference, "a")
    clock.advance(31)
    assert reference.reap() == [task]
    for event in (None, "retry_due"):  # in retry_wait, then in queued
        if event is not None:
            reference.fire(task, event, actor="timer")
        with pytest.raises(IllegalTransition):
            reference.fire(task, "succeed", actor="a", token=2)
    reference.fire(task, "start", actor="b")
    with pytest.raises(StaleLease):
        reference.fire(task, "succeed", actor="a", token=2)
    reference.fire(task, "succeed", actor="b")
    assert reference.read(task).state == "succeeded"


def test_the_history_carries_what_was_reported_and_by_whom(reference: Reference) -> None:
    task = started(reference)
    reference.fire(task, "fail", actor="w", payload={"retryable": True})
    assert reference.history(task) == [
        Entry(0, None, None, "submitted", None, {"max_attempts": 3}),
        Entry(1, "enqueue", "submitted", "queued", "client", {}),
        Entry(2, "start", "queued", "running", "w", {}),
        Entry(3, "fail", "running", "retry_wait", "w", {"retryable": True}),
    ]


def test_a_history_that_was_read_can_be_changed_without_changing_the_next(
    reference: Reference,
) -> None:
    task = started(reference)
    reference.fire(task, "fail", actor="w", payload={"retryable": True})
    payload = reference.history(task)[-1].payload
    assert isinstance(payload, dict)
    payload.clear()
    assert reference.history(task)[-1].payload == {"retryable": True}


def test_closing_and_reopening_keeps_state_attempts_version_and_history(
    tmp_path: Path, clock: ManualClock
) -> None:
    first = Reference()
    first.open(tmp_path, clock)
    task = started(first)
    first.fire(task, "fail", actor="w", payload={"retryable": True})
    seen = (first.read(task), first.history(task), first.dump())
    first.close()
    second = Reference()
    second.open(tmp_path, clock)
    assert (second.read(task), second.history(task), second.dump()) == seen
    assert second.read(task) == Reading("retry_wait", 1, 3)
    second.close()


def test_a_second_instance_on_the_same_path_sees_and_writes_the_same_store(
    reference: Reference, tmp_path: Path, clock: ManualClock
) -> None:
    other = Reference()
    other.open(tmp_path, clock)
    task = started(reference)
    assert other.read(task) == reference.read(task)
    other.fire(task, "cancel", actor="client")
    assert reference.read(task).state == "cancelling"
    other.close()


def test_a_task_put_straight_into_a_state_starts_its_version_and_history_there(
    reference: Reference,
) -> None:
    task = reference.put("cancelling", {"attempts": 2}, actor="w")
    assert reference.read(task) == Reading("cancelling", 2, 0, "w", 1030.0, 0)
    assert [entry[:5] for entry in reference.history(task)] == [(0, None, None, "cancelling", "w")]
    reference.fire(task, "cancel_ack", actor="w", token=0)
    assert reference.read(task) == Reading("cancelled", 2, 1)
    waiting = reference.put("retry_wait", {"attempts": 1, "max_attempts": 2}, actor="w")
    assert reference.read(waiting) == Reading("retry_wait", 1, 0)
    counters = [reference.history(each)[0].payload for each in (task, waiting)]
    assert counters == [
        {"attempts": 2, "max_attempts": 3},
        {"attempts": 1, "max_attempts": 2},
    ]


def test_the_store_goes_on_counting_where_ids_are_taken(reference: Reference) -> None:
    for taken in ("task-4", "task-5", "task-6"):
        reference.submit({}, task=taken)
    assert reference.submit({}) == "task-7"


def test_equal_payloads_are_equal_texts() -> None:
    assert encoded({"b": 2, "a": 1}) == encoded({"a": 1, "b": 2}) == '{"a": 1, "b": 2}'
    assert encoded({}) == "{}"


def test_a_store_goes_by_the_rule_that_it_is_given(tmp_path: Path, clock: ManualClock) -> None:
    def still(task: Task, *_: object, **__: object) -> Task:
        return task

    store = Store(tmp_path / "still.db", now=clock.now, rule=still)
    task = store.submit({})
    assert store.fire(task, "enqueue", actor="client").state == "submitted"
    store.close()


def test_the_history_says_when(reference: Reference, clock: ManualClock) -> None:
    task = reference.submit({})
    clock.advance(5.5)
    reference.fire(task, "enqueue", actor="client")
    told = reference.store.history(task)
    assert [change.at for change in told] == [1000.0, 1005.5]


def test_what_is_due_waits_for_a_retry_or_was_never_enqueued(reference: Reference) -> None:
    new = reference.submit({}, task="new")
    waiting = started(reference, task="waiting")
    reference.fire(waiting, "fail", actor="w", payload={"retryable": True})
    started(reference, task="busy")
    assert reference.due() == [new, waiting]


def replayed(entries: list[Entry]) -> Task:
    """Fold a task's history, from nothing but the history."""
    first, *rest = entries
    assert first.payload is not None
    task = Task("t", max_attempts=int(first.payload["max_attempts"]))
    for entry in rest:
        assert entry.event is not None
        assert entry.actor is not None
        assert entry.payload is not None
        assert entry.before == task.state
        task = step(task, Event(entry.event), actor=entry.actor, payload=entry.payload)
        assert (entry.version, entry.after) == (task.version, task.state)
    return task


def test_200_tasks_under_25_random_events_each_keep_their_invariants(
    reference: Reference,
) -> None:
    random = Random(20261001)
    limits = {
        reference.submit({"max_attempts": limit}): limit
        for limit in random.choices((1, 2, 3), k=200)
    }
    moves = dict.fromkeys(limits, 0)
    starts = dict.fromkeys(limits, 0)
    last = {task: reference.read(task) for task in limits}
    for task in list(limits) * 25:
        (event,) = random.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))
        payload: Payload = {"retryable": random.random() < 0.9} if event is Event.FAIL else {}
        try:
            reference.fire(task, event, actor=random.choice("aaab"), payload=payload)
        except (IllegalTransition, StaleLease):
            assert reference.read(task) == last[task]
            continue
        read = reference.read(task)
        if read.version != last[task].version:
            assert last[task].state not in TERMINAL
            moves[task] += 1
            starts[task] += event is Event.START
        assert read.version == moves[task]
        assert read.attempts == starts[task] <= limits[task]
        last[task] = read
    for task, read in last.items():
        folded = replayed(reference.history(task))
        lease = folded.lease
        assert (folded.state, folded.attempts, folded.version) == read[:3]
        assert (lease and lease.owner, lease and lease.token) == (
            read.lease_owner,
            read.lease_token,
        )
    # The triggers held: the tasks end everywhere, and some went through a second start.
    seen = Counter(read.state for read in last.values())
    seen["second start"] = sum(count > 1 for count in starts.values())
    assert min(seen[state] for state in (*TERMINAL, "second start")) > 20, seen

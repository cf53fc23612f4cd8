"""The pure machine: each cell by hand, the guard, the order of checks, and long random walks."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random
from typing import Final

import pytest

from lawful.sut.reference import IllegalTransition, Lease, StaleLease, Task, VersionConflict
from lawful.sut.reference.machine import Event, State, event_named, expire, placed, renew, step

EVENTS: Final = ("enqueue", "start", "succeed", "fail", "cancel", "retry_due", "cancel_ack")
# Written by hand; "-" is refused, "=" is a no-op. The failure is retryable, with attempts left.
CELLS: Final = {
    "submitted": ("queued", "-", "-", "-", "cancelled", "-", "-"),
    "queued": ("-", "running", "-", "-", "cancelled", "-", "-"),
    "running": ("-", "-", "succeeded", "retry_wait", "cancelling", "-", "-"),
    "retry_wait": ("-", "-", "-", "-", "cancelled", "queued", "-"),
    "cancelling": ("-", "-", "succeeded", "cancelled", "=", "-", "cancelled"),
    "succeeded": ("-", "-", "-", "-", "-", "-", "-"),
    "failed": ("-", "-", "-", "-", "-", "-", "-"),
    "cancelled": ("-", "-", "-", "-", "=", "-", "-"),
}
GRID: Final = [
    (state, event, to)
    for state, row in CELLS.items()
    for event, to in zip(EVENTS, row, strict=True)
]
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


def made(state: str, **counters: int) -> Task:
    """Return task ``t`` in ``state``, held by ``w`` with token 0 until 30 where it is held."""
    return placed("t", state, counters, actor="w", now=0.0)


def fired(task: Task, event: str, actor: str = "w", *, retryable: bool = True) -> Task:
    payload = {"retryable": retryable} if event == "fail" else {}
    return step(task, event_named(event), actor=actor, payload=payload, now=100.0)


def test_the_56_cells_are_12_legal_2_noops_and_42_refused() -> None:
    marks = [to for _, _, to in GRID]
    assert (len(marks), marks.count("="), marks.count("-")) == (56, 2, 42)


@pytest.mark.parametrize(("state", "event", "to"), GRID)
def test_each_cell_of_the_pure_machine_is_as_written_by_hand(
    state: str, event: str, to: str
) -> None:
    task = made(state, attempts=1)
    as_it_was = copy.deepcopy(task)
    if to == "-":
        with pytest.raises(IllegalTransition) as refused:
            fired(task, event)
        assert (refused.value.state, refused.value.event) == (state, event)
    elif to == "=":
        assert fired(task, event) is task
    else:
        after = fired(task, event)
        assert (after.state, after.version) == (to, 1)
        assert after.attempts == (2 if event == "start" else 1)
    assert task == as_it_was


@pytest.mark.parametrize(
    ("retryable", "attempts", "limit", "to"),
    [
        (True, 1, 1, "failed"),
        (True, 1, 2, "retry_wait"),
        (True, 2, 2, "failed"),
        (True, 2, 3, "retry_wait"),
        (True, 3, 3, "failed"),
        (False, 1, 3, "failed"),
        (False, 3, 3, "failed"),
    ],
)
def test_a_failure_waits_for_a_retry_only_if_retryable_and_an_attempt_is_left(
    retryable: bool, attempts: int, limit: int, to: str
) -> None:
    task = made("running", attempts=attempts, max_attempts=limit)
    after = fired(task, "fail", retryable=retryable)
    assert (after.state, after.attempts) == (to, attempts)


def test_a_failure_while_cancelling_is_cancelled_whatever_it_says() -> None:
    assert fired(made("cancelling", attempts=1), "fail", retryable=False).state == "cancelled"


def test_a_start_grants_a_lease_whose_token_is_the_version_at_that_start() -> None:
    after = fired(fired(made("submitted"), "enqueue"), "start", "alice")
    assert after.lease == Lease(owner="alice", token=2, until=130.0)


def test_a_cancel_leaves_the_lease_with_the_worker_until_it_reports() -> None:
    running = made("running", attempts=1)
    cancelling = fired(running, "cancel", "client")
    assert cancelling.lease == running.lease == Lease("w", 0, 30.0)
    assert fired(cancelling, "cancel_ack").lease is None


@pytest.mark.parametrize("event", ["succeed", "fail"])
def test_a_report_that_ends_the_run_releases_the_lease(event: str) -> None:
    assert fired(made("running", attempts=1), event).lease is None


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ("running", "succeed"),
        ("running", "fail"),
        ("cancelling", "succeed"),
        ("cancelling", "fail"),
        ("cancelling", "cancel_ack"),
    ],
)
def test_every_report_of_a_stranger_is_a_stale_lease(state: str, event: str) -> None:
    with pytest.raises(StaleLease) as refused:
        fired(made(state, attempts=1), event, "stranger")
    assert (refused.value.actor, refused.value.owner, refused.value.current) == ("stranger", "w", 0)
    assert refused.value.task == "t"


def test_the_token_of_an_older_start_is_stale_in_the_same_workers_hand() -> None:
    task = Task("t", State.RUNNING, 2, 3, 5, Lease("w", 5, 30.0))
    for older in (0, 2):
        with pytest.raises(StaleLease) as refused:
            step(task, Event.SUCCEED, actor="w", token=older)
        assert (refused.value.token, refused.value.current) == (older, 5)
    assert step(task, Event.SUCCEED, actor="w", token=5).state == "succeeded"
    assert step(task, Event.SUCCEED, actor="w").state == "succeeded"


def test_a_strangers_illegal_report_is_illegal_before_its_lease_is_looked_at() -> None:
    with pytest.raises(IllegalTransition):
        fired(made("running", attempts=1), "cancel_ack", "stranger")


@pytest.mark.parametrize("state", ["cancelling", "cancelled", "succeeded", "submitted"])
def test_a_stale_version_is_refused_before_a_noop_and_before_an_illegal_move(state: str) -> None:
    with pytest.raises(VersionConflict) as refused:
        step(made(state), Event.CANCEL, actor="w", expected_version=7)
    assert (refused.value.task, refused.value.expected, refused.value.actual) == ("t", 7, 0)


def test_the_right_version_is_accepted_at_zero_too() -> None:
    task = made("submitted")
    assert step(task, Event.ENQUEUE, actor="c", expected_version=0).version == 1


def test_a_stale_version_is_refused_before_a_stale_lease() -> None:
    with pytest.raises(VersionConflict):
        step(made("running"), Event.SUCCEED, actor="stranger", expected_version=9)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("fail", {}),
        ("fail", {"retryable": 1}),
        ("fail", {"retryable": "yes"}),
        ("fail", {"retryable": True, "reason": "oom"}),
        ("succeed", {"retryable": True}),
        ("succeed", {"result": "42"}),
    ],
)
def test_a_payload_that_is_not_as_declared_is_refused(
    event: str, payload: dict[str, bool | int | str]
) -> None:
    with pytest.raises(ValueError, match=r"report|expected"):
        step(made("running", attempts=1), event_named(event), actor="w", payload=payload)


def test_an_event_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown event 'finish': expected enqueue, start"):
        event_named("finish")


@pytest.mark.parametrize(
    ("state", "counters"),
    [
        ("done", {}),
        ("queued", {"attempts": -1}),
        ("queued", {"attempts": 4}),
        ("queued", {"attempts": True}),
        ("queued", {"max_attempts": 0}),
        ("queued", {"rounds": 1}),
    ],
)
def test_a_task_is_not_placed_where_it_cannot_be(state: str, counters: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected"):
        placed("t", state, counters, actor="w", now=0.0)


def test_an_expired_task_fails_as_retryable_without_its_holder() -> None:
    after = expire(made("running", attempts=1))
    assert (after.state, after.version, after.lease) == ("retry_wait", 1, None)
    assert expire(made("running", attempts=3)).state == "failed"
    assert expire(made("cancelling", attempts=1)).state == "cancelled"
    with pytest.raises(IllegalTransition):
        expire(made("queued"))


def test_a_renewed_lease_counts_from_now_and_changes_nothing_else() -> None:
    task = Task("t", State.RUNNING, 2, 3, 5, Lease("w", 5, 30.0))
    assert renew(task, actor="w", now=500.0) == Task(
        "t", State.RUNNING, 2, 3, 5, Lease("w", 5, 530.0)
    )
    with pytest.raises(StaleLease):
        renew(task, actor="stranger", now=0.0)
    with pytest.raises(StaleLease):
        renew(task, actor="w", token=4, now=0.0)
    with pytest.raises(StaleLease) as refused:
        renew(made("queued"), actor="w", token=7, now=0.0)
    assert (refused.value.task, refused.value.actor, refused.value.token) == ("t", "w", 7)
    assert (refused.value.owner, refused.value.current) == (None, None)


def test_a_task_is_placed_with_no_attempt_and_three_allowed_unless_it_is_said() -> None:
    assert placed("t", "queued", {}, actor="w", now=0.0) == Task("t", State.QUEUED, 0, 3, 0, None)


def test_a_start_at_no_time_in_particular_is_at_second_0() -> None:
    assert step(made("queued"), Event.START, actor="w").lease == Lease("w", 1, 30.0)


@pytest.mark.parametrize(("state", "event", "to"), GRID)
def test_whatever_becomes_of_a_task_it_is_about_that_task(state: str, event: str, to: str) -> None:
    task = made(state, attempts=1)
    if to == "-":
        with pytest.raises(IllegalTransition) as refused:
            fired(task, event)
        assert (refused.value.task, refused.value.state, refused.value.event) == ("t", state, event)
    else:
        assert (fired(task, event).id, fired(task, event).max_attempts) == ("t", 3)


def test_a_refusal_names_the_way_on_or_says_that_there_is_none() -> None:
    with pytest.raises(IllegalTransition, match="running and refuses start; allowed from here: s"):
        fired(made("running"), "start")
    with pytest.raises(IllegalTransition, match="succeeded and refuses start; it is terminal"):
        fired(made("succeeded"), "start")


def test_2000_random_sequences_of_length_40_keep_their_invariants() -> None:
    random = Random(20261001)
    seen: Counter[str] = Counter()
    for _ in range(2000):
        limit = random.choice((1, 2, 3))
        task = Task("t", max_attempts=limit)
        log: list[tuple[Event, str, dict[str, bool | int | str]]] = []
        starts = token = 0
        for _ in range(40):
            (event,) = random.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))
            actor = random.choice("aaab")
            payload: dict[str, bool | int | str] = (
                {"retryable": random.random() < 0.9} if event is Event.FAIL else {}
            )
            try:
                after = step(task, event, actor=actor, payload=payload)
            except (IllegalTransition, StaleLease):
                continue
            if after is task:
                assert event is Event.CANCEL
                continue
            assert task.state not in TERMINAL
            log.append((event, actor, payload))
            if event is Event.START:
                starts += 1
                assert after.lease is not None
                assert after.lease.token > token
                token = after.lease.token
            task = after
            assert task.version == len(log)
            assert task.attempts == starts <= limit
            assert (task.lease is not None) == (task.state in ("running", "cancelling"))
        replayed = Task("t", max_attempts=limit)
        for event, actor, payload in log:
            replayed = step(replayed, event, actor=actor, payload=payload)
        assert replayed == task
        seen[task.state] += 1
        seen["third start"] += starts == 3
    # The triggers held: the walks end everywhere, and many only after their last attempt.
    assert min(seen[state] for state in (*TERMINAL, "third start")) > 100, seen

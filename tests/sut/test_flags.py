"""The naive flags pass the ten cells that the design says, and no other; the probe shows why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from lawful.sut import Entry, Reading
from lawful.sut.flags import FlagsOf

if TYPE_CHECKING:
    from lawful.sut import Flags
    from lawful.sut.contract import Payload

EVENTS: Final = ("enqueue", "start", "succeed", "fail", "cancel", "retry_due", "cancel_ack")
STATES: Final = (
    "submitted",
    "queued",
    "running",
    "retry_wait",
    "cancelling",
    "succeeded",
    "failed",
    "cancelled",
)
# By hand: the twelve moves of the lifecycle (the failure is retryable, with attempts left).
LEGAL: Final = {
    ("submitted", "enqueue"): "queued",
    ("submitted", "cancel"): "cancelled",
    ("queued", "start"): "running",
    ("queued", "cancel"): "cancelled",
    ("running", "succeed"): "succeeded",
    ("running", "fail"): "retry_wait",
    ("running", "cancel"): "cancelling",
    ("retry_wait", "retry_due"): "queued",
    ("retry_wait", "cancel"): "cancelled",
    ("cancelling", "succeed"): "succeeded",
    ("cancelling", "fail"): "cancelled",
    ("cancelling", "cancel_ack"): "cancelled",
}
WRONG: Final = {("running", "cancel"), ("cancelling", "fail")}
# By hand: where each event leads, whatever the state.
TARGETS: Final = {
    "enqueue": "queued",
    "start": "running",
    "succeed": "succeeded",
    "fail": "retry_wait",
    "cancel": "cancelled",
    "retry_due": "queued",
    "cancel_ack": "cancelled",
}


def fired(system: Flags, task: str, *events: str) -> None:
    for event in events:
        payload: Payload = {"retryable": True} if event == "fail" else {}
        system.fire(task, event, actor="w", payload=payload)


def test_exactly_ten_of_the_56_cells_are_right(flags: Flags) -> None:
    right = set()
    for state in STATES:
        for event in EVENTS:
            task = flags.put(state, {"attempts": 1}, actor="w")
            fired(flags, task, event)
            if flags.read(task).state == LEGAL.get((state, event)):
                right.add((state, event))
    assert right == set(LEGAL) - WRONG
    assert len(right) == 10


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", STATES)
def test_each_event_is_accepted_anywhere_and_leads_to_its_one_target(
    flags: Flags, state: str, event: str
) -> None:
    task = flags.put(state, {"attempts": 1}, actor="w")
    fired(flags, task, event)
    attempts = 2 if event == "start" else 1
    assert flags.read(task) == Reading(TARGETS[event], attempts, 1)
    assert [entry[:4] for entry in flags.history(task)] == [
        (0, None, None, state),
        (1, event, state, TARGETS[event]),
    ]


@pytest.mark.parametrize("state", ["cancelling", "cancelled"])
def test_a_repeated_cancel_is_written_once_too_often(flags: Flags, state: str) -> None:
    task = flags.put(state, {"attempts": 1}, actor="w")
    fired(flags, task, "cancel")
    assert (flags.read(task).version, len(flags.history(task))) == (1, 2)


@pytest.mark.parametrize(
    ("attempts", "retryable", "to"),
    [(1, True, "retry_wait"), (1, False, "retry_wait"), (3, True, "failed"), (3, False, "failed")],
)
def test_a_failure_is_decided_by_attempts_alone(
    flags: Flags, attempts: int, retryable: bool, to: str
) -> None:
    task = flags.put("running", {"attempts": attempts}, actor="w")
    flags.fire(task, "fail", actor="w", payload={"retryable": retryable})
    assert flags.read(task).state == to


def test_the_probe_shows_flags_that_are_no_state_at_all(flags: Flags) -> None:
    task = flags.submit({})
    fired(flags, task, "enqueue", "start", "succeed")
    assert flags.read(task).state == "succeeded"
    assert flags.flags_of(task) == FlagsOf(
        is_cancelled=False,
        is_failed=False,
        is_done=True,
        is_cancelling=False,
        is_waiting=False,
        is_running=True,
        is_queued=True,
    )
    cancelled = flags.submit({})
    fired(flags, cancelled, "enqueue", "start", "cancel")
    probe = flags.flags_of(cancelled)
    assert (probe.is_cancelled, probe.is_running) == (True, True)


def test_an_event_lowers_only_the_flags_that_would_outshine_its_own(flags: Flags) -> None:
    task = flags.submit({})
    fired(flags, task, "enqueue", "start", "succeed", "fail")
    probe = flags.flags_of(task)
    assert (probe.is_done, probe.is_waiting, probe.is_running) == (False, True, True)


def test_no_event_leads_to_cancelling_but_put_does(flags: Flags) -> None:
    assert "cancelling" not in TARGETS.values()
    assert flags.read(flags.put("cancelling", {}, actor="w")).state == "cancelling"


def test_a_start_is_counted_and_the_history_carries_the_payload(flags: Flags) -> None:
    task = flags.submit({"max_attempts": 1})
    fired(flags, task, "enqueue", "start", "fail")
    assert flags.read(task) == Reading("failed", 1, 3)
    assert flags.history(task)[-1] == Entry(
        3, "fail", "running", "failed", "w", {"retryable": True}
    )


def test_an_unknown_task_is_a_key_error_and_leaves_no_mark(flags: Flags) -> None:
    flags.submit({}, task="t1")
    before = flags.dump()
    for event in EVENTS:
        with pytest.raises(KeyError):
            fired(flags, "t", event)
    for look in (flags.read, flags.history, flags.flags_of):
        with pytest.raises(KeyError):
            look(flags.absent())
    assert flags.dump() == before


def test_a_word_that_is_no_event_state_or_counter_is_refused(flags: Flags) -> None:
    task = flags.submit({})
    with pytest.raises(ValueError, match="unknown event 'finish'"):
        fired(flags, task, "finish")
    with pytest.raises(ValueError, match="unknown state 'done'"):
        flags.put("done", {}, actor="w")
    with pytest.raises(ValueError, match="unknown name 'max_attempt'"):
        flags.submit({"max_attempt": 3})

"""A trace done again is judged step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.laws.replaying import replay
from lawful.laws.smoke import smoke
from lawful.strategies.adapter import describe
from lawful.strategies.trace import parse_trace
from lawful.strategies.watch import Watch

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.laws.replaying import Replayed


def replayed(target: str, text: str, folder: Path) -> list[Replayed]:
    adapter = smoke(describe(target), folder, Watch()).adapter
    return replay(adapter, parse_trace(text, adapter.table), folder)


def test_a_lawful_trace_has_no_problem_in_any_step(tmp_path: Path) -> None:
    text = (
        "enqueue start@worker-1 HEARTBEAT@worker-1 ADVANCE(31) REAP REOPEN retry_due "
        "start@worker-1 succeed@worker-1[token=1] succeed@worker-1[version=5,token=2] READ "
        "?:READ ?:cancel ?:HEARTBEAT@worker-1"
    )
    steps = replayed("reference", text, tmp_path)
    assert [step.lawful for step in steps] == [True] * 15
    refused = steps[9].seen[0]
    assert refused.answer.reason == "stale_lease"
    assert steps[-5].seen[0].answer.after.position.state == "succeeded"


def test_the_step_that_is_wrong_is_the_one_that_is_named(tmp_path: Path) -> None:
    steps = replayed("flags", "enqueue start@worker-1 cancel", tmp_path)
    assert [step.lawful for step in steps] == [True, True, True, False]
    (problem,) = steps[-1].seen[0].problems
    assert (problem.aspect, problem.expected, problem.got) == ("state", "cancelling", "cancelled")


def test_a_poisoned_task_stops_no_other_and_a_second_instance_sees_the_same(
    tmp_path: Path,
) -> None:
    text = (
        "a:SUBMIT b:SUBMIT a:enqueue b:enqueue a:start@w1 b:start@w2 SECOND "
        "a:POISON ADVANCE(31) REAP b:retry_due"
    )
    steps = replayed("reference", text, tmp_path)
    assert all(step.lawful for step in steps)
    opened, reaped = steps[6].seen, steps[9].seen
    assert [seen.task for seen in opened] == ["a", "b"]
    states = {seen.task: seen.after.reading.state for seen in reaped if seen.after}
    assert states == {"a": "running", "b": "retry_wait"}


def test_a_step_that_the_adapter_does_not_offer_is_named(tmp_path: Path) -> None:
    for text, method in (
        ("enqueue REAP", "reap"),
        ("HEARTBEAT@w", "heartbeat"),
        ("POISON", "poison"),
    ):
        steps = replayed("flags", text, tmp_path)
        assert steps[-1].fault == f"{method}: the adapter does not offer it"


def test_two_tasks_are_told_apart(tmp_path: Path) -> None:
    steps = replayed("reference", "a:SUBMIT b:SUBMIT(max_attempts=1) a:enqueue b:cancel", tmp_path)
    assert all(step.lawful for step in steps)
    assert [step.seen[0].task for step in steps[2:]] == ["a", "b"]


def test_a_put_that_the_system_does_not_offer_stops_the_replay_in_one_line(tmp_path: Path) -> None:
    steps = replayed("litequeue", "PUT(locked)@w1 done", tmp_path)
    assert len(steps) == 1
    assert not steps[0].lawful
    assert steps[0].fault == "put: the adapter does not offer it"

"""A move means something wherever the tasks are, and a program that is shrunk stays one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lawful.spec import Letter, shipped_table
from lawful.strategies.moves import (
    ABILITIES,
    FRONT,
    Beat,
    Begin,
    Firing,
    Onward,
    Resolver,
    Shown,
    Who,
    drawable,
    elapsing,
    every_start,
    kinds,
    plainer,
    resolved,
    simplified,
    spelled_out,
)
from lawful.strategies.trace import Advance, Reap, Second, Submit, format_trace

TABLE = shipped_table("task")
FAIL = Letter("fail", (("retryable", True),))


def start(state: str, attempts: int = 0, limit: int = 3) -> Begin:
    return next(
        Begin(each)
        for each in every_start(TABLE)
        if each.position == (state, (attempts,)) and dict(each.params)["max_attempts"] == limit
    )


def written(*moves: object, tasks: int = 3) -> str:
    return format_trace(resolved(TABLE, moves, tasks=tasks))  # type: ignore[arg-type]


TWICE = "enqueue@client start@worker-1 fail(retryable=true)@worker-1 retry_due@client"


def test_a_zombie_is_the_worker_before_the_present_one() -> None:
    late = Firing(Letter("succeed"), Who.FORMER)
    assert written(start("running", 2), late) == f"{TWICE} start@worker-2 succeed@worker-1"


def test_where_nobody_has_started_the_task_a_zombie_is_whoever_should() -> None:
    assert written(start("queued"), Firing(Letter("cancel"), Who.FORMER)) == (
        "enqueue@client cancel@client"
    )


def test_a_stale_version_is_the_one_before_or_one_that_is_not_reached() -> None:
    stale = Firing(Letter("enqueue"), version=Shown.STALE)
    assert written(start("submitted"), stale) == "enqueue@client[version=1]"
    stale = Firing(Letter("start"), version=Shown.STALE)
    assert written(start("queued"), stale) == "enqueue@client start@worker-1[version=0]"


def test_no_token_is_stale_before_the_second_start() -> None:
    stale = Firing(Letter("succeed"), token=Shown.STALE)
    assert written(start("running", 1), stale).endswith("succeed@worker-1")
    assert written(start("running", 2), stale).endswith("succeed@worker-2[token=1]")


def test_a_task_is_sent_on_by_what_the_table_accepts_and_others_are_left_alone() -> None:
    ended, waiting = start("cancelled"), start("queued")
    assert written(ended, waiting, Onward(0)) == (
        "cancel@client t2:SUBMIT t2:enqueue@client t2:start@worker-1"
    )


def test_where_every_task_has_ended_anything_is_fired() -> None:
    assert written(start("failed", 1), Onward(1)).endswith(
        "fail(retryable=false)@worker-1 start@stranger"
    )


def test_a_task_too_many_is_left_out() -> None:
    assert written(start("queued"), start("queued"), tasks=1) == "enqueue@client"


def test_spelled_out_moves_do_the_same_a_step_each() -> None:
    course = (start("running", 2), Onward(1, task=5), start("queued"), Beat(task=3), Reap())
    single = spelled_out(TABLE, course, tasks=2)
    ops = resolved(TABLE, course, tasks=2)
    assert resolved(TABLE, single, tasks=2) == ops
    assert len(single) == len(ops)
    assert not [move for move in single if isinstance(move, Onward)]


@pytest.mark.parametrize(
    ("seconds", "part", "whole"),
    [(30, 7, 35), (7, 2, 8), (60, 16, 64), (3, 2, 4), (2, 1.5, 3.0), (1, 0.75, 1.5)],
)
def test_a_part_of_a_lease_and_more_than_a_whole_one(
    seconds: int, part: float, whole: float
) -> None:
    assert TABLE.lease
    assert elapsing(replace(TABLE.lease, seconds=seconds)) == (part, whole)


def test_no_sum_of_time_that_passes_is_a_whole_lease() -> None:
    assert TABLE.lease
    for seconds in range(1, 200):
        part, whole = elapsing(replace(TABLE.lease, seconds=seconds))
        assert part < seconds < whole < part + seconds
        sums = {part * n + whole * m for n in range(300) for m in range(3)}
        assert seconds not in sums


def test_what_is_not_offered_is_not_among_the_moves() -> None:
    everything = {kind.name for kind in kinds(TABLE, tasks=2, able=ABILITIES)}
    assert everything == {
        "fire", "go_on", "go_on_oddly", "fire_oddly", "begin", "advance", "reap", "heartbeat",
        "reopen", "second",
    }  # fmt: skip
    bare = {kind.name for kind in kinds(TABLE, tasks=1, able=())}
    assert bare == {"fire", "go_on"}
    gate = {kind.name for kind in kinds(shipped_table("gate"), tasks=2, able=ABILITIES)}
    assert not gate & {"advance", "reap", "heartbeat"}


def test_every_move_can_be_drawn_and_the_likely_ones_come_first() -> None:
    some = kinds(TABLE, tasks=4, able=ABILITIES)
    every = drawable(some)
    assert set(every) == {move for kind in some for move in kind.moves}
    begun = sum(isinstance(move, Begin) for move in every[:FRONT])
    assert begun == round(FRONT * 8 / 28)  # its weight is 8 of 2 + 6 + 3 + 8 + 3 + 3 + 1 + 1 + 1


def test_simpler_programs_begin_elsewhere_and_do_without_the_reaper() -> None:
    reaped = spelled_out(TABLE, (start("running", 1), Advance(35), Reap()), tasks=1)
    lines = [written(*course) for course in simplified(TABLE, reaped)]
    assert "enqueue@client start@worker-1 fail(retryable=true)@worker-1" in lines
    assert "SUBMIT(max_attempts=1) enqueue@client start@worker-1 ADVANCE(35) REAP" in lines


def test_a_task_that_is_left_out_takes_its_moves_with_it() -> None:
    two = spelled_out(TABLE, (start("queued"), start("queued"), Firing(FAIL, task=1)), tasks=2)
    assert "enqueue@client fail(retryable=true)@worker-1" in [
        written(*course) for course in simplified(TABLE, two)
    ]


def test_a_second_instance_is_opened_once_and_spelled_out_once() -> None:
    drawn = (start("queued"), Second(), Second(), Firing(FAIL))
    assert written(*drawn) == "enqueue@client SECOND fail(retryable=true)@worker-1"
    single = spelled_out(TABLE, drawn, tasks=1)
    assert len(single) == len(resolved(TABLE, drawn, tasks=1)) == 4


def test_a_plainer_program_shows_less_and_is_as_long() -> None:
    shown = Firing(Letter("enqueue"), Who.STRANGER, Shown.RIGHT, Shown.RIGHT)
    begun = start("submitted", limit=1)
    lines = {written(*course) for course in plainer(TABLE, (begun, shown))}
    assert lines == {
        "SUBMIT(max_attempts=1) enqueue@client[version=0]",
        "SUBMIT(max_attempts=1) enqueue@stranger",
        "SUBMIT(max_attempts=1) enqueue@stranger[version=0]",
        "enqueue@stranger[version=0]",
    }


def test_a_resolver_follows_the_reaper_and_the_heartbeat() -> None:
    resolver = Resolver(TABLE)
    ops = resolver.resolve(start("running", 1))
    assert ops[0] == Submit()
    resolver.resolve(Advance(7))
    resolver.resolve(Beat())
    resolver.resolve(Advance(28))
    resolver.resolve(Reap())  # renewed at 7: it lasts until 37
    assert resolver.tasks[0].model.position.state == "running"
    resolver.resolve(Advance(7))
    resolver.resolve(Reap())
    assert resolver.tasks[0].model.position.state == "retry_wait"

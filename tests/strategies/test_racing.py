"""Races of stores of which every call is right by itself: what each schedule comes to."""

from __future__ import annotations

import functools
import gc
import threading
from typing import TYPE_CHECKING

import pytest

import racers
from lawful.laws.smoke import smoke
from lawful.strategies.adapter import describe_class
from lawful.strategies.performing import Unready
from lawful.strategies.racing import (
    Arena,
    format_race,
    is_race,
    parse_race,
    parse_run,
)
from lawful.strategies.schedules import Diverged, ScheduleError, explore, follow, parse_schedule
from lawful.strategies.trace import TraceError, parse_trace
from lawful.strategies.watch import Watch
from miniatures.trial import task_table, workplace

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.racing import Run
    from miniatures.honest import Row

TABLE = task_table()
STARTS = "enqueue@client || start@worker-1 || start@worker-2"
REAPED = "enqueue@client start@worker-1 ADVANCE(31) || REAP || succeed@worker-1"
HURRIED = "SUBMIT || enqueue@client || cancel@client"

BOTH = {
    "A accepted, B accepted -> running by worker-1",
    "A accepted, B accepted -> running by worker-2",
}


class InDelete(racers.Whole):
    """Each call is one transaction, with a rollback journal."""

    journal = "DELETE"


class OneByOneInDelete(racers.OneByOne):
    """Every statement is a transaction, with a rollback journal."""

    journal = "DELETE"


class DefaultModeInDelete(racers.DefaultMode):
    """A transaction begins with the first write, with a rollback journal."""

    journal = "DELETE"


class ComparedInDelete(racers.Compared):
    """The row is compared in the transaction that writes it, with a rollback journal."""

    journal = "DELETE"


@functools.cache
def described(factory: type) -> Adapter:
    adapter = describe_class(factory, f"racers:{factory.__name__}", table=TABLE)
    with workplace() as folder:
        return smoke(adapter, folder, Watch()).adapter


def runs(
    factory: type,
    line: str,
    *,
    most: int | None = None,
    reduced: bool = True,
) -> list[Run]:
    """Run a race under every schedule."""
    adapter = described(factory)
    race = parse_race(line, adapter.table)._replace(every=not reduced)
    with workplace() as folder, Arena(adapter, folder, workers=len(race.does)) as arena:
        return list(explore(lambda chooser: arena.run(race, chooser), most=most))


def followed(factory: type, line: str, times: int = 1) -> list[Run]:
    """Run a race under the schedule that stands behind it, as often as told."""
    adapter = described(factory)
    race, schedule = parse_run(line, adapter.table)
    with workplace() as folder, Arena(adapter, folder) as arena:
        return [arena.run(race, follow(schedule)) for _ in range(times)]


def got(found: list[Run]) -> set[str]:
    return {run.got for run in found}


# -- how many schedules there are, and how many of them are unlawful -------------------------------


@pytest.mark.parametrize(
    ("factory", "schedules", "unlawful"),
    [
        (racers.Whole, 2, 0),
        (racers.OneByOne, 16, 12),
        (racers.DefaultMode, 8, 6),
        (racers.DeferredBegin, 20, 18),
        (racers.Compared, 8, 0),
    ],
)
def test_two_starts_of_one_task(factory: type, schedules: int, unlawful: int) -> None:
    found = runs(factory, STARTS)
    assert len(found) == schedules
    assert len({run.schedule for run in found}) == schedules
    assert sum(not run.lawful for run in found) == unlawful


def test_whole_transactions_come_to_what_the_calls_do_in_turn() -> None:
    first, second = runs(racers.Whole, STARTS)
    assert (first.schedule, second.schedule) == ("A A | B B", "B B | A A")
    assert first.in_turn
    assert second.in_turn
    assert first.got.startswith("A accepted, B refused (")
    assert first.got.endswith(" -> running by worker-1")
    assert second.got.startswith("A refused (")
    assert second.got.endswith(", B accepted -> running by worker-2")


def test_a_check_before_the_write_lets_both_start_and_the_last_one_holds_the_lease() -> None:
    wrong = [run for run in runs(racers.OneByOne, STARTS) if not run.lawful]
    assert got(wrong) == BOTH
    assert {run.expected for run in wrong} == {
        (
            "A accepted, B refused (illegal) -> running by worker-1",
            "B accepted, A refused (illegal) -> running by worker-2",
        )
    }
    assert not any(run.in_turn for run in wrong)


def test_one_that_cannot_upgrade_its_transaction_fails() -> None:
    wrong = [run for run in runs(racers.DeferredBegin, STARTS) if not run.lawful]
    assert all(
        "failed (fire: raised OperationalError: database is locked)" in run.got for run in wrong
    )


def test_three_workers_in_whole_transactions_are_the_orders_of_three() -> None:
    found = runs(racers.Whole, f"{STARTS} || cancel@client")
    assert len({run.schedule for run in found}) == len(found) == 6
    assert all(run.lawful and run.in_turn for run in found)


# -- what is found, with how little, and again -----------------------------------------------------

WRONG = [
    (racers.OneByOne, STARTS),
    (racers.DefaultMode, STARTS),
    (racers.DeferredBegin, STARTS),
    (racers.ReadBefore, STARTS),
    (racers.HistoryBefore, STARTS),
    (racers.HistoryAfter, HURRIED),
    (racers.ReapByIds, REAPED),
]


@pytest.mark.parametrize(("factory", "line"), WRONG, ids=[each.__name__ for each, _ in WRONG])
def test_a_wrong_store_is_found_with_one_preemption_and_each_time_again(
    factory: type, line: str
) -> None:
    wrong = next(run for run in runs(factory, line, most=1) if not run.lawful)
    again = followed(factory, wrong.line, times=10)
    assert [run.got for run in again] == [wrong.got] * 10
    assert [run.taken for run in again] == [wrong.taken] * 10
    assert [run.schedule for run in again] == [wrong.schedule] * 10
    assert [run.expected for run in again] == [wrong.expected] * 10


@pytest.mark.parametrize(("factory", "line"), WRONG, ids=[each.__name__ for each, _ in WRONG])
def test_without_a_preemption_nothing_is_found(factory: type, line: str) -> None:
    found = runs(factory, line, most=0)
    assert len(found) == 2
    assert all(run.lawful and run.in_turn for run in found)


@pytest.mark.parametrize("line", [STARTS, REAPED, HURRIED])
@pytest.mark.parametrize("factory", [racers.Whole, racers.Compared])
def test_a_store_that_is_right_is_never_accused(factory: type, line: str) -> None:
    assert all(run.lawful for run in runs(factory, line))


def test_a_reaper_by_ids_takes_a_task_that_has_succeeded() -> None:
    wrong = {run.got for run in runs(racers.ReapByIds, REAPED) if not run.lawful}
    assert wrong == {"A reaped it, B accepted -> retry_wait"}


def test_a_history_written_afterwards_is_out_of_order() -> None:
    (wrong,) = (run for run in runs(racers.HistoryAfter, HURRIED) if not run.lawful)
    assert wrong.got == "A accepted, B accepted -> cancelled"
    assert [entry.event for entry in wrong.after.history or ()] == ["cancel", "enqueue"]


# -- what must make no difference ------------------------------------------------------------------


@pytest.mark.parametrize("line", [STARTS, HURRIED])
@pytest.mark.parametrize(
    ("wal", "delete"),
    [
        (racers.Whole, InDelete),
        (racers.OneByOne, OneByOneInDelete),
        (racers.DefaultMode, DefaultModeInDelete),
        (racers.Compared, ComparedInDelete),
    ],
)
def test_both_journals_come_to_the_same(wal: type, delete: type, line: str) -> None:
    ahead, behind = runs(wal, line), runs(delete, line)
    assert got(ahead) == got(behind)
    assert {run.got: run.lawful for run in ahead} == {run.got: run.lawful for run in behind}


@pytest.mark.parametrize(
    "factory",
    [racers.Whole, racers.OneByOne, racers.DefaultMode, racers.Compared, OneByOneInDelete],
)
def test_what_others_cannot_see_makes_no_difference(factory: type) -> None:
    few, many = runs(factory, STARTS), runs(factory, STARTS, reduced=False)
    assert len(few) <= len(many)
    assert got(few) == got(many)


# -- what a race is made of ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        STARTS,
        REAPED,
        HURRIED,
        "enqueue@client || start@worker-1 HEARTBEAT@worker-1 || cancel@client || REAP",
        "SUBMIT(max_attempts=1) enqueue@client || start@w[version=1] || cancel@client",
    ],
)
def test_what_was_written_is_read(line: str) -> None:
    assert format_race(parse_race(line, TABLE)) == line
    assert is_race(line)


def test_nothing_before_is_a_submission() -> None:
    assert parse_race("- || cancel || cancel", TABLE) == parse_race(
        "SUBMIT || cancel@client || cancel@client", TABLE
    )


def test_a_schedule_stands_behind_the_race() -> None:
    race = parse_race(STARTS, TABLE)
    assert parse_run(f"{STARTS} || A | B B | A", TABLE) == (race, ("A", "B", "B", "A"))
    assert parse_run(STARTS, TABLE) == (race, ())
    every = race._replace(every=True)
    assert parse_run(f"{STARTS} || EVERY A | B B | A", TABLE) == (every, ("A", "B", "B", "A"))
    with pytest.raises(ScheduleError, match=r"'C'; workers are A, B$"):
        parse_run(f"{STARTS} || A | C", TABLE)
    assert not is_race("enqueue@client start@worker-1")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("SUBMIT || enqueue", "two to 3 workers"),
        ("SUBMIT || enqueue || cancel || cancel || cancel", "two to 3 workers"),
        ("SUBMIT || SUBMIT || cancel", "fires events, HEARTBEAT or REAP"),
        ("SUBMIT || enqueue || READ", "fires events, HEARTBEAT or REAP"),
        ("SUBMIT || enqueue || ", "fires events, HEARTBEAT or REAP"),
        ("SUBMIT || enqueue || t2:cancel", "on the one task there is"),
        ("SUBMIT || enqueue || dequeue", "no such event"),
        ("SUBMIT || ?:SUBMIT || cancel", "submits another"),
        ("SUBMIT || u:SUBMIT || u:SUBMIT", "a label of its own"),
        ("SUBMIT u:SUBMIT || u:SUBMIT || cancel", "a label of its own"),
        ("SUBMIT || u:SUBMIT || u:enqueue", "on the one task there is"),
    ],
)
def test_what_a_race_cannot_do_is_refused(line: str, told: str) -> None:
    with pytest.raises(TraceError, match=told):
        parse_race(line, TABLE)


@pytest.mark.parametrize(
    "part",
    [
        "SUBMIT start@worker-1",
        "ADVANCE(31) start@worker-1",
        "READ cancel",
        "?:cancel",
        "t2:SUBMIT t2:cancel",
    ],
)
def test_what_a_race_cannot_do_is_refused_beside_what_it_can(part: str) -> None:
    with pytest.raises(TraceError):
        parse_race(f"enqueue || {part} || cancel", TABLE)


# -- what goes wrong, and what is left behind ------------------------------------------------------


class Forgetful(racers.Whole):
    """A start is accepted, and not written."""

    def update(self, task: str, row: Row, written: bytes) -> None:
        if row["state"] != "running":
            super().update(task, row, written)


def test_what_is_unlawful_before_the_race_is_no_finding_of_the_race(folder: Path) -> None:
    adapter = describe_class(Forgetful, "racers:Forgetful", table=TABLE)
    race = parse_race("enqueue start@worker-1 || cancel || REAP", TABLE)
    with Arena(adapter, folder) as arena, pytest.raises(Unready) as raised:
        arena.run(race, follow(""))
    assert raised.value.seen.problems
    assert list(folder.iterdir()) == []


def test_a_schedule_of_another_race_is_told() -> None:
    with pytest.raises(Diverged, match="at step 4 it is B that should go on, and A can"):
        followed(racers.OneByOne, f"{STARTS} || B B | B B B")


@pytest.mark.parametrize("enabled", [True, False])
def test_no_thread_and_no_folder_is_left_behind(enabled: bool, folder: Path) -> None:
    adapter = described(racers.OneByOne)
    race = parse_race(STARTS, TABLE)
    before = set(threading.enumerate())
    try:
        if not enabled:
            gc.disable()
        with Arena(adapter, folder) as arena:
            assert not gc.isenabled()
            for line in ("A A A B B B", "A B B B A A"):
                arena.run(race, follow(parse_schedule(line, "AB")))
                assert list(folder.iterdir()) == []
            with pytest.raises(Diverged):
                arena.run(race, follow("AAAA"))
            assert arena.statements > 0
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
    assert set(threading.enumerate()) == before
    assert list(folder.iterdir()) == []


# -- what a stranger may write ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "before"),
    [
        (" || enqueue@client || cancel@client", "SUBMIT"),
        ("- || enqueue@client || cancel@client", "SUBMIT"),
        ("REAP || enqueue@client || cancel@client", "SUBMIT REAP"),
        ("t2:SUBMIT || enqueue@client || cancel@client", "SUBMIT t2:SUBMIT"),
    ],
)
def test_a_race_has_a_task_though_nothing_before_it_says_so(line: str, before: str) -> None:
    race = parse_race(line, TABLE)
    assert race.before == parse_trace(before, TABLE)
    assert parse_race(format_race(race), TABLE) == race
    (first, *_) = runs(racers.Whole, line, most=0)
    assert first.lawful


def test_a_token_of_a_start_that_never_was_is_no_token() -> None:
    line = "enqueue@client || start@worker-1[token=7] || HEARTBEAT@worker-1[token=2]"
    assert all(run.lawful for run in runs(racers.Whole, line))


def test_a_race_of_three_needs_an_arena_of_three(tmp_path: Path) -> None:
    race = parse_race(f"{STARTS} || cancel@client", TABLE)
    with (
        Arena(described(racers.Whole), tmp_path) as arena,
        pytest.raises(ValueError, match="3 workers; this arena has 2"),
    ):
        arena.run(race, follow(()))


def test_a_run_in_which_each_statement_was_a_choice_is_run_again_so() -> None:
    wrong = next(run for run in runs(racers.DefaultMode, STARTS, reduced=False) if not run.lawful)
    assert " || EVERY " in wrong.line
    again = followed(racers.DefaultMode, wrong.line, times=3)
    assert [run.taken for run in again] == [wrong.taken] * 3
    assert [run.line for run in again] == [wrong.line] * 3

"""What the races find, in stores of which every call is right by itself."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, ClassVar

import pytest

import racers
import scenes
from lawful.laws import Profile, Status, judgement, run
from lawful.laws.races import LAWS
from lawful.strategies.adapter import describe
from lawful.strategies.racing import Arena, parse_run
from lawful.strategies.schedules import follow
from miniatures import Honest
from miniatures.trial import workplace
from scenes import of

if TYPE_CHECKING:
    from lawful.laws import Check
    from lawful.strategies.adapter import Adapter
    from lawful.sut import Refused
    from miniatures.honest import Call


def judged(adapter: Adapter, *, thorough: bool = False, limit: float = 60.0) -> dict[str, Check]:
    return scenes.judged(LAWS, adapter, thorough=thorough, limit=limit)


RIGHT = [racers.Whole, racers.Compared]
WRONG = [
    racers.OneByOne,
    racers.DefaultMode,
    racers.DeferredBegin,
    racers.ReadBefore,
    racers.HistoryAfter,
    racers.HistoryBefore,
    racers.ReapByIds,
]


@pytest.mark.parametrize("factory", RIGHT)
def test_a_store_that_is_right_is_never_accused(factory: type) -> None:
    checks = judged(of(factory))
    assert {check.status for check in checks.values()} == {Status.PASS}
    assert all(check.triggers and check.controls for check in checks.values())


@pytest.mark.parametrize("factory", WRONG, ids=lambda each: each.__name__)
def test_a_store_that_is_wrong_between_its_statements_is_found(factory: type) -> None:
    checks = judged(of(factory))
    found = {name for name, check in checks.items() if check.status in (Status.FAIL, Status.ERROR)}
    # The row itself is compared as it is written in these two: two calls on one version are whole.
    whole = factory in (racers.HistoryAfter, racers.ReapByIds)
    # An id is counted before the transaction in all but one: two are the same, or it is refused.
    counted = factory is not racers.ReapByIds
    assert found == {"race/pairs", "race/triples"} | (set() if whole else {"race/versions"}) | (
        {"race/submissions"} if counted else set()
    )


SUBMITTING = [racers.CountsBefore, racers.WritesAllBack]


@pytest.mark.parametrize("factory", SUBMITTING, ids=lambda each: each.__name__)
def test_a_submission_that_is_wrong_between_its_statements_is_found(factory: type) -> None:
    checks = judged(of(factory))
    found = {name for name, check in checks.items() if check.status in (Status.FAIL, Status.ERROR)}
    assert found == {"race/submissions"}


def test_a_submission_that_is_lost_is_shown_with_its_schedule_ten_times_out_of_ten() -> None:
    check = judged(of(racers.CountsBefore))["race/submissions"]
    assert check.trace.startswith("SUBMIT || u:SUBMIT || v:SUBMIT")
    assert check.expected == "v is a task of its own"
    assert check.got == "v was given the id of u"
    adapter = of(racers.CountsBefore)
    race, schedule = parse_run(check.trace, adapter.table)
    with workplace() as folder, Arena(adapter, folder) as arena:
        again = {arena.run(race, follow(schedule)).got for _ in range(10)}
    assert again == {"v was given the id of u"}


@pytest.mark.slow
@pytest.mark.parametrize("factory", [*RIGHT, *WRONG, *SUBMITTING], ids=lambda each: each.__name__)
def test_every_call_of_these_stores_is_right_by_itself(factory: type) -> None:
    with workplace() as folder:
        checks = run(of(factory), folder, profile=Profile.QUICK).checks
    assert [check for check in checks if check.status is not Status.PASS] == []


@pytest.mark.slow
def test_check_then_write_is_found_in_at_least_fifty_programs() -> None:
    assert judged(of(racers.OneByOne), thorough=True)["race/pairs"].findings >= 50


@pytest.mark.slow
def test_the_reference_passes_every_pair_from_every_position_with_two_preemptions() -> None:
    checks = judged(describe("reference"), thorough=True)
    assert {check.status for check in checks.values()} == {Status.PASS}
    assert checks["race/pairs"].triggers >= 22 * 55  # positions x unordered pairs of ten calls


@pytest.mark.slow
def test_under_begin_immediate_the_version_in_an_update_never_decides() -> None:
    # `Whole` writes by the id alone: a mutant without the predicate is equivalent there.
    checks = judged(of(racers.Whole), thorough=True)
    assert {check.status for check in checks.values()} == {Status.PASS}


def test_what_goes_through_no_sqlite_is_unsupported_and_never_passed() -> None:
    for check in judged(of(Honest)).values():
        assert check.status is Status.UNSUPPORTED
        assert "sqlite3" in check.cause


class HangsInTheMiddle(racers.Whole):
    """A second worker's start never returns."""

    woken: ClassVar = threading.Event()

    def on(self, call: Call) -> Refused | None:
        if threading.current_thread() is not threading.main_thread() and call.event == "cancel":
            self.woken.wait()
        return super().on(call)


def test_a_worker_that_hangs_ends_the_races_as_an_error() -> None:
    checks = judged(of(HangsInTheMiddle), limit=0.2)
    HangsInTheMiddle.woken.set()
    assert checks["race/pairs"].status is Status.ERROR
    assert "came to no next step within 0.2 s" in checks["race/pairs"].got


class Unsteady(racers.Whole):
    """It looks around as often as it likes, and is right."""

    looks: ClassVar = itertools.count()

    def on(self, call: Call) -> Refused | None:
        for _ in range(next(self.looks) % 3):
            self.db.execute("SELECT 1").fetchall()
        return super().on(call)


def test_what_does_not_do_the_same_each_time_is_unsupported_and_never_accused() -> None:
    check = judged(of(Unsteady))["race/pairs"]
    assert check.status is Status.UNSUPPORTED
    assert "not the same each time" in check.cause


def test_a_broken_cell_is_told_by_its_own_check_and_not_by_a_race() -> None:
    with workplace() as folder:
        found = run(describe("flags"), folder)
    races = [check for check in found.checks if check.id.startswith("race/")]
    assert len(races) == 4
    assert not any(check.status in (Status.FAIL, Status.ERROR) for check in races)
    assert judgement(found).verdict.exit_code == 1

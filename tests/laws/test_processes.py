"""Real processes, killed while they write, killed or frozen while they hold a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import racers
import scenes
from lawful.laws import Status
from lawful.laws.processes import LAWS
from lawful.strategies.adapter import describe
from scenes import of

if TYPE_CHECKING:
    from lawful.laws import Check
    from lawful.strategies.adapter import Adapter


def judged(adapter: Adapter) -> dict[str, Check]:
    return scenes.judged(LAWS, adapter)


def test_the_reference_passes() -> None:
    checks = judged(describe("reference"))
    assert {check.status for check in checks.values()} == {Status.PASS}
    assert all(check.triggers and check.controls for check in checks.values())


def test_what_is_killed_between_two_transactions_is_half_written() -> None:
    checks = judged(of(racers.HistoryAfter))
    killed = checks.pop("crash/killed")
    assert killed.status is Status.FAIL
    assert killed.trace == "SUBMIT || enqueue@client || CRASH(3)"
    assert killed.got.endswith("queued at version 1, history of 0")
    assert {check.status for check in checks.values()} == {Status.PASS}


def test_a_store_that_does_not_ask_who_holds_the_lease_takes_a_zombies_report() -> None:
    checks = judged(describe("unfenced"))
    assert checks["crash/killed"].status is Status.PASS
    dead, woken = checks["crash/worker-killed"], checks["crash/worker-frozen"]
    assert (dead.status, woken.status) == (Status.FAIL, Status.FAIL)
    late = "succeed@worker-1[token=1]"
    again = "REAP ADVANCE(31) REAP retry_due@client start@worker-2"
    trace = f"enqueue@client start@worker-1 {again} {late}"
    assert (dead.trace, woken.trace) == (trace, trace)
    assert woken.expected == "worker refused (stale_lease) -> running by worker-2"
    assert woken.got == "another process: accepted -> succeeded by None"


def test_what_no_other_process_can_open_is_unsupported_and_never_passed() -> None:
    class Local(racers.Whole):
        pass

    for check in judged(of(Local)).values():
        assert check.status is Status.UNSUPPORTED
        assert "can't be sent to another process" in check.cause


def test_a_worker_that_never_comes_up_is_unsupported_and_ends_nothing_else() -> None:
    checks = judged(of(racers.DiesElsewhere))
    assert {check.status for check in checks.values()} == {Status.UNSUPPORTED}
    assert "ended with code 3" in checks["crash/worker-killed"].cause
    assert "ended with code 3" in checks["crash/worker-frozen"].cause


@pytest.mark.slow
@pytest.mark.parametrize("factory", [racers.Whole, racers.Compared, racers.WholeInDelete])
def test_a_store_that_is_right_is_never_accused(factory: type) -> None:
    assert {check.status for check in judged(of(factory)).values()} == {Status.PASS}

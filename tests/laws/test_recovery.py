"""What is done after an accident: where it is found that something is stranded or doubled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import fragile
from lawful.laws import Status, recovery
from lawful.laws.replaying import replay_accident
from lawful.strategies.accidents import parse_accident
from miniatures import WRONG
from miniatures.trial import workplace
from scenes import fit, judged, of

if TYPE_CHECKING:
    from lawful.laws.replaying import Staged

BY_ID = {law.id: law for law in recovery.LAWS}
TWO = "enqueue@client start@worker-1 t2:SUBMIT t2:enqueue@client t2:start@worker-1 ADVANCE(31)"
RUNNING = "enqueue@client start@worker-1"


@pytest.mark.parametrize(
    ("law", "factory", "trace", "got"),
    [
        (
            # BEGIN, SELECT, SELECT, INSERT, INSERT, COMMIT mark them; then each has a transaction.
            "recover/stranded",
            fragile.MarksFirst,
            f"{TWO} || REAP || CRASH(7) || ADVANCE(31) REAP",
            "a crash before BEGIN IMMEDIATE, then ADVANCE(31) REAP: running, version 2",
        ),
        (
            "recover/again",
            fragile.BootNeverStrikes,
            "SUBMIT || cancel@client || CRASH(5) || ADVANCE(31) REAP REAP REOPEN",
            "a crash before BEGIN IMMEDIATE, then ADVANCE(31) REAP REAP REOPEN: +1 history entry",
        ),
        (
            "reply/repeated",
            fragile.WritesAgain,
            "SUBMIT || cancel@client || LOST(5)",
            "the reply to COMMIT is lost: cancelled at version 1, history of 2",
        ),
        (
            "reply/repeated",
            fragile.SuccessTurnedIntoFailure,
            f"{RUNNING} || succeed@worker-1 || LOST(5)",
            "the reply to COMMIT is lost: failed at version 4, history of 4",
        ),
        (
            "reply/error-path",
            fragile.BelievesTheWorker,
            f"{RUNNING} || succeed@worker-1 || LOST(5) || fail(retryable=true)@worker-1",
            (
                "the reply to COMMIT is lost, then fail(retryable=true)@worker-1: accepted, "
                "state 'succeeded' -> 'failed'"
            ),
        ),
    ],
)
def test_the_finding_says_what_was_hit_and_what_was_done_then(
    law: str, factory: type, trace: str, got: str
) -> None:
    (check,) = judged([BY_ID[law]], of(factory)).values()
    assert (check.status, check.trace) == (Status.FAIL, trace)
    assert check.got.startswith(got)


def staged(factory: type, line: str) -> Staged:
    adapter = fit(factory)
    with workplace() as folder:
        return replay_accident(adapter, parse_accident(line, adapter.table), folder)


def test_each_step_afterwards_is_judged_by_itself() -> None:
    line = f"{TWO} || REAP || CRASH(7) || READ ADVANCE(31) REAP t2:READ"
    found = staged(fragile.MarksFirst, line)
    assert [step.lawful for step in found.steps] == [True, True, False, True]
    assert found.found.lawful
    assert not found.lawful


def test_a_crash_before_anything_is_marked_strands_nothing() -> None:
    assert staged(fragile.MarksFirst, f"{TWO} || REAP || CRASH(6) || ADVANCE(31) REAP").lawful


def test_a_lease_by_the_workers_name_is_found_without_an_accident() -> None:
    """It takes a second start by the same worker, and no accident brings that about."""
    (named,) = (each for each in WRONG if each.id == "lease-by-name")
    assert named.caught_by == ("lease/fencing",)

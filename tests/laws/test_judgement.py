"""From hand-built checks to a verdict, its exit code and its reasons."""

from __future__ import annotations

import pytest

from lawful.laws import Check, Run, Smoke, Status, Verdict, judgement
from lawful.laws.judgement import is_core
from lawful.strategies import describe

ADAPTER = describe("gate")


def ran(*checks: Check, reached: tuple[str, ...] = ("a",), visible: bool = True) -> Run:
    return Run(ADAPTER, Smoke(ADAPTER, reached, visible, 1), list(checks))


def check(name: str, status: Status, *, cause: str = "", note: str = "") -> Check:
    return Check(name, status, "what must hold", cause=cause, note=note)


PASSED = check("cell/pending/running", Status.PASS)


def test_everything_passed_is_lawful() -> None:
    found = judgement(ran(PASSED))
    assert (found.verdict, found.headline, found.reasons) == (Verdict.LAWFUL, "lawful", ())
    assert found.verdict.exit_code == 0


@pytest.mark.parametrize("status", [Status.FAIL, Status.ERROR, Status.STALE, Status.MOVED])
def test_one_broken_check_is_unlawful(status: Status) -> None:
    found = judgement(ran(PASSED, check("replay/fold", status)))
    assert found.verdict.exit_code == 1
    assert found.headline == "unlawful, 1 law broken"


@pytest.mark.parametrize("status", [Status.UNSUPPORTED, Status.NOT_YET, Status.KNOWN])
def test_a_gap_with_a_reason_and_a_known_divergence_are_lawful(status: Status) -> None:
    assert judgement(ran(PASSED, check("replay/fold", status))).verdict.exit_code == 0


def test_nothing_at_all_is_incomplete() -> None:
    found = judgement(ran())
    assert found.verdict.exit_code == 3
    assert found.reasons == ("no check has passed: nothing is known",)


def test_nothing_passed_is_incomplete_although_nothing_failed() -> None:
    found = judgement(ran(check("replay/fold", Status.UNSUPPORTED)))
    assert found.verdict.exit_code == 3


def test_what_was_not_run_is_incomplete_and_says_why() -> None:
    found = judgement(ran(PASSED, check("lease/reaper", Status.NOT_RUN, note="nothing expired")))
    assert found.verdict.exit_code == 3
    assert found.reasons == ("lease/reaper was not run: nothing expired",)


def test_what_is_blocked_is_incomplete_and_names_the_cause() -> None:
    blocked = check("cell/done/running", Status.BLOCKED, cause="cell/running/done")
    found = judgement(ran(PASSED, blocked))
    assert found.reasons == ("cell/done/running is blocked by cell/running/done",)
    assert found.verdict.exit_code == 3


def test_a_failure_outweighs_what_is_missing() -> None:
    blocked = check("cell/done/running", Status.BLOCKED, cause="cell/running/done")
    broken = check("cell/running/done", Status.FAIL)
    found = judgement(ran(PASSED, blocked, broken))
    assert found.verdict.exit_code == 1
    assert found.headline == "unlawful, 1 of 3 cells broken"


def test_a_system_that_was_not_reached_is_incomplete() -> None:
    found = judgement(ran(PASSED, reached=()))
    assert found.verdict.exit_code == 3
    assert found.reasons == (
        (
            "no code of 'lawful.sut.gate' was reached: the adapter does not drive the system that "
            "it names"
        ),
    )


def test_a_system_that_can_not_be_seen_is_not_asked_for() -> None:
    assert judgement(ran(PASSED, reached=(), visible=False)).verdict.exit_code == 0


def test_what_the_words_never_fired_is_incomplete_although_a_search_fired_it() -> None:
    run = ran(PASSED)
    run.places = {"pending running": {"cells": 2}, "done running": {"machine": 9}, "done done": {}}
    found = judgement(run)
    assert found.verdict.exit_code == 3
    assert found.reasons == (
        "2 of 3 positions x letters were never fired: done running, done done",
    )


@pytest.mark.parametrize("status", [Status.KNOWN, Status.FAIL, Status.BLOCKED])
def test_what_a_broken_check_is_in_the_way_of_is_told_by_that_check(status: Status) -> None:
    run = ran(PASSED, check("cell/pending/done", status, cause="cell/pending/done"))
    run.places = {"done running": {}}
    assert not any("never fired" in reason for reason in judgement(run).reasons)


def test_what_is_undeclared_is_named_once_with_the_laws_that_ask() -> None:
    run = ran(PASSED, check("replay/fold", Status.NOT_RUN), check("replay/chain", Status.NOT_RUN))
    run.undeclared = {"history": ["replay/fold", "replay/chain"]}
    found = judgement(run)
    assert found.reasons == (
        (
            "'history' is neither offered nor declared in `gaps` (replay/fold, replay/chain ask "
            "for it)"
        ),
    )
    assert found.verdict.exit_code == 3


def test_the_headline_counts_what_must_be_said_beside_the_verdict() -> None:
    found = judgement(
        ran(
            PASSED,
            check("cell/pending/done", Status.UNSUPPORTED),
            check("cell/done/done", Status.UNSUPPORTED),
            check("replay/fold", Status.KNOWN),
        )
    )
    assert found.headline == "lawful, 2 cells not observable, 1 known divergence"


def test_the_headline_counts_cells_and_laws_apart() -> None:
    found = judgement(
        ran(
            PASSED,
            check("cell/pending/done", Status.FAIL),
            check("cell/pending/done@x=1", Status.FAIL),
            check("replay/fold", Status.FAIL),
            check("replay/chain", Status.ERROR),
        )
    )
    assert found.headline == "unlawful, 1 of 2 cells broken, 2 laws broken"


@pytest.mark.parametrize(
    ("name", "core"),
    [
        ("cell/running/fail", True),
        ("cell/running/fail?exhausted", False),
        ("cell/running/fail@max_attempts=1", False),
        ("lease/reaper", False),
    ],
)
def test_core_cells_are_the_tables_own(name: str, *, core: bool) -> None:
    assert is_core(name) is core

"""What follows from the answers about one fault: killed only if each of its claims has found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.laws.law import Status
from lawful.mutants import Fate, Mutant, Place
from lawful.mutants.planted import Fault, Patch
from lawful.mutants.planted.answers import Answer, Asked, Request
from lawful.mutants.planted.course import Whole, course

if TYPE_CHECKING:
    from lawful.mutants import Result

PATCHES = (Patch("lawful.sut.reference.machine", "step", "a", "b"),)
CLAIMS = ("lease/held", "cell/queued/start")
ASKED = Request("reference", PATCHES, CLAIMS)
WHOLE = Request("reference", PATCHES, profile="default")
INNOCENT = Request("reference", profile="default")


def answer(**checks: Status) -> Answer:
    """Return an answer with a check for each name; ``lease_held`` stands for ``lease/held``."""
    names = {"lease_held": "lease/held", "start": "cell/queued/start", "other": "replay/chain"}
    told = {Status.FAIL: "expected x, got y"}
    return Answer(
        tuple(Asked(names[n], s, told.get(s, ""), "start@worker-1") for n, s in checks.items()),
        seconds=2.0,
    )


def became(
    *answers: Answer, matrix: bool = False, equivalent: str = ""
) -> tuple[Result, list[Request]]:
    """Give answers to what is asked, one after the other, and return what came of it."""
    fault = Fault(
        id="planted/time/late",
        says="late",
        source="x",
        patches=PATCHES,
        claims=CLAIMS,
        equivalent=equivalent,
    )
    mutant = Mutant(fault.id, "planted", fault.family, fault.says, Place("x"), claims=CLAIMS)
    going = course(fault, mutant, Whole(), matrix=matrix)
    asked = [next(going)]
    for given in answers:
        try:
            asked.append(going.send(given))
        except StopIteration as end:
            return end.value, asked
    raise AssertionError(f"nobody has answered {asked[-1]}")


def test_a_fault_that_each_of_its_claims_finds_is_killed_and_nobody_else_is_asked() -> None:
    result, asked = became(answer(lease_held=Status.FAIL, start=Status.ERROR))
    assert result.fate is Fate.KILLED
    assert result.killers == CLAIMS
    assert result.reason == "expected x, got y"
    assert result.trace == "start@worker-1"
    assert (result.tested, result.seconds) == (2, 2.0)
    assert asked == [ASKED]


def test_a_fault_that_one_of_its_claims_does_not_find_survives_though_another_does() -> None:
    result, asked = became(
        answer(lease_held=Status.FAIL, start=Status.PASS),
        answer(lease_held=Status.FAIL, start=Status.PASS, other=Status.FAIL),
        answer(lease_held=Status.PASS, start=Status.PASS, other=Status.PASS),
    )
    assert result.fate is Fate.SURVIVED
    assert result.killers == ("lease/held", "replay/chain")
    assert result.reason.startswith(
        "cell/queued/start claims it, and does not find it: PASS; found by lease/held"
    )
    assert asked == [ASKED, WHOLE, INNOCENT]


def test_what_was_not_run_has_found_nothing() -> None:
    result, _ = became(
        answer(lease_held=Status.NOT_RUN, start=Status.BLOCKED),
        answer(lease_held=Status.NOT_RUN, start=Status.BLOCKED),
        answer(lease_held=Status.PASS, start=Status.PASS),
    )
    assert result.fate is Fate.SURVIVED
    assert result.killers == ()
    assert result.reason.endswith("; nothing is red")


def test_what_is_red_without_the_fault_has_not_found_it() -> None:
    result, _ = became(
        answer(lease_held=Status.PASS, start=Status.PASS),
        answer(lease_held=Status.PASS, start=Status.PASS, other=Status.FAIL),
        answer(lease_held=Status.PASS, start=Status.PASS, other=Status.FAIL),
    )
    assert result.fate is Fate.SURVIVED
    assert result.killers == ()


def test_for_a_matrix_everybody_is_asked() -> None:
    result, asked = became(
        answer(lease_held=Status.FAIL, start=Status.FAIL),
        answer(lease_held=Status.FAIL, start=Status.FAIL, other=Status.FAIL),
        answer(lease_held=Status.PASS, start=Status.PASS, other=Status.PASS),
        matrix=True,
    )
    assert result.fate is Fate.KILLED
    assert result.killers == (*CLAIMS, "replay/chain")
    assert asked == [ASKED, WHOLE, INNOCENT]


def test_what_came_to_no_end_is_asked_again_alone_and_only_then_is_late() -> None:
    late = Answer(problem="no end within 600 s", late=True)
    result, asked = became(late, late)
    assert result.fate is Fate.TIMEOUT
    assert asked == [ASKED, ASKED._replace(alone=True)]
    result, _ = became(late, answer(lease_held=Status.FAIL, start=Status.FAIL))
    assert result.fate is Fate.KILLED


def test_a_process_that_ends_without_an_answer_is_asked_again_and_then_not_judged() -> None:
    ended = Answer(problem="its process ended with code -9", ended=True)
    result, asked = became(ended, ended)
    assert result.fate is Fate.BROKEN
    assert result.reason == "its process ended with code -9"
    assert asked == [ASKED, ASKED._replace(alone=True)]


def test_an_error_of_the_trial_is_no_finding() -> None:
    result, asked = became(Answer(problem="ImportError: no such name"))
    assert result.fate is Fate.BROKEN
    assert asked == [ASKED]


@pytest.mark.parametrize("seen", [Status.FAIL, Status.ERROR, Status.NOT_RUN, Status.BLOCKED])
def test_a_fault_is_equivalent_only_if_all_who_would_find_it_have_passed(seen: Status) -> None:
    result, asked = became(answer(lease_held=Status.PASS, start=Status.PASS), equivalent="locked")
    assert (result.fate, result.reason) == (Fate.EQUIVALENT, "locked")
    assert asked == [ASKED._replace(profile="deep")]
    result, _ = became(answer(lease_held=Status.PASS, start=seen), equivalent="locked")
    assert result.fate is Fate.BROKEN
    told = f"written down as equivalent (locked), and cell/queued/start: {seen}"
    assert result.reason.startswith(told)

"""How a cell comes to its verdict: by a lawful way, by ``put``, or BLOCKED by what is broken."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from lawful.laws import Status
from lawful.laws.judgement import is_core
from lawful.strategies.seen import How
from lawful.sut import Unsupported
from lawful.sut.flags import Flags
from miniatures import WRONG, checks, failed, judged, shipped

# By hand: the twelve legal cells, less the two that the flags get wrong.
RIGHT: Final = {
    "cell/submitted/enqueue",
    "cell/submitted/cancel",
    "cell/queued/start",
    "cell/queued/cancel",
    "cell/running/succeed",
    "cell/running/fail",
    "cell/retry_wait/cancel",
    "cell/retry_wait/retry_due",
    "cell/cancelling/succeed",
    "cell/cancelling/cancel_ack",
}
EVENTS: Final = ("enqueue", "start", "succeed", "fail", "cancel", "retry_due", "cancel_ack")


class FlagsWithoutPut(Flags):
    """The flags, and no way but their own into a state."""

    put: ClassVar[Any] = None
    gaps: ClassVar = {**Flags.gaps, "put": Unsupported("not here")}


def test_flags_pass_exactly_ten_of_the_56_cells() -> None:
    core = [check for check in shipped("flags").checks if is_core(check.id)]
    assert len(core) == 56
    assert {check.id for check in core if check.status is Status.PASS} == RIGHT
    assert sum(check.status is Status.FAIL for check in core) == 46


def test_each_failing_cell_of_the_flags_shows_what_was_wanted_and_what_came() -> None:
    every = checks(shipped("flags"))
    cancel = every["cell/running/cancel"]
    assert (cancel.expected, cancel.got) == ("cancelling", "cancelled")
    assert cancel.trace == "enqueue@client start@worker-1 cancel@client"
    start = every["cell/submitted/start"]
    assert start.expected == "refused (illegal), nothing written"
    assert start.got.startswith("accepted, state 'submitted' -> 'running'")
    assert start.trace == "start@stranger"
    again = every["cell/cancelled/cancel"]
    assert again.expected == "accepted, nothing written"
    assert again.got == "version 1 -> 2, +1 history entry"


def test_what_no_lawful_way_reaches_is_judged_where_it_was_put() -> None:
    every = checks(shipped("flags"))
    assert every["cell/cancelling/fail"].how is How.PUT
    assert every["cell/cancelling/fail"].trace.startswith("PUT(cancelling,")
    assert every["cell/cancelling/succeed"].status is Status.PASS


def test_without_put_the_cells_behind_a_broken_one_are_blocked_by_it() -> None:
    every = checks(judged(FlagsWithoutPut, 2))
    for event in EVENTS:
        blocked = every[f"cell/cancelling/{event}"]
        assert blocked.status is Status.BLOCKED
        assert blocked.cause == "cell/running/cancel"
    others = [c for c in every.values() if is_core(c.id) and "/cancelling/" not in c.id]
    assert len(others) == 49
    assert {check.status for check in others} == {Status.PASS, Status.FAIL}


def test_without_put_failed_is_still_reached_by_exhaustion() -> None:
    there = checks(judged(FlagsWithoutPut, 2))["cell/failed/enqueue"]
    assert there.status is Status.FAIL
    assert there.how is How.CLEAN
    assert there.trace == (
        "enqueue@client start@worker-1 fail(retryable=true)@worker-1 retry_due@client "
        "start@worker-2 fail(retryable=true)@worker-2 enqueue@client"
    )


def test_a_wrong_cell_hides_no_other() -> None:
    immediate = next(mini for mini in WRONG if mini.id == "cancel-is-immediate")
    found = judged(immediate.adapter, *immediate.limits)
    cells = [check for check in found.checks if check.id.startswith("cell/")]
    assert {c.id for c in cells if c.status is not Status.PASS} == {"cell/running/cancel"}


def test_a_fault_that_one_cell_arms_is_shown_with_what_armed_it() -> None:
    armed = next(mini for mini in WRONG if mini.id == "a-refusal-arms-another-cell")
    found = checks(judged(armed.adapter, *armed.limits))["cell/running/cancel"]
    # The suite ``cells`` fires one letter after a clean way, and can't see it; ``packed`` does.
    assert found.trace == ("enqueue@client succeed@worker-1 start@worker-1 cancel@client")


def test_an_error_in_one_cell_is_that_cells_alone_with_its_own_traceback() -> None:
    from miniatures.wrong_adapters import RaisesInOneCell

    found = judged(RaisesInOneCell, 1)
    assert failed(found) == {"cell/cancelling/succeed"}
    error = checks(found)["cell/cancelling/succeed"]
    assert error.status is Status.ERROR
    assert error.got == "fire raised KeyError: 'no such column'"
    assert "wrong_adapters.py" in error.trail
    assert "driver.py" not in error.trail

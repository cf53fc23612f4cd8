"""No counterexample is longer than it must be, and each one shows its fault when replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from lawful.laws import Status
from lawful.laws.judgement import is_core
from lawful.strategies import Session, describe, parse_trace
from lawful.strategies.adapter import describe_class
from lawful.strategies.performing import perform
from lawful.strategies.seen import How
from lawful.strategies.watch import Watch
from miniatures import WRONG, checks, judged, shipped, workplace

if TYPE_CHECKING:
    from miniatures import Wrong

# By hand: a shortest lawful way of the flags to each state, and the letter that is judged there.
# To ``failed`` they go by exhausting three attempts; to ``cancelling`` by no way at all.
STEPS: Final = {
    "submitted": 1,
    "queued": 2,
    "running": 3,
    "retry_wait": 4,
    "succeeded": 4,
    "failed": 10,
    "cancelled": 2,
}


def test_each_broken_cell_of_the_flags_is_shown_in_as_few_steps_as_can_be() -> None:
    broken = [
        check
        for check in shipped("flags").checks
        if is_core(check.id) and check.status is Status.FAIL
    ]
    lengths = {check.id: len(check.trace.split()) for check in broken}
    wanted = {
        check.id: 2 if check.how is How.PUT else STEPS[check.id.split("/")[1]] for check in broken
    }
    assert len(broken) == 46
    assert lengths == wanted


def test_the_guards_branches_are_shown_in_as_few_steps_as_can_be() -> None:
    every = checks(shipped("flags"))
    # Three for the failure itself; exhaustion comes with the third attempt: two rounds of three.
    assert len(every["cell/running/fail?permanent"].trace.split()) == 3
    assert len(every["cell/running/fail?permanent@max_attempts=2"].trace.split()) == 4


def test_each_counterexample_of_the_flags_shows_its_fault_when_replayed() -> None:
    adapter = describe("flags")
    for check in shipped("flags").checks:
        if not check.id.startswith("cell/") or check.status is not Status.FAIL:
            continue
        with workplace() as folder, Session(adapter, folder, Watch()) as session:
            *way, last = parse_trace(check.trace, adapter.table)
            before = [seen for op in way for seen in perform(session, op)]
            assert not any(seen.problems for seen in before)
            (seen,) = perform(session, last)
            assert seen.problems


@pytest.mark.parametrize(
    ("name", "law", "trace"),
    [
        (
            "a-refusal-arms-another-cell",
            "cell/running/cancel",
            "enqueue@client succeed@worker-1 start@worker-1 cancel@client",
        ),
        (
            "lease-by-name",
            "lease/fencing",
            (
                "enqueue@client start@worker-1 ADVANCE(31) REAP retry_due@client start@worker-1 "
                "succeed@worker-1[token=1]"
            ),
        ),
        ("no-op-before-version", "order/version-first", "cancel@client cancel@client[version=0]"),
        (
            "refusal-lengthens-the-next-lease",
            "silence/bisimulation",
            "enqueue@client enqueue@client start@worker-1",
        ),
        (
            "no-op-shows-in-the-next-entry",
            "silence/bisimulation",
            "enqueue@client start@worker-1 cancel@client cancel@client succeed@worker-1",
        ),
        (
            "cancel-marks-a-neighbour",
            "identity/apart",
            "t11:SUBMIT t1111:SUBMIT t11:succeed@worker-1 t1111:cancel@client",
        ),
    ],
    ids=lambda value: value if "-" in value else "",
)
def test_what_only_a_long_word_or_many_tasks_show_is_shown_shortly(
    name: str, law: str, trace: str
) -> None:
    mini: Wrong = next(mini for mini in WRONG if mini.id == name)
    assert checks(judged(mini.adapter, *mini.limits))[law].trace == trace


@pytest.mark.parametrize("mini", [mini for mini in WRONG if mini.alone], ids=lambda mini: mini.id)
def test_every_trace_of_a_lone_fault_can_be_read_back(mini: Wrong) -> None:
    adapter = describe_class(mini.adapter, mini.id)
    for check in judged(mini.adapter, *mini.limits).checks:
        parse_trace(check.trace, adapter.table)

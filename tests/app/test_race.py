"""The three classic interleavings: who is written, who is refused and why, and what remains."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lawful.cli.main import main
from lawful.laws.classics import CLASSICS, play
from lawful.strategies.adapter import describe
from lawful.strategies.watch import Watch
from miniatures.trial import workplace

if TYPE_CHECKING:
    from lawful.laws.classics import Outcome

POLLED, CANCELLED, STALLED = CLASSICS


def played(number: int, target: str) -> Outcome:
    with workplace() as folder:
        return play(CLASSICS[number], describe(target), folder / "store", Watch())


def told(outcome: Outcome) -> list[str]:
    """Who was written, and who was refused by which exception."""
    return [
        f"{one.actor} {'written' if one.written else one.why.partition(':')[0]}"
        for one in outcome.reports
    ]


@pytest.mark.parametrize(
    ("target", "reports", "owner"),
    [
        ("naive", ["worker-A written", "worker-B written"], "worker-B"),
        ("unversioned", ["worker-A written", "worker-B IllegalTransition"], "worker-A"),
        ("unfenced", ["worker-A written", "worker-B VersionConflict"], "worker-A"),
        ("reference", ["worker-A written", "worker-B VersionConflict"], "worker-A"),
    ],
)
def test_two_workers_have_polled_the_same_task(target: str, reports: list[str], owner: str) -> None:
    outcome = played(0, target)
    assert told(outcome) == reports
    assert outcome.view.reading.state == "running"
    assert outcome.view.reading.lease_owner == owner


@pytest.mark.parametrize(
    ("target", "reports", "state"),
    [
        ("naive", ["worker-A written"], "running"),
        ("unversioned", ["worker-A IllegalTransition"], "cancelled"),
        ("unfenced", ["worker-A VersionConflict"], "cancelled"),
        ("reference", ["worker-A VersionConflict"], "cancelled"),
    ],
)
def test_a_cancelled_task_is_started_by_a_worker_with_an_older_reading(
    target: str, reports: list[str], state: str
) -> None:
    outcome = played(1, target)
    assert told(outcome) == reports
    assert outcome.view.reading.state == state


@pytest.mark.parametrize(
    ("target", "reports", "last"),
    [
        ("naive", ["worker-A written", "worker-B written"], "worker-B"),
        ("unversioned", ["worker-A StaleLease", "worker-B written"], "worker-B"),
        ("unfenced", ["worker-A written", "worker-B IllegalTransition"], "worker-A"),
        ("reference", ["worker-A StaleLease", "worker-B written"], "worker-B"),
    ],
)
def test_a_worker_that_stalled_wakes_and_reports(
    target: str, reports: list[str], last: str
) -> None:
    outcome = played(2, target)
    assert told(outcome) == reports
    assert outcome.view.reading.state == "succeeded"
    assert outcome.view.history is not None
    assert outcome.view.history[-1].actor == last


def test_naive_has_two_successes_and_an_owner_at_the_end() -> None:
    view = played(2, "naive").view
    assert [entry.event for entry in view.history or ()].count("succeed") == 2
    assert view.reading.lease_owner == "worker-B"


def test_the_whole_reference_tells_the_whole_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "reference"]) == 0
    assert capsys.readouterr().out.endswith(
        """\
     worker-B succeed: written
     -> succeeded, attempts 2, version 6
        (0 submit, -, submitted, client)
        (1 enqueue, submitted, queued, client)
        (2 start, queued, running, worker-A)
        (3 fail, running, retry_wait, reaper)
        (4 retry_due, retry_wait, queued, client)
        (5 start, queued, running, worker-B)
        (6 succeed, running, succeeded, worker-B)

"""
    )


def test_four_writings_are_played_by_default_and_json_is_json_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["race", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["title"] for row in rows] == [classic.title for classic in CLASSICS]
    names = [[one["target"] for one in row["outcomes"]] for row in rows]
    assert names == [["naive", "unversioned", "unfenced", "reference"]] * 3


def test_a_target_that_does_what_it_must_not_ends_in_one() -> None:
    assert main(["race", "naive"]) == 1
    assert main(["race", "unfenced"]) == 1


@pytest.mark.parametrize(
    ("target", "problem"), [("flags", "reap: the adapter does not offer it"), ("gate", "enqueue")]
)
def test_what_they_can_not_be_played_on_is_said(
    target: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["race", target]) == 2
    assert problem in capsys.readouterr().err

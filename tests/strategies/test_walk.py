"""A word, walked: who fires which letter, and what is kept of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.spec import Letter
from lawful.strategies import Session, describe, format_trace
from lawful.strategies.adapter import describe_class
from lawful.strategies.trace import Fire
from lawful.strategies.walk import CLIENT, STRANGER, Cast, walk
from lawful.strategies.watch import Watch
from miniatures import Honest, variants, wrong_adapters

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.walk import Walk

ENQUEUE, START, SUCCEED = Letter("enqueue"), Letter("start"), Letter("succeed")
CANCEL, ACK, DUE = Letter("cancel"), Letter("cancel_ack"), Letter("retry_due")
FAIL = Letter("fail", (("retryable", True),))

RETRIED = (ENQUEUE, START, FAIL, DUE, START, FAIL, DUE, START, SUCCEED)


def walked(folder: Path, cast: Cast, *word: Letter, adapter: type = Honest) -> Walk:
    with Session(describe_class(adapter, "mine"), folder, Watch()) as session:
        tracked = session.submit({})
        return walk(session, word, tracked, suite="test", cast=cast)


def actors(found: Walk) -> list[str | None]:
    return [seen.actor for seen in found.steps]


def test_each_start_is_another_workers_and_its_reports_are_its_own(folder: Path) -> None:
    found = walked(folder, Cast.ANOTHER, *RETRIED)
    assert actors(found) == [
        CLIENT,
        "worker-1",
        "worker-1",
        CLIENT,
        "worker-2",
        "worker-2",
        CLIENT,
        "worker-3",
        "worker-3",
    ]
    assert not any(seen.problems for seen in found.steps)


def test_each_start_is_the_same_workers(folder: Path) -> None:
    found = walked(folder, Cast.SAME, *RETRIED)
    workers = [actor for actor in actors(found) if actor != CLIENT]
    assert workers == ["worker-1"] * 6
    assert not any(seen.problems for seen in found.steps)


def test_a_start_that_the_table_refuses_is_a_strangers(folder: Path) -> None:
    assert actors(walked(folder, Cast.ANOTHER, START, ENQUEUE, START, START)) == [
        STRANGER,
        CLIENT,
        "worker-1",
        STRANGER,
    ]


def test_a_report_that_nobody_may_make_is_the_last_starters(folder: Path) -> None:
    word = (SUCCEED, ENQUEUE, START, FAIL, SUCCEED, DUE, START, FAIL, ACK)
    assert actors(walked(folder, Cast.ANOTHER, *word)) == [
        "worker-1",  # nobody has started it: the first worker to come
        CLIENT,
        "worker-1",
        "worker-1",
        "worker-1",
        CLIENT,
        "worker-2",
        "worker-2",
        "worker-2",
    ]


def test_a_cancel_is_a_clients_and_its_acknowledgement_the_holders(folder: Path) -> None:
    found = walked(folder, Cast.ANOTHER, ENQUEUE, START, CANCEL, CANCEL, ACK)
    assert actors(found) == [CLIENT, "worker-1", CLIENT, CLIENT, "worker-1"]


def test_without_leases_everybody_is_a_client(folder: Path) -> None:
    with Session(describe("gate"), folder, Watch()) as session:
        word = (Letter("running"), Letter("done"))
        found = walk(session, word, session.submit({}), suite="test", cast=Cast.ANOTHER)
    assert actors(found) == [CLIENT, CLIENT]


def test_a_walk_keeps_what_was_seen_and_how_it_began(folder: Path) -> None:
    found = walked(folder, Cast.ANOTHER, ENQUEUE, CANCEL, START)
    assert found.suite == "test"
    assert found.word == (ENQUEUE, CANCEL, START)
    assert found.steps[0].op == Fire(ENQUEUE, CLIENT)
    assert format_trace(found.trace(2)) == "enqueue@client cancel@client"
    assert format_trace(found.trace(3)) == "enqueue@client cancel@client start@stranger"


def test_a_walk_ends_where_its_task_can_no_more_be_judged(folder: Path) -> None:
    word = (ENQUEUE, START, CANCEL, SUCCEED, CANCEL, CANCEL)
    found = walked(folder, Cast.SAME, *word, adapter=wrong_adapters.NamesAnUnknownState)
    assert len(found.steps) == 4
    assert found.word == word


@pytest.mark.parametrize(
    ("state", "shown", "same"),
    [
        ("queued", "queued", True),
        ("queued", "retry_wait", True),
        ("retry_wait", "queued", True),
        ("queued", "running", False),
        ("running", "queued", False),
    ],
)
def test_states_that_look_alike_may_stand_for_each_other(
    state: str, shown: str, *, same: bool, folder: Path
) -> None:
    found = walked(folder, Cast.SAME, adapter=variants.IndistinctWithHistory)
    assert found.same(state, shown) is same

"""Processes that are really killed leave what the images of their files say."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

import racers
from lawful.laws.smoke import smoke
from lawful.strategies.accidents import parse_accident
from lawful.strategies.adapter import describe, describe_class
from lawful.strategies.child import Gone
from lawful.strategies.clock import MappedClock
from lawful.strategies.crashes import CrashSite
from lawful.strategies.killing import Worker, killed, unfit
from lawful.strategies.session import Session
from lawful.strategies.trace import Fire, parse_trace
from lawful.strategies.watch import Watch
from miniatures.trial import task_table, workplace

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.aftermath import Found

CALLS = [
    "enqueue@client || start@worker-1",
    "enqueue@client start@worker-1 || succeed@worker-1",
    "SUBMIT t2:SUBMIT enqueue start@w t2:enqueue t2:start@v ADVANCE(31) || REAP",
]


@functools.cache
def described(target: str) -> Adapter:
    name = target.partition(":")[2]
    factory = getattr(racers, name, None)
    adapter = describe_class(factory, target, table=task_table()) if factory else describe(target)
    with workplace() as folder:
        return smoke(adapter, folder, Watch()).adapter


def told(found: Found | None) -> object:
    """Return all that a verdict says."""
    return found and (found.expected, found.got, [task.model for task in found.tasks])


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "target",
    [
        "reference",
        "racers:Whole",
        "racers:WholeInDelete",
        "racers:HistoryAfter",
        "racers:HistoryAfterInDelete",
        "racers:HistoryBefore",
        "racers:HistoryBeforeInDelete",
    ],
)
def test_a_killed_process_leaves_what_the_images_say_at_every_statement(
    target: str, call: str, tmp_path: Path
) -> None:
    adapter = described(target)
    accident = parse_accident(f"{call} || CRASH(1)", adapter.table)
    before, hit = accident.before, accident.call
    with CrashSite(adapter, tmp_path / "site") as site:
        film = site.film(before, hit)
        copied = [told(site.after(film, number)) for number in range(len(film.images))]
    died = [
        told(killed(adapter, tmp_path / f"killed-{at}", before, hit, at))
        for at in range(1, len(film.images) + 2)
    ]
    assert died == [*copied, None]
    wrong = [verdict for verdict in died if verdict and isinstance(verdict, tuple) and verdict[1]]
    assert bool(wrong) is ("History" in target)


def test_a_process_is_killed_before_a_statement_behind_the_last_and_not_at_all(
    tmp_path: Path,
) -> None:
    adapter = described("racers:HistoryAfter")
    before = parse_trace("enqueue@client", adapter.table)
    start = Fire(adapter.table.letters[1], "worker-1")
    founds = [killed(adapter, tmp_path / f"{at}", before, start, at) for at in (2, 3, 4, 5)]
    states = [found and (found.got or found.tasks[0].view.reading.state) for found in founds]
    half = "running by worker-1 at version 2, history of 1"
    assert states == ["queued", half, "running", None]


def test_a_process_that_ends_by_an_error_of_its_own_was_not_killed(tmp_path: Path) -> None:
    adapter = described("racers:HistoryAfter")
    (tmp_path / "taken").write_text("where the store is to be")
    start = Fire(adapter.table.letters[1], "worker-1")
    with pytest.raises(Gone, match="ended before it could be killed"):
        killed(adapter, tmp_path / "taken", (), start, 1)


def test_a_worker_of_another_process_has_the_same_store_and_the_same_time(tmp_path: Path) -> None:
    adapter = described("reference")
    clock = MappedClock(tmp_path / "clock")
    with (
        Session(adapter, tmp_path / "store", Watch(), clock) as session,
        Worker(adapter, session.folder, clock.file) as worker,
    ):
        task = session.submit({})
        session.fire(adapter.table.letters[0], "client")
        session.advance(5)
        came = worker.call(task, Fire(adapter.table.letters[1], "worker-1"))
        assert came.claim is not None
        assert not came.claim.reasons
        reading = session.driver.read(task.id)
        assert (reading.state, reading.lease_owner) == ("running", "worker-1")
        assert reading.lease_until == 1_000_000 + 5 + 30
        again = worker.call(task, Fire(adapter.table.letters[1], "worker-1"))
        assert again.claim is not None
        assert again.claim.reasons == {"illegal"}
    clock.close()


def test_an_adapter_that_no_other_process_can_find_is_unfit() -> None:
    class Local(racers.Whole):
        pass

    adapter = describe_class(Local, "local", table=task_table())
    assert "can't be sent to another process" in unfit(adapter)
    assert unfit(described("reference")) == ""

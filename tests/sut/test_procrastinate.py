"""procrastinate through its adapters: the plain path, in both stores, and what its log says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from lawful.sut import Entry, Reading, load_shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lawful.strategies.clock import ManualClock

pytest.importorskip("procrastinate", reason="the extra `procrastinate` is not installed")


class Bench:
    """An opened system, whose calls are done in one event loop."""

    def __init__(self, system: Any, runner: asyncio.Runner) -> None:
        self.system, self._runner = system, runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *given, **named: self._runner.run(getattr(self.system, name)(*given, **named))


@pytest.fixture(params=["procrastinate-memory", "procrastinate"])
def jobs(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    clock: ManualClock,
    server: Callable[[str], str],
) -> Iterator[Bench]:
    system: Any = load_shipped(request.param)()  # both have the same calls
    if system.server:
        system.url = server(system.server)
    with asyncio.Runner() as runner:
        bench = Bench(system, runner)
        bench.open(tmp_path, clock)
        yield bench
        bench.close()


def test_a_job_is_fetched_in_its_turn_finished_and_logged(jobs: Bench) -> None:
    first, second = jobs.submit({}), jobs.submit({}, task="b")
    assert jobs.claim("w") == first
    assert (jobs.read(first), jobs.read(second)) == (Reading("doing"), Reading("todo"))
    jobs.finish_succeeded(first)
    assert jobs.read(first) == Reading("succeeded")
    assert jobs.claim("w") == second
    assert jobs.claim("w") is None
    assert jobs.history(first) == [
        Entry(None, None, None, "todo"),
        Entry(None, "fetch", "todo", "doing"),
        Entry(None, "finish_succeeded", "doing", "succeeded"),
    ]


def test_a_failure_is_retried_by_hand_or_by_the_worker(jobs: Bench) -> None:
    task = jobs.submit({})
    jobs.claim("w")
    jobs.retry(task)
    assert jobs.read(task) == Reading("todo")
    assert jobs.claim("w") == task
    jobs.finish_failed(task)
    jobs.retry(task)
    assert jobs.read(task) == Reading("todo")


def test_a_job_that_is_asked_to_abort_is_aborting_until_its_worker_says_so(jobs: Bench) -> None:
    task = jobs.submit({})
    jobs.claim("w")
    jobs.cancel(task)
    assert jobs.read(task) == Reading("aborting")
    jobs.finish_aborted(task)
    assert jobs.read(task) == Reading("aborted")


def test_an_unknown_id_and_a_parameter_are_refused(jobs: Bench) -> None:
    jobs.submit({})
    for call in (jobs.read, jobs.history, jobs.finish_failed, jobs.cancel, jobs.retry):
        with pytest.raises(tuple(jobs.system.refusals)):
            call(jobs.system.absent())
    with pytest.raises(ValueError, match="unknown parameter 'n'"):
        jobs.submit({"n": 1})


def test_a_dump_is_every_row_or_one_jobs(jobs: Bench) -> None:
    first, second = jobs.submit({}), jobs.submit({})
    dump = jobs.dump if jobs.system.server else jobs.system.dump
    both, one = dump(), dump(second)
    assert both != one
    assert dump(jobs.system.absent()) in ((), ((), ()))
    jobs.claim("w")
    assert (dump(), dump(second)) != (both, one)
    assert dump(second) == one
    assert first != second


@pytest.mark.parametrize("jobs", ["procrastinate"], indirect=True)
def test_a_second_instance_sees_the_same_store_and_another_folder_none(
    jobs: Bench, tmp_path: Path, clock: ManualClock
) -> None:
    task = jobs.submit({})
    with asyncio.Runner() as runner:
        for folder, known in ((tmp_path, True), (tmp_path / "other", False)):
            folder.mkdir(exist_ok=True)
            other: Any = load_shipped("procrastinate")()
            other.url = jobs.system.url
            bench = Bench(other, runner)
            bench.open(folder, clock)
            if known:
                assert bench.read(task) == Reading("todo")
            else:
                with pytest.raises(tuple(other.refusals)):
                    bench.read(task)
            bench.close()

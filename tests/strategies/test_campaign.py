"""A campaign finds the same whoever walks it, and a lost worker loses its own slice alone."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest

from lawful.laws.replaying import replay
from lawful.laws.smoke import smoke
from lawful.strategies import describe, parse_trace
from lawful.strategies.adapter import AdapterError
from lawful.strategies.campaign import MOST, campaign
from lawful.strategies.crew import GIVEN_UP, LOSSES, Ended
from lawful.strategies.processes import Processes
from lawful.strategies.slices import (
    Errand,
    places,
    shorten,
    slices,
    walk_slice,
)
from lawful.strategies.stores import store_folder
from lawful.strategies.wander import Slice
from lawful.strategies.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.campaign import Campaign
    from lawful.strategies.slices import Walked

ADAPTERS = '''
import os
import signal
from pathlib import Path

from miniatures.honest import Honest

HERE = Path(__file__).parent


class Wrong(Honest):
    """A second cancel writes, and the limit on attempts is one too many."""

    def noop(self, tasks, row, call):
        self.log(row, call, row["state"])
        self.save(tasks)

    def retries(self, row, call):
        return bool(call.payload["retryable"]) and row["attempts"] <= row["limit"]


class Touching(Honest):
    """A success marks the first task of the store."""

    def move(self, row, call, after):
        super().move(row, call, after)
        self.marks = call.event == "succeed"

    def save(self, tasks):
        if getattr(self, "marks", False):
            next(iter(tasks.values()))["attempts"] += 7
            self.marks = False
        super().save(tasks)


class Deadly(Wrong):
    """The first process that does 300 steps, of those that find the file, kills itself."""

    calls = 0
    marker = HERE / "once"

    def die(self):
        self.marker.unlink()

    def on(self, call):
        Deadly.calls += 1
        if Deadly.calls >= 300 and self.marker.exists():
            try:
                self.die()
            except FileNotFoundError:
                pass  # another process was first
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().on(call)


class Deadlier(Deadly):
    """Every process that finds the file kills itself."""

    marker = HERE / "always"

    def die(self):
        pass


class Quitting(Honest):
    """Some call does not return."""

    calls = 0

    def on(self, call):
        Quitting.calls += 1
        if Quitting.calls == 60:
            import threading
            threading.Event().wait()
        return super().on(call)
'''
STEPS = 4_000
SEED = 7


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the adapters, where this process and those that it begins find them."""
    folder = tmp_path_factory.mktemp("walked")
    (folder / "walked.py").write_text(ADAPTERS)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    sys.modules.pop("walked", None)


def fit(name: str) -> Adapter:
    target = name if ":" in name or name.islower() else f"walked:{name}"
    with store_folder() as folder:
        return smoke(describe(target), folder, Watch()).adapter


def came_of(found: Campaign) -> tuple[Any, ...]:
    """Return all that must not depend on who walked."""
    return found.steps, found.done, found.hits, found.findings, found.shapes, found.lost


@pytest.fixture(scope="module")
def undisturbed(here: Path) -> Campaign:
    """What this process finds."""
    return campaign(fit("Wrong"), slices(STEPS, SEED))


@pytest.fixture(scope="module")
def cluster(here: Path) -> Iterator[Any]:
    """A Dask cluster of two processes that itself tries a killed call once, and no more."""
    import dask.config
    import distributed

    begin: Any = distributed.LocalCluster  # Dask is typed in part
    connect: Any = distributed.Client
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        begin(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        connect(local) as client,
    ):
        yield client


# -- slices --------------------------------------------------------------------------------------


def test_slices_hold_all_the_steps_and_are_the_same_for_the_same_seed() -> None:
    some = slices(1_000_001, 3)
    assert sum(part.steps for part in some) == 1_000_001
    assert max(part.steps for part in some) == 20_000
    assert len({part.seed for part in some}) == len(some) == 51
    assert some == slices(1_000_001, 3)
    assert {part.seed for part in some}.isdisjoint(part.seed for part in slices(1_000_001, 4))


def test_a_small_campaign_is_one_slice() -> None:
    assert [part.steps for part in slices(10, 0)] == [10]


@pytest.mark.parametrize("steps", [0, -1])
def test_no_steps_are_refused_at_the_call(steps: int) -> None:
    with pytest.raises(ValueError, match="at least one is needed"):
        slices(steps, 0)


def test_no_processes_are_refused_at_the_call() -> None:
    with pytest.raises(ValueError, match="at least one is needed"):
        Processes(0)


def test_what_is_handed_over_is_plain(here: Path) -> None:
    adapter = fit("Wrong")
    errand = Errand("walked:Wrong", adapter.table, tuple(adapter.offered), Slice(1, 500))
    done = walk_slice(pickle.loads(pickle.dumps(errand)))
    assert (done.steps, done.wrong) == (500, "")
    assert done.found
    assert pickle.loads(pickle.dumps(done)) == done


def test_an_errand_without_a_finding_can_not_be_shortened(here: Path) -> None:
    adapter = fit("Wrong")
    with pytest.raises(ValueError, match="no finding"):
        shorten(Errand("walked:Wrong", adapter.table, (), Slice(1, 1)))


# -- in this process -----------------------------------------------------------------------------


def test_every_step_is_taken_and_every_finding_is_shortest(undisturbed: Campaign) -> None:
    found = undisturbed
    assert (found.steps, found.done, found.slices) == (STEPS, 4, 4)
    assert found.ended is Ended.WHOLE
    traces = {(one.shape.state, one.shape.step): one.trace for one in found.findings}
    assert traces["cancelled", "cancel"] == "cancel@client cancel@client"
    assert traces["cancelling", "cancel"] == (
        "enqueue@client start@worker-1 cancel@client cancel@client"
    )
    # The shortest way to fail for the last time is with a limit of one.
    assert traces["running", "fail(retryable=true)"] == (
        "SUBMIT(max_attempts=1) enqueue@client start@worker-1 fail(retryable=true)@worker-1"
    )
    assert [one.length for one in found.findings] == sorted(one.length for one in found.findings)


def test_findings_replay(undisturbed: Campaign, folder: Path) -> None:
    adapter = undisturbed.adapter
    for one in undisturbed.findings:
        steps = replay(adapter, parse_trace(one.trace, adapter.table), folder)
        assert [step.lawful for step in steps] == [True] * (one.length - 1) + [False]


def test_a_task_that_anothers_step_changes_is_found_with_that_step(here: Path) -> None:
    found = campaign(fit("Touching"), slices(2_000, 0))
    one = next(one for one in found.findings if one.shape.aspect == "neighbour")
    assert one.trace == ("SUBMIT t2:SUBMIT t2:enqueue@client t2:start@worker-1 t2:succeed@worker-1")


def test_a_correct_implementation_is_walked_everywhere_and_nothing_is_found() -> None:
    adapter = fit("gate")
    found = campaign(adapter, slices(2_000, 0))
    assert (found.findings, found.shapes, found.lost) == ((), 0, ())
    assert all(found.hits[place] for place in places(adapter))
    assert len(places(adapter)) == 25


def test_at_most_so_many_are_reported_the_shortest_first() -> None:
    found = campaign(fit("flags"), slices(2_000, 0))
    assert found.shapes > MOST == len(found.findings)
    assert found.findings == tuple(sorted(found.findings, key=lambda one: one.rank))
    assert all(one.times >= 1 for one in found.findings)


def test_a_call_that_hangs_ends_its_slice_and_is_reported_as_it_was(here: Path) -> None:
    found = campaign(fit("Quitting"), [Slice(1, 1_000)], limit=0.2)
    (one,) = found.findings
    assert one.got == "fire did not return within 0.2 s"
    assert one.moves == ()
    assert found.steps < 1_000


def test_no_slice_is_begun_after_the_budget() -> None:
    readings = iter([0.0, 1.0, 1.0, 10.0, 10.0])
    found = campaign(fit("gate"), slices(3_000, 0), budget=5.0, clock=lambda: next(readings, 10.0))
    assert (found.done, found.slices, found.steps) == (1, 3, 1_000)
    assert found.ended is Ended.BUDGET


def test_an_interrupted_campaign_has_what_is_done() -> None:
    def interrupt(done: int, of: int, what: str) -> None:
        if done >= 1_000:
            raise KeyboardInterrupt

    found = campaign(fit("flags"), slices(3_000, 0), progress=interrupt)
    assert found.ended is Ended.INTERRUPTED
    assert found.done <= 1


# -- any executor --------------------------------------------------------------------------------


class Deferred(Executor):
    """Does calls in this process, the last that was submitted first, and not all of them."""

    def __init__(self, *fail: Exception) -> None:
        self.failures = list(fail)
        self.errands: list[Errand] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        (errand,) = args
        self.errands.append(errand)
        future: Future[Any] = Future()
        if self.failures:
            future.set_exception(self.failures.pop(0))
        else:
            future.set_result(fn(*args))
        return future


class Closed(Executor):
    """Takes one slice, and then no more."""

    taken = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.taken:
            raise RuntimeError("cannot schedule new futures after shutdown")
        self.taken = True
        future: Future[Any] = Future()
        future.set_result(fn(*args))
        return future


def test_the_result_is_the_same_with_any_executor(undisturbed: Campaign) -> None:
    found = campaign(fit("Wrong"), slices(STEPS, SEED), Deferred(), ahead=3)
    assert came_of(found) == came_of(undisturbed)


def test_a_slice_that_is_cancelled_is_done_again(undisturbed: Campaign) -> None:
    executor = Deferred(CancelledError(), CancelledError())
    found = campaign(fit("Wrong"), slices(STEPS, SEED), executor)
    assert came_of(found) == came_of(undisturbed)
    assert [errand.again for errand in executor.errands[:4]] == [0, 1, 2, 0]


def test_a_slice_that_is_lost_too_often_is_a_finding_of_its_own() -> None:
    parts = slices(3_000, 0)
    executor = Deferred(*[CancelledError("gone")] * LOSSES)
    found = campaign(fit("gate"), parts, executor)
    (lost,) = found.lost
    assert (lost.seed, lost.steps) == (parts[0].seed, 1_000)
    assert lost.reason == "its worker was lost 3 times, at last with CancelledError: gone"
    assert (found.done, found.ended) == (2, Ended.WHOLE)


def test_too_many_lost_slices_end_the_campaign() -> None:
    executor = Deferred(*[CancelledError()] * LOSSES * GIVEN_UP)
    found = campaign(fit("gate"), slices(9_000, 0), executor)
    assert len(found.lost) == GIVEN_UP
    assert (found.done, found.ended) == (0, Ended.BROKEN)
    assert found.cause == "5 slices were given up"


def test_an_executor_that_takes_no_more_ends_the_campaign() -> None:
    found = campaign(fit("gate"), slices(3_000, 0), Closed())
    assert (found.done, found.ended) == (1, Ended.BROKEN)
    assert found.cause == "RuntimeError: cannot schedule new futures after shutdown"


def test_a_worker_that_can_not_load_the_adapter_is_wrong_usage() -> None:
    adapter = replace(fit("gate"), target="nowhere:Adapter")
    with pytest.raises(AdapterError, match=r"a worker can't begin: .*no module 'nowhere'"):
        campaign(adapter, slices(10, 0), Deferred())


def test_a_failure_of_ours_in_this_process_is_not_swallowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(errand: Errand, progress: object = None) -> Walked:
        raise ZeroDivisionError

    monkeypatch.setattr("lawful.strategies.campaign.walk_slice", broken)
    with pytest.raises(ZeroDivisionError):
        campaign(fit("gate"), slices(10, 0))


# -- processes -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_processes_find_the_same(undisturbed: Campaign) -> None:
    with Processes(2) as executor:
        found = campaign(fit("Wrong"), slices(STEPS, SEED), executor, ahead=2)
    assert came_of(found) == came_of(undisturbed)


@pytest.mark.slow
def test_a_pool_of_the_standard_library_does_too(undisturbed: Campaign) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        found = campaign(fit("Wrong"), slices(STEPS, SEED), executor, ahead=2)
    assert came_of(found) == came_of(undisturbed)


@pytest.mark.slow
def test_a_process_that_is_killed_loses_its_slice_which_is_done_again(
    here: Path, undisturbed: Campaign, folder: Path
) -> None:
    adapter = fit("Deadly")
    (here / "once").touch()
    with Processes(2) as executor:
        found = campaign(adapter, slices(STEPS, SEED), executor, ahead=2, store=folder)
    assert not (here / "once").exists()
    assert came_of(found) == came_of(undisturbed)


@pytest.mark.slow
def test_a_slice_that_kills_every_process_is_named_by_its_seed(here: Path, folder: Path) -> None:
    adapter = fit("Deadlier")
    (here / "always").touch()
    try:
        with Processes(1) as executor:
            found = campaign(adapter, [Slice(11, 1_000)], executor, store=folder)
    finally:
        (here / "always").unlink()
    (lost,) = found.lost
    assert lost.seed == 11
    assert "BrokenProcessPool" in lost.reason
    assert found.steps == 0


# -- a cluster -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_cluster_of_two_workers_finds_the_same(cluster: Any, undisturbed: Campaign) -> None:
    executor = cluster.get_executor(pure=False)
    found = campaign(fit("Wrong"), slices(STEPS, SEED), executor, ahead=4)
    assert came_of(found) == came_of(undisturbed)


@pytest.mark.slow
def test_a_clusters_worker_that_is_killed_loses_its_slice_which_is_done_again(
    cluster: Any, here: Path, undisturbed: Campaign, folder: Path
) -> None:
    adapter = fit("Deadly")
    (here / "once").touch()
    # Calls that are equal are one call to this executor; a slice that is done again is not equal.
    executor = cluster.get_executor()
    found = campaign(adapter, slices(STEPS, SEED), executor, ahead=4, store=folder)
    assert not (here / "once").exists()
    assert came_of(found) == came_of(undisturbed)

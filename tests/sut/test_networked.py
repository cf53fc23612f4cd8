"""PostgreSQL and Redis: each store keeps what the reference's keeps, and is whole in each write."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from lawful.sut import Entry, Reading, load_shipped, postgresql
from lawful.sut.namespaces import Namespaces
from lawful.sut.reference import (
    DuplicateTask,
    IllegalTransition,
    StaleLease,
    UnknownTask,
    VersionConflict,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lawful.strategies.clock import ManualClock
    from lawful.sut.reference import Task
    from lawful.sut.reference.system import TaskSystem

pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
pytest.importorskip("redis", reason="the extra `redis` is not installed")

import networked  # it needs both

if TYPE_CHECKING:
    System = TaskSystem[Any]  # a store of any kind

SHIPPED = ("postgresql", "redis", "redis-lua")


class Bench:
    """Opens systems on one folder, and closes them."""

    def __init__(self, folder: Path, clock: ManualClock, url: Callable[[str], str]) -> None:
        self.folder, self.clock, self.url = folder, clock, url
        self.systems: list[System] = []

    def open(self, kind: type[Any]) -> System:
        system: System = kind()
        system.url = self.url(system.server)
        system.open(self.folder, self.clock)
        self.systems.append(system)
        return system


@pytest.fixture
def bench(tmp_path: Path, clock: ManualClock, server: Callable[[str], str]) -> Iterator[Bench]:
    made = Bench(tmp_path, clock, server)
    yield made
    for system in made.systems:
        system.close()


@pytest.fixture(params=SHIPPED)
def system(request: pytest.FixtureRequest, bench: Bench) -> System:
    return bench.open(load_shipped(request.param))


def started(system: System, worker: str = "w", *, task: str | None = None) -> str:
    """Submit, enqueue and start a task; return its id."""
    made: str = system.submit({"max_attempts": 3}, task=task)
    system.fire(made, "enqueue", actor="client")
    system.fire(made, "start", actor=worker)
    return made


# -- rows ------------------------------------------------------------------------------------------


def test_a_tasks_life_is_read_as_it_is_written(system: System) -> None:
    task = started(system)
    assert system.read(task) == Reading("running", 1, 2, "w", 1030.0, 2)
    system.fire(task, "fail", actor="w", payload={"retryable": True}, token=2)
    assert system.read(task) == Reading("retry_wait", 1, 3)
    assert system.history(task) == [
        Entry(0, None, None, "submitted", None, {"max_attempts": 3}),
        Entry(1, "enqueue", "submitted", "queued", "client", {}),
        Entry(2, "start", "queued", "running", "w", {}),
        Entry(3, "fail", "running", "retry_wait", "w", {"retryable": True}),
    ]


def test_refusals_come_in_their_order_and_leave_no_mark(system: System) -> None:
    task = started(system)
    before = system.dump()
    with pytest.raises(VersionConflict):
        system.fire(task, "enqueue", actor="x", expected_version=1)
    with pytest.raises(IllegalTransition):
        system.fire(task, "enqueue", actor="x", expected_version=2)
    with pytest.raises(StaleLease):
        system.fire(task, "succeed", actor="x", expected_version=2)
    with pytest.raises(StaleLease):
        system.fire(task, "succeed", actor="w", token=1)
    with pytest.raises(StaleLease):
        system.heartbeat(task, actor="x")
    assert system.dump() == before


def test_an_unknown_id_is_unknown_to_every_call_and_leaves_no_mark(system: System) -> None:
    started(system, task="t1")
    before = system.dump()
    for call in (system.read, system.history, system.poison):
        with pytest.raises(UnknownTask):
            call("t")
    with pytest.raises(UnknownTask):
        system.fire("t", "enqueue", actor="w")
    with pytest.raises(UnknownTask):
        system.heartbeat("t", actor="w")
    assert system.dump("t") == ((), ())
    assert system.dump() == before


def test_one_tasks_dump_is_its_own_rows(system: System) -> None:
    started(system, task="t")
    started(system, task="t1")
    rows, lines = system.dump("t")
    assert [row[0] for row in rows] == ["t"]
    assert [line[0] for line in lines] == ["t"] * 3
    assert len(system.dump()[1]) == 6


def test_an_id_is_the_callers_or_the_stores_and_given_out_once(system: System) -> None:
    assert system.submit({}, task="task-2") == "task-2"
    ids = [system.submit({}) for _ in range(3)]
    assert len({"task-2", *ids}) == 4
    before = system.dump()
    with pytest.raises(DuplicateTask):
        system.submit({"max_attempts": 1}, task="task-2")
    assert system.dump() == before


def test_a_task_put_straight_into_a_state_starts_its_history_there(system: System) -> None:
    task = system.put("cancelling", {"attempts": 2}, actor="w")
    assert system.read(task) == Reading("cancelling", 2, 0, "w", 1030.0, 0)
    assert [entry[:5] for entry in system.history(task)] == [(0, None, None, "cancelling", "w")]
    system.fire(task, "cancel_ack", actor="w", token=0)
    assert system.read(task) == Reading("cancelled", 2, 1)


def test_what_is_due_waits_for_a_retry_or_was_never_enqueued(system: System) -> None:
    new = system.submit({}, task="new")
    waiting = started(system, task="waiting")
    system.fire(waiting, "fail", actor="w", payload={"retryable": True})
    started(system, task="busy")
    assert system.due() == [new, waiting]
    system.fire(waiting, "retry_due", actor="timer")
    assert system.due() == [new]


# -- leases ----------------------------------------------------------------------------------------


def test_the_reaper_fails_what_has_expired_and_nothing_else(
    system: System, clock: ManualClock
) -> None:
    gone, asked = started(system, task="gone"), started(system, task="asked")
    system.fire(asked, "cancel", actor="client")
    beating, done = started(system, task="beating"), started(system, task="done")
    system.fire(done, "succeed", actor="w")
    clock.advance(20)
    system.heartbeat(beating, actor="w", token=2)
    assert system.read(beating) == Reading("running", 1, 2, "w", 1050.0, 2)
    others = [system.dump(task) for task in (beating, done)]
    clock.advance(10)
    assert system.reap() == []  # at the deadline itself a lease is in force
    clock.advance(1)
    assert system.reap() == [asked, gone]
    assert system.read(gone) == Reading("retry_wait", 1, 3)
    assert system.read(asked) == Reading("cancelled", 1, 4)
    assert system.history(gone)[-1] == Entry(
        3, "fail", "running", "retry_wait", "reaper", {"retryable": True}
    )
    assert [system.dump(task) for task in (beating, done)] == others
    assert system.reap() == []


@pytest.mark.parametrize("bad", ["a", "b", "c"])
def test_a_row_that_cannot_be_processed_is_reported_and_stops_no_other(
    system: System, clock: ManualClock, bad: str
) -> None:
    for task in ("a", "b", "c"):
        started(system, task=task)
    clock.advance(31)
    before = system.dump(bad)
    system.poison(bad)
    reclaimed = system.store.reclaim_expired()
    assert reclaimed.tasks == tuple(task for task in "abc" if task != bad)
    ((left, error),) = reclaimed.unprocessable
    assert left == bad
    assert "poisoned" in str(error)
    assert system.dump(bad) == before
    system.store.cure(bad)
    assert system.reap() == [bad]


def test_a_poisoned_write_fails_once_and_leaves_no_mark(system: System) -> None:
    task = started(system)
    before = system.dump()
    system.poison(task)
    with pytest.raises(Exception, match="poisoned"):
        system.fire(task, "succeed", actor="w")
    assert system.dump() == before
    system.fire(task, "succeed", actor="w")
    assert system.read(task).state == "succeeded"


# -- stores ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_a_store_is_the_folders_and_survives_closing(bench: Bench, name: str) -> None:
    first = bench.open(load_shipped(name))
    task = started(first)
    seen = first.read(task), first.history(task), first.dump()
    bench.systems.pop().close()
    again = bench.open(load_shipped(name))
    assert (again.read(task), again.history(task), again.dump()) == seen
    beside = bench.open(load_shipped(name))
    beside.fire(task, "cancel", actor="client")
    assert again.read(task).state == "cancelling"
    bench.folder = bench.folder / "other"
    bench.folder.mkdir()
    assert bench.open(load_shipped(name)).dump() == ((), ())


def _stores(system: System) -> list[str]:
    rows = system.store.connection.execute("SELECT DISTINCT store FROM lawful.tasks").fetchall()
    return [name for (name,) in rows]


def _stored(system: System) -> int:
    """Count what all stores together have on the server."""
    if system.server == "redis":
        return len(system.store.client.keys("lawful:*"))
    count = "SELECT (SELECT count(*) FROM lawful.tasks) + (SELECT count(*) FROM lawful.task_events)"
    return int(system.store.connection.execute(count).fetchone()[0])


@pytest.mark.parametrize("name", SHIPPED)
def test_a_store_whose_folder_is_gone_is_dropped_when_another_is_opened(
    bench: Bench, name: str
) -> None:
    kept = bench.open(load_shipped(name))
    others = _stored(kept)
    kept.submit({})
    one = _stored(kept) - others
    bench.folder = bench.folder / "short"
    bench.folder.mkdir()
    bench.open(load_shipped(name)).submit({})
    assert _stored(kept) == others + 2 * one
    bench.folder.rmdir()
    bench.folder = bench.folder.with_name("next")
    bench.folder.mkdir()
    bench.open(load_shipped(name))
    assert _stored(kept) == others + one
    assert kept.read("task-1").state == "submitted"


def test_every_store_is_dropped_when_its_process_ends(tmp_path: Path) -> None:
    dropped = []
    spaces = Namespaces(lambda url, names: dropped.append((url, len(names))))
    names = [spaces.enter("here", tmp_path)[0]]
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        name, gone = spaces.enter("here" if folder == "a" else "there", tmp_path / folder)
        assert gone == ()
        names.append(name)
    assert len(set(names)) == 3
    assert spaces.enter("a door of here", tmp_path) == (names[0], ())
    spaces.leave()
    assert dropped == [("here", 2), ("there", 1)]
    spaces.leave()
    assert len(dropped) == 2


# Judges two systems on servers that are named, and says what is left on them.
LEFT = """
import os, subprocess, sys
import psycopg, redis
from lawful.strategies.servers import server_url
urls = {"LAWFUL_POSTGRESQL_URL": server_url("postgresql"), "LAWFUL_REDIS_URL": server_url("redis")}
for target in ("postgresql", "redis"):
    command = [sys.executable, "-m", "lawful.cli.main", "smoke", target]
    subprocess.run(command, env={**os.environ, **urls}, check=True, stdout=subprocess.DEVNULL)
with psycopg.connect(server_url("postgresql")) as db:
    print(db.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'lawful'").fetchone())
with redis.Redis.from_url(server_url("redis")) as client:
    print(client.dbsize())
"""


def test_a_server_that_is_named_is_left_as_it_was(server: Callable[[str], str]) -> None:
    for kind in ("postgresql", "redis"):
        server(kind)
    own = {name: value for name, value in os.environ.items() if not name.startswith("LAWFUL_")}
    done = subprocess.run(
        [sys.executable, "-c", LEFT], env=own, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split("\n"), done.stderr) == (["(0,)", "0", ""], "")


def test_the_tables_stay_while_somebody_has_a_store_open(bench: Bench) -> None:
    system = bench.open(load_shipped("postgresql"))
    postgresql._delete(system.store.connection, _stores(system))
    postgresql._drop(system.url, [])  # nothing is in them
    assert system.read(system.submit({})).state == "submitted"


# -- another worker's write in between -------------------------------------------------------------


def meet(bench: Bench, kind: type[Any], second: Callable[[System, str], object]) -> System:
    """Have a worker's ``succeed`` decided, and another's call made before it is written."""
    first, other = bench.open(kind), bench.open(kind)
    task = started(first)
    calls: list[bool] = []

    def rule(before: Task, *args: Any, **keywords: Any) -> Task:  # those of `step`
        if not calls:
            calls.append(True)
            bench.clock.advance(1)
            second(other, task)
        return step(before, *args, **keywords)

    first.store._rule = rule
    first.fire(task, "succeed", actor="w")
    return first


def cancelled(other: System, task: str) -> None:
    other.fire(task, "cancel", actor="client")


def renewed(other: System, task: str) -> None:
    other.heartbeat(task, actor="w")


RIGHT = (
    networked.Comparing,
    networked.Repeatable,
    load_shipped("redis"),
    load_shipped("redis-lua"),
)


@pytest.mark.parametrize("kind", RIGHT)
@pytest.mark.parametrize("second", [cancelled, renewed])
def test_whoever_comes_too_late_is_told_so(
    bench: Bench, kind: type[Any], second: Callable[[System, str], object]
) -> None:
    with pytest.raises(tuple(kind.refusals)) as refused:
        meet(bench, kind, second)
    assert kind.refusals[type(refused.value)] == "stale_version"
    first = bench.systems[0]
    state = "cancelling" if second is cancelled else "running"
    assert first.read("task-1").state == state
    assert first.history("task-1")[-1].after == state


@pytest.mark.parametrize("kind", [networked.Blind, networked.Unwatched])
def test_without_a_comparison_an_update_is_lost(bench: Bench, kind: type[Any]) -> None:
    first = meet(bench, kind, cancelled)
    assert first.read("task-1") == Reading("succeeded", 1, 3)
    events = [entry.event for entry in first.history("task-1")]
    assert events[:3] == [None, "enqueue", "start"]
    assert events[3:] in (["succeed"], ["cancel", "succeed"])


def test_postgresql_holds_the_rows_lock_from_before_it_decides(bench: Bench) -> None:
    from psycopg.errors import LockNotAvailable

    def tried(other: System, task: str) -> None:
        query = "SELECT 1 FROM lawful.tasks WHERE id = %s FOR UPDATE NOWAIT"
        with pytest.raises(LockNotAvailable):
            other.store.connection.execute(query, (task,))

    first = meet(bench, load_shipped("postgresql"), tried)
    assert first.read("task-1").state == "succeeded"


def test_postgresql_compares_the_version_too(bench: Bench) -> None:
    system = bench.open(load_shipped("postgresql"))
    task = started(system)

    def rule(before: Task, *args: Any, **keywords: Any) -> Task:  # those of `step`
        # The row moves on under the write: its own transaction is not kept out by its lock.
        query = "UPDATE lawful.tasks SET version = 99 WHERE id = %s"
        system.store.connection.execute(query, (task,))
        return step(before, *args, **keywords)

    system.store._rule = rule
    with pytest.raises(VersionConflict):
        system.fire(task, "succeed", actor="w")
    assert system.read(task) == Reading("running", 1, 2, "w", 1030.0, 2)


def test_the_database_refuses_a_misspelt_state(bench: Bench) -> None:
    from psycopg.errors import CheckViolation

    system = bench.open(load_shipped("postgresql"))
    task = system.submit({})
    with pytest.raises(CheckViolation):
        system.store.connection.execute(
            "UPDATE lawful.tasks SET state = 'cancelld' WHERE id = %s", (task,)
        )
    assert system.read(task).state == "submitted"


def test_a_lease_that_was_renewed_since_the_reaper_chose_it_is_left(
    system: System, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = started(system)
    clock.advance(31)
    system.heartbeat(task, actor="w")
    monkeypatch.setattr(system.store, "_expired", lambda now: [task])
    assert system.reap() == []
    assert system.read(task) == Reading("running", 1, 2, "w", 1061.0, 2)

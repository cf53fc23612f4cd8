"""Races of stores on real servers: what each schedule comes to, and why none could be believed."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

psycopg = pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
pytest.importorskip("redis", reason="the extra `redis` is not installed")

import networked  # noqa: E402 - it needs both
from lawful.laws.replaying import replay_race  # noqa: E402
from lawful.laws.smoke import smoke  # noqa: E402
from lawful.strategies import canary, servers  # noqa: E402
from lawful.strategies.adapter import describe_class  # noqa: E402
from lawful.strategies.hub import Stuck  # noqa: E402
from lawful.strategies.racing import Arena, parse_race, parse_run  # noqa: E402
from lawful.strategies.schedules import explore, follow  # noqa: E402
from lawful.strategies.watch import Watch  # noqa: E402
from lawful.strategies.wire import WireTap  # noqa: E402
from lawful.strategies.wire_canary import JOBS, both_win  # noqa: E402
from lawful.sut.postgresql import Postgresql  # noqa: E402
from lawful.sut.redis_store import Redis, RedisLua  # noqa: E402
from miniatures.trial import task_table, workplace  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.racing import Run
    from lawful.sut import Clock

KINDS = ("postgresql", "redis")
STARTS = "enqueue@client || start@worker-1 || start@worker-2"
REAPED = "enqueue@client start@worker-1 ADVANCE(31) || REAP || succeed@worker-1"

BOTH = {
    "A accepted, B accepted -> running by worker-1",
    "A accepted, B accepted -> running by worker-2",
}


@pytest.fixture(autouse=True)
def _servers(server: Callable[[str], str]) -> None:
    for kind in KINDS:
        server(kind)


@pytest.fixture(autouse=True)
def _canary_forgets() -> Iterator[None]:
    yield
    canary.distrust.cache_clear()


@functools.cache
def described(factory: type) -> Adapter:
    adapter = describe_class(factory, f"networked:{factory.__name__}", table=task_table())
    with workplace() as folder:
        return smoke(adapter, folder, Watch()).adapter


def runs(factory: type, line: str, *, most: int | None = None) -> list[Run]:
    """Run a race under every schedule."""
    adapter = described(factory)
    race = parse_race(line, adapter.table)
    with workplace() as folder, Arena(adapter, folder, workers=len(race.does)) as arena:
        return list(explore(lambda chooser: arena.run(race, chooser), most=most))


# -- how many schedules there are, and how many of them are unlawful -------------------------------
#
# PostgreSQL: SELECT, UPDATE, INSERT and COMMIT each (ROLLBACK for one that is refused); the reaper
# has one more SELECT. With a lock, the second comes behind the first, or waits from one of the
# moments that the first has left: 2 x (1 + 3), and 1 + 4 where the reaper is first. Without a lock
# there are 24 (see test_wire). Redis: WATCH, HGETALL and EXEC each, 6 over 3; HGETALL and EXEC, or
# the script, 4 over 2; the reaper has one more ZRANGEBYSCORE: 7 over 3, and 5 over 2.


@pytest.mark.parametrize(
    ("factory", "line", "schedules", "unlawful"),
    [
        (Postgresql, STARTS, 8, 0),
        (Postgresql, REAPED, 9, 0),
        (networked.Comparing, STARTS, 24, 0),
        (networked.Blind, STARTS, 24, 22),
        (networked.Repeatable, STARTS, 24, 0),
        (Redis, STARTS, 20, 0),
        (Redis, REAPED, 35, 0),
        (RedisLua, STARTS, 6, 0),
        (RedisLua, REAPED, 10, 0),
        (networked.Unwatched, STARTS, 6, 4),
    ],
)
def test_two_calls_on_one_task(factory: type, line: str, schedules: int, unlawful: int) -> None:
    found = runs(factory, line)
    assert len(found) == len({run.schedule for run in found}) == schedules
    assert sum(not run.lawful for run in found) == unlawful
    assert {run.got for run in found if not run.lawful} == (BOTH if unlawful else set())
    assert all(run.ordered for run in found)


@pytest.mark.parametrize("factory", [networked.Blind, networked.Unwatched])
def test_a_wrong_store_is_found_with_one_preemption_and_each_time_again(factory: type) -> None:
    wrong = next(run for run in runs(factory, STARTS, most=1) if not run.lawful)
    adapter = described(factory)
    race, schedule = parse_run(wrong.line, adapter.table)
    with workplace() as folder, Arena(adapter, folder) as arena:
        again = [arena.run(race, follow(schedule)) for _ in range(5)]
    assert [run.got for run in again] == [wrong.got] * 5
    assert [run.schedule for run in again] == [wrong.schedule] * 5
    with workplace() as folder:
        assert replay_race(adapter, race, schedule, folder).got == wrong.got


def test_a_run_that_the_server_has_ordered_says_so() -> None:
    adapter = described(Postgresql)
    race = parse_race(f"{STARTS} || cancel@client", adapter.table)
    with workplace() as folder, Arena(adapter, folder, workers=3) as arena:
        found = [arena.run(race, follow(line)) for line in ("ABCAAA", "ABAAA")]
    assert [run.ordered for run in found] == [False, True]
    assert all(run.lawful for run in found)


def test_a_race_that_hangs_leaves_the_arena_with_its_error() -> None:
    adapter = described(Postgresql)
    race = parse_race(STARTS, adapter.table)
    blocker = psycopg.connect(servers.server_url("postgresql"))

    def locked(able: Sequence[str], _: str | None) -> str:
        blocker.execute("SELECT 1 FROM lawful.tasks FOR UPDATE")
        return able[0]

    try:
        with (
            workplace() as folder,
            pytest.raises(Stuck, match="waits for a session that is no worker's"),
            Arena(adapter, folder, limit=0.5) as arena,
        ):
            arena.run(race, locked)
    finally:
        blocker.close()


# -- when nothing can be believed ------------------------------------------------------------------


class Elsewhere(RedisLua):
    """Connects to the server past its door."""

    def open(self, path: Path, clock: Clock) -> None:
        self.url = servers.server_url("redis")
        super().open(path, clock)


def test_it_is_told_that_nothing_goes_through_a_door() -> None:
    for factory, told in (
        (Elsewhere, "no statement of its own goes through its door"),
        (RedisLua, ""),
    ):
        adapter = described(factory)
        with workplace() as folder, Arena(adapter, folder) as arena:
            arena.run(parse_race(STARTS, adapter.table), follow(""))
            assert arena.unseen == told


@pytest.mark.parametrize("kind", KINDS)
def test_the_canary_is_caught_and_the_right_program_passes(kind: str) -> None:
    url = servers.server_url(kind)
    with JOBS[kind](url) as jobs:
        assert both_win(jobs, url, naive=True)
        assert not both_win(jobs, url, naive=False)
    assert canary.distrust(kind) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_tap_that_sees_nothing_is_not_believed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WireTap, "before", lambda *_: None)
    assert canary.distrust(kind).startswith("its canary was not caught")


@pytest.mark.parametrize("kind", KINDS)
def test_a_tap_that_accuses_everybody_is_not_believed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = JOBS[kind]
    taken = job.taken  # type: ignore[attr-defined]
    monkeypatch.setattr(
        job, "taken", lambda jobs, url, name, **_: taken(jobs, url, name, naive=True)
    )
    assert canary.distrust(kind).startswith("its canary was accused")


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_does_not_answer_is_told(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"LAWFUL_{kind.upper()}_URL", f"{kind}://127.0.0.1:1")
    assert canary.distrust(kind).startswith("its canary can't be run: ")

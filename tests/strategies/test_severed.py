"""Accidents of systems on servers: what each cut of a connection leaves behind there."""

from __future__ import annotations

import gc
import os
import pickle
import secrets
import threading
from typing import TYPE_CHECKING, NamedTuple

import pytest

from lawful.spec.errors import LawfulError
from lawful.strategies.accidents import Mishap, Sort
from lawful.strategies.crashes import CrashSite
from lawful.strategies.driver import ClaimKind, Fault
from lawful.strategies.killing import killed
from lawful.strategies.servers import server_url
from lawful.strategies.severed import SeveredSite, crash_site
from lawful.strategies.trace import Reopen
from lawful.strategies.turns import WireError
from lawful.sut import load_shipped
from lawful.sut.redis_store import LuaStore, RedisLua
from leftovers import descriptors, needs_descriptors
from miniatures.trial import workplace
from scenes import fit
from stagings import CANCEL, accident, unready, words

psycopg = pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
redis = pytest.importorskip("redis", reason="the extra `redis` is not installed")

import networked  # noqa: E402 - it needs both

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lawful.strategies.accidents import Statement
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.aftermath import Found
    from lawful.strategies.crashes import Film
    from lawful.sut import Clock
    from lawful.sut.redis_store import Write

REFUSED = "SUBMIT || start@worker-1"
TWO = "enqueue@client start@worker-1 t2:SUBMIT t2:enqueue@client t2:start@worker-2 ADVANCE(31)"

BEFORE = "submitted, version 0, 1 entries"
AFTER = "cancelled, version 1, 2 entries"
RUNNING, WAITING = "running, version 2, 3 entries", "retry_wait, version 3, 4 entries"

READ, WRITE = "BEGIN SELECT", "UPDATE INSERT"
QUEUED = "WATCH HGETALL MULTI HSET RPUSH SADD ZREM SREM EXEC"


@pytest.fixture(autouse=True)
def _servers(server: Callable[[str], str]) -> None:
    for kind in ("postgresql", "redis"):
        server(kind)


_FITTED: dict[str | type, Adapter] = {}


def fitted(target: str | type) -> Adapter:
    """Describe a system by the name under which it is shipped, or by its class."""
    if target not in _FITTED:
        _FITTED[target] = fit(load_shipped(target) if isinstance(target, str) else target)
    return _FITTED[target]


class UnlikeStore(LuaStore):
    """No two stores have a task of one id."""

    def _free_id(self) -> str:
        return f"task-{secrets.token_hex(8)}"


class Unlike(RedisLua):
    """Which ids it gives out can't be foreseen."""

    keeps = UnlikeStore


class ForgetfulStore(LuaStore):
    """A start is accepted, and not written."""

    def _write(self, write: Write) -> None:
        if write.after.state != "running":
            super()._write(write)


class Forgetful(RedisLua):
    """Its start is not lawful by itself."""

    keeps = ForgetfulStore


class Aside(RedisLua):
    """Connects to the server past its door."""

    def open(self, path: Path, clock: Clock) -> None:
        self.url = server_url("redis")
        super().open(path, clock)


def landing(statements: tuple[Statement, ...]) -> list[int]:
    """Return the numbers of the statements that land."""
    return [number for number, each in enumerate(statements, 1) if each.lands]


def seen(found: Found) -> str:
    """Tell what is stored of each task; what is there instead, if that is unlawful."""
    views = [task.view for task in found.tasks]
    return found.got or "; ".join(
        f"{view.reading.state}, version {view.reading.version}, {len(view.history or ())} entries"
        for view in views
    )


class Developed(NamedTuple):
    """A film, and what each of its accidents is found to leave."""

    film: Film
    found: list[Found]


def crashed(target: str | type, line: str) -> Developed:
    """Crash before each statement of a call, and behind the last."""
    each = accident(f"{line} || CRASH(1)")
    with workplace() as folder, crash_site(fitted(target), folder) as site:
        film = site.film(each.before, each.call)
        return Developed(film, [site.after(film, number) for number in range(len(film.images))])


# -- what a crash leaves ---------------------------------------------------------------------------


def test_a_system_on_a_server_has_its_accidents_there_and_another_in_its_files(
    folder: Path,
) -> None:
    for target, kind in (("redis", SeveredSite), ("reference", CrashSite)):
        with crash_site(fitted(target), folder) as site:
            assert type(site) is kind


def test_a_server_that_lets_nobody_in_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = fitted("postgresql")
    monkeypatch.setenv("LAWFUL_POSTGRESQL_URL", "postgresql://nobody@127.0.0.1:1/none")
    threads = set(threading.enumerate())
    with pytest.raises(WireError, match="can't be asked who waits"), crash_site(adapter, folder):
        pass
    assert set(threading.enumerate()) == threads
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("target", "line", "statements", "lands", "left"),
    [
        ("postgresql", CANCEL, f"{READ} {WRITE} COMMIT", [5], [BEFORE] * 5 + [AFTER]),
        ("redis", CANCEL, QUEUED, [9], [BEFORE] * 9 + [AFTER]),
        ("redis-lua", CANCEL, "HGETALL EVAL", [2], [BEFORE] * 2 + [AFTER]),
        ("postgresql", REFUSED, f"{READ} ROLLBACK", [], [BEFORE] * 4),
        ("redis", REFUSED, "WATCH HGETALL UNWATCH", [], [BEFORE] * 4),
        # What opening a store asks calls functions, and whether they write is not known.
        ("postgresql", "SUBMIT || REOPEN", "SELECT SELECT", [1, 2], [BEFORE] * 3),
        ("redis", "SUBMIT || REOPEN", "", [], [BEFORE]),
        (
            "postgresql",
            f"{TWO} || REAP",
            f"{READ} SAVEPOINT SELECT {WRITE} RELEASE SAVEPOINT SELECT {WRITE} RELEASE COMMIT",
            [13],
            [f"{RUNNING}; {RUNNING}"] * 13 + [f"{WAITING}; {WAITING}"],
        ),
        (  # the reaper takes t2 first: ids are sorted as texts
            "redis-lua",
            f"{TWO} || REAP",
            "ZRANGEBYSCORE HGETALL EVAL HGETALL EVAL",
            [3, 5],
            [f"{RUNNING}; {RUNNING}"] * 3
            + [f"{RUNNING}; {WAITING}"] * 2
            + [f"{WAITING}; {WAITING}"],
        ),
    ],
)
def test_what_is_stored_after_a_cut_before_each_statement(
    target: str, line: str, statements: str, lands: list[int], left: list[str]
) -> None:
    film, found = crashed(target, line)
    assert words(film.statements) == statements
    assert landing(film.statements) == lands
    assert [seen(one) for one in found] == left
    assert all(one.lawful for one in found)


def test_points_between_which_nothing_lands_leave_the_same() -> None:
    film, _ = crashed("redis-lua", f"{TWO} || REAP")
    first, second, third = [film.images[number] for number in (0, 3, 5)]
    assert film.images == (first, first, first, second, second, third)
    assert len({first, second, third}) == 3


def test_a_refusal_is_told_with_what_it_left() -> None:
    film, found = crashed("postgresql", REFUSED)
    assert film.came.claim is not None
    assert film.came.claim.kind is ClaimKind.REFUSED
    assert [statement.undoes for statement in film.statements] == [False, False, True]
    assert found[-1].lawful


def test_one_that_is_gone_does_not_go_on_over_another_connection() -> None:
    """The reaper of Redis takes the next task when one fails: a process that is gone does not."""
    _, found = crashed("redis", f"{TWO} || REAP")
    assert [seen(one) for one in found] == [
        *[f"{RUNNING}; {RUNNING}"] * 10,
        *[f"{RUNNING}; {WAITING}"] * 9,
        f"{WAITING}; {WAITING}",
    ]
    # Cut, and not gone, it does.
    assert hurt("redis", f"{TWO} || REAP", Mishap(Sort.INTERRUPT, 2)).found == (
        f"{WAITING}; {RUNNING}"
    )


def test_a_second_crash_meets_each_statement_of_the_recovery() -> None:
    start = accident("enqueue@client || start@worker-1 || CRASH(1)")
    for target, statements in (
        ("postgresql", f"{READ} SAVEPOINT SELECT {WRITE} RELEASE COMMIT"),
        ("redis-lua", "ZRANGEBYSCORE HGETALL EVAL"),
    ):
        with workplace() as folder, crash_site(fitted(target), folder) as site:
            film = site.film(start.before, start.call)
            last = len(film.statements)
            recovery = site.film_recovery(film, last, site.after(film, last).tasks)
            found = [site.after(recovery, number) for number in range(len(recovery.images))]
        assert words(recovery.statements) == statements
        assert [seen(one) for one in found] == [RUNNING] * len(recovery.statements) + [WAITING]
        assert all(one.lawful for one in found)
        assert recovery.now > film.now + 30  # every lease has expired


def test_each_accident_has_a_store_of_its_own_and_is_gone_on_with() -> None:
    """The tasks of one are found again in another, where they may be called something else."""
    cancel = accident(f"{CANCEL} || CRASH(1)")
    with workplace() as folder, crash_site(fitted(Unlike), folder) as site:
        film = site.film(cancel.before, cancel.call)
        first = site.after(film, 1)
        with site.reopened(film, 1, first.tasks) as session:
            (task,) = session.tasks.values()
            assert (task.label, task.view.reading.state) == ("t", "submitted")
            assert task.id != film.tasks[0].id
            steps = site.perform(session, cancel.call)
        assert [step.problems for step in steps] == [()]


# -- statements that fail, and replies that are lost -----------------------------------------------


class Stored(NamedTuple):
    """What an error has left: what is stored, what the call said, and what its repetition gave."""

    found: str
    lawful: bool
    said: str
    statements: int
    again: list[str]


def hurt(target: str | type, line: str, mishap: Mishap) -> Stored:
    """Have a call's connection cut; then make the call again and open the store again."""
    each = accident(f"{line} || {mishap}")
    with (
        workplace() as folder,
        crash_site(fitted(target), folder) as site,
        site.hurt(each.before, each.call, mishap) as came,
    ):
        steps = [step for op in (each.call, Reopen()) for step in site.perform(came.session, op)]
        again = [problem.got for step in steps for problem in step.problems]
        claim, fault = came.came.claim, came.came.fault
        said = str(fault).partition(":")[2].split()[1].rstrip(":") if fault else ""
        said = ", ".join(claim.reasons) or str(claim.kind) if claim else said
        return Stored(seen(came.found), came.found.lawful, said, len(came.statements), again)


def test_whatever_is_cut_on_postgresql_is_whole_and_raises() -> None:
    for number in range(1, 6):
        cut = hurt("postgresql", CANCEL, Mishap(Sort.INTERRUPT, number))
        assert cut == Stored(BEFORE, True, "OperationalError", number, [])
    for number, left in enumerate([BEFORE] * 4 + [AFTER], 1):
        lost = hurt("postgresql", CANCEL, Mishap(Sort.LOST, number))
        assert lost == Stored(left, True, "OperationalError", number, [])


def test_a_script_whose_reply_is_lost_has_run_once_and_raises() -> None:
    assert hurt("redis-lua", CANCEL, Mishap(Sort.LOST, 1)).found == BEFORE
    lost = hurt("redis-lua", CANCEL, Mishap(Sort.LOST, 2))
    assert lost == Stored(AFTER, True, "ConnectionError", 2, [])
    cut = hurt("redis-lua", CANCEL, Mishap(Sort.INTERRUPT, 2))
    assert cut == Stored(BEFORE, True, "ConnectionError", 2, [])


def test_an_exec_whose_reply_is_lost_has_run_and_is_told_as_a_conflict() -> None:
    """redis-py says that what was watched may have changed."""
    for sort, left in ((Sort.LOST, AFTER), (Sort.INTERRUPT, BEFORE)):
        cut = hurt("redis", CANCEL, Mishap(sort, 9))
        assert cut.statements in {9, 10}  # before 8.2 it sends UNWATCH over a new connection
        assert cut._replace(statements=9) == Stored(left, True, "stale_version", 9, [])


def test_a_restart_that_is_cut_is_begun_again() -> None:
    for sort in (Sort.INTERRUPT, Sort.LOST):
        for number in (1, 2):
            cut = hurt("postgresql", "SUBMIT || REOPEN", Mishap(sort, number))
            assert cut == Stored(BEFORE, True, "OperationalError", number, [])


@pytest.mark.parametrize("sort", [Sort.INTERRUPT, Sort.LOST])
def test_a_mishap_behind_the_last_statement_is_an_error(sort: Sort) -> None:
    with pytest.raises(LawfulError, match=rf"^{sort}\(3\): there are 2 statements$"):
        hurt("redis-lua", CANCEL, Mishap(sort, 3))


# -- processes that are really killed --------------------------------------------------------------


def told(found: Found | None) -> object:
    """Return all that a verdict says."""
    return found and (found.expected, found.got, [task.model for task in found.tasks])


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("redis-lua", f"{TWO} || REAP"),
        ("postgresql", CANCEL),
        pytest.param("redis", f"{TWO} || REAP", marks=pytest.mark.slow),
        pytest.param("postgresql", f"{TWO} || REAP", marks=pytest.mark.slow),
        pytest.param(networked.TwoTransactions, CANCEL, marks=pytest.mark.slow),
        pytest.param(networked.TwoExecs, CANCEL, marks=pytest.mark.slow),
    ],
)
def test_a_killed_process_leaves_what_the_cut_says_at_every_statement(
    target: str | type, line: str, folder: Path
) -> None:
    each, (_, cut) = accident(f"{line} || CRASH(1)"), crashed(target, line)
    died = [
        told(killed(fitted(target), folder / f"{at}", each.before, each.call, at))
        for at in range(1, len(cut) + 2)
    ]
    assert died == [*map(told, cut), None]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("target", ["postgresql", "redis"])
def test_what_a_killed_process_had_on_the_server_is_dropped_with_its_folder(
    target: str, folder: Path
) -> None:
    each = accident(f"{CANCEL} || CRASH(1)")
    for at in (1, 20):
        assert (killed(fitted(target), folder / "killed", each.before, each.call, at) is None) is (
            at == 20
        )
        with workplace() as other, crash_site(fitted(target), other) as site:
            site.film(each.before, each.call)  # opening a store drops those whose folder is gone
        assert stores(target) <= 1


def test_a_killed_process_uses_the_server_of_the_one_that_began_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAWFUL_REDIS_URL", raising=False)
    each = accident(f"{CANCEL} || CRASH(1)")
    found = killed(fitted(networked.Whereabouts), folder / "killed", each.before, each.call, 1)
    assert found is not None
    ours, here = server_url("redis"), str(os.getpid())
    opened = [line.split() for line in (folder / "opened").read_text().splitlines()]
    theirs, door, last = opened
    assert (theirs[0], theirs[1] != here) == (ours, True)
    assert (door[0] != ours, door[1]) == (True, theirs[1])
    assert last == [ours, here]
    assert "LAWFUL_REDIS_URL" not in os.environ


def test_a_fault_is_the_same_in_another_process() -> None:
    fault = Fault("open", "raised ValueError: no", "its trail", hung=True)
    same = pickle.loads(pickle.dumps(fault))
    assert (same.method, same.problem, same.trail) == ("open", "raised ValueError: no", "its trail")
    assert same.hung is True
    assert str(same) == str(fault)


# -- what is left behind ---------------------------------------------------------------------------


def stores(target: str | type) -> int:
    """Return how many stores the server has."""
    kind = fitted(target).server
    if kind == "redis":
        with redis.Redis.from_url(server_url(kind), decode_responses=True) as client:
            return len({key.split(":")[1] for key in client.keys("lawful:*")})
    with psycopg.connect(server_url(kind)) as db:
        return int(db.execute("SELECT count(DISTINCT store) FROM lawful.tasks").fetchone()[0])


def connections(target: str | type) -> int:
    """Return how many connections the server has, but for the one that asks."""
    kind = fitted(target).server
    if kind == "redis":
        with redis.Redis.from_url(server_url(kind)) as client:
            return len(client.client_list()) - 1
    with psycopg.connect(server_url(kind)) as db:
        asked = "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
        return int(db.execute(asked).fetchone()[0])


def every_accident(site: CrashSite) -> None:
    crash = accident(f"{CANCEL} || CRASH(1)")
    film = site.film(crash.before, crash.call)
    for number in range(len(film.images)):
        found = site.after(film, number)
        with site.reopened(film, number, found.tasks):
            pass
        site.film_recovery(film, number, found.tasks)
    for sort in (Sort.INTERRUPT, Sort.LOST):
        with site.hurt(crash.before, crash.call, Mishap(sort, len(film.statements))):
            pass


def behind_the_last(site: CrashSite) -> None:
    each = accident(f"{CANCEL} || LOST(20)")
    with pytest.raises(LawfulError), site.hurt(each.before, each.call, each.mishaps[0]):
        pass


def interrupted(site: CrashSite) -> None:
    each = accident(f"{CANCEL} || LOST(2)")
    with (
        pytest.raises(KeyboardInterrupt),
        site.hurt(each.before, each.call, each.mishaps[0]),
    ):
        raise KeyboardInterrupt


@needs_descriptors
@pytest.mark.parametrize(
    ("target", "stage"),
    [
        ("postgresql", every_accident),
        ("redis", every_accident),
        ("postgresql", behind_the_last),
        ("redis-lua", behind_the_last),
        (Forgetful, unready),
        ("postgresql", interrupted),
        ("redis", interrupted),
    ],
)
def test_no_thread_no_folder_no_file_and_no_connection_is_left(
    target: str | type, stage: Callable[[CrashSite], None], folder: Path
) -> None:
    adapter = fitted(target)
    gc.collect()
    threads, files, there = set(threading.enumerate()), descriptors(), connections(target)
    with crash_site(adapter, folder) as site:
        stage(site)
        assert list(folder.iterdir()) == []
    assert set(threading.enumerate()) == threads
    gc.collect()
    assert descriptors() == files
    # The server lets go of the last of them a little later.
    assert any(connections(target) == there for _ in range(1000))


def test_nothing_seen_is_told(folder: Path) -> None:
    each = accident(f"{CANCEL} || CRASH(1)")
    with crash_site(fitted(Aside), folder) as site:
        assert "no statement of its own goes through its door" in site.unseen
        film = site.film(each.before, each.call)
        assert film.statements == ()
        assert site.unseen
    with crash_site(fitted("redis"), folder) as site:
        site.film(each.before, each.call)
        assert site.unseen == ""

"""Schedules of unmodified psycopg and redis-py: every turn is held, and nothing is guessed."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

psycopg = pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
pytest.importorskip("redis", reason="the extra `redis` is not installed")

import wired  # noqa: E402 - it needs both
from lawful.strategies.addresses import Address  # noqa: E402
from lawful.strategies.blockers import Blockers  # noqa: E402
from lawful.strategies.hub import Hub, Stuck  # noqa: E402
from lawful.strategies.schedules import Diverged, explore, follow  # noqa: E402
from lawful.strategies.servers import server_url  # noqa: E402
from lawful.strategies.turns import WireError  # noqa: E402
from lawful.strategies.wire import Moment, WireTap  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from lawful.strategies.schedules import Chooser


@pytest.fixture(autouse=True)
def _servers(server: Callable[[str], str]) -> None:
    for kind in ("postgresql", "redis"):
        server(kind)


def ours() -> list[str]:
    """Name the threads of workers, doors and connections that there are."""
    begins = ("worker-", "door-", "link-")
    return [each.name for each in threading.enumerate() if each.name.startswith(begins)]


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    yield
    assert ours() == []


def explored(program: type[wired.Program], **options: Any) -> list[wired.Came]:  # Bench's
    with wired.Bench(program, **options) as bench:
        return list(explore(bench.once))


def came(found: Sequence[wired.Came]) -> set[tuple[tuple[str, ...], tuple[int, int]]]:
    """Return what schedules came to: the workers' results and what is stored."""
    return {(tuple(each.results.values()), each.stored) for each in found}


# -- how many schedules there are, and what they come to -------------------------------------------
#
# A worker's turns are SELECT, UPDATE, INSERT and COMMIT. Without a lock as they read, a worker that
# comes to its UPDATE while the other has updated and not committed waits, and only the other can go
# on. Where A is behind its UPDATE (INSERT and COMMIT are left) and B behind its SELECT, there are 3
# schedules from there: A goes on once, twice, or B waits at once. Counting back, there are 6 from
# where both have read, 6 from where A has updated and B has not begun, and 24 in all. An update is
# lost unless the second worker reads behind the first one's COMMIT: 22 of 24. With a lock, the
# second waits at its SELECT after one, two or three turns of the first, or comes after: 4 and 4.
# Redis' workers have 2 turns (HGET, EXEC) or 3 (WATCH, HGET, EXEC), and none waits: 4 over 2 and
# 6 over 3; without WATCH, both read before either writes in all but the two that are in turn.


@pytest.mark.parametrize(
    ("program", "schedules", "lost"),
    [
        (wired.NoPredicate, 24, 22),
        (wired.Compared, 24, 0),
        (wired.ForUpdate, 8, 0),
        (wired.RepeatableRead, 24, 0),
        (wired.AsyncNoPredicate, 24, 22),
        (wired.AsyncForUpdate, 8, 0),
        (wired.Multi, 6, 4),
        (wired.Watched, 20, 0),
    ],
)
def test_every_schedule_of_two_workers(
    program: type[wired.Program], schedules: int, lost: int
) -> None:
    found = explored(program)
    assert len(found) == len({each.schedule for each in found}) == schedules
    assert sum(each.lost for each in found) == lost
    assert all(each.whole or each.lost for each in found)
    assert all(each.ordered for each in found)


@pytest.mark.parametrize("program", [wired.NoPredicate, wired.AsyncNoPredicate, wired.Multi])
def test_a_lost_update_is_found_with_one_preemption(program: type[wired.Program]) -> None:
    with wired.Bench(program) as bench:
        choosers: list[Chooser] = []

        def once(chooser: Chooser) -> wired.Came:
            choosers.append(chooser)
            return bench.once(chooser)

        found = list(explore(once, most=1))
    assert [each.lost for each in found[:3]] == [False, False, True]
    assert choosers[2].preemptions == 1


def test_one_of_two_snapshots_is_refused() -> None:
    refused = ("SerializationFailure", "added")
    found = explored(wired.RepeatableRead)
    assert came(found) == {
        (("added", "added"), (2, 2)),
        (refused, (1, 1)),
        (refused[::-1], (1, 1)),
    }
    assert sum("SerializationFailure" in each.results.values() for each in found) == 22


def test_a_worker_that_waits_is_told_with_whom_it_waits_for_and_goes_on_by_itself() -> None:
    with wired.Bench(wired.ForUpdate) as bench:
        steps = bench.once(follow("ABAAABBB")).steps
    read = "SELECT version FROM task WHERE id = 1 FOR UPDATE"
    write = "UPDATE task SET version = $1 WHERE id = 1"
    log = "INSERT INTO log VALUES (1, $1)"
    assert steps == (
        "(A BEGIN ISOLATION LEVEL READ COMMITTED)",
        "(B BEGIN ISOLATION LEVEL READ COMMITTED)",
        f"A {read}",
        f"B {read}",
        "(B waits for A)",
        f"A {write}",
        f"A {log}",
        "A COMMIT",
        f"B {write}",
        f"B {log}",
        "B COMMIT",
    )


def test_a_worker_that_is_let_go_on_hears_of_it_when_nobody_else_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard, early = threading.Event(), []

    class Hears(wired.ForUpdate):
        def run(self, worker: str) -> str:
            self.db.execute(self.read)
            if worker == "B":
                heard.set()
            self.db.commit()
            return "read"

    with wired.Bench(Hears) as bench:
        settle = bench.tap.settle

        def settled(*, stalled: bool) -> str | None:
            freed = settle(stalled=stalled)
            if freed:
                early.append(heard.wait(0.2))  # its answer is there, and it must not have it yet
            return freed

        monkeypatch.setattr(bench.tap, "settle", settled)
        assert bench.once(follow("ABAB")).ordered
    assert early == [False]
    assert heard.is_set()


@pytest.mark.parametrize(
    "program",
    [
        wired.ForUpdate,
        pytest.param(wired.NoPredicate, marks=pytest.mark.slow),
        pytest.param(wired.Multi, marks=pytest.mark.slow),
    ],
)
def test_what_others_cannot_see_makes_no_difference(program: type[wired.Program]) -> None:
    few, many = explored(program), explored(program, reduced=False)
    assert len(few) < len(many)
    assert came(few) == came(many)


# -- the same each time ----------------------------------------------------------------------------

PROGRAMS = [wired.NoPredicate, wired.ForUpdate, wired.AsyncNoPredicate, wired.Multi, wired.Watched]


@pytest.mark.slow
@pytest.mark.parametrize("program", [*PROGRAMS, wired.Compared, wired.RepeatableRead])
def test_every_schedule_is_the_same_ten_times(program: type[wired.Program]) -> None:
    with wired.Bench(program) as bench:
        for each in list(explore(bench.once)):
            again = [bench.once(follow(each.schedule)) for _ in range(10)]
            assert again == [each] * 10


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_schedule_is_the_same_on_connections_that_have_prepared_their_statements(
    program: type[wired.Program],
) -> None:
    with wired.Bench(program) as bench:
        found = next(each for each in explore(bench.once) if "B" in each.schedule.rstrip("B"))
        with bench.opened() as opened:
            again = [bench.on(opened, follow(found.schedule)) for _ in range(10)]
    assert again == [found] * 10


# -- blocked, or slow ------------------------------------------------------------------------------


class Sleeps(wired.Psycopg):
    """Is at work in the server for longer than the server is first left alone."""

    def run(self, worker: str) -> str:
        self.db.execute("SELECT pg_sleep(0.05)")
        self.db.commit()
        return "slept"


def test_a_worker_that_is_slow_is_never_taken_for_one_that_waits() -> None:
    asked: Counter[int] = Counter()

    class Asked(Blockers):
        def of(self, session: int) -> tuple[int, ...]:
            asked[session] += 1
            return super().of(session)

    with wired.Bench(Sleeps) as bench:
        bench.tap.blockers, before = Asked(bench.url), bench.tap.blockers
        assert before is not None
        before.close()
        found = list(explore(bench.once))
    assert len(found) == 6  # two turns each, and nobody waits
    assert all("waits" not in step for each in found for step in each.steps)
    assert len(asked) == 12  # it was asked about each, and said that it is at work


# -- where the server decides ----------------------------------------------------------------------


def test_three_workers_at_one_row_are_judged_and_what_the_server_orders_is_not_branched() -> None:
    found = explored(wired.ForUpdate, workers="ABC")
    # The first locks; from there the others may try while it has 3, 2 or 1 turns left, and whoever
    # is freed has the 4 schedules of two; both at once is the server's: 2 x (3 + 2 + 1) for each
    # first. Ordered are 8 where neither tries, and 2 x 4 for each of 3 moments.
    assert sum(not each.ordered for each in found) == 3 * 12
    assert sum(each.ordered for each in found) == 3 * (8 + 24)
    assert {each.stored for each in found} == {(3, 3)}
    assert all(each.whole for each in found)


class Crossing(wired.Psycopg):
    """Locks both tasks, worker B the other way round."""

    def run(self, worker: str) -> str:
        with self.db.transaction():
            for task in (1, 2) if worker == "A" else (2, 1):
                self.db.execute("UPDATE task SET version = version + 1 WHERE id = %s", (task,))
            self.db.execute("INSERT INTO log VALUES (1, %s)", (worker,))
        return "added"


@pytest.mark.parametrize("seen", [True, False])
def test_a_deadlock_is_told_and_the_victim_is_the_servers_to_choose(
    seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not seen:  # the server's detector is faster than our first question
        monkeypatch.setattr("lawful.strategies.links.FIRST", 1.0)
        monkeypatch.setattr("lawful.strategies.links.LAST", 1.0)
    with wired.Bench(Crossing) as bench:
        found = [bench.once(follow("ABAB"))] if not seen else list(explore(bench.once))
    crossed = [each for each in found if "DeadlockDetected" in each.results.values()]
    assert crossed
    for each in crossed:
        assert not each.ordered
        assert sorted(each.results.values()) == ["DeadlockDetected", "added"]
        assert each.stored == (1, 1)
    for each in found:
        if each not in crossed:
            assert each.ordered
            assert (each.results, each.stored) == ({"A": "added", "B": "added"}, (2, 2))


def test_a_deadlock_names_who_waits_for_whom() -> None:
    with wired.Bench(Crossing) as bench:
        steps = bench.once(follow("ABAB")).steps
    assert "(A waits for B)" in steps
    assert {"(B waits for A)"} >= {step for step in steps if step.startswith("(B waits")}


def test_a_lock_that_nobody_lets_go_of_ends_at_the_limit_and_says_who_waits() -> None:
    told = "A waits for a session that is no worker's"
    with wired.Bench(wired.ForUpdate, limit=0.5) as bench, psycopg.connect(bench.url) as other:
        assert isinstance(bench.store, wired.Tables)
        before = bench.store.sessions()
        bench.store.reset()
        other.execute(f"SELECT 1 FROM {bench.store.namespace}.task FOR UPDATE".encode())
        with bench.opened() as opened, pytest.raises(Stuck) as raised:
            bench.hub.run({"A": lambda: opened["A"].run("A")}, follow("AAAA"))
        assert raised.value.waiting == told
        assert str(raised.value).endswith(f"FOR UPDATE ({told})")
        # The one that waited is ended, although the lock is still held.
        assert any(bench.store.sessions() <= before for _ in range(10_000))
        other.rollback()
        assert bench.once(follow("")).whole


# -- connections of all kinds ----------------------------------------------------------------------


class Leaves(wired.Psycopg):
    """Locks the row and closes its connection without a commit; then looks through another."""

    def __init__(self, url: str, namespace: str) -> None:
        super().__init__(url, namespace)
        self.other = psycopg.connect(url, options=f"-c search_path={namespace}", autocommit=True)

    def run(self, worker: str) -> str:
        self.db.execute("UPDATE task SET version = 7 WHERE id = 1")
        self.db.close()
        row = self.other.execute("SELECT version FROM task WHERE id = 1").fetchone()
        return f"saw {row and row[0]}"

    def close(self) -> None:
        super().close()
        self.other.close()


def test_what_a_closed_connection_held_is_free_before_anybody_is_chosen() -> None:
    with wired.Bench([Leaves, wired.ForUpdate]) as bench:
        # A's lock is gone as soon as it has it: B never waits, and A only for B.
        again = [bench.once(follow("ABBBBA")) for _ in range(20)]
        found = list(explore(bench.once))
    assert {each.steps for each in again} == {again[0].steps}
    assert again[0].results == {"A": "saw 1", "B": "added"}
    # A first: its look comes at one of 5 moments of B's 4 turns. B first: A waits from one of 3
    # moments, or comes behind it.
    assert len(found) == 5 + 4
    assert not [step for each in found for step in each.steps if "B waits" in step]
    assert all(each.ordered and each.results["B"] == "added" for each in found)
    assert {each.stored for each in found} == {(1, 1)}


def test_nobody_is_chosen_while_a_closed_connection_is_still_there() -> None:
    chosen, early = threading.Event(), []

    def choose(able: Sequence[str], _: str | None) -> str:
        chosen.set()
        return able[0]

    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        Hub("A") as hub,
        WireTap(hub, f"redis://127.0.0.1:{listener.getsockname()[1]}") as tap,
    ):
        place = ("127.0.0.1", int(tap.address("A").rpartition(":")[2]))

        def serve() -> None:
            with listener.accept()[0] as end:
                assert end.recv(100) == b"PING\r\n"
                end.sendall(b"+PONG\r\n")
                assert end.recv(1) == b""
                early.append(chosen.wait(0.2))

        def job() -> None:
            with socket.create_connection(place) as client:
                client.sendall(b"PING\r\n")
                assert client.recv(100) == b"+PONG\r\n"
            hub.park("A", "a step elsewhere")

        server = threading.Thread(target=serve)
        server.start()
        hub.run({"A": job}, choose)
        server.join(10)
    assert early == [False]


class Varied(wired.Psycopg):
    """Sends what a client of PostgreSQL's may: rows in bulk, pipelines, much at once, errors."""

    def run(self, worker: str) -> str:
        with self.db.cursor() as cursor:
            with cursor.copy("COPY log FROM STDIN") as copy:
                for _ in range(3):
                    copy.write_row((1, worker))
            with self.db.pipeline():
                first = self.db.execute("SELECT 1")
                second = self.db.execute("SELECT 2")
                one, two = first.fetchone(), second.fetchone()
                self.db.execute("SELECT 3")
            with contextlib.suppress(psycopg.errors.UndefinedTable), self.db.transaction():
                self.db.execute("SELECT 1 FROM nowhere")
            big = self.db.execute("SELECT repeat('x', 3000000)").fetchone()
            with cursor.copy("COPY log TO STDOUT") as copy:
                rows = sum(1 for _ in copy.rows())
        self.db.commit()
        assert one is not None
        assert two is not None
        assert big is not None
        return f"{one[0]} {two[0]} {len(big[0])} {rows}"


def test_whatever_a_client_sends_goes_through() -> None:
    with wired.Bench(Varied) as bench:
        assert bench.once(follow("")).results == {"A": "1 2 3000000 3", "B": "1 2 3000000 6"}
        assert bench.once(follow("AB" * 30)).results == {"A": "1 2 3000000 3", "B": "1 2 3000000 3"}


def test_outside_a_schedule_everything_passes() -> None:
    for program in (wired.ForUpdate, wired.Watched):
        with wired.Bench(program) as bench, bench.opened() as opened:
            bench.store.reset()
            for name in "AB":
                assert bench.hub.call(name, partial(opened[name].run, name)) == "added"
            assert bench.store.stored() == (2, 2)
            assert bench.tap.statements > 0


def test_where_there_is_no_server_the_client_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Hub("A") as hub, WireTap(hub, f"redis://127.0.0.1:{port}") as tap:
        door = tap.address("A")
        with socket.create_connection(("127.0.0.1", int(door.rpartition(":")[2]))) as client:
            assert client.recv(1) == b""


def test_a_server_at_a_socket_is_reached(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "s"))
        server.listen()
        address = Address("redis", "", 0, str(folder / "s"), "", "")
        with address.connect() as client, server.accept()[0] as end:
            client.sendall(b"x")
            assert end.recv(1) == b"x"
    with pytest.raises(FileNotFoundError):
        address._replace(path=str(folder / "gone")).connect()


def test_what_is_no_client_fails_the_run() -> None:
    with Hub("A") as hub, WireTap(hub, server_url("redis")) as tap:
        place = ("127.0.0.1", int(tap.address("A").partition("@")[2].split(":")[1].split("/")[0]))

        def job() -> None:
            with socket.create_connection(place) as client:
                client.sendall(b"*1\r\n:1\r\n")
                client.recv(1)

        with pytest.raises(WireError, match="an argument of Redis' begins with"):
            hub.run({"A": job}, follow(""))


def test_without_psycopg_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with (
        Hub("A") as hub,
        pytest.raises(WireError, match=r"pip install 'lawful\[postgresql\]'"),
        WireTap(hub, server_url("postgresql")),
    ):
        pass


# -- a schedule that ends before its end -----------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "schedule"),
    [(wired.ForUpdate, "ABBB"), (wired.ForUpdate, "BAAA"), (wired.Watched, "AAAA")],
)
def test_a_schedule_of_another_program_is_told_and_the_next_one_runs(
    program: type[wired.Program], schedule: str
) -> None:
    with wired.Bench(program) as bench:
        with pytest.raises(Diverged):
            bench.once(follow(schedule))
        # Nobody goes on to the end of what was never judged.
        assert bench.store.stored() == ((0, 0) if program is wired.ForUpdate else (1, 1))
        assert bench.once(follow("")).whole


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_an_interruption_leaves_nothing_behind(steps: int) -> None:
    left: list[str] = ["A", "B"]

    def interrupted(able: Sequence[str], _: str | None) -> str:
        if len(left) <= 2 - steps:
            raise KeyboardInterrupt
        return left.pop(0)

    with wired.Bench(wired.ForUpdate) as bench:
        assert isinstance(bench.store, wired.Tables)
        before = bench.store.sessions()
        with pytest.raises(KeyboardInterrupt):
            bench.once(interrupted)
        assert bench.once(follow("")).whole
        bench.tap.__exit__(None, None, None)
        assert not [each for each in ours() if not each.startswith("worker-")]
        bench.tap.__enter__()
        assert bench.store.sessions() == before


# -- connections that are cut ----------------------------------------------------------------------


def cut(program: type[wired.Program], turn: int, when: Moment) -> wired.Came:
    """Run one worker, and cut its connection at one of its turns."""
    with wired.Bench(program, workers="A") as bench:
        with bench.opened() as opened:
            bench.tap.cut("A", turn, when)
            found = bench.on(opened, follow(""))
        if isinstance(bench.store, wired.Tables):
            # The row is not locked any more: nobody has to wait for that.
            bench.store.db.execute("SELECT 1 FROM task FOR UPDATE NOWAIT")
        return found


@pytest.mark.parametrize("turn", [1, 2, 3, 4])
def test_what_is_cut_before_the_server_hears_of_it_is_not_done(turn: int) -> None:
    found = cut(wired.ForUpdate, turn, Moment.BEFORE)
    assert (found.results, found.stored) == ({"A": "OperationalError"}, (0, 0))


@pytest.mark.parametrize(("turn", "stored"), [(1, 0), (2, 0), (3, 0), (4, 1)])
def test_what_is_cut_after_the_commit_is_done_and_the_client_has_an_error(
    turn: int, stored: int
) -> None:
    found = cut(wired.ForUpdate, turn, Moment.AFTER)
    assert (found.results, found.stored) == ({"A": "OperationalError"}, (stored, stored))


@pytest.mark.parametrize(
    ("when", "stored"), [(Moment.BEFORE, (0, 0)), (Moment.AFTER, (1, 1))], ids=["before", "after"]
)
def test_an_exec_that_is_cut_is_done_or_not_done(when: Moment, stored: tuple[int, int]) -> None:
    found = cut(wired.Multi, 2, when)
    assert (found.results, found.stored) == ({"A": "ConnectionError"}, stored)


def test_whoever_is_cut_hears_of_it_when_the_server_has_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    class Slow(Blockers):
        def has(self, session: int) -> bool:
            asked.append(super().has(session) or len(asked) < 3)
            return asked[-1]

    monkeypatch.setattr("lawful.strategies.wire.Blockers", Slow)
    assert cut(wired.ForUpdate, 2, Moment.BEFORE).results == {"A": "OperationalError"}
    assert asked[:3] == [True] * 3
    assert asked[-1] is False


def test_whoever_is_cut_hears_nothing_while_the_server_has_the_connection() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Hub("A") as hub,
        WireTap(hub, f"redis://127.0.0.1:{server.getsockname()[1]}") as tap,
    ):
        tap.cut("A", 1, Moment.BEFORE)
        place = ("127.0.0.1", int(tap.address("A").rpartition(":")[2]))
        with socket.create_connection(place) as client, server.accept()[0] as end:
            client.sendall(b"GET key\r\n")
            assert end.recv(1) == b""  # the server hears that it is gone, and of nothing else
            client.settimeout(0.2)
            with pytest.raises(TimeoutError):
                client.recv(1)
            end.close()
            client.settimeout(10)
            assert client.recv(1) == b""


class TwoConnections(wired.NoPredicate):
    """Writes on one connection and then asks on another, and on a third if that fails."""

    def run(self, worker: str) -> str:
        self.db.execute("UPDATE task SET version = 1 WHERE id = 1")
        second = psycopg.connect(self.url)
        try:
            with contextlib.suppress(psycopg.OperationalError):
                second.execute("SELECT 2")
            with contextlib.closing(psycopg.connect(self.url)) as third:
                third.execute("SELECT 3")
            self.db.commit()
        finally:
            second.close()
        return "added"


@pytest.mark.parametrize(
    ("kills", "results", "steps"),
    [
        (False, "added", ["BEGIN", "UPDATE", "BEGIN", "SELECT 2", "BEGIN", "SELECT 3", "COMMIT"]),
        (True, "OperationalError", ["BEGIN", "UPDATE", "BEGIN", "SELECT 2"]),
    ],
)
def test_one_that_is_killed_has_no_connection_left_and_gets_none(
    kills: bool, results: str, steps: list[str]
) -> None:
    left: list[int] = []

    with wired.Bench(TwoConnections, workers="A", reduced=False) as bench:
        assert isinstance(bench.store, wired.Tables)
        tables = bench.store

        class Looks(TwoConnections):
            def run(self, worker: str) -> str:
                try:
                    return super().run(worker)
                finally:
                    left.append(tables.sessions())

        bench.programs["A"] = Looks
        there = tables.sessions()
        with bench.opened() as opened:
            if kills:
                bench.tap.kill("A", 4)
            else:
                bench.tap.cut("A", 4, Moment.BEFORE)
            found = bench.on(opened, follow(""))
            assert (found.results, found.stored[0]) == ({"A": results}, 0 if kills else 1)
            told = [step.removeprefix("A ") for step in found.steps]
            assert [step[: len(begins)] for step, begins in zip(told, steps, strict=True)] == steps
            assert (left[0] == there) is kills
            bench.tap.spare("A")
            assert bench.on(opened, follow("")).results == {"A": results}  # it is closed, or not
        with bench.opened() as opened:
            assert bench.on(opened, follow("")).results == {"A": "added"}


def test_a_cut_behind_the_last_turn_is_none() -> None:
    assert cut(wired.ForUpdate, 5, Moment.AFTER).results == {"A": "added"}
    with Hub("A") as hub, pytest.raises(ValueError, match="counted from 1; got 0"):
        WireTap(hub, server_url("redis")).cut("A", 0, Moment.BEFORE)


def test_a_worker_that_waits_for_one_that_is_cut_goes_on() -> None:
    with wired.Bench(wired.ForUpdate) as bench, bench.opened() as opened:
        bench.tap.cut("A", 4, Moment.BEFORE)
        found = bench.on(opened, follow("ABAAABBB"))
    assert "(B waits for A)" in found.steps
    assert found.results == {"A": "OperationalError", "B": "added"}
    assert (found.stored, found.ordered) == ((1, 1), True)

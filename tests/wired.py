"""Programs over a server, written with its usual client: two workers add one to a task's version.

Each reads, decides in Python, writes, and logs what it did, in one transaction. What has come of a
program is its results and what is stored; an update is lost where two workers have added and the
version has grown by one.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING, Any, ClassVar, LiteralString, NamedTuple, Self

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from lawful.strategies.hub import Hub
from lawful.strategies.servers import server_url
from lawful.strategies.wire import WireTap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType


LIMIT = 10.0  # seconds, after which a worker that hangs is an error


class Came(NamedTuple):
    """What came of one schedule.

    Attributes:
        results: What each worker returned, or the name of the error that ended it.
        steps: Its transcript; what is no choice stands in brackets.
        stored: The version, and how many lines the log has.
        schedule: Who was chosen, step by step.
        ordered: Whether the choices alone have decided it.
    """

    results: dict[str, str]
    steps: tuple[str, ...]
    stored: tuple[int, int]
    schedule: str
    ordered: bool

    @property
    def lost(self) -> bool:
        """Whether an update was lost."""
        added = list(self.results.values()).count("added")
        return self.stored[0] < added

    @property
    def whole(self) -> bool:
        """Whether what is stored is what was acknowledged."""
        added = list(self.results.values()).count("added")
        return self.stored == (added, added)


class Program:
    """What a worker does, on a connection of its own. The store is the class's affair.

    Args:
        url: Where its server is: its worker's door.
        namespace: Where its rows are.
    """

    kind: ClassVar[str]

    def __init__(self, url: str, namespace: str) -> None:
        self.url = url
        self.namespace = namespace

    def run(self, worker: str) -> str:
        """Add one; say what came of it."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connection."""


class Bench:
    """A server, its doors, and workers that run a program schedule after schedule.

    Args:
        program: The program; for each worker, if they differ.
        workers: Their names.
        reduced: Whether turns that the others can't see are no choice.
        limit: How long a worker may take from one step to the next, in seconds.
    """

    def __init__(
        self,
        program: type[Program] | Sequence[type[Program]],
        *,
        workers: str = "AB",
        reduced: bool = True,
        limit: float = LIMIT,
    ) -> None:
        each = [program] * len(workers) if isinstance(program, type) else program
        self.programs = dict(zip(workers, each, strict=True))
        self.kind = each[0].kind
        self.url = server_url(self.kind)
        self.store = STORES[self.kind](self.url, f"wired_{secrets.token_hex(4)}")
        self.hub = Hub(workers, limit)
        self.tap = WireTap(self.hub, self.url, reduced=reduced)

    def __enter__(self) -> Self:
        self.store.make()
        self.tap.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trail: TracebackType | None,
    ) -> None:
        self.hub.__exit__(kind, error, trail)
        self.tap.__exit__(kind, error, trail)
        self.store.drop()

    @contextlib.contextmanager
    def opened(self) -> Iterator[dict[str, Any]]:
        """Open each worker's program on its thread; close them at the end."""
        opened: dict[str, Any] = {}
        try:
            for name, program in self.programs.items():
                url = self.tap.address(name)
                opened[name] = self.hub.call(name, lambda: program(url, self.store.namespace))  # noqa: B023 - called at once
            yield opened
        finally:
            for name, program in opened.items():
                self.hub.call(name, program.close)

    def once(self, choose: Callable[[Sequence[str], str | None], str]) -> Came:
        """Run one schedule on fresh rows and fresh connections."""
        with self.opened() as opened:
            return self.on(opened, choose)

    def on(
        self, opened: dict[str, Any], choose: Callable[[Sequence[str], str | None], str]
    ) -> Came:
        """Run one schedule on fresh rows."""
        self.store.reset()
        results: dict[str, str] = {}

        def job(name: str, program: Program) -> Callable[[], None]:
            def run() -> None:
                try:
                    results[name] = program.run(name)
                except (psycopg.Error, redis.RedisError, OSError) as error:
                    results[name] = type(error).__name__
                self.tap.note(name)

            return run

        taken = self.hub.run({name: job(name, each) for name, each in opened.items()}, choose)
        steps = tuple(
            f"{step.worker} {step.text}" if step.chosen else f"({step.worker} {step.text})"
            for step in taken
        )
        chosen = "".join(step.worker for step in taken if step.chosen)
        return Came(
            dict(sorted(results.items())), steps, self.store.stored(), chosen, self.hub.ordered
        )


# -- PostgreSQL ------------------------------------------------------------------------------------


class Tables:
    """A schema of its own with the tables ``task`` and ``log``, seen past every door."""

    def __init__(self, url: str, namespace: str) -> None:
        self.namespace = namespace
        self.db = psycopg.connect(url, autocommit=True)

    def make(self) -> None:
        tables = (
            f"CREATE SCHEMA {self.namespace}; SET search_path TO {self.namespace};"
            "CREATE TABLE task (id int PRIMARY KEY, version int NOT NULL);"
            "CREATE TABLE log (task int, worker text);"
        )
        self.db.execute(tables.encode())

    def reset(self) -> None:
        """Leave two tasks of version 0 and an empty log."""
        self.db.execute("TRUNCATE task, log; INSERT INTO task VALUES (1, 0), (2, 0)")

    def sessions(self) -> int:
        """Return how many connections to the server there are, but for this one."""
        row = self.db.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone()
        assert row is not None
        return int(row[0])

    def stored(self) -> tuple[int, int]:
        row = self.db.execute(
            "SELECT (SELECT version FROM task WHERE id = 1), (SELECT count(*) FROM log)"
        ).fetchone()
        assert row is not None
        return row

    def drop(self) -> None:
        self.db.execute(f"DROP SCHEMA {self.namespace} CASCADE".encode())
        self.db.close()


class Psycopg(Program):
    """A program over psycopg's connection."""

    kind = "postgresql"
    isolation = psycopg.IsolationLevel.READ_COMMITTED

    def __init__(self, url: str, namespace: str) -> None:
        super().__init__(url, namespace)
        self.db = psycopg.connect(url, options=f"-c search_path={namespace}")
        self.db.isolation_level = self.isolation

    def close(self) -> None:
        self.db.close()


class NoPredicate(Psycopg):
    """Writes the version that it has come to, whatever the row says by then."""

    read: LiteralString = "SELECT version FROM task WHERE id = 1"
    write: LiteralString = "UPDATE task SET version = %(new)s WHERE id = 1"

    def run(self, worker: str) -> str:
        added = False
        with self.db.transaction():
            row = self.db.execute(self.read).fetchone()
            assert row is not None
            values = {"new": row[0] + 1, "old": row[0]}
            if self.db.execute(self.write, values).rowcount == 0:
                raise psycopg.Rollback
            self.db.execute("INSERT INTO log VALUES (1, %s)", (worker,))
            added = True
        return "added" if added else "conflict"


class Compared(NoPredicate):
    """Writes only the row that it has read."""

    write = "UPDATE task SET version = %(new)s WHERE id = 1 AND version = %(old)s"


class ForUpdate(NoPredicate):
    """Locks the row as it reads it."""

    read = "SELECT version FROM task WHERE id = 1 FOR UPDATE"


class RepeatableRead(NoPredicate):
    """Writes without a predicate, in a snapshot."""

    isolation = psycopg.IsolationLevel.REPEATABLE_READ


class AsyncNoPredicate(Program):
    """The same in coroutines, over psycopg's asynchronous connection."""

    kind = "postgresql"
    read: LiteralString = NoPredicate.read

    def run(self, worker: str) -> str:
        return asyncio.run(self.ran(worker))

    async def ran(self, worker: str) -> str:
        options = f"-c search_path={self.namespace}"
        async with (
            await psycopg.AsyncConnection.connect(self.url, options=options) as db,
            db.transaction(),
        ):
            row = await (await db.execute(self.read)).fetchone()
            assert row is not None
            await db.execute(NoPredicate.write, {"new": row[0] + 1})
            await db.execute("INSERT INTO log VALUES (1, %s)", (worker,))
        return "added"


class AsyncForUpdate(AsyncNoPredicate):
    """Locks the row as it reads it."""

    read = ForUpdate.read


# -- Redis -----------------------------------------------------------------------------------------


class Keys:
    """A hash ``task`` and a list ``log`` under a prefix, seen past every door."""

    def __init__(self, url: str, namespace: str) -> None:
        self.namespace = namespace
        self.db = redis.Redis.from_url(url)

    def make(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Leave a task of version 0 and an empty log."""
        self.db.delete(f"{self.namespace}:log")
        self.db.hset(f"{self.namespace}:task", "version", "0")

    def stored(self) -> tuple[int, int]:
        db: Any = self.db  # what redis-py returns may be awaitable, for its types
        return int(db.hget(f"{self.namespace}:task", "version")), db.llen(f"{self.namespace}:log")

    def drop(self) -> None:
        self.db.delete(f"{self.namespace}:task", f"{self.namespace}:log")
        self.db.close()


STORES: dict[str, type[Tables | Keys]] = {"postgresql": Tables, "redis": Keys}


class Multi(Program):
    """Reads; then writes and logs in MULTI and EXEC, whatever the hash says by then."""

    kind = "redis"
    watches = False

    def __init__(self, url: str, namespace: str) -> None:
        super().__init__(url, namespace)
        once = Retry(NoBackoff(), 0)  # a command that is sent again would be another turn
        self.db: Any = redis.Redis.from_url(url, retry=once)  # the same
        self.db.ping()

    def run(self, worker: str) -> str:
        task = f"{self.namespace}:task"
        with self.db.pipeline() as pipe:
            if self.watches:
                pipe.watch(task)
                version = int(pipe.hget(task, "version"))
                pipe.multi()
            else:
                version = int(self.db.hget(task, "version"))
            pipe.hset(task, "version", str(version + 1))
            pipe.rpush(f"{self.namespace}:log", worker)
            try:
                pipe.execute()
            except redis.WatchError:
                return "conflict"
        return "added"

    def close(self) -> None:
        self.db.close()


class Watched(Multi):
    """Writes only if nobody has written since it began to watch."""

    watches = True

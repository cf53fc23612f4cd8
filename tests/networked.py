"""The lifecycle ``task`` on PostgreSQL and Redis, with other ways to meet another's write.

Each obeys the table, call by call: how it differs shows only when two calls meet, or when a
connection is cut.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import redis
from psycopg import OperationalError
from psycopg.errors import SerializationFailure
from redis.backoff import NoBackoff
from redis.retry import Retry

from lawful.sut import Refusal
from lawful.sut.postgresql import Postgresql, PostgresqlStore
from lawful.sut.redis_store import LuaStore, Redis, RedisLua, RedisStore
from lawful.sut.reference.machine import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import LiteralString

    from lawful.sut import Clock
    from lawful.sut.redis_store import Write
    from lawful.sut.reference.machine import Event, Task

__all__ = [
    "Blind",
    "Comparing",
    "Repeatable",
    "Resending",
    "ResendingScript",
    "TurnsIntoFailure",
    "TwoExecs",
    "TwoTransactions",
    "Unwatched",
    "Whereabouts",
]


class ComparingStore(PostgresqlStore):
    """No lock. A heartbeat changes no version, so the lease is compared as well."""

    lock = ""
    predicate = (
        " AND version = %(read_version)s AND lease_until IS NOT DISTINCT FROM %(read_until)s"
    )


class BlindStore(PostgresqlStore):
    """No lock and no comparison, and the last line of a version's history stays."""

    lock = ""
    predicate = ""

    def _change(self, query: LiteralString, **values: object) -> int:
        if query.startswith("INSERT INTO lawful.task_events"):
            query += (
                " ON CONFLICT (store, task, version) DO UPDATE SET event = EXCLUDED.event,"
                " before = EXCLUDED.before, after = EXCLUDED.after, actor = EXCLUDED.actor,"
                " payload = EXCLUDED.payload, at = EXCLUDED.at"
            )
        return super()._change(query, **values)


class RepeatableStore(BlindStore):
    """The same at an isolation level at which the server compares."""

    isolation = "REPEATABLE_READ"


class UnwatchedStore(RedisStore):
    """MULTI without WATCH: what is written is whole, and may be out of date."""

    watches = False


class Comparing(Postgresql):
    """Whoever comes too late is told so: it is right."""

    keeps = ComparingStore


class Blind(Postgresql):
    """Every update is written; the last one stays."""

    keeps = BlindStore


class Repeatable(Postgresql):
    """Whoever comes too late is told so by the server: it is right."""

    keeps = RepeatableStore
    refusals: ClassVar = {**Postgresql.refusals, SerializationFailure: Refusal.STALE_VERSION}


class Unwatched(Redis):
    """Every update is written; the last one stays."""

    keeps = UnwatchedStore


# -- what a cut connection shows -------------------------------------------------------------------


class TwoTransactionsStore(PostgresqlStore):
    """Each statement is a transaction: the row's, then its history's."""

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        yield

    _part = _transaction


class TwoTransactions(Postgresql):
    """Between the two the row has moved on, and its history has not."""

    keeps = TwoTransactionsStore


class TurnsIntoFailure(Postgresql):
    """A success whose call raises an error is written down as a failure, over a new connection."""

    def open(self, path: Path, clock: Clock) -> None:
        self.path, self.clock = path, clock
        super().open(path, clock)

    def fire(self, task: str, event: str, *, actor: str, **rest: Any) -> Task:  # as in the contract
        try:
            return super().fire(task, event, actor=actor, **rest)
        except OperationalError:
            if event == "succeed":
                self.fail(task, actor)
            raise

    def fail(self, task: str, actor: str) -> None:
        self.store.close()
        self.store = PostgresqlStore(self.url, self.path, now=self.clock.now, rule=_failed)
        self.store.fire(task, "fail", actor=actor, payload={"retryable": False})


def _failed(before: Task, event: Event, **_: object) -> Task:
    """Fail a task, whatever it has come to."""
    return replace(before, state=State.FAILED, version=before.version + 1, lease=None)


class TwoExecsStore(RedisStore):
    """The row is written, and then its history."""

    def _write(self, write: Write) -> None:
        super()._write(write._replace(change=None))
        if write.line:
            self._redis.rpush(self._history(write.after.id), write.line)


class TwoExecs(Redis):
    """Between the two the row has moved on, and its history has not."""

    keeps = TwoExecsStore


def _resending(url: str) -> redis.Redis:
    """Return a client that sends once more what it has heard no answer to."""
    retry = Retry(NoBackoff(), 1)
    return redis.Redis.from_url(url, decode_responses=True, retry=retry)


class ResendingStore(UnwatchedStore):
    """What is sent once more is written once more: nothing is compared."""

    def __init__(self, url: str, folder: Path, *, now: Callable[[], float], **rest: Any) -> None:
        super().__init__(url, folder, now=now, **rest)
        self._redis.close()
        self._redis = _resending(url)


class ResendingScriptStore(LuaStore):
    """What is sent once more finds another version."""

    def __init__(self, url: str, folder: Path, *, now: Callable[[], float], **rest: Any) -> None:
        super().__init__(url, folder, now=now, **rest)
        self._redis.close()
        self._redis = _resending(url)


class Resending(Redis):
    """A change whose reply is lost has two lines in the history."""

    keeps = ResendingStore


class ResendingScript(Redis):
    """A change whose reply is lost is refused when it is sent once more: it is right."""

    keeps = ResendingScriptStore


class Whereabouts(RedisLua):
    """Writes down beside its folder where it is opened, and by which process."""

    def open(self, path: Path, clock: Clock) -> None:
        with path.with_name("opened").open("a", encoding="utf-8") as opened:
            print(self.url, os.getpid(), file=opened)
        super().open(path, clock)

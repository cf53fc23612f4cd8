"""The lifecycle ``task`` on PostgreSQL, through psycopg: row locks, and versions compared.

All stores of a server share two tables: a schema for each would cost 6 ms, more than all else that
opening one takes. psycopg is imported when a store is opened.
"""

from __future__ import annotations

import contextlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lawful.sut.namespaces import Namespaces
from lawful.sut.reference.errors import DuplicateTask, UnknownTask, VersionConflict
from lawful.sut.reference.machine import step
from lawful.sut.reference.records import Change, Row
from lawful.sut.reference.storing import TaskStore, decoded, encoded, task_of
from lawful.sut.reference.system import TaskSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path
    from typing import LiteralString

    import psycopg

    from lawful.sut.contract import Clock
    from lawful.sut.reference.machine import Task
    from lawful.sut.reference.records import Dump

__all__ = ["Postgresql", "PostgresqlStore"]

IN_USE: Final = 0x6C617766756C
"""The advisory lock that everybody shares who has a store open: the tables are needed."""

MAKING: Final = IN_USE + 1
"""The advisory lock of whoever makes the tables."""

POISONED: Final = "LW001"
"""The SQLSTATE with which a poisoned task refuses to be written."""

TABLES: Final = f"""
    CREATE SCHEMA IF NOT EXISTS lawful;
    CREATE TABLE lawful.tasks (
        store        TEXT NOT NULL,
        id           TEXT NOT NULL,
        state        TEXT NOT NULL CHECK (state IN (
                         'submitted', 'queued', 'running', 'retry_wait',
                         'cancelling', 'succeeded', 'failed', 'cancelled')),
        attempts     INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND max_attempts),
        max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
        version      INTEGER NOT NULL,
        lease_owner  TEXT,
        lease_token  INTEGER,
        lease_until  DOUBLE PRECISION,
        poisoned     BOOLEAN NOT NULL DEFAULT false,
        PRIMARY KEY (store, id),
        CHECK ((lease_owner IS NOT NULL) = (state IN ('running', 'cancelling')))
    );
    CREATE TABLE lawful.task_events (
        store   TEXT NOT NULL,
        task    TEXT NOT NULL,
        version INTEGER NOT NULL,
        event   TEXT,
        before  TEXT,
        after   TEXT NOT NULL,
        actor   TEXT,
        payload TEXT NOT NULL,
        at      DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (store, task, version)
    );
    CREATE FUNCTION lawful.refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'poisoned' USING ERRCODE = '{POISONED}'; END $$;
    CREATE TRIGGER poisoned AFTER UPDATE ON lawful.tasks FOR EACH ROW
        WHEN (OLD.poisoned AND NEW.poisoned) EXECUTE FUNCTION lawful.refuse()
"""

FIELDS: Final = "state, attempts, max_attempts, version, lease_owner, lease_token, lease_until"
LINE: Final = "version, event, before, after, actor, payload, at"


class PostgresqlStore(TaskStore):
    """Tasks in two tables. One instance is one connection; several may share the store.

    A row that is read to be written is locked, so nobody else writes it in between; that its
    version is compared as well costs nothing. A subclass can leave out either, and be raced.

    Args:
        url: Where the server is.
        folder: Whose store it is.
        now: Returns the time in seconds.
        rule: Says what an event makes of a task, or raises.
    """

    isolation: ClassVar[str] = "READ_COMMITTED"
    """The isolation level, by psycopg's name."""
    lock: ClassVar[LiteralString] = " FOR UPDATE"
    """What is added to the reading of a row that is about to be written."""
    predicate: ClassVar[LiteralString] = " AND version = %(read_version)s"
    """What else must hold of a row when it is written: ``read_version``, ``read_until``."""

    def __init__(
        self, url: str, folder: Path, *, now: Callable[[], float], rule: Callable[..., Task] = step
    ) -> None:
        import psycopg

        super().__init__(now=now, rule=rule)
        self._db = psycopg.connect(url, autocommit=True)
        try:
            self._db.isolation_level = psycopg.IsolationLevel[self.isolation]
            self._db.execute("SELECT pg_advisory_lock_shared(%s)", (IN_USE,))
            if not self._has_tables():
                with self._transaction():
                    self._db.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))
                    if not self._has_tables():  # another process may have been faster
                        self._db.execute(TABLES)
            self._store, gone = _NAMESPACES.enter(url, folder)
            if gone:
                _delete(self._db, gone)
        except BaseException:
            self._db.close()
            raise

    @property
    def connection(self) -> psycopg.Connection[tuple[Any, ...]]:  # a row holds any values
        """The connection, for whoever looks at the rows themselves."""
        return self._db

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def due(self) -> list[str]:
        """Return the ids of what is owed: retries, and tasks submitted but never enqueued."""
        rows = self._rows(
            "SELECT id FROM lawful.tasks WHERE store = %(store)s"
            " AND state IN ('submitted', 'retry_wait') ORDER BY id"
        )
        return [task for (task,) in rows]

    def read(self, task: str) -> Row:
        """Return what is stored of one task."""
        rows = self._rows(
            "SELECT state, attempts, version, lease_owner, lease_until, lease_token"
            " FROM lawful.tasks WHERE store = %(store)s AND id = %(id)s",
            id=task,
        )
        if not rows:
            raise UnknownTask(task)
        return Row._make(rows[0])

    def history(self, task: str) -> list[Change]:
        """Return one task's history, oldest first."""
        rows = self._rows(
            f"SELECT {LINE} FROM lawful.task_events"
            " WHERE store = %(store)s AND task = %(id)s ORDER BY version",
            id=task,
        )
        if not rows:
            raise UnknownTask(task)
        return [
            Change(version, event, before, after, actor, decoded(payload), at)
            for version, event, before, after, actor, payload, at in rows
        ]

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one task (none, if unknown) or of all."""
        # Whether a task is poisoned is no part of what is kept of it.
        tasks = f"SELECT id, {FIELDS} FROM lawful.tasks WHERE store = %(store)s"
        lines = f"SELECT task, {LINE} FROM lawful.task_events WHERE store = %(store)s"
        if task is None:
            return (
                tuple(self._rows(tasks + " ORDER BY id")),
                tuple(self._rows(lines + " ORDER BY task, version")),
            )
        return (
            tuple(self._rows(tasks + " AND id = %(id)s", id=task)),
            tuple(self._rows(lines + " AND task = %(id)s ORDER BY version", id=task)),
        )

    def knows(self, task: str) -> bool:
        """Say whether a task of this id was ever submitted."""
        query = "SELECT 1 FROM lawful.tasks WHERE store = %(store)s AND id = %(id)s"
        return bool(self._rows(query, id=task))

    def poison(self, task: str) -> None:
        """Make the next write of its row fail, once it is written."""
        if not self._poisoned(task, True):
            raise UnknownTask(task)

    def cure(self, task: str) -> None:
        """Let this task be written again."""
        self._poisoned(task, False)

    def is_poison(self, error: Exception) -> bool:
        """Say whether the trigger refused a write."""
        return getattr(error, "sqlstate", None) == POISONED

    def _poisoned(self, task: str, poisoned: bool) -> int:
        return self._change(
            "UPDATE lawful.tasks SET poisoned = %(poisoned)s"
            " WHERE store = %(store)s AND id = %(id)s AND NOT (poisoned AND %(poisoned)s)",
            id=task,
            poisoned=poisoned,
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._db.transaction():
            yield

    _part = _transaction  # inside another, psycopg makes it a savepoint

    def _has_tables(self) -> bool:
        found = self._db.execute("SELECT to_regclass('lawful.task_events')")
        return found.fetchone() != (None,)

    def _number(self) -> int:
        # Two that submit at once must not choose the same id.
        self._rows("SELECT pg_advisory_xact_lock(hashtextextended(%(store)s, 0))")
        ((number,),) = self._rows("SELECT count(*) + 1 FROM lawful.tasks WHERE store = %(store)s")
        return int(number)

    def _expired(self, now: float) -> list[str]:
        rows = self._rows(
            "SELECT id FROM lawful.tasks WHERE store = %(store)s"
            " AND state IN ('running', 'cancelling') AND lease_until < %(now)s ORDER BY id"
            + self.lock,
            now=now,
        )
        return [task for (task,) in rows]

    def _load(self, task: str) -> Task:
        rows = self._rows(
            f"SELECT id, {FIELDS} FROM lawful.tasks WHERE store = %(store)s AND id = %(id)s"
            + self.lock,
            id=task,
        )
        if not rows:
            raise UnknownTask(task)
        return task_of(*rows[0])

    def _insert(self, new: Task, change: Change) -> None:
        inserted = self._change(
            f"INSERT INTO lawful.tasks (store, id, {FIELDS}) VALUES (%(store)s, %(id)s, %(state)s,"
            " %(attempts)s, %(max_attempts)s, %(version)s, %(owner)s, %(token)s, %(until)s)"
            " ON CONFLICT DO NOTHING",
            **_values(new),
        )
        if not inserted:
            raise DuplicateTask(new.id)
        self._log(new.id, change)

    def _update(self, before: Task, after: Task, change: Change | None) -> None:
        changed = self._change(
            "UPDATE lawful.tasks SET state = %(state)s, attempts = %(attempts)s,"
            " version = %(version)s, lease_owner = %(owner)s, lease_token = %(token)s,"
            " lease_until = %(until)s WHERE store = %(store)s AND id = %(id)s" + self.predicate,
            **_values(after),
            read_version=before.version,
            read_until=before.lease and before.lease.until,
        )
        if changed != 1:
            raise VersionConflict(before.id, before.version, None)
        if change is not None:
            self._log(before.id, change)

    def _log(self, task: str, entry: Change) -> None:
        self._change(
            f"INSERT INTO lawful.task_events (store, task, {LINE}) VALUES (%(store)s, %(id)s,"
            " %(version)s, %(event)s, %(before)s, %(after)s, %(actor)s, %(payload)s, %(at)s)",
            id=task,
            **{**entry._asdict(), "payload": encoded(entry.payload)},
        )

    def _rows(self, query: LiteralString, **values: object) -> Sequence[tuple[Any, ...]]:
        return self._db.execute(query, {"store": self._store, **values}).fetchall()

    def _change(self, query: LiteralString, **values: object) -> int:
        """Write some rows, and return how many."""
        return self._db.execute(query, {"store": self._store, **values}).rowcount


def _values(task: Task) -> dict[str, object]:
    owner, token, until = task.lease or (None, None, None)
    return {
        "id": task.id,
        "state": task.state.value,
        "attempts": task.attempts,
        "max_attempts": task.max_attempts,
        "version": task.version,
        "owner": owner,
        "token": token,
        "until": until,
    }


def _delete(db: psycopg.Connection[tuple[Any, ...]], stores: Collection[str]) -> None:
    for query in (
        "DELETE FROM lawful.tasks WHERE store = ANY(%s)",
        "DELETE FROM lawful.task_events WHERE store = ANY(%s)",
    ):
        db.execute(query, (list(stores),))


def _drop(url: str, stores: Collection[str]) -> None:
    """Drop some stores, and the tables too where nobody needs them any more."""
    import psycopg

    # The server may have gone before us, and its stores with it.
    with (
        contextlib.suppress(psycopg.OperationalError, psycopg.errors.UndefinedTable),
        psycopg.connect(url, autocommit=True) as db,
    ):
        _delete(db, stores)
        unused = "SELECT pg_try_advisory_lock(%s) AND NOT EXISTS (SELECT FROM lawful.tasks)"
        if db.execute(unused, (IN_USE,)).fetchone() == (True,):
            db.execute("DROP SCHEMA lawful CASCADE")


_NAMESPACES: Final = Namespaces(_drop)


class Postgresql(TaskSystem[PostgresqlStore]):
    """The lifecycle ``task`` on PostgreSQL."""

    system = "lawful.sut.postgresql"
    server = "postgresql"
    keeps: ClassVar[type[PostgresqlStore]] = PostgresqlStore

    def open(self, path: Path, clock: Clock) -> None:
        """Open the store of the folder ``path``."""
        self.store = self.keeps(self.url, path, now=clock.now)

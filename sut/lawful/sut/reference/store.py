"""The reference store: tasks and their history in SQLite, each change one transaction.

It depends on the standard library alone.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lawful.sut.reference.errors import DuplicateTask, UnknownTask, VersionConflict
from lawful.sut.reference.machine import step
from lawful.sut.reference.records import Change, Row
from lawful.sut.reference.schema import TABLES
from lawful.sut.reference.storing import TaskStore, decoded, encoded, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lawful.sut.reference.machine import Task
    from lawful.sut.reference.records import Dump

__all__ = ["Store"]

BUSY_SECONDS: Final = 5.0


class Store(TaskStore):
    """Tasks in one SQLite file. One instance is one connection; several may share the file."""

    def __init__(
        self, file: Path, *, now: Callable[[], float], rule: Callable[..., Task] = step
    ) -> None:
        """Open the store in ``file``, making it if it is not there.

        Args:
            file: The database.
            now: Returns the time in seconds.
            rule: Says what an event makes of a task, or raises.
        """
        super().__init__(now=now, rule=rule)
        self._db = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
        # Half the price of a commit, and just as durable: SQLite's default of a sync per commit
        # (synchronous = FULL) stays.
        self._db.execute("PRAGMA journal_mode = WAL")
        if not self._has_tables():
            with self._transaction():
                if not self._has_tables():  # another process may have been faster
                    for statement in TABLES:
                        self._db.execute(statement)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, for whoever plants a fault or looks at the rows themselves."""
        return self._db

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def due(self) -> list[str]:
        """Return the ids of what is owed: retries, and tasks submitted but never enqueued."""
        rows = self._db.execute(
            "SELECT id FROM tasks WHERE state IN ('submitted', 'retry_wait') ORDER BY id"
        )
        return [task for (task,) in rows]

    def read(self, task: str) -> Row:
        """Return what is stored of one task."""
        row = self._db.execute(
            "SELECT state, attempts, version, lease_owner, lease_until, lease_token"
            " FROM tasks WHERE id = ?",
            (task,),
        ).fetchone()
        if row is None:
            raise UnknownTask(task)
        return Row._make(row)

    def history(self, task: str) -> list[Change]:
        """Return one task's history, oldest first."""
        rows = self._db.execute(
            "SELECT version, event, before, after, actor, payload, at"
            " FROM task_events WHERE task = ? ORDER BY version",
            (task,),
        ).fetchall()
        if not rows:
            raise UnknownTask(task)
        return [
            Change(version, event, before, after, actor, decoded(payload), at)
            for version, event, before, after, actor, payload, at in rows
        ]

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one task (none, if unknown) or of all."""
        query = self._db.execute
        if task is None:
            return (
                tuple(query("SELECT * FROM tasks ORDER BY id")),
                tuple(query("SELECT * FROM task_events ORDER BY task, version")),
            )
        return (
            tuple(query("SELECT * FROM tasks WHERE id = ?", (task,))),
            tuple(query("SELECT * FROM task_events WHERE task = ? ORDER BY version", (task,))),
        )

    def knows(self, task: str) -> bool:
        """Say whether a task of this id was ever submitted."""
        found = self._db.execute("SELECT 1 FROM tasks WHERE id = ?", (task,)).fetchone()
        return found is not None

    def poison(self, task: str) -> None:
        """Make the write of its history fail, once its row is written."""
        if not self.knows(task):
            raise UnknownTask(task)
        self._db.execute(
            f"CREATE TRIGGER IF NOT EXISTS {_trigger(task)}"
            f" BEFORE INSERT ON task_events WHEN NEW.task = {_literal(task)}"
            " BEGIN SELECT RAISE(ABORT, 'poisoned'); END"
        )

    def cure(self, task: str) -> None:
        """Let this task be written again."""
        self._db.execute(f"DROP TRIGGER IF EXISTS {_trigger(task)}")

    def is_poison(self, error: Exception) -> bool:
        """Say whether the database refused a write."""
        return isinstance(error, sqlite3.IntegrityError)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite itself rolls back on a full disk and the like
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _part(self) -> Iterator[None]:
        self._db.execute("SAVEPOINT task")
        try:
            yield
        except Exception:
            self._db.execute("ROLLBACK TO task")
            self._db.execute("RELEASE task")
            raise
        self._db.execute("RELEASE task")

    def _has_tables(self) -> bool:
        found = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'task_events'")
        return found.fetchone() is not None

    def _number(self) -> int:
        (number,) = self._db.execute("SELECT count(*) + 1 FROM tasks").fetchone()
        return int(number)

    def _expired(self, now: float) -> list[str]:
        rows = self._db.execute(
            "SELECT id FROM tasks WHERE state IN ('running', 'cancelling')"
            " AND lease_until < ? ORDER BY id",
            (now,),
        ).fetchall()
        return [task for (task,) in rows]

    def _load(self, task: str) -> Task:
        row = self._db.execute(
            "SELECT id, state, attempts, max_attempts, version,"
            " lease_owner, lease_token, lease_until FROM tasks WHERE id = ?",
            (task,),
        ).fetchone()
        if row is None:
            raise UnknownTask(task)
        return task_of(*row)

    def _insert(self, new: Task, change: Change) -> None:
        if self.knows(new.id):
            raise DuplicateTask(new.id)
        owner, token, until = new.lease or (None, None, None)
        self._db.execute(
            "INSERT INTO tasks (id, state, attempts, max_attempts, version,"
            " lease_owner, lease_token, lease_until) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                new.id,
                new.state.value,
                new.attempts,
                new.max_attempts,
                new.version,
                owner,
                token,
                until,
            ),
        )
        self._log(new.id, change)

    def _update(self, before: Task, after: Task, change: Change | None) -> None:
        owner, token, until = after.lease or (None, None, None)
        changed = self._db.execute(
            "UPDATE tasks SET state = ?, attempts = ?, version = ?,"
            " lease_owner = ?, lease_token = ?, lease_until = ? WHERE id = ? AND version = ?",
            (
                after.state.value,
                after.attempts,
                after.version,
                owner,
                token,
                until,
                before.id,
                before.version,
            ),
        )
        if changed.rowcount != 1:
            raise VersionConflict(before.id, before.version, None)
        if change is not None:
            self._log(before.id, change)

    def _log(self, task: str, entry: Change) -> None:
        self._db.execute(
            "INSERT INTO task_events (task, version, event, before, after, actor, payload, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                task,
                entry.version,
                entry.event,
                entry.before,
                entry.after,
                entry.actor,
                encoded(entry.payload),
                entry.at,
            ),
        )


# A trigger's text takes no parameters, so both are quoted here.
def _trigger(task: str) -> str:
    return '"poison ' + task.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

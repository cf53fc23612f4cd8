"""The reference store: tasks and their history in SQLite, each change one transaction.

What may happen is the machine's to say; this module loads, asks, and writes. It reads the time
through the function it is given, and depends on the standard library alone.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from lawful.sut.reference.errors import DuplicateTask, UnknownTask, VersionConflict
from lawful.sut.reference.machine import (
    NOTHING,
    Event,
    Lease,
    State,
    Task,
    event_named,
    expire,
    placed,
    renew,
    step,
    submitted,
)
from lawful.sut.reference.records import Change, Reclaimed, Row, Unprocessable
from lawful.sut.reference.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from lawful.sut.reference.machine import Payload
    from lawful.sut.reference.records import Dump

__all__ = ["REAPER", "Store"]

REAPER: Final = "reaper"
"""Who fires the failure of an expired lease, in the history."""

BUSY_SECONDS: Final = 5.0


class Store:
    """Tasks in one SQLite file. One instance is one connection; several may share the file.

    Every write checks in this order: the task is known, the expected version is its version,
    the transition is legal, the reporter holds the lease.
    """

    def __init__(
        self, file: Path, *, now: Callable[[], float], rule: Callable[..., Task] = step
    ) -> None:
        """Open the store in ``file``, making it if it is not there.

        Args:
            file: The database.
            now: Returns the time in seconds.
            rule: Says what an event makes of a task, or raises.
        """
        self._now = now
        self._rule = rule
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

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Store a new task.

        Args:
            params: ``max_attempts``, or nothing.
            task: Its id; None has the store choose one.

        Returns:
            Its id.

        Raises:
            ValueError: A parameter can't be.
            DuplicateTask: There is a task of that id.
        """
        with self._transaction():
            new = submitted(self._free_id() if task is None else task, params)
            self._insert(new, None, {"max_attempts": new.max_attempts})
            return new.id

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        """Store a new task straight in ``state``; its version and history start there.

        Args:
            state: Where it starts.
            counters: ``attempts`` and ``max_attempts``, each or neither.
            actor: Who puts it there; the holder, in a held state.

        Returns:
            Its id.

        Raises:
            ValueError: The state or a counter can't be.
        """
        with self._transaction():
            new = placed(self._free_id(), state, counters, actor=actor, now=self._now())
            payload = {"attempts": new.attempts, "max_attempts": new.max_attempts}
            self._insert(new, actor, payload)
            return new.id

    def fire(
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload = NOTHING,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> Task:
        """Fire one event on one task and return the task afterwards.

        The arguments and what is raised are those of :func:`machine.step`.

        Raises:
            ValueError: The event or a payload field is unknown.
            UnknownTask: There is no such task.
        """
        named = event_named(event)
        with self._transaction():
            before = self._load(task)
            now = self._now()
            after = self._rule(
                before,
                named,
                actor=actor,
                payload=payload,
                now=now,
                expected_version=expected_version,
                token=token,
            )
            if after is not before:
                self._write(before, named, after, actor, payload, now)
            return after

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        """Renew the holder's lease; neither version nor history changes.

        Raises:
            UnknownTask: There is no such task.
            StaleLease: The actor is not the holder.
        """
        with self._transaction():
            before = self._load(task)
            after = renew(before, actor=actor, token=token, now=self._now())
            self._update(before, after)

    def reclaim_expired(self) -> Reclaimed:
        """Fail every task whose lease has expired (until < now), and no other.

        One transaction, a savepoint per task: one that can't be processed stops no other.
        """
        done: list[str] = []
        left: list[Unprocessable] = []
        with self._transaction():
            now = self._now()
            expired = self._db.execute(
                "SELECT id FROM tasks WHERE state IN ('running', 'cancelling')"
                " AND lease_until < ? ORDER BY id",
                (now,),
            ).fetchall()
            for (task,) in expired:
                self._db.execute("SAVEPOINT task")
                try:
                    before = self._load(task)
                    payload = {"retryable": True}
                    self._write(before, Event.FAIL, expire(before), REAPER, payload, now)
                except Exception as error:  # whatever is wrong with this row, the next must go on
                    self._db.execute("ROLLBACK TO task")
                    left.append(Unprocessable(task, error))
                else:
                    done.append(task)
                self._db.execute("RELEASE task")
        return Reclaimed(tuple(done), tuple(left))

    def due(self) -> list[str]:
        """Return the ids of what is owed: retries, and tasks submitted but never enqueued."""
        rows = self._db.execute(
            "SELECT id FROM tasks WHERE state IN ('submitted', 'retry_wait') ORDER BY id"
        )
        return [task for (task,) in rows]

    def read(self, task: str) -> Row:
        """Return what is stored of one task.

        Raises:
            UnknownTask: There is no such task.
        """
        row = self._db.execute(
            "SELECT state, attempts, version, lease_owner, lease_until, lease_token"
            " FROM tasks WHERE id = ?",
            (task,),
        ).fetchone()
        if row is None:
            raise UnknownTask(task)
        return Row._make(row)

    def history(self, task: str) -> list[Change]:
        """Return one task's history, oldest first; the first line is its submission.

        Raises:
            UnknownTask: There is no such task.
        """
        rows = self._db.execute(
            "SELECT version, event, before, after, actor, payload, at"
            " FROM task_events WHERE task = ? ORDER BY version",
            (task,),
        ).fetchall()
        if not rows:
            raise UnknownTask(task)
        return [
            Change(version, event, before, after, actor, dict(_decoded(payload)), at)
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

    def _has_tables(self) -> bool:
        found = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'task_events'")
        return found.fetchone() is not None

    def _free_id(self) -> str:
        (number,) = self._db.execute("SELECT count(*) + 1 FROM tasks").fetchone()
        while self.knows(f"task-{number}"):
            number += 1
        return f"task-{number}"

    def _load(self, task: str) -> Task:
        row = self._db.execute(
            "SELECT state, attempts, max_attempts, version, lease_owner, lease_token, lease_until"
            " FROM tasks WHERE id = ?",
            (task,),
        ).fetchone()
        if row is None:
            raise UnknownTask(task)
        state, attempts, max_attempts, version, owner, token, until = row
        lease = None if owner is None else Lease(owner, token, until)
        return Task(task, State(state), attempts, max_attempts, version, lease)

    def _insert(self, new: Task, actor: str | None, payload: Payload) -> None:
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
        self._log(
            new.id, Change(new.version, None, None, new.state.value, actor, payload, self._now())
        )

    def _write(
        self, before: Task, event: Event, after: Task, actor: str, payload: Payload, now: float
    ) -> None:
        self._update(before, after)
        entry = Change(
            after.version, event.value, before.state.value, after.state.value, actor, payload, now
        )
        self._log(before.id, entry)

    def _update(self, before: Task, after: Task) -> None:
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
                _encoded(entry.payload),
                entry.at,
            ),
        )


def _encoded(payload: Payload) -> str:
    return json.dumps(dict(payload), sort_keys=True) if payload else "{}"


@lru_cache(maxsize=64)  # a history repeats a few texts; each reader gets a copy
def _decoded(text: str) -> Payload:
    payload: Payload = json.loads(text)
    return payload

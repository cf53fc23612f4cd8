"""One row per task and one line per change, in one SQLite file: what the small systems share.

It keeps and counts; what may change, and into what, is the rule's that each system hands in.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from lawful.sut.contract import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from lawful.sut.contract import Payload

__all__ = [
    "DuplicateTask",
    "Ledger",
    "Move",
    "Row",
    "UndeclaredField",
    "UnknownTask",
    "VersionConflict",
    "without_fields",
]

BUSY_SECONDS: Final = 5.0

# What SQLite gives: rows of plain values, compared and never looked into.
Dump: TypeAlias = tuple[tuple[tuple[object, ...], ...], tuple[tuple[object, ...], ...]]
Fields: TypeAlias = "Mapping[str, int | str]"


class UnknownTask(KeyError):
    """No task of this id was ever submitted.

    Attributes:
        task: The id.
    """

    def __init__(self, task: str) -> None:
        super().__init__(f"no task {task!r} was ever submitted")
        self.task = task

    def __str__(self) -> str:  # KeyError would show the message's repr
        return str(self.args[0])


class DuplicateTask(ValueError):
    """A task of this id was submitted before.

    Attributes:
        task: The id.
    """

    def __init__(self, task: str) -> None:
        super().__init__(f"task {task!r} was submitted before; choose another id")
        self.task = task


class VersionConflict(Exception):
    """The caller expected a version that is not the task's.

    Attributes:
        task: The task's id.
        expected: The version the caller had read.
        actual: The task's version.
    """

    def __init__(self, task: str, expected: int, actual: int) -> None:
        super().__init__(
            f"task {task!r} was expected at version {expected}, but is at {actual}; read it again"
        )
        self.task = task
        self.expected = expected
        self.actual = actual


class UndeclaredField(ValueError):
    """An event was reported with a field that it does not declare.

    Attributes:
        event: The event.
        field: The field's name.
    """

    def __init__(self, event: str, field: str) -> None:
        super().__init__(f"{event} declares no field {field!r}; report it without")
        self.event = event
        self.field = field


class Row(NamedTuple):
    """A task as it is stored.

    Attributes:
        task: Its id.
        version: How many changes it has seen.
        fields: The system's own columns.
    """

    task: str
    version: int
    fields: Fields


class Move(NamedTuple):
    """What a rule makes of an event.

    Attributes:
        before: The state shown before.
        after: The state shown after.
        fields: The columns that change, with their new values.
    """

    before: str
    after: str
    fields: Fields


def without_fields(event: str, payload: Payload) -> None:
    """Refuse any payload: the event declares none.

    Raises:
        UndeclaredField: There is one.
    """
    for field in sorted(payload):
        raise UndeclaredField(event, field)


class Ledger:
    """The tasks of one system and their history. One instance is one connection."""

    def __init__(self, file: Path, *, columns: Mapping[str, str]) -> None:
        """Open the ledger in ``file``, making it if it is not there.

        Args:
            file: The database.
            columns: The system's own columns by name, each with its SQL type and checks.
        """
        self._columns = tuple(columns)
        names = ", ".join(self._columns)
        marks = ", ".join("?" for _ in self._columns)
        # ruff's S608 below: the names are the systems' own constants, every value is bound.
        self._select = f"SELECT version, {names} FROM tasks WHERE id = ?"  # noqa: S608
        self._insert = f"INSERT INTO tasks (id, version, {names}) VALUES (?, 0, {marks})"  # noqa: S608
        self._db = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        if not self._has_tables():
            own = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            with self._transaction():
                if not self._has_tables():  # another process may have been faster
                    self._db.execute(
                        "CREATE TABLE tasks"
                        f" (id TEXT PRIMARY KEY, version INTEGER NOT NULL, {own}) WITHOUT ROWID"
                    )
                    self._db.execute(
                        "CREATE TABLE history (task TEXT, version INTEGER, event TEXT,"
                        " before TEXT, after TEXT NOT NULL, actor TEXT, payload TEXT NOT NULL,"
                        " PRIMARY KEY (task, version)) WITHOUT ROWID"
                    )

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def create(self, task: str | None, state: str, fields: Fields, *, actor: str | None) -> str:
        """Write a new task, with every column, and the first line of its history.

        Args:
            task: Its id; None has the ledger choose one.
            state: The state shown.
            fields: Every column of the system's own.
            actor: Who put it there, None for a plain submission.

        Returns:
            Its id.

        Raises:
            DuplicateTask: There is a task of that id.
        """
        with self._transaction():
            if task is None:
                task = self._free_id()
            elif self._knows(task):
                raise DuplicateTask(task)
            self._db.execute(self._insert, (task, *(fields[name] for name in self._columns)))
            self._log(task, Entry(0, None, None, state, actor, {}))
            return task

    def change(
        self,
        task: str,
        event: str,
        rule: Callable[[Row], Move],
        *,
        actor: str,
        payload: Payload,
        expected_version: int | None = None,
    ) -> None:
        """Change a task as ``rule`` says, its version by one, its history by one line.

        Args:
            task: Its id.
            event: What was fired.
            rule: Given the row; returns what becomes of it, or raises to refuse.
            actor: Who fired it.
            payload: What was reported.
            expected_version: The version the caller had read, if it wants that checked.

        Raises:
            UnknownTask: There is no such task.
            VersionConflict: The task is at another version.
        """
        with self._transaction():
            row = self.load(task)
            if expected_version is not None and expected_version != row.version:
                raise VersionConflict(task, expected_version, row.version)
            move = rule(row)
            version = row.version + 1
            sets = "".join(f", {name} = ?" for name in move.fields)
            update = f"UPDATE tasks SET version = ?{sets} WHERE id = ? AND version = ?"  # noqa: S608
            self._db.execute(update, (version, *move.fields.values(), task, row.version))
            self._log(task, Entry(version, event, move.before, move.after, actor, payload))

    def load(self, task: str) -> Row:
        """Return what is stored of one task.

        Raises:
            UnknownTask: There is no such task.
        """
        row = self._db.execute(self._select, (task,)).fetchone()
        if row is None:
            raise UnknownTask(task)
        return Row(task, row[0], dict(zip(self._columns, row[1:], strict=True)))

    def history(self, task: str) -> list[Entry]:
        """Return one task's history, oldest first; the first line is its submission.

        Raises:
            UnknownTask: There is no such task.
        """
        rows = self._db.execute(
            "SELECT version, event, before, after, actor, payload FROM history"
            " WHERE task = ? ORDER BY version",
            (task,),
        ).fetchall()
        if not rows:
            raise UnknownTask(task)
        return [
            Entry(version, event, before, after, actor, json.loads(payload))
            for version, event, before, after, actor, payload in rows
        ]

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one task (none, if unknown) or of all."""
        query = self._db.execute
        if task is None:
            return (
                tuple(query("SELECT * FROM tasks ORDER BY id")),
                tuple(query("SELECT * FROM history ORDER BY task, version")),
            )
        return (
            tuple(query("SELECT * FROM tasks WHERE id = ?", (task,))),
            tuple(query("SELECT * FROM history WHERE task = ? ORDER BY version", (task,))),
        )

    def absent(self) -> str:
        """Return an id that was never given out."""
        name = "absent"
        while self._knows(name):
            name += "-"
        return name

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
        found = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'history'")
        return found.fetchone() is not None

    def _knows(self, task: str) -> bool:
        found = self._db.execute("SELECT 1 FROM tasks WHERE id = ?", (task,)).fetchone()
        return found is not None

    def _free_id(self) -> str:
        (number,) = self._db.execute("SELECT count(*) + 1 FROM tasks").fetchone()
        while self._knows(f"task-{number}"):
            number += 1
        return f"task-{number}"

    def _log(self, task: str, entry: Entry) -> None:
        version, event, before, after, actor, payload = entry
        text = json.dumps(dict(payload), sort_keys=True) if payload else "{}"
        self._db.execute(
            "INSERT INTO history (task, version, event, before, after, actor, payload)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (task, version, event, before, after, actor, text),
        )

"""The lifecycle ``task`` in SQLite, in every way to get its transactions wrong.

Each obeys the table, call by call: what is wrong shows only when two calls meet.
"""

from __future__ import annotations

import marshal
import multiprocessing
import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar, Literal

from lawful.sut import Entry
from miniatures.honest import RETRYABLE, Call, Honest, Poisoned, StaleVersion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lawful.sut import Clock, Refused
    from miniatures.honest import Row, Tasks


class Whole(Honest):
    """Each call is one transaction, begun before anything is read."""

    isolation: ClassVar[Literal["DEFERRED"] | None] = None
    journal: ClassVar = "WAL"
    begin: ClassVar = "BEGIN IMMEDIATE"

    def open(self, path: Path, clock: Clock) -> None:
        self.clock = clock
        self.poisoned: set[str] = set()
        self.db = sqlite3.connect(path / "racer.db", isolation_level=self.isolation)
        try:
            self.prepare()
        except BaseException:
            self.db.close()
            raise

    def prepare(self) -> None:
        self.db.execute(f"PRAGMA journal_mode = {self.journal}")
        self.db.execute("CREATE TABLE IF NOT EXISTS tasks (id PRIMARY KEY, row)")
        self.db.execute("CREATE TABLE IF NOT EXISTS events (task, line)")

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.db.execute(self.begin)
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    # -- rows ----------------------------------------------------------------------------------

    def load(self) -> Tasks:
        """Read every row as it is stored; what is added to its history is stored by itself."""
        rows = self.db.execute("SELECT id, row FROM tasks ORDER BY rowid").fetchall()
        return {task: {**marshal.loads(row), "history": [], "read": row} for task, row in rows}

    def save(self, tasks: Tasks) -> None:
        for task, row in tasks.items():
            kept = {name: row[name] for name in row if name not in ("history", "read")}
            written = marshal.dumps(kept)
            if written != row.get("read"):
                self.store(task, row, written)
                row["read"], row["history"] = written, []

    def store(self, task: str, row: Row, written: bytes) -> None:
        if row.get("read") is None:
            self.db.execute("INSERT INTO tasks VALUES (?, ?)", (task, written))
        else:
            self.update(task, row, written)
        self.write_history(task, row)

    def update(self, task: str, row: Row, written: bytes) -> None:
        self.db.execute("UPDATE tasks SET row = ? WHERE id = ?", (written, task))

    def write_history(self, task: str, row: Row) -> None:
        for line in row["history"]:
            self.db.execute("INSERT INTO events VALUES (?, ?)", (task, marshal.dumps(line)))

    def history(self, task: str) -> list[Entry]:
        self.row(self.load(), task)
        query = "SELECT line FROM events WHERE task = ? ORDER BY rowid"
        return [Entry(*marshal.loads(line)) for (line,) in self.db.execute(query, (task,))]

    def dump(self, task: str | None = None) -> object:
        rows = "SELECT id, row FROM tasks WHERE ? IN (id, '') ORDER BY rowid"
        lines = "SELECT task, line FROM events WHERE ? IN (task, '') ORDER BY rowid"
        return tuple(tuple(self.db.execute(query, (task or "",))) for query in (rows, lines))

    # -- calls ---------------------------------------------------------------------------------

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        with self.transaction():
            return super().submit(params, task=task)

    def on(self, call: Call) -> Refused | None:
        with self.transaction():
            return super().on(call)

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        with self.transaction():
            super().heartbeat(task, actor=actor, token=token)

    def reap(self) -> list[str]:
        with self.transaction():
            return super().reap()


class OneByOne(Whole):
    """Every statement is a transaction of its own: the table is checked, then the row written."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield


class DeferredBegin(Whole):
    """The transaction begins when it reads: whoever writes second is turned away by SQLite."""

    begin = "BEGIN"


class DefaultMode(Whole):
    """As ``sqlite3`` does it by default: a transaction begins with the first write."""

    isolation = "DEFERRED"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.db:
            yield


class ReadBefore(OneByOne):
    """What is read is read before the transaction that writes."""

    def store(self, task: str, row: Row, written: bytes) -> None:
        with Whole.transaction(self):
            super().store(task, row, written)


class Comparing(OneByOne):
    """A row is written only if it still is what was read; whoever comes too late is told so."""

    def update(self, task: str, row: Row, written: bytes) -> None:
        values = (written, task, row["read"])
        query = "UPDATE tasks SET row = ? WHERE id = ? AND row = ?"
        if not self.db.execute(query, values).rowcount:
            raise StaleVersion(task)

    def reap(self) -> list[str]:
        tasks, reaped = self.load(), []
        for task, row in tasks.items():
            if self.expired(row):
                with suppress(StaleVersion, Poisoned):  # the next time
                    self.reclaim({task: row}, row, Call(task, "fail", "reaper", RETRYABLE))
                    reaped.append(task)
        return reaped


class Compared(Comparing, ReadBefore):
    """The comparison and the history in one transaction, and an id counted in it: it is right."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        with Whole.transaction(self):
            return Honest.submit(self, params, task=task)

    def store(self, task: str, row: Row, written: bytes) -> None:
        store = OneByOne.store if self.db.in_transaction else ReadBefore.store
        store(self, task, row, written)


class CountsBefore(Whole):
    """A task's id is counted before the transaction; whatever has it by then is replaced."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        (number,) = self.db.execute("SELECT count(*) FROM tasks").fetchone()
        name, row = task or f"job/{number}", self.new("submitted", 0, params["max_attempts"])
        del row["history"]
        with self.transaction():
            query = "INSERT OR REPLACE INTO tasks VALUES (?, ?)"
            self.db.execute(query, (name, marshal.dumps(row)))
        return name


class WritesAllBack(Whole):
    """A submission reads all rows, and writes all of them back with its own."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        rows = self.db.execute("SELECT id, row FROM tasks ORDER BY rowid").fetchall()
        with self.transaction():
            name = super(Whole, self).submit(params, task=task)
            self.db.executemany("UPDATE tasks SET row = ? WHERE id = ?", [r[::-1] for r in rows])
        return name


class HistoryAfter(Comparing):
    """The row is compared and written, and its history in a transaction after that."""


class HistoryBefore(Comparing):
    """The history is written first, and then the row is compared."""

    def store(self, task: str, row: Row, written: bytes) -> None:
        if row.get("read") is None:
            super().store(task, row, written)
        else:
            self.write_history(task, row)
            self.update(task, row, written)


class ReapByIds(Whole):
    """The reaper selects what has expired, and then writes each by its id alone."""

    def reap(self) -> list[str]:
        chosen = {task: row for task, row in self.load().items() if self.expired(row)}
        reaped = []
        for task, row in chosen.items():
            with suppress(Poisoned), self.transaction():
                self.reclaim({task: row}, row, Call(task, "fail", "reaper", RETRYABLE))
                reaped.append(task)
        return reaped


class WholeInDelete(Whole):
    """Each call is one transaction, with a rollback journal."""

    journal = "DELETE"


class HistoryAfterInDelete(HistoryAfter):
    """The history is written in a transaction behind the row's, with a rollback journal."""

    journal = "DELETE"


class HistoryBeforeInDelete(HistoryBefore):
    """The history is written in a transaction before the row's, with a rollback journal."""

    journal = "DELETE"


class DiesElsewhere(Whole):
    """In a process of its own it is gone before it is open."""

    def open(self, path: Path, clock: Clock) -> None:
        if multiprocessing.parent_process() is not None:
            os._exit(3)
        super().open(path, clock)

"""The lifecycle ``task`` as it is often written second: an owner, a reaper, and no comparison.

A worker reads a task, decides, and writes the row by its id alone, whatever has become of it since.
Every update is written; the last one stays. It is here to be raced.
"""

from __future__ import annotations

import json
import sqlite3
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from lawful.sut.contract import Entry, Implementation, Reading, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut.contract import Clock, Payload

__all__ = ["Naive"]

LEASE_SECONDS: Final = 30
LEADS_TO: Final[Mapping[str, str]] = MappingProxyType(
    {
        "enqueue": "queued",
        "start": "running",
        "succeed": "succeeded",
        "cancel": "cancelled",
        "retry_due": "queued",
        "cancel_ack": "cancelled",
    }
)
TABLES: Final = """
CREATE TABLE IF NOT EXISTS tasks (
  id TEXT PRIMARY KEY, state TEXT, attempts INTEGER, max_attempts INTEGER, version INTEGER,
  owner TEXT, until REAL
);
CREATE TABLE IF NOT EXISTS log (
  task TEXT, version INTEGER, event TEXT, before TEXT, after TEXT, actor TEXT, payload TEXT
);
"""


class Naive(Implementation):
    """Tasks that are written by their id."""

    system = "lawful.sut.naive"
    gaps: ClassVar = {
        "absent": Unsupported("an update of an unknown id changes no row, and says nothing"),
        "expected_version": Unsupported("nobody asks what the worker has read"),
        "token": Unsupported("a lease is a name"),
        "lease_token": Unsupported("a lease is a name"),
        "heartbeat": Unsupported("a lease is not renewed"),
        "poison": Unsupported("not offered"),
        "put": Unsupported("not offered"),
        "due": Unsupported("not offered"),
    }

    def open(self, path: Path, clock: Clock) -> None:
        """Open ``naive.db`` in the folder ``path``."""
        self.db = sqlite3.connect(path / "naive.db", isolation_level=None)
        self.clock = clock
        self.db.executescript(TABLES)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Store a new task."""
        (number,) = self.db.execute("SELECT count(*) + 1 FROM tasks").fetchone()
        name = task or f"task-{number}"
        row = (name, "submitted", 0, params["max_attempts"], 0, None, None)
        self.db.execute("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._log(name, Entry(0, None, None, "submitted"))
        return name

    def read(self, task: str) -> Reading:
        """Read a task's row."""
        row = self.db.execute(
            "SELECT state, attempts, version, owner, until FROM tasks WHERE id = ?", (task,)
        ).fetchone()
        return Reading(*row)

    def fire(self, task: str, event: str, *, actor: str, payload: Payload) -> None:
        """Write what an event leads to, from wherever the task is."""
        before = self.read(task)
        after = self._after(task, before, event, payload)
        attempts, owner, until = before.attempts or 0, before.lease_owner, before.lease_until
        if event == "start":
            attempts, owner, until = attempts + 1, actor, self.clock.now() + LEASE_SECONDS
        version = (before.version or 0) + 1
        self.db.execute(
            "UPDATE tasks SET state = ?, attempts = ?, version = ?, owner = ?, until = ?"
            " WHERE id = ?",
            (after, attempts, version, owner, until, task),
        )
        self._log(task, Entry(version, event, before.state, after, actor, payload))

    def _after(self, task: str, before: Reading, event: str, payload: Payload) -> str:
        if event == "fail":
            query = "SELECT attempts < max_attempts FROM tasks WHERE id = ?"
            (left,) = self.db.execute(query, (task,)).fetchone()
            return "retry_wait" if payload["retryable"] and left else "failed"
        if event == "cancel" and before.state == "running":
            return "cancelling"
        return LEADS_TO[event]

    def _log(self, task: str, entry: Entry) -> None:
        payload = json.dumps(dict(entry.payload or {}))
        self.db.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", (task, *entry[:5], payload))

    def history(self, task: str) -> list[Entry]:
        """Return a task's log."""
        rows = self.db.execute(
            "SELECT version, event, before, after, actor, payload FROM log WHERE task = ?"
            " ORDER BY rowid",
            (task,),
        )
        return [
            Entry(version, event, before, after, actor, json.loads(payload))
            for version, event, before, after, actor, payload in rows
        ]

    def reap(self) -> list[str]:
        """Send every task whose lease has run out back."""
        expired = self.db.execute(
            "SELECT id FROM tasks WHERE state IN ('running', 'cancelling') AND until < ?",
            (self.clock.now(),),
        ).fetchall()
        for (task,) in expired:
            self.fire(task, "fail", actor="reaper", payload={"retryable": True})
        return [task for (task,) in expired]

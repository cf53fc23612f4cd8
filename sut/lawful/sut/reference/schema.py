"""The reference's SQLite schema: one row per task, one row per entry of its history.

The names of the states are written out once more: the database refuses a misspelt one by itself.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TABLES"]

TABLES: Final = (
    """
    CREATE TABLE tasks (
        id           TEXT PRIMARY KEY,
        state        TEXT NOT NULL CHECK (state IN (
                         'submitted', 'queued', 'running', 'retry_wait',
                         'cancelling', 'succeeded', 'failed', 'cancelled')),
        attempts     INTEGER NOT NULL CHECK (attempts BETWEEN 0 AND max_attempts),
        max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
        version      INTEGER NOT NULL,
        lease_owner  TEXT,
        lease_token  INTEGER,
        lease_until  REAL,
        CHECK ((lease_owner IS NOT NULL) = (state IN ('running', 'cancelling')))
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE task_events (
        task    TEXT NOT NULL,
        version INTEGER NOT NULL,
        event   TEXT,
        before  TEXT,
        after   TEXT NOT NULL,
        actor   TEXT,
        payload TEXT NOT NULL,
        at      REAL NOT NULL,
        PRIMARY KEY (task, version)
    ) WITHOUT ROWID
    """,
)
"""The statements that make an empty store, each one table."""

"""What the faults of the catalogue are in, and the patches that several of them share."""

from __future__ import annotations

from functools import partial
from typing import Final

from lawful.mutants.planted.patching import Patch

__all__ = [
    "BY_ID_ALONE",
    "NO_TRANSACTIONS",
    "OPENED",
    "WRITTEN",
    "in_machine",
    "in_postgresql",
    "in_redis",
    "in_schema",
    "in_store",
    "in_storing",
]

_REFERENCE: Final = "lawful.sut.reference"

in_machine = partial(Patch, f"{_REFERENCE}.machine")
in_schema = partial(Patch, f"{_REFERENCE}.schema", "", text=True)
in_store = partial(Patch, f"{_REFERENCE}.store")
in_storing = partial(Patch, f"{_REFERENCE}.storing")
in_postgresql = partial(Patch, "lawful.sut.postgresql")
in_redis = partial(Patch, "lawful.sut.redis_store")

NO_TRANSACTIONS: Final = (
    in_store("Store._transaction", 'self._db.execute("BEGIN IMMEDIATE")', ""),
    in_store("Store._transaction", 'self._db.execute("COMMIT")', ""),
    in_store("Store._transaction", 'if self._db.in_transaction: self._db.execute("ROLLBACK")', ""),
    in_store("Store._part", 'self._db.execute("SAVEPOINT task")', ""),
    in_store("Store._part", 'self._db.execute("ROLLBACK TO task")', ""),
    in_store("Store._part", 'self._db.execute("RELEASE task")', "", times=2),
)
"""Every statement commits itself."""

BY_ID_ALONE: Final = (in_store("Store._update", "AND version = ?", "AND ? IS NOT NULL", text=True),)
"""A row is written whatever its version is by then."""

WRITTEN: Final = """(
    after.state.value, after.attempts, after.version, owner, token, until,
    before.id, before.version,
)"""
"""What the update of a row is given."""

OPENED: Final = """
if not self._has_tables():
    with self._transaction():
        if not self._has_tables():
            for statement in TABLES:
                self._db.execute(statement)
"""
"""How a store is opened."""

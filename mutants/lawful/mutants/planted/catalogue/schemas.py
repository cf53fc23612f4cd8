"""What the schema stops, and what comes of it where it does not."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import BY_ID_ALONE, NO_TRANSACTIONS, in_machine, in_schema, in_store, in_storing

__all__ = ["FAULTS"]

_SUBMIT: Final = """
with self._transaction():
    new = submitted(self._free_id() if task is None else task, params)
    self._begin(new, None, {"max_attempts": new.max_attempts})
    return new.id
"""
_SUBMIT_APART: Final = """
new = submitted(self._free_id() if task is None else task, params)
with self._transaction():
    self._begin(new, None, {"max_attempts": new.max_attempts})
    return new.id
"""

FAULTS: Final = (
    Fault(
        id="planted/schema/lease-kept",
        says="a task that has ended is still held, and no constraint stops it",
        source="CHECK dropped; lease not released",
        patches=(
            in_schema(
                ",\n        CHECK ((lease_owner IS NOT NULL)"
                " = (state IN ('running', 'cancelling')))",
                "",
            ),
            in_machine("_moved", "task.lease if after in HELD else None", "task.lease"),
        ),
        claims=("lease/held", "lease/release"),
    ),
    Fault(
        id="planted/schema/misspelt",
        says="a cancelled task is stored in a state that nobody knows, and no constraint stops it",
        source="langgraph#4508",
        patches=(
            in_schema(
                "'cancelling', 'succeeded', 'failed', 'cancelled'",
                "'cancelling', 'succeeded', 'failed', 'canceled'",
            ),
            in_store(
                "Store._update",
                "after.state.value",
                "after.state.value.replace('cancelled', 'canceled')",
            ),
        ),
        claims=("cell/submitted/cancel",),
    ),
    Fault(
        id="planted/schema/history-not-unique",
        says="without transactions and versions, two lines of one version are two lost updates",
        source="PRIMARY KEY dropped; BEGIN and COMMIT dropped; version predicate dropped",
        patches=(
            in_schema(",\n        PRIMARY KEY (task, version)\n    ) WITHOUT ROWID", "\n    )"),
            *NO_TRANSACTIONS,
            *BY_ID_ALONE,
        ),
        claims=("race/pairs",),
    ),
    Fault(
        id="planted/schema/ids-not-unique",
        says="two that submit at once get one id, and there are two tasks of that id",
        source="PRIMARY KEY dropped; read outside the transaction",
        patches=(
            in_schema(
                "id           TEXT PRIMARY KEY",
                "id           TEXT",
            ),
            in_schema("'cancelling')))\n    ) WITHOUT ROWID", "'cancelling')))\n    )"),
            in_schema(",\n        PRIMARY KEY (task, version)\n    ) WITHOUT ROWID", "\n    )"),
            in_storing("TaskStore.submit", _SUBMIT, _SUBMIT_APART),
            in_store("Store._insert", "if self.knows(new.id): raise DuplicateTask(new.id)", ""),
        ),
        claims=("race/submissions",),
    ),
    Fault(
        id="planted/schema/second-submission-ignored",
        says="two that submit at once are told one id, and the second task is thrown away",
        source="INSERT turned into INSERT OR IGNORE; read outside the transaction",
        patches=(
            in_store(
                "Store._insert", "INSERT INTO tasks", "INSERT OR IGNORE INTO tasks", text=True
            ),
            in_store("Store._log", "INSERT INTO", "INSERT OR IGNORE INTO", text=True),
            in_store("Store._insert", "if self.knows(new.id): raise DuplicateTask(new.id)", ""),
            in_storing("TaskStore.submit", _SUBMIT, _SUBMIT_APART),
        ),
        claims=("race/submissions",),
    ),
)
"""Faults of the schema."""

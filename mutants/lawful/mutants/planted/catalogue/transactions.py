"""What is written together, and what apart."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import BY_ID_ALONE, NO_TRANSACTIONS, in_postgresql, in_redis, in_store, in_storing

__all__ = ["FAULTS"]

FAULTS: Final = (
    Fault(
        id="planted/transaction/none",
        says="there are no explicit transactions: each statement is committed by itself",
        source="BEGIN, COMMIT, ROLLBACK and SAVEPOINT dropped",
        patches=NO_TRANSACTIONS,
        claims=("crash/statement", "crash/interrupted", "crash/killed"),
    ),
    Fault(
        id="planted/transaction/not-immediate",
        says="a transaction begins as a reader: of two that go on to write, one fails",
        source="IMMEDIATE dropped",
        patches=(in_store("Store._transaction", "BEGIN IMMEDIATE", "BEGIN", text=True),),
        claims=("race/pairs",),
    ),
    Fault(
        id="planted/transaction/rollback-dropped",
        says="a refusal leaves its transaction open, and the next call can't begin one",
        source="ROLLBACK dropped",
        patches=(
            in_store(
                "Store._transaction",
                'if self._db.in_transaction: self._db.execute("ROLLBACK")',
                "",
            ),
        ),
        claims=("contract/calls",),
    ),
    Fault(
        id="planted/transaction/rollback-commits",
        says="what was written before an error is committed",
        source="ROLLBACK swapped for COMMIT",
        patches=(in_store("Store._transaction", '"ROLLBACK"', '"COMMIT"'),),
        claims=("crash/interrupted",),
    ),
    Fault(
        id="planted/transaction/commit-deferred",
        says="a change is committed when the next one begins, and is lost if none does",
        source="COMMIT dropped",
        patches=(
            in_store(
                "Store._transaction",
                'self._db.execute("BEGIN IMMEDIATE")',
                """
                if self._db.in_transaction:
                    self._db.execute("COMMIT")
                self._db.execute("BEGIN IMMEDIATE")
                """,
            ),
            in_store("Store._transaction", 'yield; self._db.execute("COMMIT")', "yield"),
            in_store(
                "Store.close",
                "self._db.close()",
                """
                if self._db.in_transaction:
                    self._db.execute("COMMIT")
                self._db.close()
                """,
            ),
        ),
        claims=("crash/statement",),
    ),
    Fault(
        id="planted/transaction/history-afterwards",
        says="the state is committed first, and its line in the history is added afterwards",
        source="GoNavi#895",
        patches=(
            in_store(
                "Store._update",
                "self._log(before.id, change)",
                "self._owed = [*self.__dict__.get('_owed', ()), (before.id, change)]",
            ),
            in_store(
                "Store._transaction",
                'self._db.execute("COMMIT")',
                """
                self._db.execute("COMMIT")
                for line in self.__dict__.pop("_owed", ()):
                    self._log(*line)
                """,
            ),
        ),
        claims=("crash/statement", "crash/killed"),
    ),
    Fault(
        id="planted/transaction/attempt-afterwards",
        says="a start is committed first, and the attempt is counted afterwards",
        source="state and counter apart",
        patches=(
            in_store("Store._update", "after.attempts", "before.attempts"),
            in_store(
                "Store._update",
                "if change is not None: self._log(before.id, change)",
                """
                if change is not None:
                    self._log(before.id, change)
                self._owed = (after.attempts, after.id)
                """,
            ),
            in_store(
                "Store._transaction",
                'self._db.execute("COMMIT")',
                """
                self._db.execute("COMMIT")
                if "_owed" in self.__dict__:
                    self._db.execute(
                        "UPDATE tasks SET attempts = ? WHERE id = ?", self.__dict__.pop("_owed")
                    )
                """,
            ),
        ),
        claims=("crash/statement", "crash/killed"),
    ),
    Fault(
        id="planted/transaction/checked-outside",
        says="the state is looked at before the transaction, and written by id in it",
        source="django-logic#86",
        patches=(
            in_storing("TaskStore.fire", "before = self._load(task)", ""),
            in_storing(
                "TaskStore.fire",
                "named = event_named(event)",
                "named = event_named(event)\nbefore = self._load(task)",
            ),
            *BY_ID_ALONE,
        ),
        claims=("race/pairs",),
    ),
    Fault(
        id="planted/transaction/id-chosen-outside",
        says="the id of a new task is chosen before the transaction that writes it",
        source="read outside the transaction",
        patches=(
            in_storing(
                "TaskStore.submit",
                """
                with self._transaction():
                    new = submitted(self._free_id() if task is None else task, params)
                    self._begin(new, None, {"max_attempts": new.max_attempts})
                    return new.id
                """,
                """
                new = submitted(self._free_id() if task is None else task, params)
                with self._transaction():
                    self._begin(new, None, {"max_attempts": new.max_attempts})
                    return new.id
                """,
            ),
        ),
        claims=("race/submissions",),
    ),
    Fault(
        id="planted/transaction/part-not-undone",
        says="what the reaper has written of a task that it then can't write is kept",
        source="ROLLBACK TO dropped",
        patches=(in_store("Store._part", 'self._db.execute("ROLLBACK TO task")', ""),),
        claims=("lease/poison",),
    ),
    Fault(
        id="planted/transaction/redis-without-multi",
        says="what is written of a task is written command by command",
        source="MULTI and EXEC dropped",
        store="redis",
        patches=(
            in_redis("RedisStore._write", "pipe.multi()", ""),
            in_redis("RedisStore._write", "pipe.execute()", "pipe.reset()"),
        ),
        claims=("crash/statement",),
    ),
    Fault(
        id="planted/transaction/postgresql-none",
        says="there are no transactions: each statement is committed by itself",
        source="BEGIN, COMMIT and ROLLBACK dropped",
        store="postgresql",
        patches=(
            in_postgresql(
                "PostgresqlStore._transaction", "with self._db.transaction(): yield", "yield"
            ),
        ),
        claims=("crash/statement",),
    ),
)
"""Faults of transactions."""

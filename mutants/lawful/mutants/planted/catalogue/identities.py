"""Which task is meant, and what an id that nobody gave out does."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import in_postgresql, in_redis, in_store, in_storing

__all__ = ["FAULTS"]

FAULTS: Final = (
    Fault(
        id="planted/identity/begins-alike",
        says="an event reaches another task, whose id its own begins with",
        source="= turned into LIKE",
        patches=(in_store("Store._load", "WHERE id = ?", "WHERE ? LIKE id || '%'", text=True),),
        claims=("identity/apart",),
    ),
    Fault(
        id="planted/identity/limit-of-another",
        says="every task is held against the limit of the first one",
        source="value of another row",
        patches=(
            in_store(
                "Store._load",
                "SELECT id, state, attempts, max_attempts,",
                "SELECT id, state, attempts, (SELECT max_attempts FROM tasks ORDER BY id LIMIT 1),",
                text=True,
            ),
        ),
        claims=("identity/apart",),
    ),
    Fault(
        id="planted/identity/unknown-is-waiting",
        says="any id at all is answered as if its task were waiting",
        source="celery#3596",
        patches=(
            in_store(
                "Store.read",
                "raise UnknownTask(task)",
                'return Row("submitted", 0, 0, None, None, None)',
            ),
        ),
        claims=("identity/unknown",),
    ),
    Fault(
        id="planted/identity/unknown-cancel-remembered",
        says="a cancel of an unknown id is kept, and cancels the task that is given that id later",
        source="arq#485",
        patches=(
            in_storing(
                "TaskStore.fire",
                "before = self._load(task)",
                """
                if not self.knows(task):
                    self.__dict__.setdefault("_aborted", set()).add(task)
                before = self._load(task)
                """,
            ),
            in_storing(
                "TaskStore.submit",
                "new = submitted(self._free_id() if task is None else task, params)",
                """
                new = submitted(self._free_id() if task is None else task, params)
                if new.id in self.__dict__.get("_aborted", ()):
                    new = Task(new.id, State.CANCELLED, 0, new.max_attempts)
                """,
            ),
        ),
        claims=("identity/unknown",),
    ),
    Fault(
        id="planted/identity/neighbour-touched",
        says="what is refused for one task counts as a change of all others",
        source="refusal that writes; predicate negated",
        patches=(
            in_store(
                "Store._transaction",
                """
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                """,
                """
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                self._db.execute(
                    "UPDATE tasks SET version = version + 1 WHERE id <> ?", (self._loaded,)
                )
                """,
            ),
            in_store(
                "Store._load",
                "return task_of(*row)",
                "self._loaded = task\nreturn task_of(*row)",
            ),
        ),
        claims=("silence/store",),
    ),
    Fault(
        id="planted/identity/refused-start-remembered",
        says="a start that was refused is kept, and shortens the lease of the next one",
        source="arq#485",
        patches=(
            in_storing(
                "TaskStore.fire",
                "now = self._now()",
                """
                now = self._now()
                early = self.__dict__.setdefault("_early", set())
                if event == "start" and before.state is not State.QUEUED:
                    early.add(task)
                elif event == "start" and task in early:
                    now -= 1
                """,
            ),
        ),
        claims=("silence/bisimulation",),
    ),
    Fault(
        id="planted/identity/redis-ids-counted",
        says="the id of a new task is one more than there are: two at once get the same",
        source="INCR turned into a count",
        store="redis",
        patches=(
            in_redis(
                "RedisStore._number",
                'int(self._redis.incr(self._prefix + "number"))',
                "int(self._redis.scard(self._ids)) + 1",
            ),
        ),
        claims=("race/submissions",),
    ),
    Fault(
        id="planted/identity/postgresql-ids-unlocked",
        says="nobody waits for whoever is choosing an id: two at once get the same",
        source="advisory lock dropped",
        store="postgresql",
        patches=(
            in_postgresql(
                "PostgresqlStore._number",
                'self._rows("SELECT pg_advisory_xact_lock(hashtextextended(%(store)s, 0))")',
                "",
            ),
        ),
        claims=("race/submissions",),
    ),
)
"""Faults of identity."""

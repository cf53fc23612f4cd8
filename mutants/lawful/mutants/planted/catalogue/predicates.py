"""What is compared before it is written: versions, leases, rows; alone and in pairs."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import (
    BY_ID_ALONE,
    NO_TRANSACTIONS,
    WRITTEN,
    in_machine,
    in_postgresql,
    in_redis,
    in_store,
    in_storing,
)

__all__ = ["FAULTS"]

_LOCKED: Final = (
    "BEGIN IMMEDIATE has locked the database when the row is read: nobody writes it before the "
    "update, so its version is what was read. Each run shows it, with every schedule of two "
    "preemptions of every pair, from every position."
)

FAULTS: Final = (
    Fault(
        id="planted/predicate/version-not-checked",
        says="nobody compares the version that a caller has read",
        source="version check dropped",
        patches=(
            in_machine(
                "step",
                """
                if expected_version is not None and expected_version != task.version:
                    raise VersionConflict(task.id, expected_version, task.version)
                """,
                "",
            ),
        ),
        claims=("order/version-first", "race/versions"),
    ),
    Fault(
        id="planted/predicate/older-version-accepted",
        says="an expected version is refused only if the task has not come so far yet",
        source="!= turned into >",
        patches=(
            in_machine(
                "step", "expected_version != task.version", "expected_version > task.version"
            ),
        ),
        claims=("order/version-first", "race/versions"),
    ),
    Fault(
        id="planted/predicate/written-by-id",
        says="a row is written by its id, whatever its version is by then",
        source="version predicate dropped",
        patches=BY_ID_ALONE,
        claims=("race/pairs", "race/versions", "race/triples", "race/submissions"),
        equivalent=_LOCKED,
    ),
    Fault(
        id="planted/predicate/rows-not-counted",
        says="nobody looks whether the row was written at all",
        source="row count dropped",
        patches=(
            in_store(
                "Store._update",
                """
                if changed.rowcount != 1:
                    raise VersionConflict(before.id, before.version, None)
                """,
                "",
            ),
        ),
        claims=("race/pairs", "race/versions", "race/triples", "race/submissions"),
        equivalent=_LOCKED,
    ),
    Fault(
        id="planted/predicate/by-id-without-transactions",
        says="there are no transactions, and a row is written by its id alone: an update is lost",
        source="BEGIN, COMMIT and ROLLBACK dropped; version predicate dropped",
        patches=(*NO_TRANSACTIONS, *BY_ID_ALONE),
        claims=("race/pairs",),
    ),
    Fault(
        id="planted/predicate/by-state-without-transactions",
        says="there are no transactions, and the state is compared in place of the version: it may "
        "be another run's",
        source="version predicate turned into a state predicate",
        patches=(
            *NO_TRANSACTIONS,
            in_store("Store._update", "AND version = ?", "AND state = ?", text=True),
            in_store(
                "Store._update", WRITTEN, WRITTEN.replace("before.version", "before.state.value")
            ),
        ),
        claims=("race/triples",),
    ),
    Fault(
        id="planted/predicate/holder-not-checked",
        says="nobody asks who holds the lease: anybody may report",
        source="bull#308",
        patches=(in_machine("step", "if event in REPORTS: held_by(task, actor, token)", ""),),
        claims=("lease/holder", "lease/zombie", "crash/worker-frozen"),
    ),
    Fault(
        id="planted/predicate/owner-not-compared",
        says="a report without a token is taken from anybody",
        source="clause dropped",
        patches=(
            in_machine(
                "held_by",
                "lease.owner != actor or (token is not None and token != lease.token)",
                "token is not None and token != lease.token",
            ),
        ),
        claims=("lease/holder",),
    ),
    Fault(
        id="planted/predicate/token-not-compared",
        says="a lease belongs to a worker's name: its older attempt may report",
        source="clause dropped",
        patches=(
            in_machine(
                "held_by",
                "lease.owner != actor or (token is not None and token != lease.token)",
                "lease.owner != actor",
            ),
        ),
        claims=("lease/fencing",),
    ),
    Fault(
        id="planted/predicate/failures-not-fenced",
        says="a success is taken from the holder alone, a failure from anybody",
        source="check on one of several ways",
        patches=(in_machine("step", "event in REPORTS", "event is Event.SUCCEED"),),
        claims=("lease/holder",),
    ),
    Fault(
        id="planted/predicate/holder-remembered",
        says="a worker's process that has started a task believes that it holds it",
        source="rq#2160",
        patches=(
            in_storing(
                "TaskStore.fire",
                "now = self._now()",
                """
                now = self._now()
                started = self.__dict__.setdefault("_started", set())
                if event == "start":
                    started.add((task, actor))
                elif before.lease is not None and (task, actor) in started:
                    actor, token = before.lease.owner, before.lease.token
                """,
            ),
        ),
        claims=("crash/worker-frozen",),
    ),
    Fault(
        id="planted/predicate/anybody-renews",
        says="a heartbeat is taken from anybody",
        source="lease holder check dropped",
        patches=(
            in_machine(
                "renew", "held_by(task, actor, token)", "task.lease or held_by(task, actor, token)"
            ),
        ),
        claims=("lease/heartbeat",),
    ),
    Fault(
        id="planted/predicate/lua-version-not-compared",
        says="the script compares the end of the lease, and not the version",
        source="version predicate dropped",
        store="redis-lua",
        patches=(in_redis("", "(read[1] or '') ~= version or ", "", text=True),),
        claims=("race/versions",),
    ),
    Fault(
        id="planted/predicate/lua-lease-not-compared",
        says="the script compares the version, and not the end of the lease: a renewed lease is "
        "taken for one that has expired",
        source="lease predicate dropped",
        store="redis-lua",
        patches=(in_redis("", " or (read[2] or '') ~= until_", "", text=True),),
        claims=("race/pairs",),
    ),
    Fault(
        id="planted/predicate/redis-unwatched",
        says="what is read before a write is not watched until then",
        source="WATCH dropped",
        store="redis",
        patches=(
            in_redis(
                "RedisStore", "watches: ClassVar[bool] = True", "watches: ClassVar[bool] = False"
            ),
        ),
        claims=("race/versions",),
    ),
    Fault(
        id="planted/predicate/postgresql-by-id-unlocked",
        says="a row is read without a lock, and written by its id alone",
        source="FOR UPDATE dropped; version predicate dropped",
        store="postgresql",
        patches=(
            in_postgresql("PostgresqlStore", '" FOR UPDATE"', '""'),
            in_postgresql("PostgresqlStore", '" AND version = %(read_version)s"', '""'),
        ),
        claims=("race/versions",),
    ),
    Fault(
        id="planted/predicate/postgresql-uncounted-unlocked",
        says="a row is read without a lock, and nobody looks whether it was written at all",
        source="FOR UPDATE dropped; row count dropped",
        store="postgresql",
        patches=(
            in_postgresql("PostgresqlStore", '" FOR UPDATE"', '""'),
            in_postgresql(
                "PostgresqlStore._update",
                "if changed != 1: raise VersionConflict(before.id, before.version, None)",
                "",
            ),
        ),
        claims=("race/versions",),
    ),
)
"""Faults of what is compared."""

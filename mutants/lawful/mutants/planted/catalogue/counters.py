"""What is counted: attempts, versions, and the limit they are held against."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import in_machine, in_schema, in_store

__all__ = ["FAULTS"]

_UNBOUNDED: Final = in_schema(" CHECK (attempts BETWEEN 0 AND max_attempts)", "")

FAULTS: Final = (
    Fault(
        id="planted/counter/counted-at-failure",
        says="an attempt is counted when it fails, and not when it starts",
        source="counter of another event",
        patches=(
            in_machine("_moved", "attempts += 1", ""),
            in_machine(
                "_moved",
                "attempts = task.attempts",
                "attempts = task.attempts + (event is Event.FAIL)",
            ),
        ),
        claims=("counter/attempts", "cell/queued/start"),
    ),
    Fault(
        id="planted/counter/retries-not-counted",
        says="the first start is counted, and those after it are not",
        source="counter on one of two ways",
        patches=(in_machine("_moved", "attempts += 1", "attempts = 1"),),
        claims=("counter/attempts", "cell/queued/start", "effect/at-most"),
    ),
    Fault(
        id="planted/counter/retry-begins-anew",
        says="a retry begins to count at nothing",
        source="counter reset",
        patches=(
            in_machine(
                "_moved",
                "attempts = task.attempts",
                "attempts = 0 if event is Event.RETRY_DUE else task.attempts",
            ),
        ),
        claims=("counter/attempts", "cell/retry_wait/retry_due"),
    ),
    Fault(
        id="planted/counter/past-the-limit",
        says="a task is started once more than it may be, and no constraint stops it",
        source="< turned into <=; CHECK dropped",
        patches=(
            in_machine(
                "retry_or_fail",
                "task.attempts < task.max_attempts",
                "task.attempts <= task.max_attempts",
            ),
            _UNBOUNDED,
        ),
        claims=("counter/attempts-exhausted", "effect/at-most"),
    ),
    Fault(
        id="planted/counter/started-counts-twice",
        says="a start counts as two attempts, and no constraint stops it",
        source="off by one; CHECK dropped",
        patches=(
            in_machine("_moved", "attempts += 1", "attempts += 2"),
            _UNBOUNDED,
        ),
        claims=("counter/attempts-bound", "counter/attempts"),
    ),
    Fault(
        id="planted/counter/version-by-two",
        says="a cancel counts as two versions",
        source="off by one",
        patches=(
            in_machine(
                "_moved",
                "version = task.version + 1",
                "version = task.version + 1 + (event is Event.CANCEL)",
            ),
        ),
        claims=("counter/version", "replay/chain"),
    ),
    Fault(
        id="planted/counter/refusal-counted",
        says="a refusal counts as a change: the version grows",
        source="refusal that writes",
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
                    "UPDATE tasks SET version = version + 1 WHERE id = ?", (self._loaded,)
                )
                """,
            ),
            in_store(
                "Store._load",
                "return task_of(*row)",
                "self._loaded = task\nreturn task_of(*row)",
            ),
        ),
        claims=("silence/refusal", "counter/version"),
    ),
    Fault(
        id="planted/counter/heartbeat-counted",
        says="a heartbeat counts as a change: the version grows",
        source="counter of another event",
        patches=(
            in_machine(
                "renew",
                "replace(task, lease=lease._replace(until=now + LEASE_SECONDS))",
                "replace(task, version=task.version + 1,"
                " lease=lease._replace(until=now + LEASE_SECONDS))",
            ),
        ),
        claims=("lease/heartbeat",),
    ),
)
"""Faults of what is counted."""

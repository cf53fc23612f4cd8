"""What opening a store does to the tasks in it. The reference does nothing: code is planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.mutants.planted.fault import Fault

from ._places import OPENED, in_store, in_storing

if TYPE_CHECKING:
    from lawful.mutants.planted.patching import Patch

__all__ = ["FAULTS"]

_FREED: Final = "lease_owner = NULL, lease_token = NULL, lease_until = NULL"


def _at_open(assigned: str, where: str) -> tuple[Patch, ...]:
    """Return a patch that has the opening of a store write to the rows that it finds."""
    update = f"UPDATE tasks SET {assigned} WHERE {where}"  # noqa: S608 - it is made of constants
    code = f"self._db.execute({update!r}, {{'now': now()}})"
    return (in_store("Store.__init__", OPENED, f"{OPENED}\n{code}"),)


FAULTS: Final = (
    Fault(
        id="planted/recovery/fails-running",
        says="opening the store fails every running task, those of live workers too",
        source="AntaREST#832",
        patches=_at_open(f"state = 'failed', {_FREED}", "state = 'running'"),
        claims=("durability/boot", "durability/second-connection"),
    ),
    Fault(
        id="planted/recovery/requeues-running",
        says="opening the store puts every running task back into the queue",
        source="running reset at start",
        patches=_at_open(f"state = 'queued', {_FREED}", "state = 'running'"),
        claims=("durability/boot", "durability/restart"),
    ),
    Fault(
        id="planted/recovery/unlogged",
        says="opening the store fails what has expired, and writes no line about it",
        source="pilot#4101",
        patches=_at_open(
            f"state = 'retry_wait', {_FREED}", "state = 'running' AND lease_until < :now"
        ),
        claims=("durability/boot", "crash/recovery"),
    ),
    Fault(
        id="planted/recovery/succeeds-running",
        says="opening the store takes what was running for done",
        source="recovery to the wrong end",
        patches=_at_open(f"state = 'succeeded', {_FREED}", "state = 'running'"),
        claims=("effect/at-least", "durability/boot"),
    ),
    Fault(
        id="planted/recovery/charges-each-time",
        says="each opening of the store takes an attempt away from what waits for its retry",
        source="recovery applied twice",
        patches=_at_open(
            "attempts = attempts + 1", "state = 'retry_wait' AND attempts < max_attempts"
        ),
        claims=("recover/again", "durability/restart"),
    ),
    Fault(
        id="planted/recovery/heartbeats-in-memory",
        says="heartbeats are kept in the process's memory, and forgotten with it",
        source="write kept in memory",
        patches=(
            in_storing(
                "TaskStore.heartbeat",
                "self._update(before, after, None)",
                'self.__dict__.setdefault("_beats", {})[task] = after.lease',
            ),
            in_store(
                "Store._load",
                "return task_of(*row)",
                """
                beat = self.__dict__.get("_beats", {}).get(task)
                if beat is not None and beat.token == row[6]:
                    row = (*row[:7], beat.until)
                return task_of(*row)
                """,
            ),
            in_store(
                "Store.read",
                "return Row._make(row)",
                """
                beat = self.__dict__.get("_beats", {}).get(task)
                if beat is not None and beat.token == row[5]:
                    row = (*row[:4], beat.until, row[5])
                return Row._make(row)
                """,
            ),
        ),
        claims=("durability/boot",),
    ),
    Fault(
        id="planted/recovery/rows-remembered",
        says="what an instance has read of a task it shows again, whatever others have written",
        source="read kept in memory",
        patches=(
            in_store(
                "Store.read",
                "return Row._make(row)",
                'return self.__dict__.setdefault("_seen", {}).setdefault(task, Row._make(row))',
            ),
            in_store(
                "Store._update",
                "owner, token, until = after.lease or (None, None, None)",
                """
                owner, token, until = after.lease or (None, None, None)
                self.__dict__.get("_seen", {}).pop(before.id, None)
                """,
            ),
        ),
        claims=("durability/second-connection", "crash/worker-killed"),
    ),
)
"""Faults of recovery."""

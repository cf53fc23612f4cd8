"""When a lease begins and ends, and by which clock."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import in_machine, in_storing

__all__ = ["FAULTS"]

_RECHECK: Final = """
if before.lease is None or before.lease.until >= now:
    continue
"""

FAULTS: Final = (
    Fault(
        id="planted/time/lease-added-twice",
        says="a lease lasts twice as long as it should",
        source="time to live added twice",
        patches=(
            in_machine(
                "_moved",
                "Lease(actor, version, now + LEASE_SECONDS)",
                "Lease(actor, version, now + LEASE_SECONDS + LEASE_SECONDS)",
            ),
        ),
        claims=("lease/held",),
    ),
    Fault(
        id="planted/time/lease-too-short",
        says="a lease is over before its time: the task is handed out again while it runs",
        source="django-q#183",
        patches=(in_machine("", "30.0", "3.0"),),
        claims=("lease/held",),
    ),
    Fault(
        id="planted/time/renewed-from-its-end",
        says="a heartbeat adds to what is left of the lease, in place of beginning it anew",
        source="time to live added to the deadline",
        patches=(in_machine("renew", "now + LEASE_SECONDS", "lease.until + LEASE_SECONDS"),),
        claims=("lease/heartbeat",),
    ),
    Fault(
        id="planted/time/late-heartbeat-refused",
        says="a heartbeat after the deadline is refused, though nobody has taken the task",
        source="strict expiry",
        patches=(
            in_machine(
                "renew",
                "lease = held_by(task, actor, token)",
                """
                lease = held_by(task, actor, token)
                if lease.until < now:
                    raise StaleLease(task.id, actor, token, None, None)
                """,
            ),
        ),
        claims=("lease/heartbeat-expired",),
    ),
    Fault(
        id="planted/time/late-report-refused",
        says="a report after the deadline is refused, though nobody has taken the task",
        source="strict expiry",
        patches=(
            in_machine(
                "step",
                "held_by(task, actor, token)",
                """
                if held_by(task, actor, token).until < now:
                    raise StaleLease(task.id, actor, token, None, None)
                """,
            ),
        ),
        claims=("lease/expiry",),
    ),
    Fault(
        id="planted/time/wall-clock",
        says="leases are counted by the computer's clock, and not by the one that is given",
        source="clock replaced",
        patches=(
            in_storing(
                "TaskStore.__init__", "self._now = now", "self._now = __import__('time').time"
            ),
        ),
        claims=("lease/held",),
    ),
    Fault(
        id="planted/time/token-stands-still",
        says="every start of a task has the same token",
        source="constant for a counter",
        patches=(
            in_machine(
                "_moved",
                "Lease(actor, version, now + LEASE_SECONDS)",
                "Lease(actor, 1, now + LEASE_SECONDS)",
            ),
        ),
        claims=("effect/fenced", "lease/held"),
    ),
    Fault(
        id="planted/time/renewed-once",
        says="a lease can be renewed once; later heartbeats are accepted, and change nothing",
        source="limit of one",
        patches=(
            in_storing(
                "TaskStore.heartbeat",
                "self._update(before, after, None)",
                """
                beats = self.__dict__.setdefault("_beats", set())
                if before.lease not in beats:
                    beats.add(after.lease)
                    self._update(before, after, None)
                """,
            ),
        ),
        claims=("lease/heartbeat",),
    ),
    Fault(
        id="planted/time/refused-report-renews",
        says="a report that is refused for its lease is taken for a sign of life, and renews it",
        source="lion-reader#917",
        patches=(
            in_storing(
                "TaskStore.fire",
                "now = self._now()",
                """
                now = self._now()
                lease = before.lease
                if event in ("succeed", "fail") and lease is not None and lease.owner != actor:
                    self.__dict__.setdefault("_alive", {})[task] = lease.token
                """,
            ),
            in_storing(
                "TaskStore.reclaim_expired",
                _RECHECK,
                """
                if before.lease is None or before.lease.until >= now:
                    continue
                if self.__dict__.get("_alive", {}).pop(task, None) == before.lease.token:
                    continue
                """,
            ),
        ),
        claims=("random/machine", "random/programs"),
    ),
)
"""Faults of time."""

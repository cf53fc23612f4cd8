"""What the table says of a whole task: position, version, lease and time.

The oracle knows a single step; here is the order of the checks around it, the lease, and the
reaper. Everything is pure: a task that is asked something is answered with the task after it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from .table import CellKind, Expiry

if TYPE_CHECKING:
    from .oracle import Oracle, Position
    from .table import Lease, Letter

__all__ = ["Answer", "Call", "Holding", "Model", "Reason", "fire", "heartbeat", "reap", "submitted"]


class Reason(StrEnum):
    """Why a call is refused, in the order in which the checks are made."""

    UNKNOWN_TASK = "unknown_task"
    STALE_VERSION = "stale_version"
    ILLEGAL = "illegal"
    STALE_LEASE = "stale_lease"


class Holding(NamedTuple):
    """A lease that is held.

    Attributes:
        owner: The actor that holds it.
        grant: Which of the task's grants it stems from, counted from 1 (the fencing token).
        until: When it expires, in the clock's seconds.
    """

    owner: str
    grant: int
    until: float


@dataclass(frozen=True, slots=True)
class Model:
    """A task as the table sees it.

    Attributes:
        position: State and counters.
        version: How many transitions it has made.
        grants: How many leases it was ever granted.
        holding: The lease that is held now, if any.
    """

    position: Position
    version: int = 0
    grants: int = 0
    holding: Holding | None = None


class Call(NamedTuple):
    """An event fired by somebody.

    Attributes:
        letter: The event with its payload.
        actor: Who fires it.
        version: The version it expects, counted in transitions; None if it does not say.
        grant: The grant whose token the caller shows; None if it shows none.
    """

    letter: Letter
    actor: str
    version: int | None = None
    grant: int | None = None


class Answer(NamedTuple):
    """What must come of a call.

    Attributes:
        kind: Legal, no-op or refused.
        reason: Why it is refused; None unless it is.
        after: The task afterwards: the same object unless something is written.
        branch: The guard's branch, as in :class:`~lawful.spec.Outcome`.
    """

    kind: CellKind
    reason: Reason | None
    after: Model
    branch: str = ""


def submitted(oracle: Oracle) -> Model:
    """Return a task that has just been submitted."""
    return Model(oracle.origin)


def fire(oracle: Oracle, task: Model, call: Call, now: float) -> Answer:
    """Say what ``call`` does to ``task`` at ``now`` (seconds).

    The order of the checks: a stale expected version (before a no-op too), then an illegal
    transition, then a stale lease.
    """
    if call.version is not None and call.version != task.version:
        return _refused(task, Reason.STALE_VERSION)
    outcome = oracle.step(task.position, call.letter)
    if outcome.kind is CellKind.REFUSED:
        return _refused(task, Reason.ILLEGAL)
    lease = oracle.table.lease
    if lease and call.letter.event in lease.needed_by and not _holds(lease, task, call, now):
        return _refused(task, Reason.STALE_LEASE)
    if outcome.kind is CellKind.NOOP:
        return Answer(CellKind.NOOP, None, task)
    return Answer(
        CellKind.LEGAL, None, _moved(lease, task, call, outcome.after, now), outcome.branch
    )


def _refused(task: Model, reason: Reason) -> Answer:
    return Answer(CellKind.REFUSED, reason, task)


def _holds(lease: Lease, task: Model, call: Call, now: float) -> bool:
    held = task.holding
    return (
        held is not None
        and held.owner == call.actor
        and call.grant in (None, held.grant)
        and not (lease.expiry is Expiry.STRICT and held.until < now)
    )


def _moved(lease: Lease | None, task: Model, call: Call, to: Position, now: float) -> Model:
    grants, holding = task.grants, None
    if lease and call.letter.event in lease.granted_by:
        grants += 1
        holding = Holding(call.actor, grants, now + lease.seconds)
    elif lease and to.state in lease.held_in:
        holding = task.holding
    return Model(to, task.version + 1, grants, holding)


def heartbeat(lease: Lease, task: Model, call: Call, now: float) -> Answer:
    """Say what a heartbeat does: the holder's renews the lease, anybody else's is refused.

    Neither version nor history changes. ``call.letter`` is not looked at.
    """
    held = task.holding
    if held is None or not _holds(lease, task, call, now):
        return _refused(task, Reason.STALE_LEASE)
    renewed = replace(task, holding=held._replace(until=now + lease.seconds))
    return Answer(CellKind.LEGAL, None, renewed)


def reap(oracle: Oracle, lease: Lease, task: Model, now: float) -> Answer:
    """Say what the reaper does to ``task`` at ``now``: it fires ``on_expiry`` if it has expired.

    A lease has expired when its deadline lies before ``now``; at the deadline itself the table
    says nothing, and nothing should be asked.
    """
    held = task.holding
    if held is None or held.until >= now:
        return Answer(CellKind.NOOP, None, task)
    outcome = oracle.step(task.position, lease.on_expiry)
    call = Call(lease.on_expiry, held.owner)
    return Answer(
        CellKind.LEGAL, None, _moved(lease, task, call, outcome.after, now), outcome.branch
    )

"""One call of a worker on one task, or the reaper's, and what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from .driver import Fault
from .trace import Fire, Heartbeat, Reap, Submit

if TYPE_CHECKING:
    from lawful.sut.contract import TaskId

    from .driver import Claim, Driver
    from .tracked import Tracked

__all__ = ["Came", "Done", "Raced", "called", "known"]

Done: TypeAlias = Fire | Heartbeat | Reap
"""What a worker may do: one call on a task, or the reaper's."""

Raced: TypeAlias = Done | Submit
"""What a worker of a race may do: that, or submit another task."""

Call = TypeVar("Call", bound=Raced)


class Came(NamedTuple):
    """What came of one call.

    Attributes:
        claim: What it said; None if it failed, for the reaper, and for a submission.
        fault: How it failed.
        handled: Whether the reaper names the task; None for other calls.
        made: The id that a submission was given; None for other calls.
    """

    claim: Claim | None = None
    fault: Fault | None = None
    handled: bool | None = None
    made: TaskId | None = None


def known(task: Tracked, op: Call) -> Call:
    """Return a call that names no grant which never was."""
    return replace(op, grant=task.granted(op.grant)) if isinstance(op, Fire | Heartbeat) else op


def called(driver: Driver, task: Tracked, op: Raced) -> Came:
    """Make a call, as it is in the trace, and return what came of it: nothing is judged."""
    try:
        match op:
            case Fire(letter, actor, version, grant):
                expected = None if version is None else task.base + version
                token = task.token(grant)
                return Came(driver.fire(task.id, letter, actor, expected, token))
            case Heartbeat(actor, grant):
                return Came(driver.heartbeat(task.id, actor, task.token(grant)))
            case Reap():
                return Came(handled=task.id in driver.reap())
            case Submit(params):
                full = {**task.oracle.table.defaults, **dict(params)}
                return Came(made=driver.submit(full, None))
    except Fault as fault:
        return Came(fault=fault)

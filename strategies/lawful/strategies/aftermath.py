"""What is stored after an accident: each task as it was, or as the call has it, whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .calls import known
from .driver import ClaimKind
from .linear import Order, answered, shows
from .trace import Fire, Heartbeat, Reap, Reopen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .accidents import Hit
    from .calls import Came, Done
    from .seen import View
    from .session import Session
    from .tracked import Tracked

__all__ = ["Found", "as_it_is", "stored"]


class Found(NamedTuple):
    """What is stored after an accident.

    Attributes:
        tasks: Each task as it was found, where the table has it then; empty if one is nowhere.
        expected: What would have been lawful, where something is not.
        got: What is there instead.
    """

    tasks: tuple[Tracked, ...] = ()
    expected: str = ""
    got: str = ""

    @property
    def lawful(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.got


def stored(
    session: Session, tasks: Sequence[Tracked], now: float, call: Hit, came: Came | None
) -> Found:
    """Say what is stored of some tasks after a call, and go on from there.

    Args:
        session: The store, as it is now.
        tasks: The tasks as they were before the call.
        now: The clock then, in seconds.
        call: The call.
        came: What came of it; None if nobody heard.
    """
    there, expected, got = [], [], []
    for task in tasks:
        view = session.look(task)
        lawful = _orders(task, now, call, came)
        order = next((one for one in lawful if shows(session.adapter, task, one, view)), None)
        if order is None:
            expected.append(" or ".join(dict.fromkeys(_told(task, one) for one in lawful)))
            got.append(_seen(view))
        else:
            there.append(as_it_is(session.adopt(task, order.model)))
    if got:
        return Found((), "; ".join(expected), "; ".join(got))
    return Found(tuple(there))


def as_it_is(task: Tracked) -> Tracked:
    """Return a task that stays as it is, whatever its session does next."""
    return replace(task, tokens=[*task.tokens])


def _orders(task: Tracked, now: float, call: Hit, came: Came | None) -> list[Order]:
    """Return what a task may have come to: what it was, what the call makes of it, or either.

    Opening a store may recover what has expired, or leave it to the reaper.
    """
    nothing = Order((), task.model, ())
    if isinstance(call, Fire | Heartbeat) and call.task != task.label:
        return [nothing]
    if isinstance(call, Reopen) and task.oracle.table.lease is None:
        return [nothing]
    answer, entry = answered(task.oracle, task.model, now, _done(task, call))
    done = Order((), answer.after, () if entry is None else (entry,))
    if came is None or came.fault is not None or isinstance(call, Reopen):
        return [nothing, done]
    refused = came.claim is not None and came.claim.kind is ClaimKind.REFUSED
    return [nothing] if refused else [done]


def _done(task: Tracked, call: Hit) -> Done:
    return Reap() if isinstance(call, Reopen) else known(task, call)


def _told(task: Tracked, order: Order) -> str:
    held, entries = order.model.holding, len(task.view.history or ()) + len(order.entries)
    version = task.base + order.model.version
    return _line(order.model.position.state, held.owner if held else None, version, entries)


def _seen(view: View) -> str:
    reading = view.reading
    entries = 0 if view.history is None else len(view.history)
    return _line(reading.state, reading.lease_owner, reading.version, entries)


def _line(state: str, owner: str | None, version: int | None, entries: int) -> str:
    by = f" by {owner}" if owner else ""
    return f"{state}{by} at version {version}, history of {entries}"

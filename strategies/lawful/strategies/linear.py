"""Linearizability: what several workers did at once must be what they could have done in turn.

Every order in which the calls could have been made one after the other is asked of the table. If
none of them explains what the calls said and what is stored afterwards, something was lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.model import Answer, Call, Reason, fire, heartbeat, reap
from lawful.spec.table import CellKind, Letter
from lawful.sut.contract import Refusal

from .driver import ClaimKind
from .seen import counter
from .trace import Fire, Heartbeat, Reap, Submit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lawful.spec.model import Model
    from lawful.spec.oracle import Oracle

    from .adapter import Adapter
    from .calls import Came, Raced
    from .seen import View
    from .tracked import Tracked

__all__ = ["Order", "Written", "answered", "explained", "gave_up", "orders", "outcome", "shows"]


class Written(NamedTuple):
    """A history entry that the table asks for; any actor will do where it is None."""

    event: str
    before: str
    after: str
    actor: str | None


class Order(NamedTuple):
    """The calls of a race, one after the other, as the table answers them.

    Attributes:
        calls: Each call: its worker, which of the worker's it is, and the answer.
        model: The task afterwards.
        entries: What the history grows by.
    """

    calls: tuple[tuple[str, int, Answer], ...]
    model: Model
    entries: tuple[Written, ...]


def orders(
    oracle: Oracle,
    model: Model,
    now: float,
    does: Mapping[str, Sequence[Raced]],
    gave_up: Collection[tuple[str, int]] = (),
) -> Iterator[Order]:
    """Yield every order of the calls, each worker's own in their order.

    Args:
        oracle: The table, with the task's parameters.
        model: Where the task is before.
        now: The clock; it stands still.
        does: What each worker does.
        gave_up: Calls that say that they lost to another, by worker and number: each may have
            been without effect, in an order in which another worker wrote something.
    """
    racing = _Racing(oracle, now, {name: tuple(ops) for name, ops in does.items()}, gave_up)
    yield from racing.orders(Order((), model, ()))


class _Racing(NamedTuple):
    """What is asked of the table, the same for every order."""

    oracle: Oracle
    now: float
    does: Mapping[str, tuple[Raced, ...]]
    gave_up: Collection[tuple[str, int]]

    def orders(self, so_far: Order) -> Iterator[Order]:
        began = {name: sum(call[0] == name for call in so_far.calls) for name in self.does}
        if all(began[name] == len(ops) for name, ops in self.does.items()):
            if self._lost_to_somebody(so_far):
                yield so_far
            return
        for name, ops in self.does.items():
            number = began[name]
            if number == len(ops):
                continue
            answer, entry = answered(self.oracle, so_far.model, self.now, ops[number])
            entries = so_far.entries if entry is None else (*so_far.entries, entry)
            yield from self.orders(
                Order((*so_far.calls, (name, number, answer)), answer.after, entries)
            )
            if (name, number) in self.gave_up:
                nothing = Answer(CellKind.REFUSED, Reason.STALE_VERSION, so_far.model)
                yield from self.orders(
                    so_far._replace(calls=(*so_far.calls, (name, number, nothing)))
                )

    def _lost_to_somebody(self, order: Order) -> bool:
        """Say whether whoever gave up has another worker's write to blame."""
        wrote = {name for name, _, answer in order.calls if answer.kind is CellKind.LEGAL}
        return all(
            wrote - {name}
            for name, number, answer in order.calls
            if (name, number) in self.gave_up and answer.reason is Reason.STALE_VERSION
        )


def gave_up(
    does: Mapping[str, Sequence[Raced]], came: Mapping[str, Sequence[Came]]
) -> set[tuple[str, int]]:
    """Return the calls that say that they lost to another.

    They were refused for a version that they did not expect, or were the reaper and left the task
    for the next time: what an optimistic writer does who finds that the task has moved on.
    """
    return {
        (name, number)
        for name, ops in does.items()
        for number, (op, one) in enumerate(zip(ops, came[name], strict=True))
        if one.handled is False
        or (
            one.claim is not None
            and Refusal.STALE_VERSION in one.claim.reasons
            and not (isinstance(op, Fire) and op.version is not None)
        )
    }


def answered(oracle: Oracle, model: Model, now: float, op: Raced) -> tuple[Answer, Written | None]:
    """Ask the table of one call: its answer, and the entry it writes, if any."""
    lease = oracle.table.lease
    actor: str | None = None
    match op:
        case Fire(letter, actor, version, grant):
            answer = fire(oracle, model, Call(letter, actor, version, grant), now)
        case Heartbeat(actor, grant):
            if lease is None:
                raise ValueError(f"{oracle.table.name} has no leases")
            beat = heartbeat(lease, model, Call(Letter("heartbeat"), actor, None, grant), now)
            return beat, None
        case Reap():
            if lease is None:
                raise ValueError(f"{oracle.table.name} has no leases")
            letter, answer = lease.on_expiry, reap(oracle, lease, model, now)
        case Submit():
            return Answer(CellKind.NOOP, None, model), None  # another task's beginning
    if answer.kind is not CellKind.LEGAL:
        return answer, None
    before, after = model.position.state, answer.after.position.state
    return answer, Written(letter.event, before, after, actor)


def explained(
    adapter: Adapter,
    task: Tracked,
    order: Order,
    came: Mapping[str, Sequence[Came]],
    after: View,
) -> bool:
    """Say whether an order explains what came of the calls and what is stored afterwards.

    Args:
        adapter: The implementation.
        task: The task as it was before.
        order: The order, and what the table says of it.
        came: What came of each worker's calls.
        after: The task afterwards.
    """
    return all(_fits(answer, came[name][number]) for name, number, answer in order.calls) and shows(
        adapter, task, order, after
    )


def _fits(answer: Answer, came: Came) -> bool:
    if came.fault is not None:
        return False
    if came.made is not None:
        return True
    if came.handled is not None:
        return came.handled is (answer.kind is CellKind.LEGAL)
    claim = came.claim
    if claim is None:
        return False
    if answer.reason is None:
        return claim.kind is ClaimKind.ACCEPTED
    if claim.kind is ClaimKind.ACCEPTED:
        return False
    named = {Refusal(answer.reason.value)}
    if answer.reason is Reason.ILLEGAL:
        named.add(Refusal.ALREADY)
    return bool(named & claim.reasons)


def shows(adapter: Adapter, task: Tracked, order: Order, view: View) -> bool:
    """Say whether a task, known as it was before, is seen as an order leaves it."""
    reading, model, offered = view.reading, order.model, adapter.offered
    if not adapter.shows(model.position.state, reading.state):
        return False
    for name, value in zip(adapter.table.counters, model.position.counters, strict=True):
        if counter(reading, name) not in (None, value):
            return False
    if "version" in offered and reading.version != task.base + model.version:
        return False
    if "lease_owner" in offered:
        held = model.holding
        if reading.lease_owner != (held.owner if held else None):
            return False
        if "lease_until" in offered and reading.lease_until != (held.until if held else None):
            return False
    return _wrote(adapter, task, order, view)


def _wrote(adapter: Adapter, task: Tracked, order: Order, view: View) -> bool:
    old, new = task.view.history, view.history
    if old is None or new is None:
        return True
    if len(new) != len(old) + len(order.entries) or new[: len(old)] != old:
        return False
    return all(
        entry.event in (None, want.event)
        and (entry.before is None or adapter.shows(want.before, entry.before))
        and adapter.shows(want.after, entry.after)
        and (None in (entry.actor, want.actor) or entry.actor == want.actor)
        for entry, want in zip(new[len(old) :], order.entries, strict=True)
    )


def outcome(order: Order) -> str:
    """Tell what an order comes to: ``A accepted, B refused (illegal) -> running by worker-1``."""
    told = [
        f"{name} {'accepted' if answer.reason is None else f'refused ({answer.reason})'}"
        for name, _, answer in order.calls
    ]
    held = order.model.holding
    by = f" by {held.owner}" if held else ""
    return f"{', '.join(told)} -> {order.model.position.state}{by}"

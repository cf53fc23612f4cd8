"""The reference machine: a frozen task, its transitions, and one pure step.

Written apart from any table file, on purpose: two independent writings that agree are evidence.
It depends on nothing but its own errors, and it neither stores anything nor reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from lawful.sut.reference.errors import IllegalTransition, StaleLease, VersionConflict

__all__ = [
    "HELD",
    "LEASE_SECONDS",
    "NOTHING",
    "Event",
    "Lease",
    "Payload",
    "State",
    "Task",
    "allowed",
    "event_named",
    "expire",
    "placed",
    "renew",
    "step",
    "submitted",
]

LEASE_SECONDS: Final = 30.0
"""How long a lease lasts after its start or its last heartbeat, in seconds."""

DEFAULT_MAX_ATTEMPTS: Final = 3

Payload: TypeAlias = Mapping[str, bool | int | str]

NOTHING: Final[Payload] = MappingProxyType({})
"""The payload of an event that reports nothing."""


class State(StrEnum):
    """Where a task can be."""

    SUBMITTED = "submitted"
    QUEUED = "queued"
    RUNNING = "running"
    RETRY_WAIT = "retry_wait"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Event(StrEnum):
    """What can be asked of, or reported about, a task."""

    ENQUEUE = "enqueue"
    START = "start"
    SUCCEED = "succeed"
    FAIL = "fail"
    CANCEL = "cancel"
    RETRY_DUE = "retry_due"
    CANCEL_ACK = "cancel_ack"


class Lease(NamedTuple):
    """One start's hold on a task.

    Attributes:
        owner: The worker that started the task.
        token: The task's version at that start: it only grows, whoever starts next.
        until: When it expires, in the clock's seconds.
    """

    owner: str
    token: int
    until: float


@dataclass(frozen=True, slots=True)
class Task:
    """One task at one moment.

    Attributes:
        id: Its id.
        state: Where it is.
        attempts: How often it was started.
        max_attempts: How often it may be started in all.
        version: How many transitions it has made.
        lease: Who holds it, None outside the held states.
    """

    id: str
    state: State = State.SUBMITTED
    attempts: int = 0
    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    version: int = 0
    lease: Lease | None = None


def retry_or_fail(task: Task, payload: Payload) -> State:
    """Wait for a retry if the failure is retryable and an attempt is left; else fail."""
    if payload["retryable"] and task.attempts < task.max_attempts:
        return State.RETRY_WAIT
    return State.FAILED


Guard: TypeAlias = Callable[[Task, Payload], State]

TRANSITIONS: Final[Mapping[tuple[State, Event], State | Guard]] = MappingProxyType(
    {
        (State.SUBMITTED, Event.ENQUEUE): State.QUEUED,
        (State.SUBMITTED, Event.CANCEL): State.CANCELLED,
        (State.QUEUED, Event.START): State.RUNNING,
        (State.QUEUED, Event.CANCEL): State.CANCELLED,
        (State.RUNNING, Event.SUCCEED): State.SUCCEEDED,
        (State.RUNNING, Event.FAIL): retry_or_fail,
        # A request, not a command: the worker still runs until it says otherwise.
        (State.RUNNING, Event.CANCEL): State.CANCELLING,
        (State.RETRY_WAIT, Event.RETRY_DUE): State.QUEUED,
        (State.RETRY_WAIT, Event.CANCEL): State.CANCELLED,
        # The side effect happened: a success that comes too late to stop is a success.
        (State.CANCELLING, Event.SUCCEED): State.SUCCEEDED,
        (State.CANCELLING, Event.FAIL): State.CANCELLED,
        (State.CANCELLING, Event.CANCEL_ACK): State.CANCELLED,
    }
)

NOOPS: Final = frozenset({(State.CANCELLING, Event.CANCEL), (State.CANCELLED, Event.CANCEL)})
HELD: Final = frozenset({State.RUNNING, State.CANCELLING})
REPORTS: Final = frozenset({Event.SUCCEED, Event.FAIL, Event.CANCEL_ACK})
FIELDS: Final[Mapping[Event, Mapping[str, type]]] = MappingProxyType(
    {Event.FAIL: MappingProxyType({"retryable": bool})}
)


def submitted(task: str, params: Mapping[str, int]) -> Task:
    """Make a new task.

    Args:
        task: Its id.
        params: ``max_attempts``, how often it may be started in all, or nothing.

    Raises:
        ValueError: A parameter is unknown or no number of starts.
    """
    unknown = sorted(set(params) - {"max_attempts"})
    if unknown:
        raise ValueError(f"unknown parameter {unknown[0]!r}: expected max_attempts or nothing")
    limit = params.get("max_attempts", DEFAULT_MAX_ATTEMPTS)
    if type(limit) is not int or limit < 1:
        raise ValueError(f"max_attempts = {limit!r}: expected an integer from 1 up")
    return Task(task, max_attempts=limit)


def placed(task: str, state: str, counters: Mapping[str, int], *, actor: str, now: float) -> Task:
    """Make a new task straight in ``state``, held by ``actor`` where that state is held.

    Args:
        task: Its id.
        state: Where it starts.
        counters: ``attempts`` and ``max_attempts``, each or neither.
        actor: The holder, in a held state.
        now: The clock's seconds.

    Raises:
        ValueError: The state, a counter or its value can't be.
    """
    try:
        there = State(state)
    except ValueError:
        raise ValueError(f"unknown state {state!r}: expected {', '.join(State)}") from None
    params = {name: value for name, value in counters.items() if name != "attempts"}
    new = submitted(task, params)
    attempts = counters.get("attempts", 0)
    if type(attempts) is not int or not 0 <= attempts <= new.max_attempts:
        raise ValueError(f"attempts = {attempts!r}: expected 0 to {new.max_attempts}")
    lease = Lease(actor, new.version, now + LEASE_SECONDS) if there in HELD else None
    return replace(new, state=there, attempts=attempts, lease=lease)


def event_named(name: str) -> Event:
    """Return the event called ``name``.

    Raises:
        ValueError: There is none.
    """
    try:
        return Event(name)
    except ValueError:
        raise ValueError(f"unknown event {name!r}: expected {', '.join(Event)}") from None


def allowed(state: State) -> tuple[Event, ...]:
    """Return the events that lead on from ``state``, in the order of :class:`Event`."""
    return tuple(event for event in Event if (state, event) in TRANSITIONS)


def check_payload(event: Event, payload: Payload) -> None:
    """Refuse a payload that is not exactly what ``event`` declares.

    Raises:
        ValueError: A field is undeclared, missing, or of another type.
    """
    fields = FIELDS.get(event)
    if fields is None:
        if payload:
            raise ValueError(f"{event} reports nothing, not {', '.join(sorted(payload))}")
        return
    for name in payload:
        if name not in fields:
            raise ValueError(f"{event} reports no {name!r}: expected {', '.join(fields)}")
    for name, kind in fields.items():
        if name not in payload:
            raise ValueError(f"{event} must report {name!r} ({kind.__name__})")
        if type(payload[name]) is not kind:
            raise ValueError(f"{name} = {payload[name]!r}: expected a {kind.__name__}")


def held_by(task: Task, actor: str, token: int | None) -> Lease:
    """Return the lease that ``actor`` holds, by name and, if one is given, by token.

    Raises:
        StaleLease: The owner differs, or a token was given and differs.
    """
    lease = task.lease
    if lease is None:
        raise StaleLease(task.id, actor, token, None, None)
    if lease.owner != actor or (token is not None and token != lease.token):
        raise StaleLease(task.id, actor, token, lease.owner, lease.token)
    return lease


def step(
    task: Task,
    event: Event,
    *,
    actor: str,
    payload: Payload = NOTHING,
    now: float = 0.0,
    expected_version: int | None = None,
    token: int | None = None,
) -> Task:
    """Fire one event on one task. The order of the checks is part of the lifecycle.

    Args:
        task: The task as it is; it stays as it is.
        event: What is fired.
        actor: Who fires it.
        payload: What is reported with it.
        now: The clock's seconds, where a lease begins.
        expected_version: The version that the caller read, if it wants that checked.
        token: The token of the caller's lease, if it carries one.

    Returns:
        The task afterwards: the same object if the event is a no-op here.

    Raises:
        ValueError: The payload is not what the event declares.
        VersionConflict: The task is at another version. Comes before a no-op is granted.
        IllegalTransition: The machine has no such transition.
        StaleLease: The event is a report and the actor is not the holder.
    """
    check_payload(event, payload)
    if expected_version is not None and expected_version != task.version:
        raise VersionConflict(task.id, expected_version, task.version)
    if (task.state, event) in NOOPS:
        return task
    after = _target(task, event, payload)
    if event in REPORTS:
        held_by(task, actor, token)
    return _moved(task, event, after, actor, now)


def expire(task: Task) -> Task:
    """Fail a task on behalf of a holder whose lease has run out, as a retryable failure.

    Raises:
        IllegalTransition: The task is not held.
    """
    after = _target(task, Event.FAIL, {"retryable": True})
    return _moved(task, Event.FAIL, after, "", 0.0)


def renew(task: Task, *, actor: str, token: int | None = None, now: float) -> Task:
    """Extend the holder's lease from ``now``, even one that has run out; nothing else changes.

    Raises:
        StaleLease: The actor is not the holder.
    """
    lease = held_by(task, actor, token)
    return replace(task, lease=lease._replace(until=now + LEASE_SECONDS))


def _target(task: Task, event: Event, payload: Payload) -> State:
    rule = TRANSITIONS.get((task.state, event))
    if rule is None:
        raise IllegalTransition(task.id, task.state, event, allowed(task.state))
    return rule if isinstance(rule, State) else rule(task, payload)


def _moved(task: Task, event: Event, after: State, actor: str, now: float) -> Task:
    version = task.version + 1
    attempts = task.attempts
    lease = task.lease if after in HELD else None
    if event is Event.START:
        attempts += 1
        lease = Lease(actor, version, now + LEASE_SECONDS)
    return Task(task.id, after, attempts, task.max_attempts, version, lease)

"""What an implementation shows to be judged: the class to write, and the values it gives.

An adapter of about 15 lines subclasses :class:`Implementation`. Nothing here judges, and
nothing here knows a table: this module imports the standard library alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Mapping
    from pathlib import Path

__all__ = [
    "GAP_NAMES",
    "OPTIONAL_METHODS",
    "SERVERS",
    "Clock",
    "Entry",
    "Implementation",
    "NotYet",
    "Payload",
    "Reading",
    "Refusal",
    "Refused",
    "TaskId",
    "Unsupported",
]

# An id is whatever the system gives out (an int, a string, a UUID): only the system reads it.
TaskId: TypeAlias = Any
Payload: TypeAlias = "Mapping[str, bool | int | str]"


class Clock(Protocol):
    """Where an implementation reads the time. The suite moves it; nothing ever sleeps."""

    def now(self) -> float:
        """Return the time in seconds since an epoch of the suite's choosing."""
        ...


class Refusal(StrEnum):
    """Why an event was refused. The values are what ``refusals`` maps exceptions to."""

    ILLEGAL = "illegal"
    """The table has no such transition from this state."""
    ALREADY = "already"
    """A refinement of ILLEGAL: this very report by this very actor is in effect."""
    STALE_VERSION = "stale_version"
    """The caller expected a version that is no longer (or not yet) the task's."""
    STALE_LEASE = "stale_lease"
    """The reporter does not hold the task's lease."""
    UNKNOWN_TASK = "unknown_task"
    """No task of this id was ever submitted."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What an event method returns to refuse without raising.

    Attributes:
        reason: Why, in the words of :class:`Refusal`.
    """

    reason: Refusal


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A gap that is there to stay: the system does not offer this, and this is why.

    Attributes:
        reason: One sentence for the report.
        issue: Where it is discussed, if anywhere (a URL).
    """

    reason: str
    issue: str | None = None


@dataclass(frozen=True, slots=True)
class NotYet:
    """A gap that is meant to close.

    Attributes:
        reason: One sentence for the report.
        issue: Where it is planned, if anywhere (a URL).
    """

    reason: str
    issue: str | None = None


class Reading(NamedTuple):
    """What is stored of one task, all read at one moment. A field the system lacks is None.

    Attributes:
        state: The system's own name of the state (``states`` maps it).
        attempts: How often the task was started; None if the system does not count.
        version: Grows by one with each transition; None if there is none.
        lease_owner: Who holds the task, None if nobody does.
        lease_until: When the lease expires, in the clock's seconds.
        lease_token: Grows with each lease granted for this task (a fencing token).
        counters: The table's counters other than ``attempts``, by name.
    """

    state: str
    attempts: int | None = None
    version: int | None = None
    lease_owner: str | None = None
    lease_until: float | None = None
    lease_token: int | None = None
    counters: Mapping[str, int] | None = None


class Entry(NamedTuple):
    """One line of a task's history, oldest first. A field the system lacks is None.

    Attributes:
        version: The task's version after this entry.
        event: The event's name in the table, None for the submission.
        before: The state before, None for the submission.
        after: The state after.
        actor: Who fired it.
        payload: What was reported with it.
    """

    version: int | None
    event: str | None
    before: str | None
    after: str
    actor: str | None = None
    payload: Payload | None = None


OPTIONAL_METHODS: Final = (
    "absent",
    "claim",
    "due",
    "dump",
    "heartbeat",
    "history",
    "poison",
    "put",
    "reap",
)
"""The optional methods of the contract. Writing one declares it."""

GAP_NAMES: Final = frozenset(
    {
        *OPTIONAL_METHODS,
        "actor",
        "attempts",
        "clock",
        "crash",
        "expected_version",
        "lease_owner",
        "lease_token",
        "lease_until",
        "restart",
        "second_connection",
        "token",
        "version",
    }
)
"""Every name that ``gaps`` may hold; any other is an error."""

SERVERS: Final = ("postgresql", "redis")
"""What ``server`` may name: the kinds of server that the suite finds or starts."""


class Implementation:
    """A system under judgement. Subclass it, or write a class with the same members.

    A second instance opened on the same path is another process's view of the same store;
    closing and opening again is a restart. Any method may be ``async def``. An exception whose
    type is not in ``refusals`` is an error of the implementation.

    Required:
        ``open(path, clock)``, ``close()``, ``submit(params, *, task)``, ``read(task)``, and
        either ``fire(task, event, *, actor, payload, expected_version, token)`` or one method
        per event, named after it, that takes ``task`` and those keywords which it can honour.
        Returning :class:`Refused` refuses; returning anything else accepts.

    Optional (writing one declares it; one that is missing is named in ``gaps``):
        ``history(task) -> list[Entry]``: the task's history, oldest first.
        ``dump(task=None)``: all that is stored, of one task or of the whole store, as a value
        that compares by ``==`` and does not change afterwards.
        ``heartbeat(task, *, actor, token=None)``: renew the lease.
        ``reap() -> list[task id]``: fire the table's expiry event on every expired task.
        ``due() -> list[task id]``: what is owed by now: tasks that wait for a retry, and tasks
        submitted but never enqueued.
        ``claim(actor) -> task id | None``: take the next task, where workers can't choose; it
        stands for the event that grants the lease.
        ``put(state, counters, *, actor) -> task id``: a new task straight in a state, with the
        actor's lease where the state is held. Used only where no other way is left.
        ``poison(task)``: make the next write to this task fail.
        ``absent() -> task id``: an id that was never given out.
    """

    lifecycle: ClassVar[str | Path] = "task"
    """The table to be judged by: a shipped name, or the path of a spec file."""
    system: ClassVar[str]
    """The package, module or service that is really tested."""
    refusals: ClassVar[Mapping[type[BaseException], Refusal | Collection[Refusal]]] = {}
    """The system's own exceptions and what they mean; a set where it can't tell two apart."""
    states: ClassVar[Mapping[str, str]] = {}
    """The system's own state names and the table's, where they differ."""
    gaps: ClassVar[Mapping[str, Unsupported | NotYet]] = {}
    """What the system does not offer, by name, each with its reason."""
    indistinct: ClassVar[Collection[Collection[str]]] = ()
    """Sets of the table's states that can't be told apart from outside."""
    server: ClassVar[str] = ""
    """The kind of server that the system needs, one of ``SERVERS``; empty where it needs none."""
    url: str = ""
    """Where that server is: the suite sets it before ``open``."""

    def open(self, path: Path, clock: Clock) -> Awaitable[None] | None:
        """Open the store at ``path`` (a folder that exists), making it if it is not there."""
        raise NotImplementedError

    def close(self) -> Awaitable[None] | None:
        """Close the store. What was accepted must be there when it is opened again."""
        raise NotImplementedError

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> TaskId:
        """Submit a task with the table's parameters, under the id ``task`` if it may be chosen."""
        raise NotImplementedError

    def read(self, task: TaskId) -> Reading | Awaitable[Reading]:
        """Read what is stored of ``task``, all at one moment."""
        raise NotImplementedError

"""What the reference store gives back: rows, lines of history, and what the reaper did."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from lawful.sut.reference.machine import Payload

__all__ = ["Change", "Dump", "Reclaimed", "Row", "Unprocessable"]

# What SQLite gives: rows of plain values, compared and never looked into.
Dump: TypeAlias = tuple[tuple[tuple[object, ...], ...], tuple[tuple[object, ...], ...]]


class Row(NamedTuple):
    """A task as it is stored.

    Attributes:
        state: The name of its state.
        attempts: How often it was started.
        version: How many transitions it has made.
        lease_owner: Who holds it, None if nobody does.
        lease_until: When that lease expires, in the clock's seconds.
        lease_token: That lease's token.
    """

    state: str
    attempts: int
    version: int
    lease_owner: str | None
    lease_until: float | None
    lease_token: int | None


class Change(NamedTuple):
    """One line of a task's history.

    Attributes:
        version: The task's version after it.
        event: What was fired, None for the submission.
        before: The state before, None for the submission.
        after: The state after.
        actor: Who fired it, None for the submission.
        payload: What was reported; for the submission, the task's parameters and counters.
        at: When, in the clock's seconds.
    """

    version: int
    event: str | None
    before: str | None
    after: str
    actor: str | None
    payload: Payload
    at: float


class Unprocessable(NamedTuple):
    """A task that the reaper had to leave as it was.

    Attributes:
        task: Its id.
        error: What stood in the way.
    """

    task: str
    error: Exception


class Reclaimed(NamedTuple):
    """What one run of the reaper did.

    Attributes:
        tasks: The ids of the tasks it failed, in their order.
        unprocessable: The tasks it could not.
    """

    tasks: tuple[str, ...]
    unprocessable: tuple[Unprocessable, ...]

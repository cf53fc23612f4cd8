"""The reference's refusals. Each carries its data, and the message is built from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "DuplicateTask",
    "IllegalTransition",
    "StaleLease",
    "TaskError",
    "UnknownTask",
    "VersionConflict",
]


class TaskError(Exception):
    """The root of what the reference refuses.

    Attributes:
        task: The id of the task that was asked about.
    """

    def __init__(self, task: str, message: str) -> None:
        super().__init__(message)
        self.task = task


class IllegalTransition(TaskError):
    """The machine has no such transition from the task's state.

    Attributes:
        state: The state the task is in.
        event: The event that was fired.
        allowed: The events that lead on from here; empty if the state is terminal.
    """

    def __init__(self, task: str, state: str, event: str, allowed: Collection[str]) -> None:
        self.state = state
        self.event = event
        self.allowed = tuple(allowed)
        way_on = f"allowed from here: {', '.join(self.allowed)}" if allowed else "it is terminal"
        super().__init__(task, f"task {task!r} is {state} and refuses {event}; {way_on}")


class VersionConflict(TaskError):
    """The caller expected a version that is not the task's.

    Attributes:
        expected: The version the caller had read.
        actual: The task's version, None if it changed under the write itself.
    """

    def __init__(self, task: str, expected: int, actual: int | None) -> None:
        self.expected = expected
        self.actual = actual
        found = "another write came between" if actual is None else f"it is at {actual}"
        super().__init__(
            task, f"task {task!r} was expected at version {expected}, but {found}; read it again"
        )


class StaleLease(TaskError):
    """The reporter does not hold the task's lease.

    Attributes:
        actor: Who reported.
        token: The token that the report carried, if any.
        owner: Who holds the lease, None if nobody does.
        current: The token of the lease in force, None if there is none.
    """

    def __init__(
        self, task: str, actor: str, token: int | None, owner: str | None, current: int | None
    ) -> None:
        self.actor = actor
        self.token = token
        self.owner = owner
        self.current = current
        carried = "no token" if token is None else f"token {token}"
        holder = "nobody holds it" if owner is None else f"{owner!r} holds it, token {current}"
        super().__init__(
            task, f"{actor!r} ({carried}) does not hold task {task!r}; {holder}; stop working on it"
        )


class UnknownTask(TaskError, KeyError):
    """No task of this id was ever submitted."""

    def __init__(self, task: str) -> None:
        super().__init__(task, f"no task {task!r} was ever submitted")

    def __str__(self) -> str:  # KeyError would show the message's repr
        return str(self.args[0])


class DuplicateTask(TaskError, ValueError):
    """A task of this id was submitted before."""

    def __init__(self, task: str) -> None:
        super().__init__(task, f"task {task!r} was submitted before; choose another id")

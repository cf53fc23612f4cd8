"""What every store of tasks does, whatever it keeps them in: load, ask the machine, write.

What may happen is the machine's to say. How rows are loaded and written, and what makes a change
whole, is each store's own. The time is read through the function that a store is given.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from lawful.sut.reference.machine import (
    NOTHING,
    Event,
    Lease,
    State,
    Task,
    event_named,
    expire,
    placed,
    renew,
    step,
    submitted,
)
from lawful.sut.reference.records import Change, Reclaimed, Unprocessable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from lawful.sut.reference.machine import Payload
    from lawful.sut.reference.records import Dump, Row

__all__ = ["REAPER", "TaskStore", "decoded", "encoded", "task_of"]

REAPER: Final = "reaper"
"""Who fires the failure of an expired lease, in the history."""


class TaskStore(ABC):
    """Tasks and their history. One instance is one connection; several may share a store.

    Every write checks in this order: the task is known, the expected version is its version,
    the transition is legal, the reporter holds the lease.

    Args:
        now: Returns the time in seconds.
        rule: Says what an event makes of a task, or raises.
    """

    def __init__(self, *, now: Callable[[], float], rule: Callable[..., Task] = step) -> None:
        self._now = now
        self._rule = rule

    # -- writing -------------------------------------------------------------------------------

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Store a new task.

        Args:
            params: ``max_attempts``, or nothing.
            task: Its id; None has the store choose one.

        Returns:
            Its id.

        Raises:
            ValueError: A parameter can't be.
            DuplicateTask: There is a task of that id.
        """
        with self._transaction():
            new = submitted(self._free_id() if task is None else task, params)
            self._begin(new, None, {"max_attempts": new.max_attempts})
            return new.id

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        """Store a new task straight in ``state``; its version and history start there.

        Args:
            state: Where it starts.
            counters: ``attempts`` and ``max_attempts``, each or neither.
            actor: Who puts it there; the holder, in a held state.

        Returns:
            Its id.

        Raises:
            ValueError: The state or a counter can't be.
        """
        with self._transaction():
            new = placed(self._free_id(), state, counters, actor=actor, now=self._now())
            payload = {"attempts": new.attempts, "max_attempts": new.max_attempts}
            self._begin(new, actor, payload)
            return new.id

    def fire(
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload = NOTHING,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> Task:
        """Fire one event on one task and return the task afterwards.

        The arguments and what is raised are those of :func:`machine.step`.

        Raises:
            ValueError: The event or a payload field is unknown.
            UnknownTask: There is no such task.
        """
        named = event_named(event)
        with self._transaction():
            before = self._load(task)
            now = self._now()
            after = self._rule(
                before,
                named,
                actor=actor,
                payload=payload,
                now=now,
                expected_version=expected_version,
                token=token,
            )
            if after is not before:
                self._move(before, named, after, actor, payload, now)
            return after

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        """Renew the holder's lease; neither version nor history changes.

        Raises:
            UnknownTask: There is no such task.
            StaleLease: The actor is not the holder.
        """
        with self._transaction():
            before = self._load(task)
            after = renew(before, actor=actor, token=token, now=self._now())
            self._update(before, after, None)

    def reclaim_expired(self) -> Reclaimed:
        """Fail every task whose lease has expired (until < now), and no other.

        One transaction, a savepoint per task: one that can't be processed stops no other.
        """
        done: list[str] = []
        left: list[Unprocessable] = []
        with self._transaction():
            now = self._now()
            for task in self._expired(now):
                try:
                    with self._part():
                        before = self._load(task)
                        if before.lease is None or before.lease.until >= now:
                            continue  # it was reported or renewed since the row was chosen
                        payload = {"retryable": True}
                        self._move(before, Event.FAIL, expire(before), REAPER, payload, now)
                except Exception as error:  # whatever is wrong with this row, the next must go on
                    left.append(Unprocessable(task, error))
                else:
                    done.append(task)
        return Reclaimed(tuple(done), tuple(left))

    def _begin(self, new: Task, actor: str | None, payload: Payload) -> None:
        change = Change(new.version, None, None, new.state.value, actor, payload, self._now())
        self._insert(new, change)

    def _move(
        self, before: Task, event: Event, after: Task, actor: str, payload: Payload, now: float
    ) -> None:
        names = (event.value, before.state.value, after.state.value)
        self._update(before, after, Change(after.version, *names, actor, payload, now))

    # -- what each store does in its own way ---------------------------------------------------

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    def due(self) -> list[str]:
        """Return the ids of what is owed: retries, and tasks submitted but never enqueued."""

    @abstractmethod
    def read(self, task: str) -> Row:
        """Return what is stored of one task.

        Raises:
            UnknownTask: There is no such task.
        """

    @abstractmethod
    def history(self, task: str) -> list[Change]:
        """Return one task's history, oldest first; the first line is its submission.

        Raises:
            UnknownTask: There is no such task.
        """

    @abstractmethod
    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one task (none, if unknown) or of all."""

    @abstractmethod
    def knows(self, task: str) -> bool:
        """Say whether a task of this id was ever submitted."""

    @abstractmethod
    def poison(self, task: str) -> None:
        """Make this task's next transition fail, until it is cured.

        Raises:
            UnknownTask: There is no such task.
        """

    @abstractmethod
    def cure(self, task: str) -> None:
        """Let this task be written again."""

    @abstractmethod
    def is_poison(self, error: Exception) -> bool:
        """Say whether a write failed because its task is poisoned."""

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[None]:
        """Make what the block writes one change, or none."""

    @abstractmethod
    def _part(self) -> AbstractContextManager[None]:
        """Make what the block writes a part of the transaction that can fail by itself."""

    @abstractmethod
    def _expired(self, now: float) -> list[str]:
        """Return the ids of the tasks whose lease has run out, in their order."""

    @abstractmethod
    def _load(self, task: str) -> Task:
        """Read a task that is about to be written; UnknownTask if there is none."""

    @abstractmethod
    def _insert(self, new: Task, change: Change) -> None:
        """Write a new task and the first line of its history; DuplicateTask if it is known."""

    @abstractmethod
    def _update(self, before: Task, after: Task, change: Change | None) -> None:
        """Write what has become of a task, and its line; VersionConflict if it has changed."""

    def _free_id(self) -> str:
        number = self._number()
        while self.knows(f"task-{number}"):
            number += 1
        return f"task-{number}"

    @abstractmethod
    def _number(self) -> int:
        """Return the number at which the search for a free id begins."""


def task_of(
    task: str,
    state: str,
    attempts: int,
    max_attempts: int,
    version: int,
    owner: str | None,
    token: int | None,
    until: float | None,
) -> Task:
    """Return the task that a row's fields say."""
    lease = None
    if owner is not None and token is not None and until is not None:
        lease = Lease(owner, token, until)
    return Task(task, State(state), attempts, max_attempts, version, lease)


def encoded(payload: Payload) -> str:
    """Write a payload as text, equal payloads as equal texts."""
    return json.dumps(dict(payload), sort_keys=True) if payload else "{}"


def decoded(text: str) -> Payload:
    """Read a payload; each reader gets a copy of its own."""
    return dict(_decoded(text))


@lru_cache(maxsize=64)  # a history repeats a few texts
def _decoded(text: str) -> Payload:
    payload: Payload = json.loads(text)
    return payload

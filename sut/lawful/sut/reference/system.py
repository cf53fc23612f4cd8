"""A store of tasks shown to the contract: every optional method but ``claim``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from lawful.sut.contract import Entry, Implementation, Reading, Refusal
from lawful.sut.reference.errors import IllegalTransition, StaleLease, UnknownTask, VersionConflict
from lawful.sut.reference.machine import NOTHING
from lawful.sut.reference.store import Store
from lawful.sut.reference.storing import TaskStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut.contract import Clock, Payload
    from lawful.sut.reference.machine import Task
    from lawful.sut.reference.records import Dump

__all__ = ["Reference", "TaskSystem"]

AnyStore = TypeVar("AnyStore", bound=TaskStore)


class TaskSystem(Implementation, Generic[AnyStore]):
    """The lifecycle ``task`` on a store. Whoever opens it says which."""

    refusals: ClassVar = {
        IllegalTransition: Refusal.ILLEGAL,
        VersionConflict: Refusal.STALE_VERSION,
        StaleLease: Refusal.STALE_LEASE,
        UnknownTask: Refusal.UNKNOWN_TASK,
    }

    store: AnyStore
    """The store in use, once opened."""

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Submit a task, under an id of the caller's or the store's."""
        return self.store.submit(params, task=task)

    def read(self, task: str) -> Reading:
        """Read one task's row."""
        return Reading(*self.store.read(task))

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
        """Fire one event."""
        try:
            return self.store.fire(
                task,
                event,
                actor=actor,
                payload=payload,
                expected_version=expected_version,
                token=token,
            )
        except Exception as error:
            if self.store.is_poison(error):
                self.store.cure(task)
            raise

    def history(self, task: str) -> list[Entry]:
        """Return one task's history."""
        return [Entry(*change[:6]) for change in self.store.history(task)]

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one task or of all."""
        return self.store.dump(task)

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        """Renew the holder's lease."""
        self.store.heartbeat(task, actor=actor, token=token)

    def reap(self) -> list[str]:
        """Fail every task whose lease has expired."""
        reclaimed = self.store.reclaim_expired()
        for left in reclaimed.unprocessable:
            self.store.cure(left.task)
        return list(reclaimed.tasks)

    def due(self) -> list[str]:
        """Return what is owed by now."""
        return self.store.due()

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        """Store a task straight in ``state``; ``counters`` may hold ``max_attempts`` too."""
        return self.store.put(state, counters, actor=actor)

    def poison(self, task: str) -> None:
        """Make this task's next transition fail, once."""
        self.store.poison(task)

    def absent(self) -> str:
        """Return an id that was never given out."""
        name = "absent"
        while self.store.knows(name):
            name += "-"
        return name


class Reference(TaskSystem[Store]):
    """The lifecycle ``task`` on SQLite, as it should be."""

    system = "lawful.sut.reference"

    def open(self, path: Path, clock: Clock) -> None:
        """Open ``tasks.db`` in the folder ``path``."""
        self.store = Store(path / "tasks.db", now=clock.now)

"""The reference without one of its checks: what each of them is good for shows when it is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lawful.sut.reference import Reference, Store
from lawful.sut.reference.machine import REPORTS, step

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.sut.contract import Clock
    from lawful.sut.reference import Event, Task

__all__ = ["Unfenced", "Unversioned"]


class Unversioned(Reference):
    """Nobody compares the version that a worker has read."""

    def open(self, path: Path, clock: Clock) -> None:
        """Open the store with a rule that does not look at versions."""
        self.store = Store(path / "tasks.db", now=clock.now, rule=_unversioned)


class Unfenced(Reference):
    """Nobody asks who holds the lease."""

    def open(self, path: Path, clock: Clock) -> None:
        """Open the store with a rule that does not look at leases."""
        self.store = Store(path / "tasks.db", now=clock.now, rule=_unfenced)


def _unversioned(task: Task, event: Event, **call: Any) -> Task:  # what `step` takes
    call["expected_version"] = None
    return step(task, event, **call)


def _unfenced(task: Task, event: Event, **call: Any) -> Task:  # what `step` takes
    if event in REPORTS and task.lease is not None:
        call["actor"], call["token"] = task.lease.owner, task.lease.token
    return step(task, event, **call)

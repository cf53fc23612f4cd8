"""The reference without one of its checks: what each of them is good for shows when it is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.sut.reference import Reference, Store
from lawful.sut.reference.machine import NOTHING, REPORTS, step

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.sut.contract import Clock, Payload
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


def _unversioned(
    task: Task,
    event: Event,
    *,
    actor: str,
    payload: Payload = NOTHING,
    now: float = 0.0,
    expected_version: int | None = None,
    token: int | None = None,
) -> Task:
    return step(task, event, actor=actor, payload=payload, now=now, token=token)


def _unfenced(
    task: Task,
    event: Event,
    *,
    actor: str,
    payload: Payload = NOTHING,
    now: float = 0.0,
    expected_version: int | None = None,
    token: int | None = None,
) -> Task:
    if event in REPORTS and task.lease is not None:
        actor, token = task.lease.owner, task.lease.token
    return step(
        task,
        event,
        actor=actor,
        payload=payload,
        now=now,
        expected_version=expected_version,
        token=token,
    )

"""The reference: a pure machine, and a SQLite store that keeps its tasks and their history."""

from __future__ import annotations

from lawful.sut.reference.errors import (
    DuplicateTask,
    IllegalTransition,
    StaleLease,
    TaskError,
    UnknownTask,
    VersionConflict,
)
from lawful.sut.reference.machine import Event, Lease, State, Task, step
from lawful.sut.reference.store import Store
from lawful.sut.reference.system import Reference

__all__ = [
    "DuplicateTask",
    "Event",
    "IllegalTransition",
    "Lease",
    "Reference",
    "StaleLease",
    "State",
    "Store",
    "Task",
    "TaskError",
    "UnknownTask",
    "VersionConflict",
    "step",
]

"""What is looked at first, when more than one thing is wrong."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import in_machine, in_store

__all__ = ["FAULTS"]

_VERSION: Final = """
if expected_version is not None and expected_version != task.version:
    raise VersionConflict(task.id, expected_version, task.version)
"""
_NOOP: Final = """
if (task.state, event) in NOOPS:
    return task
"""
_LEGAL: Final = "after = _target(task, event, payload)"
_LEASE: Final = """
if event in REPORTS:
    held_by(task, actor, token)
"""

FAULTS: Final = (
    Fault(
        id="planted/order/no-op-before-version",
        says="a no-op is granted before the expected version is looked at",
        source="statements swapped",
        patches=(in_machine("step", _VERSION + _NOOP, _NOOP + _VERSION),),
        claims=("order/version-first",),
    ),
    Fault(
        id="planted/order/legality-before-version",
        says="an illegal transition is refused as such before the expected version is looked at",
        source="statements swapped",
        patches=(in_machine("step", _VERSION + _NOOP + _LEGAL, _NOOP + _LEGAL + _VERSION),),
        claims=("order/version-first",),
    ),
    Fault(
        id="planted/order/lease-before-legality",
        says="a stranger's illegal report is refused for the lease",
        source="statements swapped",
        patches=(in_machine("step", _LEGAL + _LEASE, _LEASE + _LEGAL),),
        claims=("order/illegal-before-lease",),
    ),
    Fault(
        id="planted/order/version-before-known",
        says="a task that nobody submitted is refused for its version",
        source="check deferred to the write",
        patches=(
            in_store("Store._load", "raise UnknownTask(task)", "return Task(task)"),
            in_store(
                "",
                "from lawful.sut.reference.machine import step",
                "from lawful.sut.reference.machine import Task, step",
            ),
        ),
        claims=("order/unknown-first", "identity/unknown"),
    ),
)
"""Faults of the order of checks."""

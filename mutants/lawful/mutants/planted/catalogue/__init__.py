"""Every planted fault there is, family by family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import (
    counters,
    guards,
    histories,
    identities,
    orders,
    predicates,
    reapers,
    recovery,
    schemas,
    times,
    transactions,
)

if TYPE_CHECKING:
    from lawful.mutants.planted.fault import Fault

__all__ = ["FAULTS"]

FAULTS: Final[tuple[Fault, ...]] = (
    *guards.FAULTS,
    *counters.FAULTS,
    *transactions.FAULTS,
    *predicates.FAULTS,
    *reapers.FAULTS,
    *recovery.FAULTS,
    *histories.FAULTS,
    *identities.FAULTS,
    *times.FAULTS,
    *orders.FAULTS,
    *schemas.FAULTS,
)
"""In the order of the report."""

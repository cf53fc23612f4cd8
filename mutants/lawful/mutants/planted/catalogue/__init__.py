"""Every planted fault there is, family by family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from . import guards

if TYPE_CHECKING:
    from lawful.mutants.planted.fault import Fault

__all__ = ["FAULTS"]

FAULTS: Final[tuple[Fault, ...]] = (*guards.FAULTS,)
"""In the order of the report."""

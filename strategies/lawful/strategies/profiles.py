"""How much Hypothesis searches, by name, and where it keeps what it has found."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.database import DirectoryBasedExampleDatabase

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Effort", "profile"]


class Effort(StrEnum):
    """How much is searched."""

    DEV = "dev"
    """50 examples of 20 steps, others in each run."""
    CI = "ci"
    """100 examples of 20 steps, the same in each run."""
    NIGHTLY = "nightly"
    """1,000 examples of 50 steps, others in each run."""
    MUTATION = "mutation"
    """30 examples of 20 steps, the same in each run: a mutant is killed or it is not."""


_UNCHECKED = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
    HealthCheck.differing_executors,
)
_SIZES = {
    Effort.DEV: (50, 20),
    Effort.CI: (100, 20),
    Effort.NIGHTLY: (1000, 50),
    Effort.MUTATION: (30, 20),
}


def profile(effort: Effort, *, database: Path | None = None) -> settings:
    """Return the settings of an effort.

    No deadline: a slow machine is no finding. No health checks: a store takes as long as it
    takes, and what a table allows may be little.

    Args:
        effort: How much is searched.
        database: A folder to keep failing examples in, and to begin with those of earlier runs;
            it may be shared. None keeps nothing.
    """
    examples, steps = _SIZES[effort]
    fixed = effort in (Effort.CI, Effort.MUTATION)
    kept = None if database is None or fixed else DirectoryBasedExampleDatabase(database)
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=fixed,
        database=kept,
        deadline=None,
        print_blob=not fixed,
        suppress_health_check=_UNCHECKED,
        verbosity=Verbosity.quiet,
        phases=[phase for phase in Phase if phase is not Phase.explain],
    )

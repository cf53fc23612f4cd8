"""What an effort costs, what it keeps, and that a seed is a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, seed
from hypothesis.database import DirectoryBasedExampleDatabase

from lawful.spec import shipped_table
from lawful.strategies import programs
from lawful.strategies.profiles import Effort, profile

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.drawing import Program


@pytest.mark.parametrize(
    ("effort", "examples", "steps", "fixed"),
    [
        (Effort.DEV, 50, 20, False),
        (Effort.CI, 100, 20, True),
        (Effort.NIGHTLY, 1000, 50, False),
        (Effort.MUTATION, 30, 20, True),
    ],
)
def test_an_effort_is_so_many_examples_of_so_many_steps(
    effort: Effort, examples: int, steps: int, *, fixed: bool
) -> None:
    how = profile(effort)
    assert (how.max_examples, how.stateful_step_count, how.derandomize) == (examples, steps, fixed)
    assert how.deadline is None
    assert how.database is None


def test_a_database_is_kept_where_runs_differ(tmp_path: Path) -> None:
    kept = profile(Effort.NIGHTLY, database=tmp_path).database
    assert isinstance(kept, DirectoryBasedExampleDatabase)
    assert profile(Effort.CI, database=tmp_path).database is None
    assert profile(Effort.MUTATION, database=tmp_path).database is None


def drawn(number: int | None) -> list[Program]:
    some: list[Program] = []

    def note(program: Program) -> None:
        some.append(program)

    test = profile(Effort.MUTATION)(given(programs(shipped_table("task")))(note))
    (test if number is None else seed(number)(test))()
    return some


def test_a_fixed_effort_draws_the_same_in_each_run_and_other_things_under_each_seed() -> None:
    assert drawn(None) == drawn(None)
    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(number)) for number in (None, 1, 2, 3)}) == 4

"""Lifecycles that nobody wrote: what obeys a drawn table is never accused, one slip is found."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from interpreter import interpreter, slip
from lawful.laws import Profile, Status, run
from lawful.strategies import specs
from lawful.strategies.adapter import describe_class
from miniatures.trial import workplace

if TYPE_CHECKING:
    from lawful.laws import Check
    from lawful.spec import Table

pytestmark = pytest.mark.slow

TABLES = 200


def drawn() -> list[Table]:
    """Draw tables, the same ones in each run, no two alike."""
    tables: list[Table] = []

    @settings(
        max_examples=3 * TABLES,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(specs(states=4, events=3))
    def collect(table: Table) -> None:
        if table not in tables and len(tables) < TABLES:
            tables.append(table)

    collect()
    return tables


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return drawn()


def judged(table: Table, factory: type) -> list[Check]:
    with workplace() as folder:
        return run(
            describe_class(factory, "drawn", table=table), folder, profile=Profile.QUICK
        ).checks


def test_enough_tables_are_drawn_with_leases_guards_and_no_ops(tables: list[Table]) -> None:
    assert len(tables) == TABLES
    assert sum(table.lease is not None for table in tables) >= TABLES / 4
    assert sum(bool(table.guards) for table in tables) >= TABLES / 4
    assert sum(table.count().noop > 0 for table in tables) >= TABLES / 4


@pytest.mark.parametrize("tens", range(20))
def test_what_obeys_a_drawn_table_is_lawful_and_every_law_of_it_is_judged(
    tables: list[Table], tens: int
) -> None:
    for table in tables[tens::20]:
        checks = judged(table, interpreter(table))
        assert [check for check in checks if check.status is not Status.PASS] == []
        assert any(check.id.startswith("cell/") for check in checks)


@pytest.mark.parametrize("tens", range(20))
def test_one_wrong_cell_of_a_drawn_table_is_found(tables: list[Table], tens: int) -> None:
    for number, table in enumerate(tables[tens::20]):
        wrong = slip(table, Random(20 * number + tens))
        checks = judged(table, interpreter(table, wrong))
        failing = {c.id for c in checks if c.status in (Status.FAIL, Status.ERROR)}
        found = {name.partition("?")[0].partition("@")[0] for name in failing}
        assert wrong.cell in found

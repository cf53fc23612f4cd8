"""Tables that are drawn at random: well formed, of every kind, and the same in each run."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from interpreter import slip
from lawful.spec import CellKind
from lawful.strategies import StrategyError, specs

if TYPE_CHECKING:
    from lawful.spec import Table

TABLES = 120


def drawn() -> list[Table]:
    """Draw tables that differ."""
    tables: dict[Table, None] = {}

    @seed(1)
    @settings(
        max_examples=3 * TABLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(specs())
    def draw(table: Table) -> None:
        if len(tables) < TABLES:
            tables[table] = None

    draw()
    return list(tables)


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return drawn()


def test_drawn_tables_are_of_every_kind(tables: list[Table]) -> None:
    legal = [
        {(s, table.cell(s, e).to) for s in table.states for e in table.event_names}
        for table in tables
    ]
    shares = {
        "lease": sum(table.lease is not None for table in tables),
        "reports": sum(bool(table.lease and table.lease.needed_by) for table in tables),
        "guard": sum(bool(table.guards) for table in tables),
        "payload": sum(len(table.letters) > len(table.events) for table in tables),
        "no-op": sum(table.count().noop > 0 for table in tables),
        "loop": sum(any((to, s) in pairs for s, to in pairs) for pairs in legal),
        "end": sum(bool(table.terminal) for table in tables),
    }
    assert len(tables) == TABLES
    assert shares["lease"] >= TABLES / 4
    assert {kind for kind, number in shares.items() if number < TABLES / 10} == set()


def test_drawn_tables_are_no_larger_than_asked_for(tables: list[Table]) -> None:
    assert {len(table.states) for table in tables} == {2, 3, 4, 5, 6}
    assert {len(table.events) for table in tables} == {1, 2, 3, 4, 5}


def test_a_table_has_at_least_one_event() -> None:
    with pytest.raises(StrategyError, match="2 states and 0 events"):
        specs(states=2, events=0)


def test_slips_are_of_every_kind(tables: list[Table]) -> None:
    kinds = set()
    for number, table in enumerate(tables):
        wrong = slip(table, Random(number))
        kinds.add((table.cell(wrong.state, wrong.event).kind, wrong.to is None))
    assert kinds == {
        (CellKind.LEGAL, False),
        (CellKind.LEGAL, True),
        (CellKind.NOOP, False),
        (CellKind.REFUSED, False),
    }

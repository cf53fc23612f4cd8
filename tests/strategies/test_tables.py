"""Tables that are drawn at random: of every kind, and no harder for the laws than the shipped."""

from __future__ import annotations

from functools import cache
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from interpreter import interpreter, slip
from lawful.laws import Profile, Status, run
from lawful.spec import CellKind, Oracle
from lawful.spec.words import histories
from lawful.strategies import specs
from lawful.strategies.adapter import describe_class
from miniatures.trial import failed, workplace

if TYPE_CHECKING:
    from lawful.laws import Run
    from lawful.spec import Table
    from lawful.strategies.adapter import Adapter

TABLES = 200
HISTORIES = 12
"""Of a table with more the suites take seconds, and there are 200 of them."""
PARTS = 8

# What a table may give no occasion for: a lease that no report needs, one held state alone, a
# state that nothing ends in, a branch that no counter leads to, no cell that refuses.
UNASKED = {
    "absorption/no-restart",
    "absorption/terminal",
    "counter/tries-exhausted",
    "counter/version",
    "lease/expiry",
    "lease/fencing",
    "lease/holder",
    "lease/poison",
    "lease/release",
    "lease/zombie",
    "order/illegal-before-lease",
    "silence/bisimulation",
    "silence/refusal",
    "silence/store",
}


def small(table: Table) -> bool:
    every = (histories(Oracle(table, params)) for params in table.valuations)
    return sum(len(list(islice(some, HISTORIES + 1))) for some in every) <= HISTORIES


@cache
def drawn(number: int, *, any_size: bool = False) -> tuple[Table, ...]:
    """Draw so many tables that differ, the same in each run."""
    tables: dict[Table, None] = {}
    how = settings(
        max_examples=10 * number,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    @how
    @given(specs())
    def draw(table: Table) -> None:
        if len(tables) < number and (any_size or small(table)):
            tables[table] = None

    draw()
    assert len(tables) == number
    return tuple(tables)


def test_drawn_tables_are_of_every_kind() -> None:
    tables = drawn(200, any_size=True)
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
    assert shares["lease"] >= 50
    assert {kind for kind, tables in shares.items() if tables < 20} == set()


def judged(adapter: Adapter) -> Run:
    with workplace() as folder:
        return run(adapter, folder, profile=Profile.QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_whoever_obeys_a_table_is_accused_of_nothing(part: int) -> None:
    for table in drawn(TABLES)[part::PARTS]:
        found = judged(describe_class(interpreter(table), "interpreter", table=table))
        assert found.undeclared == {}
        statuses = {check.id: check.status for check in found.checks}
        odd = {name: status for name, status in statuses.items() if status is not Status.PASS}
        assert {status for name, status in odd.items()} <= {Status.NOT_RUN}, (table, odd)
        assert odd.keys() <= UNASKED, (table, odd)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_single_wrong_cell_is_found_in_any_table(part: int) -> None:
    for number, table in enumerate(drawn(TABLES)[part::PARTS]):
        wrong = slip(table, Random(number))
        found = judged(describe_class(interpreter(table, wrong), "interpreter", table=table))
        cells = {name.partition("?")[0].partition("@")[0] for name in failed(found)}
        assert wrong.cell in cells, (table, wrong)


def test_slips_are_of_every_kind() -> None:
    kinds = set()
    for number, table in enumerate(drawn(TABLES)):
        wrong = slip(table, Random(number))
        kinds.add((table.cell(wrong.state, wrong.event).kind, wrong.to is None))
    assert kinds == {
        (CellKind.LEGAL, False),
        (CellKind.LEGAL, True),
        (CellKind.NOOP, False),
        (CellKind.REFUSED, False),
    }

"""The engine ``table``: what it finds, what it proves, and what it does not believe."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from lawful.laws import Profile, Status, run
from lawful.laws.law import TraceLaw
from lawful.mutants import Fate, score
from lawful.mutants.table import TableEngine, engine, screening
from lawful.mutants.table.machine import Lawful, Machine
from lawful.spec.reader import find_table, parse_table
from lawful.strategies.adapter import describe_class
from lawful.strategies.seen import Judge
from miniatures import workplace

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.laws.law import Tally
    from lawful.mutants import Result, Trust
    from lawful.mutants.table.machine import Row
    from lawful.spec.table import Table
    from lawful.strategies.walk import Walk

SHIPPED = ["task", "gate", "review", "litequeue"]


@functools.cache
def outcomes(name: str) -> tuple[Result, ...]:
    with TableEngine(find_table(name), "") as made:
        return tuple(made.test(made.mutants(), matrix=False, killers={}))


def trusted(name: str) -> list[Trust]:
    with TableEngine(find_table(name), "") as made:
        return list(made.trust(made.mutants()))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_fault_of_a_shipped_table_is_killed_or_proven_equivalent(name: str) -> None:
    left = [r.mutant.id for r in outcomes(name) if r.fate not in (Fate.KILLED, Fate.EQUIVALENT)]
    assert left == []
    assert score(outcomes(name)).adjusted == 100.0


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_proven_is_what_is_written_down(name: str) -> None:
    assert [trust.name for trust in trusted(name)] == [
        "baseline",
        "baseline",
        "canary",
        "equivalents",
    ]
    assert all(trust.holds for trust in trusted(name))


def test_task_has_three_equivalent_faults() -> None:
    # By hand: attempts is 0 before any start, and never above max_attempts in `running`.
    assert [r.mutant.id for r in outcomes("task") if r.fate is Fate.EQUIVALENT] == [
        "table/counter/submitted/enqueue/attempts=0",
        "table/counter/submitted/cancel/attempts=0",
        "table/guard/retry/1/exhausted/!=",
    ]


def test_a_killed_fault_names_its_cell_and_the_shortest_trace() -> None:
    name = "table/refusal writes/succeeded/cancel/cancelled"
    (found,) = [result for result in outcomes("task") if result.mutant.id == name]
    assert found.killers == ("cell/succeeded/cancel",)
    assert found.trace == "enqueue@client start@worker-1 succeed@worker-1 cancel@client"


def test_an_entry_that_is_wrong_is_found_by_a_law_of_histories() -> None:
    for found in outcomes("task"):
        if found.mutant.family == "entry":
            assert found.killers[0].startswith("replay/"), found


def test_with_a_matrix_every_check_that_goes_red_is_named() -> None:
    name = "table/refusal writes/succeeded/cancel/cancelled"
    with TableEngine(find_table("task"), "") as made:
        mutant = next(each for each in made.mutants() if each.id == name)
        (found,) = made.test([mutant], matrix=True, killers={})
    assert {
        "cell/succeeded/cancel",
        "absorption/terminal",
        "silence/refusal",
        "replay/fold",
    } <= set(found.killers)
    assert set(found.killers) <= set(made.checks)


@pytest.mark.slow
def test_every_fault_with_a_memory_is_killed() -> None:
    with TableEngine(find_table("task"), "", deep=True) as made:
        sticky = [each for each in made.mutants() if each.family == "sticky"]
        fates = {found.fate for found in made.test(sticky, matrix=False, killers={})}
    assert len(sticky) == 7336
    assert fates == {Fate.KILLED}


OTHER = """
format = "lawful-spec/1"
name = "other"
version = 1
initial = "new"
terminal = ["done"]
events = ["go", "stop"]
counts = { legal = 2, noop = 1, refused = 1 }

[table]
new  = ["?often", "done"]
done = ["-", "="]

[guard.often]
when = [
  { if = [["gone", "<", "limit", "enough"]], to = "new", add = { gone = 1 } },
  { to = "done" },
]

[params.limit]
default = 2
check = [2]
"""


def test_a_table_of_a_users_own_is_tested_and_its_equivalents_are_proven() -> None:
    table = parse_table(OTHER, "other.toml")
    with TableEngine(table, OTHER) as made:
        assert [(trust.name, trust.holds) for trust in made.trust(made.mutants())] == [
            ("baseline", True),
            ("baseline", True),
            ("canary", True),
        ]
        results = {r.mutant.id: r for r in made.test(made.mutants(), matrix=False, killers={})}
    assert results["table/guard/often/1/enough/!="].fate is Fate.EQUIVALENT
    # With 2 alone among the checked limits, nobody can tell it from a 2 that is written out.
    alone = results["table/guard/often/1/enough/against 2"]
    assert alone.fate is Fate.SURVIVED
    assert alone.reason == (
        "it shows only with limit=3, which no suite runs with: add it to `check`"
    )
    others = [r for r in results.values() if r.fate not in (Fate.KILLED, Fate.EQUIVALENT)]
    assert others == [alone]


# -- what is not believed --------------------------------------------------------------------------


def test_the_machine_without_a_fault_is_lawful_in_a_whole_run() -> None:
    table = find_table("review")
    stores: dict[Path, dict[str, Row]] = {}

    class Whole(Machine):
        def __init__(self) -> None:
            super().__init__(table, Lawful(), {}, stores)

    with workplace() as folder:
        found = run(describe_class(Whole, "machine", table=table), folder, profile=Profile.QUICK)
    bad = [check for check in found.checks if check.status in (Status.FAIL, Status.ERROR)]
    assert bad == []


def test_a_judge_that_sees_nothing_kills_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Judge, "__call__", lambda *_, **__: ())
    monkeypatch.setattr(TraceLaw, "needs", ("what nobody offers",))
    with TableEngine(find_table("gate"), "") as made:
        canary = next(trust for trust in made.trust(made.mutants()) if trust.name == "canary")
        results = list(made.test(made.mutants(), matrix=False, killers={}))
    assert not canary.holds
    assert score(results).adjusted == 0.0


def accuse(_: Table, walk: Walk, tally: Tally) -> None:
    tally.told(walk, 1, "nothing", "something")


ACCUSES = TraceLaw(id="silence/everybody", says="nobody is right", why="", read=accuse)


def test_a_judge_that_accuses_everybody_is_a_baseline_that_is_red(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(screening, "laws_of", lambda *_, **__: [ACCUSES])
    baseline = trusted("gate")[0]
    assert not baseline.holds
    assert baseline.told == ("28 words: silence/everybody: expected nothing, got something")


def test_an_equivalent_that_is_not_written_down_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "written_equivalents", lambda _: {"table/no/such": "once"})
    written = trusted("review")[-1]
    assert not written.holds
    assert written.told == (
        "table/guard/rework/1/exhausted/!= is proven, and not written down; "
        "table/no/such is written down, and not proven"
    )

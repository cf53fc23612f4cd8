"""The faults that a table can have: as many as counted by hand, and each of them a fault."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lawful.mutants.table.differences import Differences
from lawful.mutants.table.faults import faults, sub_cells
from lawful.mutants.table.sticky import StickyFault, sticky_faults
from lawful.mutants.table.suites import Suites
from lawful.spec.oracle import Oracle, Position
from lawful.spec.reader import find_table
from lawful.spec.table import CellKind, Letter

if TYPE_CHECKING:
    from lawful.mutants.table.effects import Effect

TASK = find_table("task")


def test_task_has_59_sub_cells() -> None:
    kinds = Counter(cell.kind for cell in sub_cells(TASK))
    # 12 legal cells, of which running/fail has four branches; 2 no-ops, 42 refused.
    assert kinds == {CellKind.LEGAL: 15, CellKind.NOOP: 2, CellKind.REFUSED: 42}
    branches = [cell.branch for cell in sub_cells(TASK) if cell.event == "fail" and cell.branch]
    assert branches == ["exhausted", "permanent", "permanent+exhausted"]


def test_task_has_as_many_faults_as_counted_by_hand() -> None:
    counted = Counter(fault.mutant.family for fault in faults(TASK))
    assert counted == {
        "transfer": 15 * 7 + (2 + 42) * 8,  # to every other state; a quiet cell also to its own
        "verdict": 15 * 2 + 2 + 42 * 2,  # refused or a no-op; refused; accepted or another reason
        "counter": 15 * 3,  # one more, one less, none
        "version": 15 * 2,  # left, or grown by 2
        "history": 15 * 4,  # no entry, two, neither entry nor version, all but the state
        "entry": 15 * 5 + 5,  # event, before, after, version, actor; five sub-cells of `fail`
        "refusal writes": 42 * 12,  # seven states, attempts up and down, version, entry, both
        "no-op writes": 2 * 12,
        "terminal": 5 + 3 * 5,  # a state taken for terminal; a terminal one left like another
        # dropped 2, operators 1 + 5, operands 1 + 3, off by one 2, `or`, branch dropped, swapped
        "guard": 2 + 6 + 4 + 2 + 1 + 1 + 1,
    }


def test_no_two_faults_have_the_same_id() -> None:
    for name in ("task", "gate", "review", "litequeue"):
        ids = [fault.mutant.id for fault in faults(find_table(name))]
        assert len(ids) == len(set(ids))


def test_a_bit_that_one_cell_sets_and_another_shows_is_7336_faults() -> None:
    # Counted by the positions that are reachable one from the other: see the words' own module.
    assert sum(1 for _ in sticky_faults(TASK)) == 7336


def test_every_bit_that_is_set_and_shown_is_in_a_word() -> None:
    suites = Suites(TASK)
    for fault in sticky_faults(TASK):
        assert isinstance(fault.behaviour, StickyFault)
        assert next(suites.through_both(fault.behaviour.pair), None) is not None, fault.mutant.id


def effect(name: str, state: str, attempts: int, letter: Letter) -> Effect:
    found = next(fault.behaviour for fault in faults(TASK) if fault.mutant.id == name)
    oracle = Oracle(TASK, TASK.defaults)
    return found.effect(oracle, Position(state, (attempts,)), letter, armed=False)


RETRYABLE = Letter("fail", (("retryable", True),))
PERMANENT = Letter("fail", (("retryable", False),))


@pytest.mark.parametrize(
    ("name", "letter", "attempts", "to"),
    [
        ("table/guard/retry/1/exhausted/<=", RETRYABLE, 3, "retry_wait"),
        ("table/guard/retry/1/exhausted/dropped", RETRYABLE, 3, "retry_wait"),
        ("table/guard/retry/1/exhausted/against 1", RETRYABLE, 2, "failed"),
        ("table/guard/retry/1/exhausted/off by +1", RETRYABLE, 2, "failed"),
        ("table/guard/retry/1/permanent/!=", PERMANENT, 1, "retry_wait"),
        ("table/guard/retry/1/or", PERMANENT, 1, "retry_wait"),
        ("table/guard/retry/1/dropped", RETRYABLE, 1, "failed"),
        ("table/guard/retry/1-2/swapped", RETRYABLE, 1, "failed"),
        ("table/guard/retry/1-2/swapped", PERMANENT, 1, "retry_wait"),
        ("table/terminal/failed/as queued", Letter("start"), 1, "running"),
        ("table/transfer/running/fail?permanent/queued", PERMANENT, 1, "queued"),
    ],
)
def test_a_fault_leads_where_its_sentence_says(
    name: str, letter: Letter, attempts: int, to: str
) -> None:
    state = name.split("/")[2] if "terminal" in name else "running"
    assert effect(name, state, attempts, letter).after.state == to


def test_a_fault_of_one_cell_is_lawful_everywhere_else() -> None:
    differences = Differences(TASK)
    fault = next(f for f in faults(TASK) if f.mutant.id == "table/version/queued/start/twice")
    places = differences.checked(fault.behaviour)
    assert {(place.position.state, place.letter.event) for place in places} == {("queued", "start")}
    assert len(places) == 3 + 2 + 1  # queued with 0, 1 and 2 attempts; fewer with fewer allowed


def test_a_limit_that_is_written_out_shows_where_the_limit_is_another() -> None:
    fault = next(f for f in faults(TASK) if f.mutant.id.endswith("exhausted/against 3"))
    params = {place.params for place in Differences(TASK).checked(fault.behaviour)}
    assert params == {(("max_attempts", 1),), (("max_attempts", 2),)}

"""What is drawn from a table: in order, within it, and refused at the call where it can't be."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.laws.smoke import smoke
from lawful.spec import CellKind, shipped_table
from lawful.strategies import (
    LifecycleMachine,
    StrategyError,
    clock_steps,
    events,
    format_trace,
    params,
    parse_trace,
    programs,
    specs,
    stale_tokens,
    starts,
)
from lawful.strategies.adapter import describe, describe_class
from lawful.strategies.moves import every_start
from lawful.strategies.profiles import Effort, profile
from lawful.strategies.searching import search_machine, search_programs
from lawful.strategies.trace import Advance, Fire, Heartbeat, Reap, Reopen, Submit
from lawful.strategies.watch import Watch
from miniatures.trial import task_table, workplace
from planted import PLANTED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lawful.spec import Table
    from lawful.strategies.drawing import Program
    from planted import Planted

TASK, GATE = shipped_table("task"), shipped_table("gate")
few = settings(max_examples=60, derandomize=True, database=None, deadline=None)


# -- what is drawn -------------------------------------------------------------------------------


def test_the_nearest_start_comes_first_and_the_default_parameters_before_others() -> None:
    every = every_start(TASK)
    assert len(every) == 22 + 15 + 8
    assert every[0].position == ("submitted", (0,))
    assert [len(start.word) for start in every] == sorted(len(start.word) for start in every)
    assert dict(every[0].params) == {"max_attempts": 3}


@few
@given(st.data())
def test_what_is_drawn_is_the_tables(data: st.DataObject) -> None:
    assert data.draw(events(TASK)) in TASK.letters
    assert data.draw(events(TASK, names=["fail"])).event == "fail"
    assert data.draw(starts(TASK, states=["failed"])).position.state == "failed"
    assert data.draw(params(TASK)) in TASK.valuations
    assert data.draw(stale_tokens(3)) in (1, 2)
    assert data.draw(clock_steps(TASK)) in (7, 35)


@few
@given(programs(TASK, tail=8))
def test_a_program_can_be_written_and_read_and_ends_no_lease_to_the_second(
    program: Program,
) -> None:
    assert isinstance(program[0], Submit)
    assert parse_trace(format_trace(program), TASK) == program
    passed = sum(op.seconds for op in program if isinstance(op, Advance))
    assert passed != 30


@few
@given(programs(TASK, abilities=[], tasks=1))
def test_a_program_makes_use_of_what_is_offered_alone(program: Program) -> None:
    assert not [op for op in program if isinstance(op, Advance | Heartbeat | Reap | Reopen)]
    fired = [op for op in program if isinstance(op, Fire)]
    assert {(op.version, op.grant) for op in fired} <= {(None, None)}
    assert sum(isinstance(op, Submit) for op in program) == 1


@few
@given(specs())
def test_a_drawn_table_is_one_that_the_reader_takes(table: Table) -> None:
    assert table.count().legal >= 1
    for state in table.terminal:
        kinds = {table.cell(state, event).kind for event in table.event_names}
        assert CellKind.LEGAL not in kinds


# -- what can't be drawn -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda: starts(TASK, states=["runing"]), "did you mean 'running'?"),
        (lambda: events(TASK, names=["stop"]), "there is no event 'stop'"),
        (lambda: events(TASK, names=[]), "no event to draw"),
        (lambda: clock_steps(GATE), "gate has no leases"),
        (lambda: stale_tokens(1), "after 1 grants no token is stale yet"),
        (lambda: programs(TASK, tail=-1), "tail -1 and tasks 2"),
        (lambda: programs(TASK, tasks=0), "tail 8 and tasks 0"),
        (lambda: programs(TASK, abilities=["fly"]), "there is no ability 'fly'"),
        (lambda: specs(states=1), "a table needs at least two and one"),
        (lambda: LifecycleMachine.for_("gate", tasks=0), "at least one is needed"),
    ],
)
def test_what_there_is_not_is_refused_at_the_call(asked: Callable[[], object], says: str) -> None:
    with pytest.raises(StrategyError, match=says.replace("?", r"\?")):
        asked()


# -- what is found -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: each.id)
def test_each_planted_fault_is_found_under_each_seed_with_a_shortest_program(
    planted: Planted, seed: int
) -> None:
    with workplace() as folder:
        adapter = smoke(
            describe_class(planted.adapter, planted.id, table=task_table(3, 2, 1)), folder, Watch()
        ).adapter
        found = search_programs(adapter, folder, profile(Effort.CI), seed=seed)
    assert found is not None
    assert len(found.trace) == planted.steps


@pytest.mark.slow
@pytest.mark.parametrize("target", ["reference", "gate", "review"])
def test_nothing_is_found_where_nothing_is_wrong(target: str) -> None:
    with workplace() as folder:
        adapter = smoke(describe(target), folder, Watch()).adapter
        assert search_programs(adapter, folder, profile(Effort.CI), seed=5) is None
        assert search_machine(adapter, folder, profile(Effort.CI), seed=5) is None


def test_a_machine_is_a_test_that_prints_what_it_found(tmp_path: Path) -> None:
    (tmp_path / "test_machines.py").write_text(
        "from lawful.strategies import LifecycleMachine\n"
        "TestGate = LifecycleMachine.for_('gate').TestCase\n"
        "TestWords = LifecycleMachine.for_('gate-words').TestCase\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_machines.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "replay: lawful replay " in done.stdout
    assert "def test_trace(tmp_path):" in done.stdout

"""What the state machine finds, and how what was found is told."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lawful.laws.smoke import smoke
from lawful.strategies import format_trace
from lawful.strategies.adapter import describe, describe_class
from lawful.strategies.profiles import Effort, profile
from lawful.strategies.searching import search_machine, search_programs
from lawful.strategies.watch import Watch
from miniatures import Honest
from miniatures.trial import task_table
from planted import PLANTED

if TYPE_CHECKING:
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.seen import Seen
    from lawful.strategies.session import Session
    from planted import Planted

CI = profile(Effort.CI)


def adapter(of: type, folder: Path) -> Adapter:
    named = f"{of.__module__}:{of.__name__}"
    return smoke(describe_class(of, named, table=task_table()), folder, Watch()).adapter


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: each.id)
def test_the_machine_finds_each_planted_fault(planted: Planted, seed: int, folder: Path) -> None:
    found = search_machine(adapter(planted.adapter, folder), folder, CI, seed=seed)
    assert found is not None
    assert len(found.trace) == planted.steps


@pytest.mark.slow
@pytest.mark.parametrize("search", [search_programs, search_machine])
def test_nothing_is_found_in_the_honest_miniature(search: object, folder: Path) -> None:
    assert search in (search_programs, search_machine)
    honest = adapter(Honest, folder)
    found = (
        search_programs(honest, folder, CI)
        if search is search_programs
        else search_machine(honest, folder, CI)
    )
    assert found is None


def test_the_same_seed_finds_the_same_and_says_no_more_than_is_needed(folder: Path) -> None:
    flags = smoke(describe("flags"), folder, Watch()).adapter
    lines = set()
    for _ in range(2):
        found = search_programs(flags, folder, CI, seed=3)
        assert found is not None
        lines.add(format_trace(found.trace))
    assert len(lines) == 1
    assert "version" not in lines.pop()


def test_every_step_is_seen_and_what_is_known_is_not_found(folder: Path) -> None:
    flags = smoke(describe("flags"), folder, Watch()).adapter
    steps: list[Seen] = []

    def observe(session: Session, seen: Seen) -> None:
        steps.append(seen)

    few = profile(Effort.MUTATION)
    search_programs(flags, folder, few, seed=1, observe=observe, known=lambda *_: True)
    assert search_programs(flags, folder, few, seed=1, known=lambda *_: True) is None
    assert search_machine(flags, folder, few, seed=1, known=lambda *_: True) is None
    assert any(seen.problems for seen in steps)


def test_a_finding_says_how_to_replay_it_and_is_a_test_that_fails(
    folder: Path, tmp_path: Path
) -> None:
    planted = next(each for each in PLANTED if each.id == "second-cancel-writes")
    found = search_programs(adapter(planted.adapter, folder), folder, CI, seed=1)
    assert found is not None
    line = format_trace(found.trace)
    assert f"trace:  {line}" in str(found)
    assert re.search(r"replay: lawful replay \S+:NoopWrites '", str(found))
    program = str(found).partition("\n\n")[2]
    (tmp_path / "test_found.py").write_text(program)
    tests = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_found.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "1 failed" in done.stdout

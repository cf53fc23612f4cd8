"""What README.md says is so: its counts, its examples, and what its commands print."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from lawful.cli.main import main
from lawful.laws.catalogue import laws_of
from lawful.mutants.planted.catalogue import FAULTS
from lawful.spec import Oracle, cells, deep, packed, reachable, shipped_table
from lawful.strategies.adapter import describe_class
from lawful.sut import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def says(*pieces: str) -> None:
    """Assert that README says something, whatever its line breaks are."""
    text = " ".join(README.split())
    for piece in pieces:
        assert piece in text


def test_the_tables_have_the_cells_that_are_claimed() -> None:
    task, gate, review = map(shipped_table, ("task", "gate", "review"))
    assert (len(task.states), len(task.events), *task.count()) == (8, 7, 12, 2, 42)
    says("8 states x 7 events = 56 cells: 12 legal, 2 no-ops, 42 refused")
    assert (len(gate.states), len(gate.events), *gate.count()) == (5, 5, 7, 0, 18)
    says("5 x 5 = 7 legal + 0 + 18")
    assert (len(review.states), len(review.events), *review.count()) == (5, 4, 5, 0, 15)
    says("5 x 4 = 5 legal + 0 + 15")


def test_the_suites_have_the_sizes_that_are_claimed() -> None:
    oracle = Oracle(shipped_table("task"), {"max_attempts": 3})
    pairs = len(reachable(oracle))
    sizes = [
        f"{len(words):,} words of {sum(map(len, words)):,} steps"
        for words in (cells(oracle), packed(oracle), deep(oracle))
    ]
    assert (pairs, pairs * len(oracle.table.letters)) == (22, 176)
    says("22 pairs of state and attempts and 176 cells", *sizes)


def test_the_families_have_the_laws_that_are_claimed() -> None:
    counted = Counter(law.id.partition("/")[0] for law in laws_of(shipped_table("task")))
    rows = re.findall(r"^\| (\w+) \| (\d+)[ ,]", README, re.MULTILINE)
    claimed = {family: int(count) for family, count in rows if not family.isdigit()}
    assert claimed.pop("cell") == 56
    assert claimed == dict(counted)


@pytest.mark.slow
def test_the_grid_of_the_reference_is_what_check_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["check"]) == 0
    printed = {line.rstrip() for line in capsys.readouterr().out.splitlines()}
    (grid,) = [block for block in blocks("text") if "reference: lawful" in block]
    assert {line.rstrip() for line in grid.splitlines()} <= printed


@pytest.mark.slow
def test_the_last_lines_for_flags_are_what_check_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "flags", "--profile", "quick"]) == 1
    (claimed,) = [block for block in blocks("text") if "flags: unlawful" in block]
    assert capsys.readouterr().out.endswith(claimed)


@pytest.mark.slow
def test_the_last_lines_for_a_real_server_are_what_check_prints(
    server: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
    server("postgresql")
    says("lawful check postgresql --profile quick")
    assert main(["check", "postgresql", "--profile", "quick"]) == 0
    (claimed,) = [block for block in blocks("text") if "postgresql: lawful" in block]
    assert capsys.readouterr().out.endswith(claimed)


REPLAYED = [
    ("flags", "enqueue@client start@worker-1 cancel@client", "1 of 4 steps unlawful"),
    ("flags", "enqueue@client || start@worker-1 || start@worker-2 || A A | B B", "BEGIN IMMEDIATE"),
    ("naive", "SUBMIT || cancel@client || CRASH(3)", "<- CRASH"),
]


@pytest.mark.parametrize(("target", "line", "mark"), REPLAYED)
def test_a_replay_prints_what_stands_there(
    target: str, line: str, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    says(f"lawful replay {target} '{line}'")
    assert main(["replay", target, line]) == 1
    (claimed,) = [block for block in blocks("text") if mark in block]
    assert capsys.readouterr().out == claimed


def test_the_adapter_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = ModuleType("myqueue")
    queue.NotAllowed = type("NotAllowed", (Exception,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "myqueue", queue)
    (code,) = [block for block in blocks("python") if "class Adapter" in block]
    names: dict[str, object] = {"myqueue": queue, "__name__": "readme"}
    exec(code, names)
    factory = names["Adapter"]
    assert isinstance(factory, type)
    adapter = describe_class(factory, "readme")
    assert adapter.gaps == {"heartbeat": Unsupported("no leases")}
    assert adapter.states == {"done": "succeeded"}


def test_the_tests_of_ones_own_are_tests_and_pass(tmp_path: Path) -> None:
    (code,) = [block for block in blocks("python") if "LifecycleMachine" in block]
    (tmp_path / "test_readme_example.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1].startswith("2 passed"), done.stdout


def test_the_commands_that_ci_takes_from_here_are_there() -> None:
    for marker, command in (
        ("install-and-check", "python -m pip install . && lawful check"),
        ("install-and-test", 'python -m pip install -e ".[dev]" && python -m pytest'),
    ):
        assert f"<!-- {marker} -->\n```console\n{command}\n```\n" in README


def test_the_scores_of_the_table_are_what_mutate_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate"]) == 0
    printed = "\n".join(capsys.readouterr().out.splitlines()[1:13])
    assert printed + "\n" in blocks("text")


def test_the_scores_of_planted_faults_are_what_mutate_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    says(f"code: {len(FAULTS)} of them")
    (command,) = (
        line
        for block in blocks("console")
        for line in block.splitlines()
        if line.startswith("lawful mutate --engine planted")
    )
    assert main(command.split()[1:]) == 0
    printed = "\n".join(capsys.readouterr().out.splitlines()[1:3])
    assert printed + "\n" in blocks("text")

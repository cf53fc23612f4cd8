"""The pytest plugin, run as its users run it: pytest in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

ADAPTER = """
from lawful.sut.gate import {base} as Base

class Mine(Base):
    system = "lawful.sut.gate"
    {body}
"""


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", ".", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def write(folder: Path, base: str = "Gate", body: str = "pass") -> None:
    (folder / "mine.py").write_text(ADAPTER.format(base=base, body=body))


def outcomes(text: str) -> dict[str, int]:
    last = text.strip().splitlines()[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped)", last)}


def test_without_the_option_nothing_is_collected(tmp_path: Path) -> None:
    write(tmp_path)
    assert pytest_in(tmp_path).returncode == 5


def test_a_lawful_adapter_passes_a_test_for_each_check_and_one_for_the_verdict(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    done = pytest_in(tmp_path, "--lawful", "mine:Mine", "-v")
    assert done.returncode == 0, done.stdout
    # 25 cells, 26 laws and the verdict.
    assert outcomes(done.stdout) == {"passed": 52}
    assert "lawful::mine:Mine::cell/pending/running PASSED" in done.stdout
    assert "lawful::mine:Mine::verdict PASSED" in done.stdout
    assert "25 of 25 cells pass" in done.stdout


def test_a_broken_cell_fails_with_its_trace_and_no_traceback_of_ours(tmp_path: Path) -> None:
    write(tmp_path, base="GateWords")
    done = pytest_in(tmp_path, "--lawful", "mine:Mine", "-k", "pending/done")
    assert done.returncode == 1
    assert outcomes(done.stdout) == {"failed": 1}
    assert "replay:   lawful replay mine:Mine done@client" in done.stdout
    assert "Traceback" not in done.stdout
    assert "plugin.py" not in done.stdout


def test_two_workers_find_the_same_as_one(tmp_path: Path) -> None:
    write(tmp_path, base="GateWords")
    alone = pytest_in(tmp_path, "--lawful", "mine:Mine", "-rf")
    both = pytest_in(tmp_path, "--lawful", "mine:Mine", "-rf", "-n", "2")
    failed = re.compile(r"^FAILED (\S+)", re.MULTILINE)
    assert outcomes(alone.stdout) == outcomes(both.stdout)
    assert sorted(failed.findall(alone.stdout)) == sorted(failed.findall(both.stdout))
    assert "lawful: mine:Mine" in both.stdout
    assert "7 of 25 cells pass" in both.stdout


def test_the_ini_option_asks_as_well(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\nlawful = ["mine:Mine"]\n')
    done = pytest_in(tmp_path, "-q")
    assert done.returncode == 0, done.stdout
    assert outcomes(done.stdout) == {"passed": 52}


def test_a_gap_is_skipped_with_its_reason(tmp_path: Path) -> None:
    body = (
        'gaps = {"restart": __import__("lawful.sut", fromlist=["x"]).Unsupported("in memory only")}'
    )
    write(tmp_path, body=body)
    done = pytest_in(tmp_path, "--lawful", "mine:Mine", "-rs")
    assert done.returncode == 0, done.stdout
    assert "UNSUPPORTED: restart: in memory only" in done.stdout


def test_an_incomplete_run_fails_the_verdict_alone(tmp_path: Path) -> None:
    body = "history = property()"
    (tmp_path / "mine.py").write_text(
        "from lawful.sut.gate import Gate\n"
        "class Mine(Gate):\n"
        "    system = 'lawful.sut.gate'\n"
        "    history = None\n"
    )
    assert body
    done = pytest_in(tmp_path, "--lawful", "mine:Mine", "-rf")
    assert done.returncode == 1
    assert re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE) == ["lawful::mine:Mine::verdict"]
    assert "'history' is neither offered nor declared" in done.stdout


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("mine:Nobody", "mine has no class 'Nobody'"),
        ("nowhere:Mine", "there is no module 'nowhere'"),
        ("referense", "did you mean 'reference'?"),
        ("mine:Mine", "read gave None; a Reading(state, ...) is expected"),
    ],
)
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_target_that_cannot_be_judged_is_wrong_usage(
    tmp_path: Path, target: str, says: str, workers: tuple[str, ...]
) -> None:
    write(tmp_path, body="def read(self, task): return None")
    done = pytest_in(tmp_path, "--lawful", target, *workers)
    assert done.returncode == 4
    assert says in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout
    assert "INTERNALERROR" not in done.stderr + done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_walk_is_split_into_slices_and_its_coverage_merged(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    write(tmp_path)
    walk = ("--lawful", "mine:Mine", "--lawful-walk", "3000", "-k", "walk", *workers)
    done = pytest_in(tmp_path, *walk)
    assert done.returncode == 0, done.stdout
    # Slices have a thousand steps at least.
    assert outcomes(done.stdout) == {"passed": 3}
    assert "at 25 of 25 positions x letters" in done.stdout


def test_a_slice_that_finds_something_fails_with_the_shortest_trace(tmp_path: Path) -> None:
    write(tmp_path, base="GateWords")
    done = pytest_in(tmp_path, "--lawful", "mine:Mine", "--lawful-walk", "1000", "-k", "walk")
    assert done.returncode == 1
    assert outcomes(done.stdout) == {"failed": 1}
    trace = re.findall(r"^trace:    (.*)$", done.stdout, re.MULTILINE)
    assert {len(line.split()) for line in trace} == {1}
    assert "Traceback" not in done.stdout


def test_a_walk_of_no_steps_is_wrong_usage(tmp_path: Path) -> None:
    write(tmp_path)
    done = pytest_in(tmp_path, "--lawful", "mine:Mine", "--lawful-walk", "0")
    assert done.returncode == 4
    assert "a positive number of steps is expected" in done.stderr

"""``lawful replay`` of an accident: what was hit, what is stored, and what was done then."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from lawful.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

STARTED = "SUBMIT || running@client"


def replay(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Replay a line; return the exit code, and what was written."""
    code = main(["replay", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_lawful_crash_is_told_statement_by_statement(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(capsys, "gate", f"{STARTED} || CRASH(3)") == (
        0,
        """\
  1  BEGIN IMMEDIATE
  2  SELECT version, status FROM tasks WHERE id = 'task-1'
  3  UPDATE tasks SET version = 1, status = 'running' WHERE id = 'task-1' AND version = 0   <- CRASH
  4  INSERT INTO history (task, version, event, before, after, actor, payload) VALUES \
('task-1', 1, 'running', 'pending', 'running', 'client', '{}')
  5  COMMIT
  6  (its end)
     found pending, whole
lawful
""",
        "",
    )


def test_a_crash_at_its_end_finds_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = replay(capsys, "gate", f"{STARTED} || CRASH(6)")
    assert code == 0
    assert out.splitlines()[-3:] == [
        "  6  (its end)   <- CRASH",
        "     found running, whole",
        "lawful",
    ]


def test_what_is_done_afterwards_is_judged_step_by_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = f"{STARTED} || LOST(5) || running@client done@client REOPEN"
    code, out, _ = replay(capsys, "gate", line)
    assert code == 0
    marked, told = [each for each in out.splitlines() if "<-" in each], out.splitlines()
    assert marked == ["  5  COMMIT   <- LOST"]
    assert "     found running, whole" in told
    steps = told[told.index("     found running, whole") + 1 :]
    assert steps[0] == "  1  running@client"
    assert steps[1].startswith("     refused (")
    assert steps[2:4] == ["  2  done@client", "     accepted -> done"]
    assert steps[-1] == "lawful"


def test_a_half_write_is_unlawful_and_ends_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = replay(capsys, "naive", "SUBMIT || cancel@client || CRASH(3)")
    assert code == 1
    assert out.endswith(
        """\
  4  (its end)
expected  submitted at version 0, history of 1 or cancelled at version 1, history of 2
got       cancelled at version 1, history of 1
UNLAWFUL
"""
    )


def test_json_is_json_alone_and_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = replay(capsys, "naive", "SUBMIT || cancel || CRASH(3)", "--json")
    assert (code, err) == (1, "")
    row = json.loads(out)
    assert [text.split()[0] for text in row.pop("statements")] == ["SELECT", "UPDATE", "INSERT"]
    assert row == {
        "line": "SUBMIT || cancel@client || CRASH(3)",
        "lawful": False,
        "expected": (
            "submitted at version 0, history of 1 or cancelled at version 1, history of 2"
        ),
        "got": "cancelled at version 1, history of 1",
        "steps": [],
    }
    code, out, _ = replay(capsys, "gate", f"{STARTED} || INTERRUPT(5) || running", "--json")
    row = json.loads(out)
    assert (code, row["lawful"], row["expected"], row["got"]) == (0, True, "", "")
    (step,) = row["steps"]
    assert (step["step"], step["lawful"], step["fault"]) == ("running@client", True, "")
    (task,) = step["tasks"]
    assert (task["claim"], task["state"], task["problems"]) == ("accepted", "running", [])


FORGETS = """
import sqlite3

from lawful.sut.gate import Gate

class Mine(Gate):
    system = "lawful.sut.gate"
    failed = False

    def fire(self, task, event, **call):
        if self.failed:
            return None
        try:
            return super().fire(task, event, **call)
        except sqlite3.OperationalError:
            self.failed = True
            raise

class Hangs(Gate):
    system = "lawful.sut.gate"

    def fire(self, task, event, **call):
        import threading
        if threading.current_thread() is threading.main_thread():
            return super().fire(task, event, **call)
        threading.Event().wait()

class Interrupts(Gate):
    system = "lawful.sut.gate"

    def fire(self, task, event, **call):
        import os, signal, threading
        if threading.current_thread() is not threading.main_thread():
            os.kill(os.getpid(), signal.SIGINT)
        return super().fire(task, event, **call)
"""


def own(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Replay a line on an adapter of somebody's own, in a process of its own."""
    (folder / "mine.py").write_text(FORGETS)
    command = [sys.executable, "-m", "lawful.cli.main", "replay", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_step_that_is_unlawful_afterwards_ends_in_one(tmp_path: Path) -> None:
    done = own(tmp_path, "mine:Mine", f"{STARTED} || INTERRUPT(3) || running@client")
    assert done.returncode == 1, done.stderr
    told = done.stdout.splitlines()
    assert "     found pending, whole" in told
    assert any(
        line.startswith("     UNLAWFUL state: expected running; got pending") for line in told
    )
    assert told[-1] == "UNLAWFUL"


def test_a_call_that_hangs_ends_in_two_within_its_limit(tmp_path: Path) -> None:
    done = own(tmp_path, "mine:Hangs", f"{STARTED} || CRASH(1)", "--limit", "0.2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "lawful: the accident came to no end: worker A came to no next step within 0.2 s\n"
    )


def test_an_interrupted_accident_leaves_no_traceback(tmp_path: Path) -> None:
    # The adapter interrupts its own process, on the worker's thread: no timing is involved.
    done = own(tmp_path, "mine:Interrupts", f"{STARTED} || LOST(5)")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip().startswith("lawful: interrupted")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("gate", f"{STARTED} || CRASH(7)"), "CRASH(7): there are 5 statements"),
        (("gate", f"{STARTED} || INTERRUPT(6)"), "INTERRUPT(6): there are 5 statements"),
        (("gate", f"{STARTED} || CRASH(1) CRASH(99)"), "CRASH(99): there are"),
        (("gate", f"{STARTED} || CRASH(0)"), "'CRASH(0)': expected CRASH(N), CRASH(N) CRASH(N)"),
        (("gate", f"{STARTED} || CRASH(1) LOST(1)"), "N counted from 1"),
        (("gate", f"{STARTED} || BOOM(1)"), "'BOOM(1)': no such event"),
        (("gate", f"{STARTED} || CRASH(1) || SUBMIT"), "done to tasks that are there"),
        (("gate", "SUBMIT || READ || CRASH(1)"), "what is hit is one event"),
        (("gate", "SUBMIT || REAP || CRASH(1)"), "gate has no leases"),
        (("gate", f"{STARTED} || CRASH(1) || " + "READ " * 14_000), "at most 65536 are read"),
        (("gate", f"{STARTED} || CRASH(1)", "--python"), "schedules and crashes are no trace"),
        (("gate", f"{STARTED} || CRASH(1)", "--limit", "0"), "a positive number of seconds"),
        (("gate", f"{STARTED} || CRASH(1)", "--limit", "nan"), "a positive number of seconds"),
        (("gate", f"{STARTED} || CRASH(1)", "--limit", "inf"), "a positive number of seconds"),
        (("gate", "running", "--limit", "-1"), "a positive number of seconds"),
        (("flags", "enqueue start@w cancel || succeed@w || CRASH(1)"), "came to no end"),
    ],
)
def test_what_can_not_be_staged_ends_in_two_and_one_line(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = replay(capsys, *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1

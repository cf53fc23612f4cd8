"""A process of our own: what it says, how it ends, and that it never outlives us."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

import children
from lawful.strategies.child import Child, Gone


def gone(pid: int) -> int | None:
    """Return what tells that a process is gone; None if it is."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def state(pid: int) -> str:
    """Return a process's state, in a letter, as the system shows it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_it_is_told_words_and_says_words() -> None:
    with Child(children.echo, "hello") as child:
        assert child.hear() == "hello"
        child.tell({"a": (1, 2)})
        assert child.hear() == {"a": (1, 2)}


def test_what_it_said_before_it_was_killed_is_heard() -> None:
    with Child(children.die) as child:
        assert child.words() == [1, 2]


def test_one_that_ends_says_with_which_code() -> None:
    with Child(children.leave, 7) as child:
        assert child.hear() == "bye"
        with pytest.raises(Gone, match="ended with code 7"):
            child.hear()


def test_one_that_says_nothing_is_waited_for_no_longer_than_told() -> None:
    with Child(children.silent, limit=0.05) as child, pytest.raises(Gone, match=r"for 0\.05 s"):
        child.hear()


def test_one_that_does_not_go_is_waited_for_no_longer_than_told() -> None:
    with Child(children.silent, limit=0.05) as child, pytest.raises(Gone, match="still there"):
        child.words()


def test_a_frozen_one_answers_when_it_is_woken() -> None:
    with Child(children.echo, "hello") as child:
        child.hear()
        child.freeze()
        child.tell("are you there")
        for _ in range(100_000):  # a signal is taken when the system comes to it
            if state(child.pid) == "T":
                break
        assert state(child.pid) == "T"
        child.wake()
        assert child.hear() == "are you there"


def test_one_is_gone_at_the_end_though_it_is_frozen_or_an_error_was_raised() -> None:
    child = Child(children.echo, "hello")
    child.hear()
    pid = child.pid
    child.freeze()
    with pytest.raises(ZeroDivisionError), child:
        raise ZeroDivisionError
    assert gone(pid) is None


def test_nothing_is_left_open() -> None:
    counts = []
    for _ in range(2):  # the server has pipes of its own, which are opened once
        with Child(children.echo, "hello") as child:
            child.hear()
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("by", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_frozen_one_dies_with_its_parent_whatever_that_dies_of(by: str) -> None:
    command = [sys.executable, children.__file__, by]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        told = gone(int(parent.stdout.readline()))
        assert told is not None
        assert parent.stdin is not None
        parent.stdin.write("now\n")
        parent.stdin.flush()
        parent.wait()
    ready, _, _ = select.select([told], [], [], 30)
    os.close(told)
    assert ready

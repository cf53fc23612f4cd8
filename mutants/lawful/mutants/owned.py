"""Processes of our own: each with a group, gone when whoever has begun it is done with it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

__all__ = ["end", "end_all", "ended", "owned", "talk"]

T = TypeVar("T")

_RUNNING: Final[set[subprocess.Popen[str]]] = set()
"""What this process has begun and not waited for: the numbers of such are nobody else's."""
_LOCK: Final = threading.Lock()


@contextmanager
def owned(
    command: Sequence[str], folder: Path, errors: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """Begin a process, and kill it and whatever it has begun at the end.

    Args:
        command: The command.
        folder: The folder that it is in.
        errors: The file that takes what it says on stderr.
        environment: What its environment has besides ours.
    """
    with errors.open("w", encoding="utf-8") as trail:
        process = subprocess.Popen(  # noqa: S603 - a command of our own
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=trail,
            text=True,
            cwd=folder,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    with _LOCK:
        _RUNNING.add(process)
    try:
        yield process
    finally:
        with _LOCK:
            _RUNNING.discard(process)
            _kill(process)  # and whatever it has left behind: its number is its own until here
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def talk(process: subprocess.Popen[str], sent: str, limit: float) -> tuple[str, bool]:
    """Send a process all that it is to hear, and wait until it has ended.

    Args:
        process: A process that is owned.
        sent: What it is to hear.
        limit: How long it may take, in seconds; then it is killed.

    Returns:
        What it has said, and whether it was killed at the limit.
    """
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(limit, end)
    timer.start()
    try:
        assert process.stdin and process.stdout  # noqa: S101, PT018 - pipes were asked for
        with suppress(BrokenPipeError):
            process.stdin.write(sent)
            process.stdin.close()
        said = process.stdout.read()
        ended(process)
        return said, late.is_set()
    finally:
        timer.cancel()
        timer.join()


def ended(process: subprocess.Popen[str]) -> int:
    """Wait until a process has ended, and return its code; its number stays its own."""
    found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    if found is None:
        return 0
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def end_all() -> None:
    """Kill every process that is owned; whoever waits for one goes on."""
    with _LOCK:
        for process in _RUNNING:
            _kill(process)


def end(futures: Iterable[Future[T]]) -> None:
    """Cancel what nobody waits for any more, and kill every process until the rest has ended."""
    left = {future for future in futures if not future.cancel()}
    while left:
        end_all()
        _, left = wait(left, timeout=0.1)


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)

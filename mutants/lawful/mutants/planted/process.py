"""A trial's process: begun, waited for, and ended with everything that it has begun itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from lawful.strategies.stores import store_folder

__all__ = ["end_all", "tried"]

_RUNNING: Final[set[subprocess.Popen[str]]] = set()
"""What this process has begun and not waited for: the numbers of such are nobody else's."""
_LOCK: Final = threading.Lock()


def tried(
    request: str, limit: float, store: str | None = None, environment: dict[str, str] | None = None
) -> str:
    """Run one trial in a process of its own, and wait for its answer.

    Everything it takes and gives is plain, so that any executor can be asked to do it.

    Args:
        request: What the trial reads, but for its folder: an object in JSON.
        limit: How long it may take, in seconds.
        store: Where stores are made; in memory by default, where that can be.
        environment: What its environment has besides.

    Returns:
        Its answer, an object in JSON: ``checks``, or ``error``, or ``ended`` for a process that
        has given no answer, or ``late`` for one that was ended at the limit; and ``seconds``.
    """
    began = time.perf_counter()
    answer = _answered(request, limit, store, environment or {})
    return json.dumps({**answer, "seconds": time.perf_counter() - began})


def _answered(
    request: str, limit: float, store: str | None, environment: dict[str, str]
) -> dict[str, object]:
    with store_folder(Path(store) if store else None) as folder:
        stores, errors = folder / "stores", folder / "errors"
        stores.mkdir()
        sent = json.dumps({**json.loads(request), "folder": str(stores)})
        with errors.open("w", encoding="utf-8") as trail:
            process = subprocess.Popen(
                [sys.executable, "-m", "lawful.mutants.planted.trial"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=trail,
                text=True,
                env={**os.environ, **environment},
                cwd=folder,
                start_new_session=True,
            )
            said, late = _talk(process, sent, limit)
        if late:
            return {"late": limit}
        with suppress(ValueError):
            if isinstance(answer := json.loads(said), dict):
                return answer
        last = errors.read_text("utf-8", "replace").strip().rpartition("\n")[2]
        return {"ended": process.returncode, "said": last}


def end_all() -> None:
    """Kill every trial that this process has begun; whoever waits for one goes on."""
    with _LOCK:
        for process in _RUNNING:
            _kill(process)


def _talk(process: subprocess.Popen[str], sent: str, limit: float) -> tuple[str, bool]:
    """Send a request and wait until its process has ended; return its answer, and if it is late."""
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(limit, end)
    timer.start()
    with _LOCK:
        _RUNNING.add(process)
    try:
        assert process.stdin and process.stdout  # noqa: S101, PT018 - pipes were asked for
        with suppress(BrokenPipeError):
            process.stdin.write(sent + "\n")
            process.stdin.flush()
        said = process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return said, late.is_set()
    finally:
        timer.cancel()
        timer.join()
        with _LOCK:
            _RUNNING.discard(process)
            _kill(process)  # and whatever it has left behind: its number is its own until here
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)

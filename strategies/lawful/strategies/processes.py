"""An executor of processes in which a killed worker costs nobody else's work.

``ProcessPoolExecutor`` gives up all that it has in hand when one of its workers is killed. Here
each worker is a pool of its own, and is replaced when it is gone.
"""

from __future__ import annotations

import multiprocessing
import signal
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from multiprocessing.process import BaseProcess
    from typing import Any

__all__ = ["Processes"]

P = ParamSpec("P")
Result = TypeVar("Result")


class Processes(Executor):
    """Some worker processes, each begun when it is needed.

    They are spawned, not forked: a worker shares nothing with the process that began it. Ctrl-C is
    the parent's affair alone.

    Args:
        workers: How many; at least 1.
    """

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"{workers} workers: at least one is needed")
        self._workers = [_Worker() for _ in range(workers)]

    def submit(
        self, fn: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[Result]:
        """Give a call to the worker that has least to do."""
        worker = min(self._workers, key=lambda each: each.under_way)
        return worker.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers.

        Args:
            wait: Whether to return only when they are gone.
            cancel_futures: Whether to kill those that have something to do.
        """
        for worker in self._workers:
            if cancel_futures:
                worker.kill()
        for worker in self._workers:
            worker.end(wait=wait)


class _Worker:
    """One process, and the next one when it is gone."""

    def __init__(self) -> None:
        self._pool = _pool()
        self._processes: set[BaseProcess] = set()
        self._futures: set[Future[Any]] = set()  # whatever was asked for

    @property
    def under_way(self) -> int:
        """How many calls it has in hand."""
        self._futures = {future for future in self._futures if not future.done()}
        return len(self._futures)

    def submit(
        self, fn: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[Result]:
        before = set(multiprocessing.active_children())
        try:
            future = self._pool.submit(fn, *args, **kwargs)
        except BrokenProcessPool:
            self.end(wait=True)
            self._pool = _pool()
            future = self._pool.submit(fn, *args, **kwargs)
        # A pool begins its process when something is submitted, and keeps it to itself.
        self._processes |= set(multiprocessing.active_children()) - before
        self._futures.add(future)
        return future

    def kill(self) -> None:
        """Kill the process if it has something to do."""
        if self.under_way:
            for process in self._processes:
                process.kill()

    def end(self, *, wait: bool) -> None:
        self._pool.shutdown(wait=wait, cancel_futures=True)
        self._processes.clear()


def _pool() -> ProcessPoolExecutor:
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=spawn, initializer=_deaf)


def _deaf() -> None:
    """Leave Ctrl-C, which a terminal sends to all of its processes, to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

"""Workers of which one runs at a time: each on a thread of its own, parked before every step.

Whoever runs goes on until it parks before its next step, waits for another (the store says so), or
is done; then the hub decides who goes on. So a schedule is a sequence of names, nothing depends on
time, and whatever is opened meanwhile was opened by the worker that runs.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Arbiter", "Deadlock", "Hub", "Stuck", "Taken"]

LIMIT: Final = 20.0
"""How long a worker may take from one step to the next, in seconds."""


class Standing(StrEnum):
    """Where a worker is."""

    IDLE = "idle"
    RUNNING = "running"
    PARKED = "parked"
    WAITING = "waiting"


class Taken(NamedTuple):
    """One step that was taken.

    Attributes:
        worker: Who took it.
        text: What it is, in words.
        chosen: Whether the worker was parked before it; a step that nobody else can see goes by
            itself.
    """

    worker: str
    text: str
    chosen: bool = True


class Deadlock(Exception):
    """Nobody can go on.

    Attributes:
        waiting: Each worker that waits, and for which step.
    """

    def __init__(self, waiting: Sequence[Taken]) -> None:
        self.waiting = tuple(waiting)
        told = "; ".join(f"{step.worker} waits at {step.text}" for step in waiting)
        super().__init__(f"deadlock: {told}")


class Stuck(Exception):
    """A worker has come to no next step in time.

    Attributes:
        worker: Which.
        waiting: Who waits for whom, in words; empty where nobody is known to wait.
    """

    def __init__(self, worker: str, text: str, limit: float, waiting: str = "") -> None:
        self.worker = worker
        self.waiting = waiting
        at = f" after {text}" if text else ""
        told = f" ({waiting})" if waiting else ""
        super().__init__(f"worker {worker} came to no next step within {limit:g} s{at}{told}")


class Arbiter(Protocol):
    """A store that lets workers wait, and go on, by itself: a server.

    With others (SQLite) a worker that waits tries again when it is chosen, and none is needed.
    """

    def settle(self, *, stalled: bool) -> str | None:
        """Name a worker that waited and has been let go on. Asked between steps, until none is.

        Args:
            stalled: Nobody else can go on, so it is worth waiting for.

        Raises:
            Stuck: Nobody has been let go on in time.
        """
        ...

    def abandon(self) -> None:
        """Fail all that workers have under way: the schedule has ended before they have."""
        ...


@dataclass(slots=True)
class _Worker:
    name: str
    jobs: SimpleQueue[Callable[[], None] | None] = field(default_factory=SimpleQueue)
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    standing: Standing = Standing.IDLE
    text: str = ""
    ready: Callable[[], bool] = lambda: True
    thread: threading.Thread | None = None


class Hub:
    """Workers, and who of them runs.

    Args:
        names: The workers' names.
        limit: How long a worker may take from one step to the next, in seconds.

    Attributes:
        limit: The same limit, for whoever waits on behalf of a worker.
        running: The worker that runs; None between steps.
        scheduled: Whether steps are parked at: while a schedule runs, and at no other time.
        ordered: Whether choices alone have decided the last schedule. From where two workers wait
            in a server at once, or it ends a deadlock, it is the server that decides, and nobody is
            asked any more.
        arbiter: The store, if it lets workers wait by itself.
    """

    def __init__(self, names: Sequence[str], limit: float = LIMIT) -> None:
        self.limit = limit
        self.running: str | None = None
        self.scheduled = False
        self.ordered = True
        self.arbiter: Arbiter | None = None
        self._back = threading.Semaphore(0)
        self._owed = False  # a worker was let run, and its coming back was not taken in
        self._failure: BaseException | None = None
        self._taken: list[Taken] = []
        self._workers = {name: _Worker(name) for name in names}
        for worker in self._workers.values():
            worker.thread = threading.Thread(
                target=self._work, args=(worker,), name=f"worker-{worker.name}", daemon=True
            )
            worker.thread.start()

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()
        for worker in self._workers.values():
            worker.jobs.put(None)
        for worker in self._workers.values():
            if worker.thread is not None and worker.standing is not Standing.RUNNING:
                worker.thread.join(self.limit)

    # -- what the hub does -----------------------------------------------------------------------

    def call(self, name: str, job: Callable[[], Any]) -> Any:  # what the job returns
        """Do a job on a worker's thread, all at once: nobody else runs meanwhile.

        Raises:
            Stuck: It does not return in time.
        """
        (result,) = self._results({name: job}, lambda able, _: able[0]).values()
        return result

    def run(
        self,
        jobs: Mapping[str, Callable[[], Any]],
        choose: Callable[[Sequence[str], str | None], str],
    ) -> list[Taken]:
        """Do a job on each worker's thread, step by step, and return the steps as they were taken.

        Args:
            jobs: What each worker does.
            choose: Says who goes on, of those that can; told who made the last step, if it can.
                It is asked as long as the schedule is ``ordered``.

        Raises:
            Deadlock: All that are left wait for each other.
            Stuck: A worker came to no next step in time.
        """
        taken: list[Taken] = []
        self._taken = taken
        self.scheduled = self.ordered = True
        try:
            self._results(jobs, choose)
        finally:
            self._let_go()
        return taken

    def _results(
        self,
        jobs: Mapping[str, Callable[[], Any]],
        choose: Callable[[Sequence[str], str | None], str],
    ) -> dict[str, Any]:
        if self._owed and self.running is not None:  # Ctrl-C came between
            self._return(self._workers[self.running])
        results: dict[str, Any] = {}
        errors: dict[str, BaseException] = {}
        for name, job in jobs.items():
            self._begin(self._workers[name], job, results, errors)
        turn: str | None = None
        while able := self._able(jobs):
            turn = turn if turn in able else None
            turn = choose(able, turn) if self.ordered else turn or able[0]
            worker = self._workers[turn]
            self._taken.append(Taken(turn, worker.text))
            self._resume(worker)
        self._check()
        left = [self._workers[name] for name in jobs]
        waiting = [Taken(w.name, w.text) for w in left if w.standing is not Standing.IDLE]
        if waiting:
            raise Deadlock(waiting)
        for error in errors.values():
            raise error
        return {name: results[name] for name in jobs}

    def _able(self, names: Mapping[str, object]) -> list[str]:
        workers = [self._workers[name] for name in names]
        if self.scheduled and self.arbiter is not None:
            self._settle(workers, self.arbiter)
        return [w.name for w in workers if w.standing is Standing.PARKED and w.ready()]

    def _settle(self, workers: Sequence[_Worker], arbiter: Arbiter) -> None:
        """Have those go on that the store has let go: what others can see is still to come."""
        freed: str | None = ""
        while freed is not None:
            standings = [worker.standing for worker in workers]
            waiting = standings.count(Standing.WAITING)
            self.ordered = self.ordered and waiting < 2
            freed = arbiter.settle(stalled=waiting > 0 and Standing.PARKED not in standings)
            if freed is not None:
                self._resume(self._workers[freed])

    def _begin(
        self,
        worker: _Worker,
        job: Callable[[], Any],
        results: dict[str, Any],
        errors: dict[str, BaseException],
    ) -> None:
        """Have a worker begin, as far as its first step."""

        def done() -> None:
            try:
                results[worker.name] = job()
            except BaseException as error:
                errors[worker.name] = error
            finally:
                self._end(worker)

        self.running, worker.standing, worker.text = worker.name, Standing.RUNNING, ""
        self._owed = True
        worker.jobs.put(done)
        self._return(worker)

    def _end(self, worker: _Worker) -> None:
        """Take in that a worker's job has ended. Called by that worker."""
        stopped = worker.standing in (Standing.PARKED, Standing.WAITING)
        worker.standing, worker.text = Standing.IDLE, ""
        if stopped:  # another thread of its has stopped for it, and the hub was told then
            self.fail(RuntimeError(f"worker {worker.name} has ended in the midst of a step"))
            worker.go.release()
        else:
            self._back.release()

    def _resume(self, worker: _Worker) -> None:
        self.running, worker.standing = worker.name, Standing.RUNNING
        self._owed = True
        worker.go.release()
        self._return(worker)

    def _return(self, worker: _Worker) -> None:
        """Wait until a worker parks, waits or is done."""
        back = self._back.acquire(timeout=self.limit)
        self._owed = False
        if not back:
            raise Stuck(worker.name, worker.text, self.limit)
        self.running = None
        self._check()

    def _check(self) -> None:
        """Raise the error of whoever watches the steps, if there was one."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _let_go(self) -> None:
        """End the schedule: whoever is parked goes on by itself, to its end."""
        self.scheduled = False
        abandoned = self.arbiter is not None and self._under_way()
        if self.arbiter is not None and abandoned:
            self.arbiter.abandon()
        if self.running is not None and (abandoned or self._owed):
            with suppress(Stuck):
                self._return(self._workers[self.running])
        failed: BaseException | None = None
        for worker in self._workers.values():
            while worker.standing in (Standing.PARKED, Standing.WAITING):
                try:
                    self._resume(worker)
                except Stuck:
                    break
                except BaseException as error:  # nobody must be left parked
                    failed = failed or error
        if failed is not None:
            raise failed

    def _under_way(self) -> bool:
        return any(worker.standing is not Standing.IDLE for worker in self._workers.values())

    # -- what workers do -------------------------------------------------------------------------

    def _work(self, worker: _Worker) -> None:
        while (job := worker.jobs.get()) is not None:
            job()

    def park(self, name: str, text: str, ready: Callable[[], bool] = lambda: True) -> None:
        """Stop before a step until it is this worker's turn. Called by whoever runs.

        Args:
            name: The worker.
            text: What the step is, in words.
            ready: Whether it could go on now, asked whenever somebody is chosen.
        """
        self._stop(name, Standing.PARKED, text, ready)

    def pass_by(self, name: str, text: str) -> None:
        """Take in a step that nobody else can see: it is told, and no choice."""
        self._taken.append(Taken(name, text, chosen=False))

    def wait(self, name: str) -> bool:
        """Stop where the store would have a worker sleep; say whether to try again."""
        if not self.scheduled:
            return False
        worker = self._workers[name]
        self._stop(name, Standing.WAITING, worker.text, worker.ready)
        return self.scheduled

    def wake(self) -> None:
        """Let all that wait try again: somebody let go of something."""
        for worker in self._workers.values():
            if worker.standing is Standing.WAITING:
                worker.standing = Standing.PARKED

    def disorder(self) -> None:
        """Take in that the store has chosen something that no schedule decides."""
        self.ordered = False

    def fail(self, error: BaseException) -> None:
        """Take in an error of whoever watches the steps: it must not be swallowed."""
        self._failure = self._failure or error

    def _stop(self, name: str, standing: Standing, text: str, ready: Callable[[], bool]) -> None:
        worker = self._workers[name]
        if not self.scheduled:
            return
        if worker.standing is not Standing.RUNNING:
            self.fail(RuntimeError(f"two threads of worker {name} are in the store at once"))
            return
        worker.standing, worker.text, worker.ready = standing, text, ready
        self._back.release()
        worker.go.acquire()

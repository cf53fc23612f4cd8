"""Trials, some at a time: handed to an executor, waited for, and ended when nobody wants them."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Final, Self, TypeAlias, TypeVar

from lawful.mutants.owned import end
from lawful.strategies.servers import KINDS, ServerMissing, server_url

from .answers import read_answer, write_request
from .process import tried

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from .answers import Answer, Request

__all__ = ["Course", "Trials"]

T = TypeVar("T")

Course: TypeAlias = "Generator[Request, Answer, T]"
"""What is asked, one request after the other, each after the answer to the one before."""

SERVERS: Final = {"postgresql": "postgresql", "redis": "redis", "redis-lua": "redis"}
"""The kind of server that a shipped store needs, where it needs one."""


class Trials:
    """Runs trials, each in a process of its own.

    Args:
        workers: How many run at once.
        limit: How long one call of a store may take, in seconds.
        patience: How long one trial may take, in seconds.
        store: Where stores are made; a memory-backed folder by default.
        executor: What they are handed to, in place of this process's own threads. It may be on
            other machines: there each trial finds or starts a server of its own.
    """

    def __init__(
        self,
        *,
        workers: int,
        limit: float,
        patience: float,
        store: Path | None,
        executor: Executor | None,
    ) -> None:
        self._workers = workers
        self._limit = limit
        self._patience = patience
        self._store = None if store is None else str(store.absolute())
        self._given = executor
        self._executor: Executor
        self._running: dict[Future[str], Course[object]] = {}
        self._missing: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._executor = self._given or ThreadPoolExecutor(self._workers, "lawful-trial")
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()
        if self._given is None:
            self._executor.shutdown()

    def missing(self, store: str) -> str:
        """Say why a store can't be judged here; empty if it can.

        Raises:
            ServerMissing: It has no server, and the environment says that it must have one.
        """
        kind = SERVERS.get(store, "")
        if kind and kind not in self._missing:
            self._missing[kind] = ""
            try:
                server_url(kind)
            except ServerMissing as missing:
                if os.environ.get("LAWFUL_REQUIRE_SERVERS") == "1":
                    raise
                self._missing[kind] = f"no server: {missing}"
        return self._missing.get(kind, "")

    def needs_server(self, store: str) -> bool:
        """Say whether a store is on a server."""
        return store in SERVERS

    def run(self, courses: Iterable[Course[T]]) -> Iterator[T]:
        """Run courses side by side, and yield what each comes to, in the order of their ends.

        What must run alone does so when all others have come to their ends.
        """
        alone: deque[tuple[Course[T], Request]] = deque()
        try:
            for course in courses:
                yield from self._go_on(course, None, alone)
            while self._running or alone:
                if not self._running:
                    course, request = alone.popleft()
                    self._submit(course, request)
                done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                for future in done:
                    waiting: Course[T] = self._running.pop(future)  # type: ignore[assignment]
                    yield from self._go_on(waiting, read_answer(future.result()), alone)
        finally:
            self._stop()

    def _go_on(
        self, course: Course[T], answer: Answer | None, alone: deque[tuple[Course[T], Request]]
    ) -> Iterator[T]:
        try:
            request = next(course) if answer is None else course.send(answer)
        except StopIteration as end:
            yield end.value
            return
        if request.alone:
            alone.append((course, request))
        else:
            self._submit(course, request)

    def _submit(self, course: Course[T], request: Request) -> None:
        text = write_request(request, self._limit)
        environment = self._environment(request.store)
        future = self._executor.submit(tried, text, self._patience, self._store, environment)
        self._running[future] = course

    def _environment(self, store: str) -> dict[str, str]:
        """Return where a store's server is: trials in this process's own threads share one."""
        kind = SERVERS.get(store, "")
        return {KINDS[kind].variable: server_url(kind)} if kind and self._given is None else {}

    def _stop(self) -> None:
        """End what nobody will wait for any more."""
        running = list(self._running)
        self._running.clear()
        if self._given is None:
            end(running)
        for future in running:
            future.cancel()

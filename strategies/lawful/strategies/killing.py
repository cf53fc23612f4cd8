"""Workers in processes of their own that are really killed, or frozen and woken later."""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import child
from .aftermath import stored
from .calls import called, known
from .child import Child, Gone
from .clock import ManualClock, MappedClock
from .driver import Driver, Fault
from .servers import KINDS, server_url
from .session import Session
from .severed import crash_site
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from .accidents import Hit
    from .adapter import Adapter
    from .aftermath import Found
    from .calls import Came, Done
    from .crashes import Last
    from .trace import Op
    from .tracked import Tracked

__all__ = ["Worker", "killed", "unfit"]


def unfit(adapter: Adapter) -> str:
    """Say why no process of its own can work for an implementation; empty if one can."""
    if reason := child.unfit():
        return reason
    try:
        pickle.dumps(adapter)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        return f"its adapter can't be sent to another process: {error}"
    return ""


def killed(
    adapter: Adapter, folder: Path, before: Sequence[Op], call: Hit, at: int
) -> Found | None:
    """Have a process make a call and be killed at one of its statements; say what is stored then.

    Args:
        adapter: The implementation; its class must be found by its name.
        folder: Where the store is made. It must not be there.
        before: What brings the tasks to where the call is made.
        call: The call.
        at: The statement, counted from 1; one more than there are is behind the last.

    Returns:
        What is stored; None if the call has not so many statements.

    Raises:
        Gone: The process came to nothing.
        Fault: The store can't be opened or read.
    """
    url = server_url(adapter.server)
    with Child(_make_and_die, adapter, url, str(folder), tuple(before), call, at) as process:
        said: list[Last | None] = process.words()
        last = said[-1] if said else None
        if said[-1:] != [None] and not process.killed:
            raise Gone("a worker process ended before it could be killed; its error is above")
    clock = ManualClock(last.now) if last else None
    # The store is ours now, in either case: one on a server is dropped by whoever has had it open.
    with Session(adapter, folder, Watch(), clock) as session:
        return stored(session, last.tasks, last.now, call, last.came) if last else None


def _make_and_die(
    pipe: Connection,
    adapter: Adapter,
    url: str,
    folder: str,
    before: Sequence[Op],
    call: Hit,
    at: int,
) -> None:
    _share(adapter, url)
    with crash_site(adapter, Path(folder)) as site:
        site.die(Path(folder), before, call, at, pipe.send)
    pipe.send(None)


class _Call(NamedTuple):
    """What a worker is told to do."""

    task: Tracked
    op: Done


class Worker:
    """A worker in a process of its own, on a store that others use too.

    Args:
        adapter: The implementation; its class must be found by its name.
        folder: The store's folder.
        clock: The file of the clock that all of them read.
    """

    def __init__(self, adapter: Adapter, folder: Path, clock: Path) -> None:
        url = server_url(adapter.server)
        self.process = Child(_work, adapter, url, str(folder), str(clock))

    def __enter__(self) -> Worker:
        """Wait until it has opened the store.

        Raises:
            Fault: It can't be opened there.
            Gone: The process came to nothing.
        """
        try:
            fault: Fault | None = self.process.hear()
        except BaseException:
            self.process.__exit__()
            raise
        if fault is not None:
            self.process.__exit__()
            raise fault
        return self

    def __exit__(self, *_: object) -> None:
        self.process.__exit__()

    def call(self, task: Tracked, op: Done) -> Came:
        """Have it make a call, and return what came of it."""
        self.begin(task, op)
        return self.end()

    def begin(self, task: Tracked, op: Done) -> None:
        """Have it make a call when it next runs."""
        self.process.tell(_Call(task, op))

    def end(self) -> Came:
        """Wait for what came of the call."""
        came: Came = self.process.hear()
        return came


def _work(pipe: Connection, adapter: Adapter, url: str, folder: str, clock: str) -> None:
    _share(adapter, url)
    driver = Driver(adapter, Watch())
    try:
        driver.open(Path(folder), MappedClock(Path(clock)), url)
    except Fault as fault:
        pipe.send(fault)
        return
    pipe.send(None)
    with suppress(EOFError):
        while True:
            task, op = pipe.recv()
            pipe.send(called(driver, task, known(task, op)))


def _share(adapter: Adapter, url: str) -> None:
    """Have this process use the server of the one that began it, and start none of its own."""
    if adapter.server:
        os.environ[KINDS[adapter.server].variable] = url

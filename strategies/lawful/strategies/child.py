"""A process of our own to be killed or frozen, with a pipe to it: nothing is waited for but words.

It is forked off a server that has no threads and has loaded what it needs; it is gone when its
parent is, whatever the parent died of.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Any, Final, Self

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

__all__ = ["Child", "Gone", "unfit"]

LIMIT: Final = 60.0
"""How long a child may take to say a word, in seconds."""
_DIE_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG of Linux


class Gone(LawfulError):
    """A child has not said what it was to say."""


def unfit() -> str:
    """Say why no process can be killed and frozen here; empty if one can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "this system has no processes that can be forked, frozen and killed"
    return ""


class Child:
    """A process that runs one function, which gets a pipe as its first argument.

    Args:
        does: What it runs, found by name.
        arguments: What it is given besides, sent by value.
        limit: How long it may take to say a word, in seconds.
    """

    def __init__(self, does: Callable[..., None], *arguments: object, limit: float = LIMIT) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([does.__module__])
        self._limit = limit
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_begin, args=(theirs, does, arguments), name=does.__name__, daemon=True
        )
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._pipe.close()
        self._process.close()

    def tell(self, word: object) -> None:
        """Send it a word."""
        self._pipe.send(word)

    def hear(self) -> Any:  # whatever it says
        """Wait for its next word.

        Raises:
            Gone: It has ended, or says nothing in time.
        """
        if not self._pipe.poll(self._limit):
            raise Gone(f"a worker process has said nothing for {self._limit:g} s")
        try:
            return self._pipe.recv()
        except EOFError:
            self._process.join()
            raise Gone(f"a worker process ended with code {self._process.exitcode}") from None

    def words(self) -> list[Any]:  # whatever it has said
        """Wait until it is gone, and return what it had said by then.

        Raises:
            Gone: It is not gone in time.
        """
        said: list[Any] = []
        while True:
            if not self._pipe.poll(self._limit):
                raise Gone(f"a worker process is still there after {self._limit:g} s")
            try:
                said.append(self._pipe.recv())
            except EOFError:
                self._process.join()
                return said

    def kill(self) -> None:
        """Kill it, frozen or not, and wait until it is gone: its locks are free then."""
        self._process.kill()
        self._process.join()

    def freeze(self) -> None:
        """Stop it where it is."""
        os.kill(self.pid, signal.SIGSTOP)

    def wake(self) -> None:
        """Let a frozen process go on."""
        os.kill(self.pid, signal.SIGCONT)

    @property
    def killed(self) -> bool:
        """Whether it is gone because it was killed, and not by an end of its own."""
        return self._process.exitcode == -signal.SIGKILL

    @property
    def pid(self) -> int:
        """Its number."""
        pid = self._process.pid
        assert pid is not None  # noqa: S101 - it has been started
        return pid


def _begin(pipe: Connection, does: Callable[..., None], arguments: tuple[object, ...]) -> None:
    """Run what a child runs. Ctrl-C is the parent's affair alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The server goes when nobody holds the pipe that its parent made for that; each child has it
    # too, and one that is frozen would hold it for ever.
    held = getattr(forkserver._forkserver, "_forkserver_alive_fd", None)
    if held is not None:
        os.close(held)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    does(pipe, *arguments)

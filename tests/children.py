"""What the child processes of the tests run; they are found by name from another process."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from lawful.strategies.child import Child

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def echo(pipe: Connection, first: str) -> None:
    """Say something, then whatever is heard."""
    pipe.send(first)
    while True:
        pipe.send(pipe.recv())


def leave(pipe: Connection, code: int) -> None:
    """Say one word and end."""
    pipe.send("bye")
    os._exit(code)


def die(pipe: Connection) -> None:
    """Say two words and be killed."""
    pipe.send(1)
    pipe.send(2)
    os.kill(os.getpid(), signal.SIGKILL)


def silent(pipe: Connection) -> None:
    """Say nothing."""
    pipe.recv()


def main() -> None:
    """Freeze a child, say which, and end by the signal that is named, when told to."""
    child = Child(echo, "hello")
    child.hear()
    child.freeze()
    sys.stdout.write(f"{child.pid}\n")
    sys.stdout.flush()
    sys.stdin.readline()
    end = signal.Signals[sys.argv[1]]
    if end is not signal.SIGKILL:
        signal.signal(end, signal.SIG_DFL)  # whoever began us may ignore it, and we would too
    os.kill(os.getpid(), end)


if __name__ == "__main__":
    main()

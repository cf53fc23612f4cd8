"""The terminal: colour or none, how wide, progress, and an adapter that prints.

Results go to stdout and nothing else does: what an adapter prints is shown on stderr.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Progress", "colour", "is_ascii", "quiet_stdout", "width"]

_BAR: Final = 24


def colour(stream: TextIO) -> bool:
    """Say whether to colour what goes to a stream (see no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def is_ascii(stream: TextIO) -> bool:
    """Say whether a stream can take nothing but ASCII."""
    try:
        "✓✗■".encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return True
    return False


def width() -> int:
    """Return how many columns to write, between 60 and 120."""
    return min(max(shutil.get_terminal_size((100, 24)).columns, 60), 120)


class Progress:
    """A progress line on stderr, where somebody is looking.

    Args:
        name: What is being judged.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._shows = sys.stderr.isatty()
        self._length = 0

    def __call__(self, done: int, of: int, what: str) -> None:
        """Show how far the run is."""
        if not self._shows:
            return
        full = _BAR * min(done, of) // max(of, 1)
        line = f"{self._name} [{'=' * full:<{_BAR}}] {what}"[: width() - 1]
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._shows and self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
            self._length = 0


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send to stderr whatever is printed to stdout, by Python or by anything below it."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:
        # No such descriptor: nothing can be printed there either.
        yield
        return
    before = sys.stdout
    try:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        yield
    finally:
        sys.stdout = before
        os.dup2(kept, 1)
        os.close(kept)

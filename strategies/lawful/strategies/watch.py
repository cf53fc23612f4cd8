"""The limit on a single call: an adapter that hangs is named, not waited for.

No call is handed to another thread for it (that costs more than most calls do): a timer looks
in now and then, and ends a call that has been running for too long.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LIMIT", "Overrun", "Watch"]

LIMIT: Final = 60.0
"""How long one call may take by default, in seconds."""


class Overrun(BaseException):
    """Raised inside a call that has run for too long. No adapter should catch it."""


class Watch:
    """Looks after the calls of one thread.

    Args:
        limit: How long one call may take, in seconds.

    Attributes:
        since: When the running call began, on the monotonic clock; None between calls.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        if limit <= 0:
            raise ValueError(f"the limit on a call is a positive number of seconds; got {limit}")
        self.limit = limit
        self.since: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look in now and then, as long as the block runs.

        A timer signal can be had by the main thread alone, and not everywhere. Elsewhere no
        call is ended, and a test runner's own time limit has to do.
        """
        can = hasattr(signal, "setitimer") and (
            threading.current_thread() is threading.main_thread()
        )
        if not can:
            yield
            return
        period = min(1.0, self.limit / 4)
        before = signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, period, period)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _look(self, *_: object) -> None:
        if self.since is not None and time.monotonic() - self.since > self.limit:
            self.since = None
            raise Overrun

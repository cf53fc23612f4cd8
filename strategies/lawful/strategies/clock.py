"""A clock that only the suite moves."""

from __future__ import annotations

__all__ = ["ManualClock"]


class ManualClock:
    """Time as the suite wants it. Nothing ever sleeps.

    Args:
        start: The first time it shows, in seconds.
    """

    def __init__(self, start: float = 1_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        """Return the time, in seconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward.

        Raises:
            ValueError: ``seconds`` is negative: time does not go back.
        """
        if seconds < 0:
            raise ValueError(f"the clock can't be moved by {seconds} s: time does not go back")
        self._now += seconds

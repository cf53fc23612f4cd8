"""Clocks that only the suite moves."""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ManualClock", "MappedClock"]

_SECONDS: Final = struct.Struct("d")


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


class MappedClock(ManualClock):
    """One time for several processes: eight bytes of a file that each of them has mapped.

    Args:
        file: The file; it is made if it is not there.
        start: The first time it shows then, in seconds.

    Attributes:
        file: The file.
    """

    def __init__(self, file: Path, start: float = 1_000_000.0) -> None:
        self.file = file
        if not file.exists():
            file.write_bytes(_SECONDS.pack(start))
        with file.open("r+b") as opened:
            self._map = mmap.mmap(opened.fileno(), _SECONDS.size)
        super().__init__(self._shown())

    def now(self) -> float:
        """Return the time, in seconds."""
        self._now = self._shown()
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward, for every process.

        Raises:
            ValueError: ``seconds`` is negative: time does not go back.
        """
        self.now()
        super().advance(seconds)
        self._map[:] = _SECONDS.pack(self._now)

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()

    def _shown(self) -> float:
        (seconds,) = _SECONDS.unpack(self._map[:])
        return float(seconds)

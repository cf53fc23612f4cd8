"""Whatever a worker's body calls outside the store: it can't be rolled back, and it counts."""

from __future__ import annotations

__all__ = ["Receiver"]


class Receiver:
    """Counts the calls for one task, and refuses whoever shows an older token than it has seen.

    Attributes:
        calls: How many calls took effect.
    """

    def __init__(self, calls: int = 0) -> None:
        self.calls = calls
        self._newest: int | None = None

    def call(self, token: int | None) -> bool:
        """Take effect, and say so; or refuse, because a newer token has been seen.

        Args:
            token: The caller's lease token; None from a system that has none.
        """
        if token is not None:
            if self._newest is not None and token < self._newest:
                return False
            self._newest = token
        self.calls += 1
        return True

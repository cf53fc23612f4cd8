"""What the gate refuses. Each refusal carries its data, and the message is built from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["IllegalMove", "UnknownStatus"]


class IllegalMove(Exception):
    """The gate has no such move.

    Attributes:
        before: The status the task has.
        wanted: The status that was asked for.
        allowed: The statuses it may be given now; empty if its own is terminal.
    """

    def __init__(self, before: str, wanted: str, allowed: Collection[str]) -> None:
        self.before = before
        self.wanted = wanted
        self.allowed = tuple(allowed)
        way_on = (
            f"allowed from {before}: {', '.join(self.allowed)}"
            if allowed
            else f"{before} is terminal"
        )
        super().__init__(f"{before} -> {wanted} is refused; {way_on}")


class UnknownStatus(ValueError):
    """The word that was asked for is no status.

    Attributes:
        wanted: The word.
        known: The statuses there are.
    """

    def __init__(self, wanted: str, known: Collection[str]) -> None:
        self.wanted = wanted
        self.known = tuple(known)
        super().__init__(f"unknown status {wanted!r}: expected {', '.join(self.known)}")

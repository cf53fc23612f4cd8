"""The gate's two rules: any word that is known, and only the moves that are written down."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from lawful.sut.gate.errors import IllegalMove, UnknownStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["STATUSES", "by_table", "by_word"]

STATUSES: Final = ("pending", "running", "done", "failed", "dropped")

MOVES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "pending": ("running", "dropped"),
        "running": ("done", "failed", "dropped"),
        "done": (),
        "failed": ("running", "dropped"),
        "dropped": (),
    }
)


def by_word(before: str, wanted: str) -> None:
    """Let every known status pass, wherever it comes from.

    Raises:
        UnknownStatus: The word is no status.
    """
    if wanted not in STATUSES:
        raise UnknownStatus(wanted, STATUSES)


def by_table(before: str, wanted: str) -> None:
    """Let only the written moves pass.

    Raises:
        UnknownStatus: The word is no status.
        IllegalMove: There is no such move.
    """
    by_word(before, wanted)
    if wanted not in MOVES[before]:
        raise IllegalMove(before, wanted, MOVES[before])

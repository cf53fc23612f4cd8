"""The wrong miniatures: each with an id, one sentence, and the checks that must find it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from .honest import Honest

__all__ = ["WRONG", "Wrong", "wrong"]

Mini = TypeVar("Mini", bound="type[Honest]")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong implementation.

    Attributes:
        id: Its permanent id.
        adapter: The implementation.
        caught_by: The checks that must fail for it.
        limits: The values of ``max_attempts`` that it takes to catch it, the default first.
        alone: Whether no other check may fail: the fault shows in one place only.
    """

    id: str
    adapter: type[Honest]
    caught_by: tuple[str, ...]
    limits: tuple[int, ...]
    alone: bool

    @property
    def fault(self) -> str:
        """What is wrong with it, in one sentence."""
        return self.adapter.__doc__ or ""


WRONG: list[Wrong] = []
"""Every wrong miniature, in the order of definition."""


def wrong(
    name: str, *caught_by: str, limits: tuple[int, ...] = (1,), alone: bool = False
) -> Callable[[Mini], Mini]:
    """Register a class as a wrong miniature; its docstring says what is wrong."""

    def register(adapter: Mini) -> Mini:
        WRONG.append(Wrong(name, adapter, caught_by, limits, alone))
        return adapter

    return register

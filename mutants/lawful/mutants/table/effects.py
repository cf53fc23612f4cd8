"""What an implementation does when an event is fired at it: more than the table has words for.

A table says where a task goes. What a wrong implementation can do besides (a refusal that writes,
a transition without its entry) is an effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.table import CellKind
from lawful.sut.contract import Refusal

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle, Position
    from lawful.spec.table import Letter

__all__ = ["Effect", "Line", "lawful_effect", "moved"]


class Line(NamedTuple):
    """A history entry that is written.

    Attributes:
        event: The event it names.
        before: The state it says the task came from.
        after: The state it says the task went to.
        ahead: By how much its version is above the task's.
        actor: Whom it names; None for whoever fired.
        bare: Whether it leaves the payload out.
    """

    event: str
    before: str
    after: str
    ahead: int = 0
    actor: str | None = None
    bare: bool = False


class Effect(NamedTuple):
    """What comes of an event.

    Attributes:
        refusal: Why it is refused; None if it is accepted.
        after: Where the task is then.
        versions: By how much its version grows.
        lines: What its history grows by.
    """

    refusal: Refusal | None
    after: Position
    versions: int = 0
    lines: tuple[Line, ...] = ()


def lawful_effect(oracle: Oracle, position: Position, letter: Letter) -> Effect:
    """Return what the table asks for."""
    outcome = oracle.step(position, letter)
    if outcome.kind is CellKind.REFUSED:
        return Effect(Refusal.ILLEGAL, position)
    if outcome.kind is CellKind.NOOP:
        return Effect(None, position)
    return moved(position, letter, outcome.after)


def moved(position: Position, letter: Letter, after: Position) -> Effect:
    """Return what a transition does: one step of version, and one entry."""
    return Effect(None, after, 1, (Line(letter.event, position.state, after.state),))

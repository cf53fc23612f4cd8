"""A word, walked: who fires which letter, and what was seen at each step."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from lawful.spec.table import CellKind

from .trace import TASK
from .tracked import relabelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lawful.spec.model import Model
    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Letter
    from lawful.spec.words import Word

    from .seen import Seen
    from .session import Session
    from .trace import Op
    from .tracked import Tracked

__all__ = ["CLIENT", "STRANGER", "Cast", "Walk", "actor_for", "walk"]

CLIENT = "client"
STRANGER = "stranger"


class Cast(StrEnum):
    """Which worker starts a task again.

    Some faults show only with another worker, some only with the same.
    """

    ANOTHER = "another"
    """The k-th start is worker k's."""
    SAME = "same"
    """Every start is worker 1's."""


@dataclass(slots=True)
class Walk:
    """What was seen of one task along a word.

    Attributes:
        suite: The suite that the word is from.
        oracle: The table, with what the task was submitted with.
        begin: How the task came to be (its submission, or ``put``).
        steps: The steps, in order; fewer than the word's letters if the task ended.
        log: Everything that was done to the store so far, other tasks included.
        offered: What the adapter offers, and its readings show.
        word: The letters that it set out to fire.
        indistinct: For each state that can't be told apart, the set it is in.
    """

    suite: str
    oracle: Oracle
    begin: Op
    steps: list[Seen] = field(default_factory=list)
    log: list[Op] = field(default_factory=list)
    offered: frozenset[str] = frozenset()
    word: Word = ()
    indistinct: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def same(self, state: str, shown: str) -> bool:
        """Say whether a state that is shown may stand for one of the table's."""
        return shown == state or shown in self.indistinct.get(state, ())

    def trace(self, length: int) -> tuple[Op, ...]:
        """Return the first ``length`` steps as a trace of a single task."""
        ops = (self.begin, *(seen.op for seen in self.steps[:length]))
        return tuple(relabelled(op, TASK) for op in ops)

    def whole(self, length: int) -> tuple[Op, ...]:
        """Return everything that was done to the store up to that step.

        To be asked before anything else is done to it.
        """
        return tuple(self.log[: len(self.log) - (len(self.steps) - length)])


class Placed(Protocol):
    """A task whose place in the table is known."""

    @property
    def oracle(self) -> Oracle:
        """The table, with the task's parameters."""
        ...

    @property
    def model(self) -> Model:
        """Where the table has it."""
        ...


def actor_for(task: Placed, letter: Letter, cast: Cast) -> str:
    """Return who fires a letter in a word.

    The start that the table allows is the next worker's (or worker 1's, as ``cast`` says), one
    that it refuses is a stranger's; a report is the holder's or, where nobody holds the task,
    the last starter's; all else is a client's.
    """
    model = task.model
    lease = task.oracle.table.lease
    if lease is None:
        return CLIENT
    if letter.event in lease.granted_by:
        if task.oracle.step(model.position, letter).kind is not CellKind.LEGAL:
            return STRANGER
        return f"worker-{model.grants + 1}" if cast is Cast.ANOTHER else "worker-1"
    if letter.event in lease.needed_by:
        if model.holding:
            return model.holding.owner
        return f"worker-{max(model.grants, 1)}" if cast is Cast.ANOTHER else "worker-1"
    return CLIENT


def walk(session: Session, word: Word, tracked: Tracked, *, suite: str, cast: Cast) -> Walk:
    """Fire a word's letters at a task, one after the other, and return what was seen.

    Args:
        session: The store.
        word: The letters.
        tracked: The task, just submitted or put; ``session.log`` ends with how it came to be.
        suite: The suite's name, for the record.
        cast: Which worker starts the task again.
    """
    walked = Walk(
        suite,
        tracked.oracle,
        begin=session.log[-1],
        log=session.log,
        offered=session.adapter.offered,
        word=word,
        indistinct=session.adapter.indistinct,
    )
    for letter in word:
        actor = actor_for(tracked, letter, cast)
        walked.steps.append(session.fire(letter, actor, task=tracked.label))
        if tracked.ended:
            break
    return walked

"""The first unlawful step of a trace: what every search looks for."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from .folding import unfolded
from .performing import perform
from .python import as_python
from .seen import Aspect, Problem
from .trace import format_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .adapter import Adapter
    from .moves import Move
    from .seen import Seen
    from .session import Session
    from .trace import Op

__all__ = ["Unlawful", "first_unlawful", "unlawful"]


class Unlawful(AssertionError):
    """A step was unlawful.

    Attributes:
        adapter: Whose step it was.
        trace: The steps, the broken one last.
        seen: The broken step.
        moves: The moves that the trace was made of, where they are known.
    """

    def __init__(
        self,
        adapter: Adapter,
        trace: tuple[Op, ...],
        seen: Seen,
        moves: tuple[Move, ...] = (),
    ) -> None:
        self.adapter = adapter
        self.trace = trace
        self.seen = seen
        self.moves = moves
        super().__init__(adapter, trace, seen, moves)

    def __str__(self) -> str:
        """Say what was wrong, how to replay it, and the same as a test. Made when it is read."""
        line = format_trace(self.trace)
        problems = [f"expected {p.expected}; got {p.got}" for p in self.seen.problems]
        replay = f"lawful replay {shlex.quote(self.adapter.target)} {shlex.quote(line)}"
        python = as_python(self.adapter, self.trace)
        return "\n".join((*problems, f"trace:  {line}", f"replay: {replay}", "", python))


def unlawful(session: Session, seen: Seen) -> bool:
    """Say whether a step was unlawful, or left a history that tells another story than the row."""
    if seen.after is None or seen.task not in session.tasks or seen.problems:
        return bool(seen.problems)
    history = seen.after.history or ()
    # A step that changed nothing left the history that was folded after the one before it; with
    # the first entry alone no step was before it.
    if len(history) == 1 or (history and seen.after != seen.before):
        adapter = session.adapter
        differing = unfolded(adapter.table, seen.after, adapter.offered, adapter.indistinct)
        seen.problems += tuple(
            Problem(Aspect.ENTRY, f"{name} {folded}, as the history says", f"{name} {read}")
            for name, folded, read in differing
        )
    return bool(seen.problems)


def first_unlawful(
    session: Session,
    program: Sequence[Op],
    observe: Callable[[Session, Seen], None] = lambda session, seen: None,
) -> Unlawful | None:
    """Do a program as far as its first unlawful step, and return that.

    Args:
        session: A store with no task in it.
        program: The steps.
        observe: Told of every step that was judged.
    """
    for length, op in enumerate(program, 1):
        for seen in perform(session, op):
            observe(session, seen)
            if unlawful(session, seen):
                return Unlawful(session.adapter, tuple(program[:length]), seen)
    return None

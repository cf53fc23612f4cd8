"""The lifecycle as a Hypothesis state machine: many tasks, time, stale tokens, restarts.

The table is the oracle; the implementation is driven by a session that judges each step. A machine
is made for one target: ``LifecycleMachine.for_("reference").TestCase`` is a test for pytest.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from .adapter import describe, describe_class
from .drawing import StrategyError, moves, one_of
from .folding import unfolded
from .moves import Begin, Resolver, abilities, likely_starts
from .performing import perform
from .python import as_python
from .seen import Aspect, Problem
from .session import Session
from .stores import store_folder
from .trace import format_trace
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from .adapter import Adapter
    from .moves import Move
    from .seen import Seen
    from .trace import Op

__all__ = ["LifecycleMachine", "Unlawful"]


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


class LifecycleMachine(RuleBasedStateMachine):
    """A state machine for one implementation and its table.

    Not to be used itself: :meth:`for_` makes the class that is.
    """

    adapter: ClassVar[Adapter]
    tasks: ClassVar[int]

    @staticmethod
    def observe(session: Session, seen: Seen) -> None:
        """Be told of every step that was judged."""

    @staticmethod
    def known(session: Session, seen: Seen) -> bool:
        """Say of an unlawful step whether it is known already; the example does nothing more."""
        return False

    def __init__(self) -> None:
        super().__init__()
        self._resolver = Resolver(self.adapter.table)
        self._place: AbstractContextManager[Path] = store_folder()
        self._session = Session(self.adapter, self._place.__enter__() / "store", Watch())
        self._ops: list[Op] = []
        self._moves: list[Move] = []
        self._over = False

    @classmethod
    def for_(cls, target: str | type | Adapter, *, tasks: int = 6) -> type[LifecycleMachine]:
        """Make the machine of one target.

        Args:
            target: A shipped name, ``module:Class``, an adapter class, or one described.
            tasks: The most tasks in a store.

        Raises:
            AdapterError: The target can't be judged.
            StrategyError: ``tasks`` is below 1.
        """
        if tasks < 1:
            raise StrategyError(f"{tasks} tasks: at least one is needed")
        if isinstance(target, str):
            target = describe(target)
        elif isinstance(target, type):
            target = describe_class(target, f"{target.__module__}:{target.__qualname__}")
        members: dict[str, Any] = {"adapter": target, "tasks": tasks, **_rules(target, tasks)}
        return type(f"{cls.__name__}Of{target.factory.__name__}", (cls,), members)

    def take(self, move: Move) -> None:
        """Resolve a move and do its steps.

        Raises:
            Unlawful: A step was unlawful.
        """
        if self._over or (isinstance(move, Begin) and len(self._resolver.tasks) >= self.tasks):
            return
        self._moves.append(move)
        for op in self._resolver.resolve(move):
            self._ops.append(op)
            for seen in perform(self._session, op):
                self.observe(self._session, seen)
                if unlawful(self._session, seen):
                    if self.known(self._session, seen):
                        self._over = True
                        return
                    raise Unlawful(self.adapter, tuple(self._ops), seen, tuple(self._moves))

    def teardown(self) -> None:
        """Close the store and remove it."""
        try:
            self._session.__exit__(None, None, None)
        finally:
            self._place.__exit__(None, None, None)


def unlawful(session: Session, seen: Seen) -> bool:
    """Say whether a step was unlawful, or left a history that tells another story than the row."""
    if seen.after is not None and seen.task in session.tasks and not seen.problems:
        adapter = session.adapter
        differing = (
            unfolded(adapter.table, seen.after, adapter.offered, adapter.indistinct)
            if seen.after.history
            else []
        )
        seen.problems += tuple(
            Problem(Aspect.ENTRY, f"{name} {folded}, as the history says", f"{name} {read}")
            for name, folded, read in differing
        )
    return bool(seen.problems)


def _rules(adapter: Adapter, tasks: int) -> dict[str, Callable[..., None]]:
    """Make the rules: a task or two are begun, and then any move is taken.

    One rule that draws what it does, and not one for each kind of move: Hypothesis would draw all
    rules equally often, and some kinds have many more moves than others.
    """
    table = adapter.table
    begin = one_of([Begin(start) for start in likely_starts(table)])
    names = ["first", "second"][:tasks]
    anything = moves(table, tasks=tasks, abilities=abilities(adapter))
    made = {name: initialize(move=begin)(_taking(name)) for name in names}
    return {**made, "then": rule(move=anything)(_taking("then"))}


def _taking(name: str) -> Callable[..., None]:
    def take(self: LifecycleMachine, move: Move) -> None:
        self.take(move)

    take.__name__ = name
    return take

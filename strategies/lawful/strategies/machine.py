"""The lifecycle as a Hypothesis state machine: many tasks, time, stale tokens, restarts.

The table is the oracle; the implementation is driven by a session that judges each step. A machine
is made for one target: ``LifecycleMachine.for_("reference").TestCase`` is a test for pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from .adapter import describe, describe_class
from .drawing import StrategyError, bursts, one_of
from .moves import Begin, Resolver, abilities, likely_starts
from .performing import perform
from .session import Session
from .stores import store_folder
from .unhurried import Unhurried
from .unlawful import Unlawful, first_unlawful, unlawful
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from .adapter import Adapter
    from .moves import Move
    from .seen import Seen
    from .trace import Op

__all__ = ["LifecycleMachine"]


class LifecycleMachine(RuleBasedStateMachine):
    """A state machine for one implementation and its table.

    Not to be used itself: :meth:`for_` makes the class that is.

    Attributes:
        adapter: The implementation.
        tasks: The most tasks in a store.
        done: The steps that were done.
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
        self._folder = self._place.__enter__()
        self._session = Unhurried(self.adapter, self._folder / "store", Watch())
        self.done: list[Op] = []
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

    def take(self, moves: Iterable[Move]) -> None:
        """Resolve moves and do their steps.

        Raises:
            Unlawful: A step was unlawful.
        """
        for move in moves:
            full = len(self._resolver.tasks) >= self.tasks
            if self._over or (isinstance(move, Begin) and full):
                continue
            self._moves.append(move)
            for op in self._resolver.resolve(move):
                self._over = True  # whatever is raised, nothing is done after it
                found = self._step(op)
                if found is not None:
                    self._settle(found)
                    return
                self._over = False

    def teardown(self) -> None:
        """Look at every task, close the store and remove it.

        Raises:
            Unlawful: A task is not as it was.
        """
        try:
            found = None if self._over else self._late()
            if found is not None:
                self._settle(found)
        finally:
            try:
                self._session.__exit__(None, None, None)
            finally:
                self._place.__exit__(None, None, None)

    def _step(self, op: Op) -> Unlawful | None:
        """Do a step and judge it, and what has become of its task since it was looked at."""
        late = self._late(op)
        if late is not None:
            return late
        self.done.append(op)
        for seen in perform(self._session, op):
            self.observe(self._session, seen)
            if unlawful(self._session, seen):
                return Unlawful(self.adapter, tuple(self.done), seen)
        return None

    def _late(self, op: Op | None = None) -> Unlawful | None:
        """Look at what a step is about, or at every task; find which step has changed it."""
        for seen in self._session.overdue(op):
            with Session(self.adapter, self._folder / "again", Watch()) as session:
                found = first_unlawful(session, self.done)
            return found or Unlawful(self.adapter, tuple(self.done), seen)
        return None

    def _settle(self, found: Unlawful) -> None:
        """Raise what was found, unless it is known.

        Raises:
            Unlawful: It is not.
        """
        if not self.known(self._session, found.seen):
            found.moves = tuple(self._moves)
            raise found


def _rules(adapter: Adapter, tasks: int) -> dict[str, Callable[..., None]]:
    """Make the rules: a task or two are begun, and then anything is done, a few moves at a time.

    One rule that draws what it does, and not one for each kind of move: Hypothesis would draw all
    rules equally often, and some kinds have many more moves than others. A few moves at a time,
    since Hypothesis takes as long over a rule as a store over several steps.
    """
    table = adapter.table
    begin = one_of([(Begin(start),) for start in likely_starts(table)])
    names = ["first", "second"][:tasks]
    anything = bursts(table, tasks=tasks, abilities=abilities(adapter))
    made = {name: initialize(moves=begin)(_taking(name)) for name in names}
    return {**made, "then": rule(moves=anything)(_taking("then"))}


def _taking(name: str) -> Callable[..., None]:
    def take(self: LifecycleMachine, moves: tuple[Move, ...]) -> None:
        self.take(moves)

    take.__name__ = name
    return take

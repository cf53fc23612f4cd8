"""Search a target for a program that shows it unlawful, and shrink it to a shortest one.

Two searches: programs that are drawn as a whole (they shrink best), and the state machine (it goes
furthest). Both return the shortest trace that Hypothesis found, or None.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import Phase, given
from hypothesis.stateful import run_state_machine_as_test

from .drawing import courses
from .driver import Fault
from .machine import LifecycleMachine
from .moves import Begin, abilities, plainer, resolved, spelled_out
from .seen import Hung
from .session import Session
from .shrinking import shrink_moves
from .unlawful import Unlawful, first_unlawful
from .watch import LIMIT, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from .adapter import Adapter
    from .moves import Move
    from .seen import Seen

__all__ = ["search_machine", "search_programs"]


def search_programs(
    adapter: Adapter,
    folder: Path,
    how: hypothesis.settings,
    *,
    seed: int | None = None,
    tail: int | None = None,
    limit: float = LIMIT,
    observe: Callable[[Session, Seen], None] = lambda session, seen: None,
    known: Callable[[Session, Seen], bool] = lambda session, seen: False,
) -> Unlawful | None:
    """Draw programs and judge every step of each.

    Args:
        adapter: The adapter, as the smoke test returned it.
        folder: An empty folder for stores.
        how: How much is searched (see :func:`~lawful.strategies.profiles.profile`).
        seed: What the draws begin with; by default the settings decide.
        tail: The most moves after a start; by default the steps of the settings.
        limit: How long one call may take, in seconds.
        observe: Told of every step that was judged.
        known: Says of an unlawful step whether it is known already; the program ends there.
    """
    table, numbers, watch = adapter.table, itertools.count(), Watch(limit)
    # Where workers take what comes, a second task that waits would be taken for the first.
    tasks = 1 if adapter.claims else 4

    tried: list[tuple[Move, ...]] = []

    def lawful(course: tuple[Move, ...]) -> None:
        tried[:] = [course]
        with Session(adapter, folder / f"program-{next(numbers)}", watch) as session:
            found = first_unlawful(session, resolved(table, course, tasks=tasks), observe)
            if found is not None and not known(session, found.seen):
                raise found

    tail = how.stateful_step_count if tail is None else tail
    # What is not reached by the end of a short program is reached by the end of a long one.
    drawn = courses(table, least=tail, tail=tail, tasks=tasks, abilities=abilities(adapter))
    test = _unshrunk(how)(given(drawn)(lawful))
    if seed is not None:
        test = hypothesis.seed(seed)(test)
    try:
        with watch.running():
            test()
    except Unlawful as found:
        return shortest(found, tried[0], folder, tasks=tasks)
    return None


def _unshrunk(how: hypothesis.settings) -> hypothesis.settings:
    """Leave the shrinking to :func:`shortest`."""
    left = {Phase.shrink, Phase.explain}
    return hypothesis.settings(how, phases=[phase for phase in how.phases if phase not in left])


def shortest(found: Unlawful, course: Sequence[Move], folder: Path, *, tasks: int) -> Unlawful:
    """Return a shortest program that is unlawful in the same way.

    Hypothesis would shorten what it has drawn draw by draw, which takes several times as long and
    does not come to other parameters, other starts, or a part of a start's way.

    Args:
        found: What was found.
        course: The moves that led to it.
        folder: A folder for stores.
        tasks: The most tasks.
    """
    adapter, aspect = found.adapter, found.seen.problems[0].aspect
    table, watch = adapter.table, Watch()

    def shown(course: tuple[Move, ...]) -> Unlawful | None:
        """Do a program as far as its first unlawful step, and return that if it is the same."""
        ops = resolved(table, course, tasks=tasks) if isinstance(course[0], Begin) else ()
        with Session(adapter, folder / "shortest", watch) as session:
            other = first_unlawful(session, ops)
        same = other is not None and other.seen.problems[0].aspect is aspect
        return other if same else None

    def steps(course: tuple[Move, ...]) -> int | None:
        other = shown(course)
        return None if other is None else len(other.trace)

    single = spelled_out(table, course, tasks=tasks)[: len(found.trace)]
    try:
        with watch.running():
            best = shrink_moves(table, single, steps)
            while plain := next((p for p in plainer(table, best) if steps(p) == len(best)), None):
                best = plain
            return shown(best) or found
    except (Fault, Hung):
        return found


def search_machine(
    adapter: Adapter,
    folder: Path,
    how: hypothesis.settings,
    *,
    seed: int | None = None,
    tasks: int = 6,
    observe: Callable[[Session, Seen], None] = lambda session, seen: None,
    known: Callable[[Session, Seen], bool] = lambda session, seen: False,
) -> Unlawful | None:
    """Run the state machine.

    Args:
        adapter: The adapter, as the smoke test returned it.
        folder: An empty folder for stores.
        how: How much is searched.
        seed: What the draws begin with; by default the settings decide.
        tasks: The most tasks in a store.
        observe: Told of every step that was judged.
        known: Says of an unlawful step whether it is known already; the example ends there.
    """
    tasks = 1 if adapter.claims else tasks
    hooks = {"observe": staticmethod(observe), "known": staticmethod(known)}
    plain = LifecycleMachine.for_(adapter, tasks=tasks)
    machine: type[LifecycleMachine] = type(plain.__name__, (plain,), hooks)
    if seed is not None:
        machine = hypothesis.seed(seed)(machine)
    try:
        run_state_machine_as_test(machine, settings=_unshrunk(how))
    except Unlawful as found:
        return shortest(found, found.moves, folder, tasks=tasks)
    return None

"""Hypothesis strategies over a table: starts, letters, and whole programs.

A program is a trace: a task brought to a start by the table's shortest way, and a short tail of
anything. Drawn so, it shrinks to a shortest program: the start is one draw, nearest first, and
only the tail has to become shorter.

This module and ``machine`` are the only ones that load Hypothesis.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from hypothesis import strategies as st

from lawful.spec.errors import LawfulError

from .moves import (
    ABILITIES,
    Begin,
    drawable,
    elapsing,
    every_start,
    kinds,
    likely_starts,
    resolved,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from hypothesis.strategies import SearchStrategy

    from lawful.spec.table import Letter, Table

    from .moves import Move, Start
    from .trace import Op

__all__ = [
    "Program",
    "StrategyError",
    "clock_steps",
    "events",
    "params",
    "programs",
    "stale_tokens",
    "starts",
]

T = TypeVar("T")

_PRIVATE: Final = 0xF0000
"""Where the characters begin that mean nothing."""
_MOST: Final = 65_534
"""How many there are of them."""

Program: TypeAlias = "tuple[Op, ...]"


class StrategyError(LawfulError):
    """A strategy was asked for what the table does not have.

    Attributes:
        problem: What was asked for, and what there is.
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


def params(table: Table) -> SearchStrategy[dict[str, int]]:
    """Draw what a task is submitted with, the defaults first."""
    return st.sampled_from(table.valuations).map(dict)


def events(table: Table, *, names: Collection[str] | None = None) -> SearchStrategy[Letter]:
    """Draw a letter: an event with its payload, in the table's order.

    Args:
        table: The lifecycle.
        names: Draw these events alone.

    Raises:
        StrategyError: The table has no such event, or no event is left.
    """
    _known("event", names or (), table.event_names)
    letters = [letter for letter in table.letters if names is None or letter.event in names]
    if not letters:
        raise StrategyError(f"no event to draw; {table.name} has {', '.join(table.event_names)}")
    return st.sampled_from(letters)


def starts(table: Table, *, states: Collection[str] | None = None) -> SearchStrategy[Start]:
    """Draw a start, those that take fewest steps first and the default parameters before others.

    Args:
        table: The lifecycle.
        states: Draw starts in these states alone.

    Raises:
        StrategyError: The table has no such state, or can't reach it.
    """
    _known("state", states or (), table.states)
    every = [
        start for start in every_start(table) if states is None or start.position.state in states
    ]
    missing = set(states or ()) - {start.position.state for start in every}
    if missing or not every:
        names = ", ".join(sorted(missing)) or "nothing"
        raise StrategyError(f"{table.name} can't start in {names}: nothing legal leads there")
    return one_of(every)


def _known(kind: str, asked: Iterable[str], known: Collection[str]) -> None:
    for name in asked:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise StrategyError(f"there is no {kind} {name!r}, only {', '.join(known)}{hint}")


def clock_steps(table: Table) -> SearchStrategy[float]:
    """Draw how many seconds pass: a part of a lease first, then more than a whole one.

    No sum of these steps is a whole lease: at the deadline itself the table says nothing.

    Raises:
        StrategyError: The table has no leases: time means nothing to it.
    """
    lease = table.lease
    if lease is None:
        raise StrategyError(f"{table.name} has no leases: no time passes in it")
    return st.sampled_from(elapsing(lease))


def stale_tokens(grants: int) -> SearchStrategy[int]:
    """Draw an older grant whose token is shown, the last one before the present first.

    Args:
        grants: How many leases the task was granted so far.

    Raises:
        StrategyError: There is no older grant than the present one.
    """
    if grants < 2:
        raise StrategyError(f"after {grants} grants no token is stale yet; two are needed")
    return st.sampled_from(range(grants - 1, 0, -1))


def bursts(
    table: Table, *, tasks: int = 2, most: int = 6, abilities: Collection[str] = ABILITIES
) -> SearchStrategy[tuple[Move, ...]]:
    """Draw a few moves in a row, the plain ones first.

    Args:
        table: The lifecycle.
        tasks: How many tasks there may be.
        most: The most moves in a row.
        abilities: What may be made use of, of ``ABILITIES``.

    Raises:
        StrategyError: An ability that there is not.
    """
    _known("ability", abilities, sorted(ABILITIES))
    every = drawable(kinds(table, tasks=tasks, able=abilities))
    return _tails(every, least=1, most=most)


def _tails(every: Sequence[Move], *, least: int, most: int) -> SearchStrategy[tuple[Move, ...]]:
    """Draw moves as one string, a character for each.

    Drawn as a list, they would be few and alike: of six lists that Hypothesis draws, five are the
    sixth with pieces repeated, which seldom is a history. A string is drawn at once and shrinks
    as well.
    """
    letters = st.characters(
        min_codepoint=_PRIVATE, max_codepoint=_PRIVATE + min(len(every), _MOST) - 1
    )
    texts = st.text(letters, min_size=least, max_size=most)
    return texts.map(lambda text: tuple(every[ord(letter) - _PRIVATE] for letter in text))


def one_of(items: Sequence[T]) -> SearchStrategy[T]:
    """Draw an item by its index: the items themselves would fill pages of a strategy's text."""
    return st.sampled_from(range(len(items))).map(items.__getitem__)


def programs(
    table: Table,
    *,
    tail: int = 8,
    tasks: int = 2,
    states: Collection[str] | None = None,
    abilities: Collection[str] = ABILITIES,
) -> SearchStrategy[Program]:
    """Draw a program: a start, and a short tail of moves.

    Args:
        table: The lifecycle.
        tail: The most moves after the start.
        tasks: The most tasks.
        states: Begin in these states alone.
        abilities: What may be made use of, of ``ABILITIES``: what the implementation offers.

    Returns:
        Traces: sequences of steps that :class:`~lawful.strategies.Session` performs.

    Raises:
        StrategyError: The table lacks what is asked for, or a number is below its least.
    """
    drawn = courses(table, tail=tail, tasks=tasks, states=states, abilities=abilities)
    return drawn.map(lambda course: resolved(table, course, tasks=tasks))


def courses(
    table: Table,
    *,
    least: int = 0,
    tail: int = 8,
    tasks: int = 2,
    states: Collection[str] | None = None,
    abilities: Collection[str] = ABILITIES,
) -> SearchStrategy[tuple[Move, ...]]:
    """Draw the moves that a program is made of (see :func:`programs`).

    Args:
        table: The lifecycle.
        least: The least moves after the start.
        tail: The most.
        tasks: The most tasks.
        states: Begin in these states alone.
        abilities: What may be made use of, of ``ABILITIES``.

    Raises:
        StrategyError: The table lacks what is asked for, or a number is below its least.
    """
    if tail < 0 or tasks < 1:
        raise StrategyError(f"tail {tail} and tasks {tasks}: at least 0 and 1 are needed")
    _known("ability", abilities, sorted(ABILITIES))
    every = drawable(kinds(table, tasks=tasks, able=abilities))
    first = starts(table, states=states) if states else one_of(likely_starts(table))
    # Half of the programs have a second task from the beginning: what leaks between tasks needs
    # two, and time for both.
    second: SearchStrategy[tuple[Move, ...]] = st.just(())
    if tasks > 1:
        second |= one_of(likely_starts(table)).map(lambda start: (Begin(start),))
    return st.builds(
        lambda start, other, rest: (Begin(start), *other, *rest),
        first,
        second,
        _tails(every, least=least, most=tail),
    )

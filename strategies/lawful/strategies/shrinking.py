"""Make a trace as short as it can be while it still shows the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from .moves import simplified
from .trace import Put, Submit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lawful.spec.table import Table

    from .moves import Move
    from .trace import Op

__all__ = ["BUDGET", "shrink", "shrink_items", "shrink_moves"]

Item = TypeVar("Item")

BUDGET: Final = 20_000
"""How many steps the shorter traces that are tried may take in all."""


def shrink(
    ops: Sequence[Op], shows: Callable[[tuple[Op, ...]], bool], *, budget: int = BUDGET
) -> tuple[Op, ...]:
    """Return a shorter trace that still shows it; ``ops`` itself if nothing shorter does.

    Args:
        ops: The trace; its last step is the broken one and stays.
        shows: Does a trace and says whether it still shows the same finding.
        budget: How many steps the traces that are tried may take in all.

    Returns:
        A trace from which no single step and no two neighbours can be left out, unless
        ``budget`` ran out.
    """
    return shrink_items(ops, shows, _without, budget=budget)


def shrink_items(
    items: Sequence[Item],
    shows: Callable[[tuple[Item, ...]], bool],
    without: Callable[[tuple[Item, ...], int, int], tuple[Item, ...]] | None = None,
    *,
    budget: int = BUDGET,
) -> tuple[Item, ...]:
    """Return fewer of some items that still show what they all show (Zeller's ddmin).

    Args:
        items: The items, in order; the last one stays.
        shows: Says whether some of them still show it.
        without: Leaves out so many items from an index on; plainly, by default.
        budget: How many items those that are tried may have in all.
    """
    best, left = tuple(items), budget
    if not shows(best):
        return best
    size = max(len(best) // 2, 1)
    while size and left > 0:
        shorter = False
        index = len(best) - 1 - size
        while index >= 0 and left > 0:
            rest = (without or _plainly)(best, index, size)
            left -= len(rest)
            if rest and rest[-1] == best[-1] and shows(rest):
                best, shorter = rest, True
            index = min(index, len(best) - size) - (size if size > 2 else 1)
        # Pairs and single steps are tried until neither helps: many come as an arming and a use.
        size = 2 if shorter and size <= 2 else size // 2
    return best


def shrink_moves(
    table: Table, course: Sequence[Move], shown: Callable[[tuple[Move, ...]], int | None]
) -> tuple[Move, ...]:
    """Return a shortest program that still shows it, as far as one is found.

    Moves are left out; then other beginnings are tried, which leaving out does not come to: other
    parameters, other starts, an event in place of the reaper that fires it.

    Args:
        table: The lifecycle.
        course: The moves, each a single step; the last one is the broken one.
        shown: Does a program and says how many of its moves it takes to show the same; None if
            it does not.
    """
    best: tuple[Move, ...] = tuple(course)
    better: tuple[Move, ...] | None = best
    while better is not None:
        best = shrink_items(better, lambda some: shown(some) == len(some))
        better = next(
            (
                simpler[:length]
                for simpler in simplified(table, best)
                if (length := shown(simpler)) is not None and length < len(best)
            ),
            None,
        )
    return best


def _plainly(items: tuple[Item, ...], index: int, size: int) -> tuple[Item, ...]:
    return items[:index] + items[index + size :]


def _without(ops: tuple[Op, ...], index: int, size: int) -> tuple[Op, ...]:
    """Leave out ``size`` steps; a task that is left without its beginning goes altogether."""
    kept = [op for number, op in enumerate(ops) if not index <= number < index + size]
    begun = {op.task for op in kept if isinstance(op, Submit | Put)}
    return tuple(op for op in kept if getattr(op, "task", None) in {None, "?", *begun})

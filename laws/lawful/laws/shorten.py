"""A finding, with the shortest trace that shows it.

Most traces are shortest already: words begin with a shortest path. The others (what only a long
word or many tasks show) lose every step that is not needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lawful.strategies.driver import Fault
from lawful.strategies.performing import perform
from lawful.strategies.seen import CELL_ASPECTS, How, Hung
from lawful.strategies.shrinking import shrink
from lawful.strategies.trace import TASK, Put, Submit
from lawful.strategies.walk import Walk

from .cells import cell_id
from .law import Tally, TraceLaw, finding
from .verdict import cell_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lawful.spec.oracle import Oracle
    from lawful.strategies.seen import Seen
    from lawful.strategies.trace import Op

    from .law import Finding, Law
    from .stage import Stage

__all__ = ["shortened_cell", "shortened_law"]


def shortened_cell(stage: Stage, name: str, found: Finding) -> Finding:
    """Return a cell's finding with the shortest trace that breaks the same cell."""

    def shown(ops: tuple[Op, ...]) -> Finding | None:
        last, ops = _broken(stage, ops)
        problems = last.wrong(CELL_ASPECTS) if last else ()
        if last is None or last.letter is None or not problems:
            return None
        broken = cell_id(_oracle(stage, ops), last.model.position, last.letter)
        return finding(last, cell_problems(last, problems), ops) if broken == name else None

    return _shortest(found, shown)


def shortened_law(stage: Stage, law: Law, found: Finding) -> Finding:
    """Return a law's finding with the shortest trace that breaks the law.

    What is shown must be shown by lawful steps before the last one, or it would be another
    fault's doing.
    """

    def read(ops: tuple[Op, ...]) -> Finding | None:
        steps = [seen for _, seen in _done(stage, ops)]
        if any(seen.problems for seen in steps[:-1]):
            return None
        begun, mine = _mine(ops), [seen for seen in steps if seen.task == _label(ops)]
        tally = Tally()
        if isinstance(law, TraceLaw) and begun is not None:
            walk = Walk(
                "replay",
                _oracle(stage, ops),
                begun,
                mine,
                offered=stage.adapter.offered,
                indistinct=stage.adapter.indistinct,
            )
            law.read(stage.table, walk, tally)
        return tally.best and replace(tally.best, trace=ops, whole=())

    def last(ops: tuple[Op, ...]) -> Finding | None:
        broken, ops = _broken(stage, ops)
        shown = broken and finding(broken, broken.problems, ops)
        return shown if shown and shown.expected == found.expected else None

    return _shortest(found, read if isinstance(law, TraceLaw) else last)


def _shortest(found: Finding, shown: Callable[[tuple[Op, ...]], Finding | None]) -> Finding:
    """Return what a shorter trace shows; or, if the trace alone shows nothing, the whole log."""
    if found.how is not How.CLEAN or len(found.trace) <= 1:
        return found
    for ops in dict.fromkeys((found.trace, found.whole)):
        first = shown(ops) if ops else None
        if first is not None:
            return shown(shrink(first.trace, lambda ops: shown(ops) is not None)) or first
    return found


def _broken(stage: Stage, ops: tuple[Op, ...]) -> tuple[Seen | None, tuple[Op, ...]]:
    """Do a trace, and return its first broken step and the trace as far as that."""
    for length, seen in _done(stage, ops):
        if seen.problems:
            return seen, ops[:length]
    return None, ops


def _label(ops: Sequence[Op]) -> str:
    label: str = getattr(ops[-1], "task", TASK)
    return label


def _mine(ops: Sequence[Op]) -> Submit | Put | None:
    """Return how the task of the last step began."""
    label = _label(ops)
    begun = (op for op in ops if isinstance(op, Submit | Put) and op.task == label)
    return next(begun, None)


def _oracle(stage: Stage, ops: Sequence[Op]) -> Oracle:
    begun = _mine(ops)
    return stage.adapter.oracle(dict(begun.params) if isinstance(begun, Submit) else {})


def _done(stage: Stage, ops: Sequence[Op]) -> list[tuple[int, Seen]]:
    """Do a trace and return what was judged, each with the number of its step, from 1.

    Nothing is returned if the trace can't be done.
    """
    try:
        with stage.session() as session:
            return [
                (length, seen) for length, op in enumerate(ops, 1) for seen in perform(session, op)
            ]
    except (Fault, Hung):
        return []

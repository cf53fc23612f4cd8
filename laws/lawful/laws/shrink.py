"""Make a trace as short as it can be while it still shows the same thing.

Most traces are shortest already: words begin with a shortest path. The others (what only a long
word or many tasks show) lose every step that is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.strategies.driver import Fault
from lawful.strategies.seen import CELL_ASPECTS, Aspect, How
from lawful.strategies.session import Hung
from lawful.strategies.trace import Put, Submit
from lawful.strategies.walk import Walk

from .cells import cell_id
from .law import Tally, TraceLaw, finding
from .verdict import cell_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lawful.strategies.seen import Seen
    from lawful.strategies.trace import Op

    from .law import Finding, Law
    from .stage import Stage

__all__ = ["TRIES", "shortened_cell", "shortened_law", "shrink"]

TRIES: Final = 600
"""How many shorter traces are tried at most."""


def shrink(
    ops: Sequence[Op], shows: Callable[[tuple[Op, ...]], bool], *, tries: int = TRIES
) -> tuple[Op, ...]:
    """Return a shorter trace that still shows it; ``ops`` itself if nothing shorter does.

    Args:
        ops: The trace; its last step is the broken one and stays.
        shows: Does a trace and says whether it still shows the same finding.
        tries: How many traces may be tried.

    Returns:
        A trace from which no single step can be left out, unless ``tries`` ran out.
    """
    best, left = tuple(ops), tries
    if not shows(best):
        return best
    size = max(len(best) // 2, 1)
    while size and left > 0:
        shorter = False
        index = len(best) - 1 - size
        while index >= 0 and left > 0:
            rest = _without(best, index, size)
            left -= 1
            if rest and rest[-1] == best[-1] and shows(rest):
                best, shorter = rest, True
            index = min(index, len(best) - size) - (size if size > 2 else 1)
        # Pairs and single steps are tried until neither helps: many come as an arming and a use.
        size = 2 if shorter and size <= 2 else size // 2
    return best


def _without(ops: tuple[Op, ...], index: int, size: int) -> tuple[Op, ...]:
    """Leave out ``size`` steps; a task that is left without its beginning goes altogether."""
    kept = [op for number, op in enumerate(ops) if not index <= number < index + size]
    begun = {op.task for op in kept if isinstance(op, Submit | Put)}
    return tuple(op for op in kept if getattr(op, "task", None) in {None, "?", *begun})


def shortened_cell(stage: Stage, name: str, found: Finding) -> Finding:
    """Return a cell's finding with the shortest trace that breaks the same cell."""

    def shown(ops: tuple[Op, ...]) -> Finding | None:
        steps = _done(stage, ops)
        if not steps or any(seen.problems for seen in steps[:-1]):
            return None
        last = steps[-1]
        problems = last.wrong(CELL_ASPECTS)
        if last.letter is None or not problems:
            return None
        broken = cell_id(stage.adapter.oracle(_params(ops)), last.model.position, last.letter)
        return finding(last, cell_problems(last, problems), ops) if broken == name else None

    return _shortest(found, shown)


def shortened_law(stage: Stage, law: Law, found: Finding) -> Finding:
    """Return a law's finding with the shortest trace that breaks the law.

    What a walk has shown must be shown by lawful steps before the last one, or it would be
    another fault's doing. Scenarios are as short as they were written, but for the one with many
    tasks.
    """

    def read(ops: tuple[Op, ...]) -> Finding | None:
        steps = _done(stage, ops)
        if len(steps) != len(ops) - 1 or any(seen.problems for seen in steps[:-1]):
            return None
        tally = Tally()
        if isinstance(law, TraceLaw):
            walk = Walk(
                "replay",
                stage.adapter.oracle(_params(ops)),
                ops[0],
                steps,
                offered=stage.adapter.offered,
                indistinct=stage.adapter.indistinct,
            )
            law.read(stage.table, walk, tally)
        return tally.best

    def touched(ops: tuple[Op, ...]) -> Finding | None:
        for length, seen in enumerate(_done(stage, ops), 1):
            if problems := seen.wrong(frozenset({Aspect.NEIGHBOUR})):
                return finding(seen, problems, ops[: _index(ops, length) + 1])
        return None

    def last(ops: tuple[Op, ...]) -> Finding | None:
        steps = _done(stage, ops)
        if not steps or any(seen.problems for seen in steps[:-1]):
            return None
        shown = finding(steps[-1], steps[-1].problems, ops)
        return shown if (shown.expected, shown.got) == (found.expected, found.got) else None

    if isinstance(law, TraceLaw):
        return _shortest(found, read)
    if law.id.startswith("order/"):  # many events are tried on one task
        return _shortest(found, last)
    return _shortest(found, touched) if law.id == "identity/apart" else found


def _shortest(found: Finding, shown: Callable[[tuple[Op, ...]], Finding | None]) -> Finding:
    if found.how is not How.CLEAN or len(found.trace) <= 2:
        return found
    first = shown(found.trace)
    if first is None:
        return found
    return shown(shrink(first.trace, lambda ops: shown(ops) is not None)) or first


def _index(ops: Sequence[Op], length: int) -> int:
    """Return where the step is that is the ``length``-th to be judged."""
    judged = [index for index, op in enumerate(ops) if not isinstance(op, Submit | Put)]
    return judged[length - 1]


def _params(ops: Sequence[Op]) -> dict[str, int]:
    return dict(ops[0].params) if isinstance(ops[0], Submit) else {}


def _done(stage: Stage, ops: Sequence[Op]) -> list[Seen]:
    """Do a trace and return what was judged; nothing if it can't be done."""
    try:
        with stage.session() as session:
            return [seen for op in ops for seen in session.perform(op)]
    except (Fault, Hung):
        return []

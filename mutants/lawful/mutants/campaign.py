"""A campaign: an engine is looked at, its mutants are tested, and what is known is remembered."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from .errors import MutationError
from .memory import key_of
from .mutant import Fate, Result
from .score import Campaign, Trust
from .shards import Shard, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .engine import Engine
    from .memory import Memory
    from .mutant import Mutant

__all__ = ["beginning_with", "mutate"]

ALL: Final = Shard()


def mutate(
    engine: Engine,
    *,
    matrix: bool = False,
    chosen: Callable[[Sequence[Mutant]], Sequence[Mutant]] = lambda every: every,
    shard: Shard = ALL,
    memory: Memory | None = None,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
) -> Campaign:
    """Test the mutants of an engine that has been entered.

    Where a reason to believe its score does not hold, nothing is tested: each mutant is pending.
    Ctrl-C ends it early, and keeps what is done.

    Args:
        engine: The engine.
        matrix: Whether all killers are asked for, and not the first alone.
        chosen: Which mutants it is about; all of them, if nothing is said.
        shard: Which part of them is tested; nothing is said of the others.
        memory: What became of them before: who has not changed, nor has anything that judges it, is
            not tested again. What becomes of the others is taken in.
        progress: Told how far it is.

    Raises:
        MutationError: There is nothing to mutate.
    """
    began = time.perf_counter()
    all_there_are = engine.mutants()
    every = chosen(all_there_are)
    mutants = [mutant for mutant in every if shard.has(mutant)]
    keys: dict[str, str] = {}
    results: dict[str, Result] = {}
    if memory is not None:
        keys = {m.id: key_of(m, engine.depends(m), matrix=matrix) for m in mutants}
        recalled = (memory.recall(mutant, keys[mutant.id]) for mutant in mutants)
        results = {result.mutant.id: result for result in recalled if result}
    remembered = len(results)
    left = [mutant for mutant in mutants if mutant.id not in results]
    progress(remembered, len(mutants), "baseline")
    if not every:
        trust: tuple[Trust, ...] = (_none_chosen(len(all_there_are)),)
    else:
        trust = tuple(engine.trust(left) if left else _nothing_changed(remembered))
    files = {mutant.place.file for mutant in mutants}
    interrupted = False
    if not all(each.holds for each in trust):
        results.clear()
    elif left:
        killers = memory.killers() if memory else {}
        try:
            for result in engine.test(left, matrix=matrix, killers=killers):
                results[result.mutant.id] = result
                if memory is not None:
                    memory.remember(result, keys[result.mutant.id])
                progress(len(results), len(mutants), result.mutant.id)
        except KeyboardInterrupt:
            interrupted = True
    reason = "interrupted before it" if interrupted else ""
    return Campaign(
        engine.name,
        engine.target,
        tuple(results.get(m.id) or Result(m, Fate.PENDING, reason=reason) for m in mutants),
        trust,
        matrix,
        tuple(engine.checks),
        {name: text for name, text in engine.sources().items() if name in files},
        time.perf_counter() - began,
        shard=shard,
        plan=plan_of(every),
        interrupted=interrupted,
        remembered=remembered,
    )


def _none_chosen(of: int) -> Trust:
    return Trust("chosen", False, f"none of {of:,} mutants is in what was asked for")


def _nothing_changed(remembered: int) -> Iterator[Trust]:
    if remembered:
        told = f"nothing that {remembered:,} fates depend on has changed"
        yield Trust("memory", True, told)


def beginning_with(only: Sequence[str]) -> Callable[[Sequence[Mutant]], Sequence[Mutant]]:
    """Return what chooses the mutants whose ids begin with one of some texts.

    What it returns raises MutationError where none begins with one of them.
    """

    def chosen(every: Sequence[Mutant]) -> Sequence[Mutant]:
        for prefix in only:
            if not any(mutant.id.startswith(prefix) for mutant in every):
                families = ", ".join(dict.fromkeys(f"{m.engine}/{m.family}" for m in every))
                raise MutationError(f"no mutant's id begins with {prefix!r}; there are {families}")
        return [mutant for mutant in every if mutant.id.startswith(tuple(only))]

    return chosen

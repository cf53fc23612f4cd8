"""A campaign: an engine is looked at, its mutants are tested, and what is known is remembered."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from .errors import MutationError
from .mutant import Fate, Result
from .score import Campaign
from .shards import Shard, plan_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .engine import Engine
    from .mutant import Mutant

__all__ = ["mutate"]

ALL: Final = Shard()


def mutate(
    engine: Engine,
    *,
    matrix: bool = False,
    only: Sequence[str] = (),
    shard: Shard = ALL,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
) -> Campaign:
    """Test the mutants of an engine that has been entered.

    Where a reason to believe its score does not hold, nothing is tested: each mutant is pending.
    Ctrl-C ends it early, and keeps what is done.

    Args:
        engine: The engine.
        matrix: Whether all killers are asked for, and not the first alone.
        only: What the ids of those begin with that it is about; all, if nothing is said.
        shard: Which part of them is tested; nothing is said of the others.
        progress: Told how far it is.

    Raises:
        MutationError: There is nothing to mutate, or nothing begins with one of ``only``.
    """
    began = time.perf_counter()
    every = _chosen(engine.mutants(), only)
    mutants = [mutant for mutant in every if shard.has(mutant)]
    progress(0, len(mutants), "baseline")
    trust = tuple(engine.trust(mutants))
    files = {mutant.place.file for mutant in mutants}
    results: dict[str, Result] = {}
    interrupted = False
    if all(each.holds for each in trust):
        try:
            for result in engine.test(mutants, matrix=matrix, killers={}):
                results[result.mutant.id] = result
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
    )


def _chosen(every: Sequence[Mutant], only: Sequence[str]) -> Sequence[Mutant]:
    for prefix in only:
        if not any(mutant.id.startswith(prefix) for mutant in every):
            families = ", ".join(dict.fromkeys(f"{m.engine}/{m.family}" for m in every))
            raise MutationError(f"no mutant's id begins with {prefix!r}; there are {families}")
    return [mutant for mutant in every if mutant.id.startswith(tuple(only))] if only else every

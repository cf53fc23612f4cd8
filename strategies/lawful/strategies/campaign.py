"""A campaign: a random walk of many steps, cut into slices, here or on many machines.

Any ``concurrent.futures.Executor`` does the slices. What comes back is merged in the order of the
slices, so that the result is the same whoever did them and whenever they were done. A lost worker
loses the slice that it was at, which is done again.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from .adapter import AdapterError
from .crew import Crew, Ended
from .slices import Errand, shorten, walk_slice
from .watch import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from .adapter import Adapter
    from .slices import Find, Place, Walked
    from .wander import Shape, Slice

__all__ = ["Campaign", "Lost", "campaign"]

MOST: Final = 20
"""How many findings are reported."""
SHORTENED: Final = 3 * MOST
"""How many are made shorter, the shortest first, to report the shortest of them."""
GRACE: Final = 30.0
"""How long a slice may take to end after the budget has, beside one call's limit, in seconds."""


class Lost(NamedTuple):
    """A slice that could not be done.

    Attributes:
        seed: Its seed.
        steps: Its steps.
        reason: What became of its workers.
    """

    seed: int
    steps: int
    reason: str


@dataclass(slots=True)
class Campaign:
    """What a campaign has found out.

    Attributes:
        adapter: The adapter.
        asked: How many steps were asked for.
        slices: How many slices these were.
        steps: How many steps were taken, in slices that came back.
        done: How many slices came back.
        hits: How often each letter was fired at each position.
        findings: The shortest of the findings, each of another shape.
        shapes: How many shapes there were.
        lost: The slices that were given up: the implementation kills its process.
        ended: Why it took no more steps.
        cause: What broke the executor.
        seconds: How long the walking took.
    """

    adapter: Adapter
    asked: int
    slices: int
    steps: int = 0
    done: int = 0
    hits: Counter[Place] = field(default_factory=Counter)
    findings: tuple[Find, ...] = ()
    shapes: int = 0
    lost: tuple[Lost, ...] = ()
    ended: Ended = Ended.WHOLE
    cause: str = ""
    seconds: float = 0.0


def campaign(
    adapter: Adapter,
    parts: Sequence[Slice],
    executor: Executor | None = None,
    *,
    ahead: int = 1,
    limit: float = LIMIT,
    budget: float | None = None,
    store: Path | None = None,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
    clock: Callable[[], float] = time.monotonic,
) -> Campaign:
    """Walk slices, merge what they have come across, and make it short.

    An interruption ends it, with what the slices that are done have found; so does the budget.

    Args:
        adapter: The adapter, as the smoke test returned it.
        parts: The slices.
        executor: Who does them; this process by default. It is not shut down: slices may be under
            way in it after an interruption.
        ahead: How many slices it is given at a time: as many as it has workers, or some more if
            handing out takes long.
        limit: How long one call may take, in seconds.
        budget: After so many seconds no slice is begun, and those under way end as soon as they
            can.
        store: Where stores are made, on the workers' machines; in their memory by default. A
            worker that is killed leaves its stores there.
        progress: Told how many of how many steps are done, and of what kind they are.
        clock: What the budget is measured with.

    Raises:
        AdapterError: The executor's workers can't load the adapter.
    """
    begun = clock()
    crew = Crew(executor, ahead, clock, None if budget is None else begun + budget, limit + GRACE)
    result = Campaign(adapter, sum(part.steps for part in parts), len(parts))
    errands = [
        Errand(
            adapter.target,
            adapter.table,
            tuple(sorted(adapter.offered)),
            part,
            limit,
            None if store is None else str(store),
        )
        for part in parts
    ]
    walked: dict[int, Walked] = {}
    told = 0
    work: Callable[[Errand], Walked] = walk_slice
    if executor is None:
        work = partial(
            walk_slice, progress=lambda steps: progress(told + steps, result.asked, "walking")
        )
    try:
        for number, done in crew.each(work, errands):
            if done.wrong:
                raise AdapterError(adapter.target, f"a worker can't begin: {done.wrong}")
            walked[number] = done
            told += done.steps
            progress(told, result.asked, "walking")
    except KeyboardInterrupt:
        crew.ended = Ended.INTERRUPTED
    result.ended, result.cause = crew.ended, crew.cause
    result.lost = tuple(
        Lost(parts[n].seed, parts[n].steps, reason) for n, reason in sorted(crew.lost.items())
    )
    result.seconds = clock() - begun
    late = budget is not None and result.seconds >= budget
    found = _merge(result, [walked[number] for number in sorted(walked)])
    if late and result.ended is Ended.WHOLE and result.steps < result.asked:
        result.ended = Ended.BUDGET
    if found and result.ended is not Ended.INTERRUPTED:
        try:
            found = _shortened(crew, errands[0], found, progress)
        except KeyboardInterrupt:
            result.ended = Ended.INTERRUPTED
    result.shapes = len(found)
    result.findings = tuple(sorted(found, key=lambda find: find.rank)[:MOST])
    return result


def _merge(result: Campaign, walked: Sequence[Walked]) -> list[Find]:
    """Add up what slices have come across, in their order; of each shape the shortest finding."""
    best: dict[Shape, Find] = {}
    for one in walked:
        result.steps += one.steps
        result.done += 1
        for place, count in one.hits:
            result.hits[place] += count
        for find in one.found:
            _keep(best, find)
    return list(best.values())


def _keep(best: dict[Shape, Find], find: Find) -> None:
    other = best.get(find.shape)
    if other is None:
        best[find.shape] = find
    else:
        shorter = min(other, find, key=lambda each: each.rank)
        best[find.shape] = shorter._replace(times=other.times + find.times)


def _shortened(
    crew: Crew,
    errand: Errand,
    found: list[Find],
    progress: Callable[[int, int, str], None],
) -> list[Find]:
    """Make the shortest findings shorter; those that turn out to be the same become one."""
    found = sorted(found, key=lambda find: find.rank)
    short = dict(enumerate(found))
    errands = [replace(errand, find=find) for find in found[:SHORTENED]]
    progress(0, len(errands), "shortening")
    for done, (number, find) in enumerate(crew.anyway(shorten, errands), 1):
        short[number] = find
        progress(done, len(errands), "shortening")
    best: dict[Shape, Find] = {}
    for number in range(len(found)):
        _keep(best, short[number])
    return list(best.values())

"""A trace, done again: what the table says of each step, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError
from lawful.strategies.canary import distrust
from lawful.strategies.driver import Fault
from lawful.strategies.hub import Deadlock, Stuck
from lawful.strategies.performing import perform
from lawful.strategies.racing import Arena, Unready
from lawful.strategies.schedules import follow
from lawful.strategies.seen import Hung
from lawful.strategies.session import Session
from lawful.strategies.watch import LIMIT, Watch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.racing import Race, Run
    from lawful.strategies.seen import Seen
    from lawful.strategies.trace import Op

__all__ = ["Replayed", "replay", "replay_race"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One step of a replay.

    Attributes:
        op: The step.
        seen: What was judged; empty for a step that is no call on a task.
        fault: What stopped the replay here, if anything did.
    """

    op: Op
    seen: tuple[Seen, ...] = ()
    fault: str = ""

    @property
    def lawful(self) -> bool:
        """Whether nothing was wrong with the step."""
        return not self.fault and not any(seen.problems for seen in self.seen)


def replay(
    adapter: Adapter, ops: Sequence[Op], folder: Path, *, limit: float = LIMIT
) -> list[Replayed]:
    """Do a trace's steps on a fresh store and judge each.

    Args:
        adapter: The adapter, as the smoke test returned it.
        ops: The steps.
        folder: An empty folder for the store.
        limit: How long one call may take, in seconds.

    Returns:
        The steps, up to one that could not be done.
    """
    watch = Watch(limit)
    done: list[Replayed] = []
    with watch.running(), Session(adapter, folder / "replay", watch) as session:
        for op in ops:
            try:
                done.append(Replayed(op, tuple(perform(session, op))))
            except Hung as hung:
                return [*done, Replayed(op, (hung.seen,))]
            except Fault as fault:
                return [*done, Replayed(op, fault=str(fault))]
    return done


def replay_race(adapter: Adapter, race: Race, schedule: Sequence[str], folder: Path) -> Run:
    """Run a race under one schedule on a fresh store.

    Args:
        adapter: The adapter, as the smoke test returned it.
        race: The race.
        schedule: Who goes on at each step; after its end whoever has the turn.
        folder: An empty folder for the store.

    Raises:
        LawfulError: Schedules can't be believed here, or the implementation does not follow it.
    """
    if reason := distrust(adapter.server):
        raise LawfulError(f"the race can't be run: {reason}")
    with Arena(adapter, folder / "race", workers=len(race.does)) as arena:
        try:
            return arena.run(race, follow(schedule))
        except (Unready, Deadlock, Stuck, Fault) as error:
            raise LawfulError(f"the race came to no end: {error}") from error

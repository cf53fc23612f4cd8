"""A trace, done again: what the table says of each step, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError
from lawful.strategies.accidents import Sort
from lawful.strategies.canary import distrust
from lawful.strategies.driver import Fault
from lawful.strategies.hub import Deadlock, Stuck
from lawful.strategies.performing import Unready, perform
from lawful.strategies.racing import Arena
from lawful.strategies.schedules import follow
from lawful.strategies.seen import Hung
from lawful.strategies.session import Session
from lawful.strategies.severed import crash_site
from lawful.strategies.watch import LIMIT, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lawful.strategies.accidents import Accident, Mishap, Statement
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.aftermath import Found
    from lawful.strategies.crashes import CrashSite, Film
    from lawful.strategies.racing import Race, Run
    from lawful.strategies.seen import Seen
    from lawful.strategies.trace import Op

__all__ = ["Replayed", "Staged", "replay", "replay_accident", "replay_race"]


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
    with watch.running(), Session(adapter, folder / "replay", watch) as session:
        return _done(partial(perform, session), ops)


def _done(perform: Callable[[Op], list[Seen]], ops: Sequence[Op]) -> list[Replayed]:
    done: list[Replayed] = []
    for op in ops:
        try:
            done.append(Replayed(op, tuple(perform(op))))
        except Hung as hung:
            return [*done, Replayed(op, (hung.seen,))]
        except Fault as fault:
            return [*done, Replayed(op, fault=str(fault))]
    return done


def replay_race(
    adapter: Adapter, race: Race, schedule: Sequence[str], folder: Path, *, limit: float = LIMIT
) -> Run:
    """Run a race under one schedule on a fresh store.

    Args:
        adapter: The adapter, as the smoke test returned it.
        race: The race.
        schedule: Who goes on at each step; after its end whoever has the turn.
        folder: An empty folder for the store.
        limit: How long a worker may take from one step to the next, in seconds.

    Raises:
        LawfulError: Schedules can't be believed here, or the implementation does not follow it.
    """
    _trust(adapter)
    with Arena(adapter, folder / "race", workers=len(race.does), limit=limit) as arena:
        try:
            return arena.run(race, follow(schedule))
        except (Unready, Deadlock, Stuck, Fault) as error:
            raise LawfulError(f"the race came to no end: {error}") from error


@dataclass(frozen=True, slots=True)
class Staged:
    """An accident, staged again.

    Attributes:
        statements: The statements of the call that was hit; of the recovery, after two crashes.
        found: What is stored then.
        steps: What was done afterwards.
    """

    statements: tuple[Statement, ...]
    found: Found
    steps: tuple[Replayed, ...] = ()

    @property
    def lawful(self) -> bool:
        """Whether nothing was wrong."""
        return self.found.lawful and all(step.lawful for step in self.steps)


def replay_accident(
    adapter: Adapter, accident: Accident, folder: Path, *, limit: float = LIMIT
) -> Staged:
    """Stage an accident on a fresh store.

    Args:
        adapter: The adapter, as the smoke test returned it.
        accident: The accident.
        folder: An empty folder for stores.
        limit: How long a worker may take from one statement to the next, in seconds.

    Raises:
        LawfulError: Statements can't be seen here, or there are not so many.
    """
    _trust(adapter)
    with crash_site(adapter, folder / "accident", limit=limit) as site:
        try:
            if accident.mishaps[0].sort is Sort.CRASH:
                return _crashed(site, accident)
            return _hurt(site, accident)
        except (Unready, Stuck, Fault) as error:
            raise LawfulError(f"the accident came to no end: {error}") from error


def _crashed(site: CrashSite, accident: Accident) -> Staged:
    film = site.film(accident.before, accident.call)
    found = site.after(film, _image(film, accident.mishaps[0]))
    for first, second in pairwise(accident.mishaps):
        if not found.lawful:
            return Staged(film.statements, found)
        film = site.film_recovery(film, _image(film, first), found.tasks)
        found = site.after(film, _image(film, second))
    if not found.lawful:
        return Staged(film.statements, found)
    with site.reopened(film, _image(film, accident.mishaps[-1]), found.tasks) as session:
        steps = _done(partial(site.perform, session), accident.then)
    return Staged(film.statements, found, tuple(steps))


def _image(film: Film, mishap: Mishap) -> int:
    """Return the number of the image that a crash leaves."""
    if mishap.at > len(film.images):
        raise LawfulError(f"{mishap}: there are {len(film.statements)} statements")
    return mishap.at - 1


def _hurt(site: CrashSite, accident: Accident) -> Staged:
    (mishap,) = accident.mishaps
    with site.hurt(accident.before, accident.call, mishap) as hurt:
        if not hurt.found.lawful:
            return Staged(hurt.statements, hurt.found)
        steps = _done(partial(site.perform, hurt.session), accident.then)
    return Staged(hurt.statements, hurt.found, tuple(steps))


def _trust(adapter: Adapter) -> None:
    """See that statements can be seen here.

    Raises:
        LawfulError: They can't.
    """
    if reason := distrust(adapter.server):
        raise LawfulError(f"statements can't be followed here: {reason}")

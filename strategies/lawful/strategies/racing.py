"""A race: workers of one store, each with a connection of its own, under one schedule."""

from __future__ import annotations

import gc
import itertools
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .calls import called, known
from .driver import Fault
from .garbage import garbage_waits
from .hub import LIMIT, Hub, Stuck
from .linear import explained, gave_up, orders, outcome
from .performing import bring
from .schedules import format_schedule, parse_schedule
from .servers import server_url
from .session import Session
from .sqlite_tap import SqliteTap
from .submissions import misplaced
from .trace import (
    ABSENT,
    TASK,
    Fire,
    Heartbeat,
    Reap,
    Submit,
    TraceError,
    format_trace,
    parse_start,
    parse_steps,
)
from .watch import Watch
from .wire import WireTap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lawful.spec.table import Table

    from .adapter import Adapter
    from .calls import Came, Raced
    from .driver import Driver
    from .hub import Taken
    from .seen import View
    from .trace import Op
    from .tracked import Tracked

__all__ = [
    "WORKERS",
    "Arena",
    "Race",
    "Run",
    "format_race",
    "is_race",
    "parse_race",
    "parse_run",
]

_EVERY: Final = "EVERY"
"""What a schedule begins with in which each statement is a choice."""

WORKERS: Final = ("A", "B", "C")
"""What workers are called in a schedule."""


class Race(NamedTuple):
    """What is done at once.

    Attributes:
        before: What brings the task to where the race begins.
        does: What each worker does, the first being worker A.
        every: Whether each statement is a choice, those included that the others can't see.
    """

    before: tuple[Op, ...]
    does: tuple[tuple[Raced, ...], ...]
    every: bool = False

    @property
    def by_worker(self) -> dict[str, tuple[Raced, ...]]:
        """What each worker does, by its name."""
        return dict(zip(WORKERS, self.does, strict=False))


def format_race(race: Race) -> str:
    """Write a race in one line: ``enqueue@client || start@worker-1 || start@worker-2``."""
    return " || ".join(format_trace(ops) or "-" for ops in (race.before, *race.does))


def parse_race(line: str, table: Table) -> Race:
    """Read a race: what comes before, then what each of two or three workers does.

    Raises:
        TraceError: It can't be read, or does what a race can't.
    """
    before, *does = (part.strip() for part in line.split("||"))
    if not 2 <= len(does) <= len(WORKERS):
        raise TraceError(line, f"a race is BEFORE || A || B, of two to {len(WORKERS)} workers")
    race = Race(parse_start(before, table), tuple(_done(part, table) for part in does))
    labels = [op.task for op in (*race.before, *chain(*race.does)) if isinstance(op, Submit)]
    if len(labels) > len(set(labels)):
        raise TraceError(line, "each task that is submitted has a label of its own: u:SUBMIT")
    return race


def _done(part: str, table: Table) -> tuple[Raced, ...]:
    """Read what one worker does."""
    ops = parse_steps(part, table)
    done = tuple(op for op in ops if isinstance(op, Fire | Heartbeat | Reap | Submit))
    if not done or len(done) < len(ops) or not all(map(_may_race, done)):
        raise TraceError(
            part,
            "a worker of a race fires events, HEARTBEAT or REAP, on the one task there is, or "
            "submits another (u:SUBMIT)",
        )
    return done


def _may_race(op: Raced) -> bool:
    if isinstance(op, Submit):
        return op.task not in (TASK, ABSENT)
    return isinstance(op, Reap) or op.task == TASK


def is_race(line: str) -> bool:
    """Say whether a line is a race, and not a trace."""
    return "||" in line


def parse_run(line: str, table: Table) -> tuple[Race, tuple[str, ...]]:
    """Read a race and, behind it, its schedule: ``BEFORE || A || B || A | B B | A``.

    One that begins with ``EVERY`` has each statement as a choice.

    Raises:
        TraceError: The race can't be read.
        ScheduleError: The schedule can't.
    """
    rest, _, last = line.rpartition("||")
    words = last.split()
    every = words[:1] == [_EVERY]
    if rest.count("||") >= 2 and set(words[every:]) <= {*WORKERS, "|"}:
        race = parse_race(rest, table)._replace(every=every)
        return race, parse_schedule(" ".join(words[every:]), tuple(race.by_worker))
    return parse_race(line, table), ()


@dataclass(frozen=True, slots=True)
class Run:
    """A race under one schedule.

    Attributes:
        race: The race.
        taken: The steps, in the order in which they were taken.
        came: What came of each worker's calls.
        after: The task afterwards.
        expected: What each order of the calls comes to, if none of them explains the run; or what
            a task that was submitted in it should be, and is not.
        instead: What such a task is.
        ordered: Whether the schedule alone has decided it. Otherwise a server has, where two waited
            in it at once, and may decide otherwise another time.
    """

    race: Race
    taken: tuple[Taken, ...]
    came: Mapping[str, Sequence[Came]]
    after: View
    expected: tuple[str, ...] = ()
    instead: str = ""
    ordered: bool = True

    @property
    def lawful(self) -> bool:
        """Whether some order of the calls explains it."""
        return not self.expected

    @property
    def schedule(self) -> str:
        """The schedule in one line."""
        return format_schedule([step.worker for step in self.taken if step.chosen])

    @property
    def line(self) -> str:
        """The race and its schedule in one line, as ``lawful replay`` reads it."""
        every = f"{_EVERY} " if self.race.every else ""
        return f"{format_race(self.race)} || {every}{self.schedule}"

    @property
    def in_turn(self) -> bool:
        """Whether each worker did all it had to do before the next one began."""
        order = [step.worker for step in self.taken]
        return len(self.schedule.split("|")) <= len(set(order))

    @property
    def got(self) -> str:
        """What came of it, in one line."""
        if self.instead:
            return self.instead
        told = [f"{name} {_told(one)}" for name, each in self.came.items() for one in each]
        reading = self.after.reading
        by = f" by {reading.lease_owner}" if reading.lease_owner else ""
        return f"{', '.join(told)} -> {reading.state}{by}"


def _told(came: Came) -> str:
    if came.fault is not None:
        return f"failed ({came.fault})"
    if came.made is not None:
        return "submitted"
    if came.handled is not None:
        return "reaped it" if came.handled else "reaped nothing"
    if came.claim is None or came.claim.text:
        return f"refused ({came.claim.text if came.claim else ''})"
    return str(came.claim.kind)


class Arena:
    """Where races of one implementation are run: workers, and a store for each schedule.

    Args:
        adapter: The implementation.
        folder: A folder for stores.
        workers: How many there may be.
        limit: How long a worker may take from one step to the next, in seconds.
    """

    def __init__(
        self,
        adapter: Adapter,
        folder: Path,
        *,
        workers: int = 2,
        limit: float = LIMIT,
    ) -> None:
        self.adapter = adapter
        self._folder = folder
        self._names = WORKERS[:workers]
        self._limit = limit
        self._numbers = itertools.count()

    def __enter__(self) -> Arena:
        with ExitStack() as stack:
            stack.enter_context(garbage_waits())
            url = server_url(self.adapter.server)
            self._hub = stack.enter_context(Hub(self._names, self._limit))
            self._wire = WireTap(self._hub, url) if url else None
            self._tap = self._wire or SqliteTap(self._hub)
            stack.enter_context(self._tap)
            self._left = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:  # the three that a context is left with
        self._left.__exit__(*error)

    @property
    def statements(self) -> int:
        """How many statements of workers were seen."""
        return self._tap.statements

    @property
    def unseen(self) -> str:
        """Why nothing was seen of what the workers do; empty if something was."""
        return self._tap.unseen

    def run(self, race: Race, choose: Callable[[Sequence[str], str | None], str]) -> Run:
        """Run a race under one schedule.

        Args:
            race: The race.
            choose: Says who goes on (see :mod:`lawful.strategies.schedules`).

        Raises:
            ValueError: It has more workers than there are here.
            Unready: What comes before it is unlawful by itself, or no task comes of it.
            Deadlock: The workers wait for each other.
            Stuck: A worker came to no next step in time.
            Fault: The store can't be opened, closed or read.
            WireError: What a client sends can't be held.
        """
        if len(race.does) > len(self._names):
            here = len(self._names)
            raise ValueError(f"the race has {len(race.does)} workers; this arena has {here}")
        self._tap.reduced = not race.every
        folder = self._folder / f"race-{next(self._numbers)}"
        gc.collect()
        with Session(self.adapter, folder, Watch()) as session:
            bring(session, race.before)
            return self._raced(session, session.tasks[TASK], race, choose)

    def _raced(
        self,
        session: Session,
        task: Tracked,
        race: Race,
        choose: Callable[[Sequence[str], str | None], str],
    ) -> Run:
        does = {name: tuple(known(task, op) for op in ops) for name, ops in race.by_worker.items()}
        came: dict[str, list[Came]] = {name: [] for name in does}
        drivers: dict[str, Driver] = {}
        try:
            for name in does:
                url = self._wire.address(name) if self._wire else None
                drivers[name] = self._hub.call(name, partial(session.opened, url))
            jobs = {
                name: self._job(name, drivers[name], task, ops, came[name])
                for name, ops in does.items()
            }
            taken = self._hub.run(jobs, choose)
        except BaseException:
            for name, driver in drivers.items():
                with suppress(Fault, Stuck):  # what is cut short need not be closed in order
                    self._hub.call(name, driver.close)
            raise
        for name, driver in drivers.items():
            self._hub.call(name, driver.close)
        view = session.look(task)
        lost = gave_up(does, came)
        every = list(orders(task.oracle, task.model, session.clock.now(), does, lost))
        lawful = any(explained(self.adapter, task, order, came, view) for order in every)
        run = Run(race, tuple(taken), came, view, ordered=self._hub.ordered)
        if not lawful:
            return replace(run, expected=tuple(dict.fromkeys(map(outcome, every))))
        wrong = misplaced(session, task, race.by_worker, came)
        return run if wrong is None else replace(run, expected=wrong[:1], instead=wrong[1])

    def _job(
        self,
        name: str,
        driver: Driver,
        task: Tracked,
        ops: Sequence[Raced],
        came: list[Came],
    ) -> Callable[[], None]:
        """Return what a worker does: its calls, one after the other."""

        def job() -> None:
            came.extend(called(driver, task, op) for op in ops)
            self._tap.note(name)

        return job

"""A seeded random walk over the table, without Hypothesis: for millions of steps.

It leans towards what is legal, so that it gets far, and takes wrong turns often enough to see them
refused. The same seed takes the same steps, whatever machine it is on. A store is renewed every
few hundred steps, so that what is found can be done again from its beginning.

A task that another's step has changed is found out when its own turn comes, or at the end of the
store: looking at every task after every step costs more than the steps do. The store's log is then
done again, with a look at every task after every step, to tell which step it was.
"""

from __future__ import annotations

import itertools
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.spec.table import CellKind

from .driver import Fault
from .moves import (
    Beat,
    Begin,
    Firing,
    Resolver,
    Shown,
    Who,
    abilities,
    elapsing,
    every_start,
    spelled_out,
)
from .performing import perform
from .seen import Aspect, Hung, Problem
from .session import Session
from .trace import Advance, Fire, Reap, Reopen, format_trace
from .unhurried import Unhurried
from .watch import LIMIT, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lawful.spec.oracle import Position
    from lawful.spec.table import Lease, Letter

    from .adapter import Adapter
    from .moves import Move, Played
    from .trace import Op

__all__ = ["Broken", "Found", "Shape", "Slice", "Wandered", "first_broken", "wander"]

STEPS_PER_STORE: Final = 300
TASKS: Final = 4
"""How many tasks of a store can still move at a time."""
TASKS_PER_STORE: Final = 12
MOST: Final = 100
"""After so many kinds of findings a walk has nothing to add."""
_LEGAL: Final = 0.65
"""How often a legal letter is fired by whoever should, if there is one."""
_UNTIMED: Final = 0.88
"""How often a call on a task is made, legal or not; else something that has to do with time."""
_LATE: Final = "LOOK"
"""The step of what was found by looking later: which step it really was is not known yet."""
_WHO: Final = tuple(Who)
_SHOWN: Final = tuple(Shown)
_NUMBERS: Final = re.compile(r"\b[0-9a-f-]{8,}\b|\d+(\.\d+)?")
"""Numbers, and ids made of hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a campaign: what one process takes.

    Attributes:
        seed: The seed of its walk.
        steps: How many steps it takes.
    """

    seed: int
    steps: int


class Shape(NamedTuple):
    """What makes two findings the same one.

    Attributes:
        state: Where the table had the task; empty if the step was on none.
        step: The event with its payload, or the suite's own step.
        aspect: What was wrong, most telling first.
        expected: What was expected, its numbers left out.
        got: What was seen, its numbers left out.
    """

    state: str
    step: str
    aspect: str
    expected: str
    got: str


class Broken(NamedTuple):
    """The first unlawful step of a trace.

    Attributes:
        length: How many steps it takes to show it, itself included.
        shape: What kind of a finding it is.
        problems: What is wrong.
        hung: Whether a call did not return: nothing more should be asked.
    """

    length: int
    shape: Shape
    problems: tuple[Problem, ...]
    hung: bool = False


class Found(NamedTuple):
    """Something unlawful that a walk came across.

    Attributes:
        trace: Everything that was done to the store, the unlawful step last.
        problems: What is wrong with it.
        shape: What kind of a finding it is.
        moves: The moves that the trace was made of, each a single step; none if it should not
            be done again, since a call did not return.
    """

    trace: tuple[Op, ...]
    problems: tuple[Problem, ...]
    shape: Shape
    moves: tuple[Move, ...]


@dataclass(slots=True)
class Wandered:
    """What a walk has come across.

    Attributes:
        steps: How many steps were taken.
        hits: How often each letter was fired at each position.
        shapes: How often each kind of finding was met; each ended a store.
        found: Of each kind the one with the shortest trace, in the order of meeting.
    """

    steps: int = 0
    hits: Counter[tuple[Position, Letter]] = field(default_factory=Counter)
    shapes: Counter[Shape] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)

    def add(self, found: Found) -> None:
        """Count a finding, and keep it if it is the shortest of its kind."""
        self.shapes[found.shape] += 1
        for number, other in enumerate(self.found):
            if other.shape == found.shape:
                if len(found.trace) < len(other.trace):
                    self.found[number] = found
                return
        self.found.append(found)


def wander(
    adapter: Adapter,
    part: Slice,
    folder: Path,
    *,
    limit: float = LIMIT,
    until: float | None = None,
    progress: Callable[[int], None] = lambda steps: None,
    most: int = MOST,
) -> Wandered:
    """Walk at random and judge each step.

    A call that does not return ends the walk: what it has left behind can't be judged.

    Args:
        adapter: The adapter, as the smoke test returned it.
        part: The seed and the number of steps.
        folder: An empty folder for stores.
        limit: How long one call may take, in seconds.
        until: When to end early, on the monotonic clock; never by default.
        progress: Told how many steps were taken, for each store.
        most: After so many kinds of findings the walk ends.
    """
    watch = Watch(limit)
    chooser = random.Random(part.seed)  # noqa: S311 - it chooses steps, no secrets
    walk = _Walk(adapter, chooser, folder, watch)
    result = walk.result
    with watch.running():
        while result.steps < part.steps and len(result.found) < most and not walk.hung:
            if until is not None and time.monotonic() > until:
                break
            walk.store(min(STEPS_PER_STORE, part.steps - result.steps))
            progress(result.steps)
    return result


def first_broken(adapter: Adapter, ops: Sequence[Op], folder: Path, watch: Watch) -> Broken | None:
    """Do a trace, looking at every task after every step, and return its first unlawful step.

    Args:
        adapter: The adapter, as the smoke test returned it.
        ops: The steps.
        folder: Where the store is made.
        watch: What ends a call that hangs.
    """
    length, broken = 0, None
    try:
        with Session(adapter, folder, watch) as session:
            for op in ops:
                length += 1
                broken = _judged(session, op)
                if broken is not None:
                    break
    except Fault as fault:
        return broken or _faulty(length, "CLOSE" if length else "OPEN", fault)
    return broken


class _Walk:
    """A walk through many stores.

    Args:
        adapter: The adapter.
        chooser: What chooses.
        folder: A folder for stores.
        watch: What ends a call that hangs.
    """

    def __init__(
        self, adapter: Adapter, chooser: random.Random, folder: Path, watch: Watch
    ) -> None:
        self.result = Wandered()
        self.hung = False
        self._watch = watch
        self._adapter = adapter
        self._folder = folder
        self._stores = itertools.count()
        self._moves = _Moves(adapter, chooser)

    def store(self, budget: int) -> None:
        """Walk in one store until its steps are taken, its tasks are over or something is wrong."""
        drawn: list[Move] = []
        log: list[Op] = []
        broken = None
        try:
            with Unhurried(self._adapter, self._next_folder(), self._watch) as session:
                log = session.log
                broken = self._through(session, budget, drawn)
        except Fault as fault:
            self.hung = fault.hung
            broken = broken or _faulty(len(log), "CLOSE" if log else "OPEN", fault)
            # A store that can't be opened counts as a step, or the walk would never end.
            self.result.steps += not log
        if broken is None:
            return
        if broken.shape.step == _LATE and not broken.hung:
            again = first_broken(self._adapter, log, self._next_folder(), self._watch)
            broken = again or broken
        self.hung = self.hung or broken.hung
        length = broken.length
        single = (
            ()
            if self.hung
            else spelled_out(self._adapter.table, drawn, tasks=TASKS_PER_STORE)[:length]
        )
        self.result.add(Found(tuple(log[:length]), broken.problems, broken.shape, single))

    def _next_folder(self) -> Path:
        return self._folder / f"wander-{next(self._stores)}"

    def _through(self, session: Unhurried, budget: int, drawn: list[Move]) -> Broken | None:
        """Take steps until something is wrong, and look at every task at the end.

        Args:
            session: The store.
            budget: How many steps may be taken.
            drawn: Where to put the moves.
        """
        taken = 0
        self._moves.begin()
        while taken < budget and (move := self._moves.next()) is not None:
            drawn.append(move)
            for op in self._moves.resolve(move)[: budget - taken]:
                if isinstance(op, Fire):
                    self.result.hits[session.tasks[op.task].model.position, op.letter] += 1
                taken += 1
                self.result.steps += 1
                broken = _looked(session, op) or _judged(session, op)
                if broken is not None:
                    return broken
        return _looked(session)


def _looked(session: Unhurried, op: Op | None = None) -> Broken | None:
    """Look at the tasks that a step is about, or at all: has another's step changed them?"""
    try:
        for seen in session.overdue(op):
            shape = _shape(seen.model.position.state, _LATE, seen.problems)
            return Broken(len(session.log), shape, seen.problems)
    except Fault as fault:
        return _faulty(len(session.log), _LATE, fault)
    return None


def _judged(session: Session, op: Op) -> Broken | None:
    """Do a step, and say what is wrong with it; a call that hangs is wrong like any other."""
    hung = False
    try:
        steps = perform(session, op)
    except Hung as ended:
        steps, hung = [ended.seen], True
    except Fault as fault:
        return _faulty(len(session.log), format_trace([op]).partition("@")[0], fault)
    for seen in steps:
        if seen.problems:
            step = str(seen.letter) if isinstance(op, Fire) else type(op).__name__.upper()
            shape = _shape(seen.model.position.state, step, seen.problems)
            return Broken(len(session.log), shape, seen.problems, hung)
    return None


def _faulty(length: int, step: str, fault: Fault) -> Broken:
    problems = (Problem(Aspect.ERROR, "every call returns what the contract allows", str(fault)),)
    return Broken(length, _shape("", step, problems), problems, fault.hung)


def _shape(state: str, step: str, problems: Sequence[Problem]) -> Shape:
    aspect, expected, got = problems[0]
    return Shape(state, step, aspect, _NUMBERS.sub("#", expected), _NUMBERS.sub("#", got))


class _Moves:
    """Chooses moves, following the table.

    Args:
        adapter: Whose abilities they use.
        chooser: What chooses.
    """

    def __init__(self, adapter: Adapter, chooser: random.Random) -> None:
        self._table = adapter.table
        self._able = abilities(adapter)
        self._choose = chooser
        self._starts = every_start(adapter.table)
        self._resolver = Resolver(adapter.table)
        # Where workers take what comes, a second task that waits would be taken for the first.
        self._most = 1 if adapter.claims else TASKS
        self._passed = False  # time has passed: the reaper may have something to do
        self._legal_at: dict[tuple[tuple[int, ...], Position], list[Letter]] = {}

    def begin(self) -> None:
        """Begin with an empty store."""
        self._resolver = Resolver(self._table)
        self._passed = False

    def resolve(self, move: Move) -> list[Op]:
        """Take a move and return its steps."""
        return self._resolver.resolve(move)

    def next(self) -> Move | None:
        """Choose a move; None if this store has nothing more to show."""
        tasks = self._resolver.tasks
        live = [n for n, task in enumerate(tasks) if self._legal(task)]
        roll = self._choose.random
        if len(tasks) < TASKS_PER_STORE and len(live) < self._most and (not live or roll() < 0.1):
            return Begin(self._choose.choice(self._starts))
        if not live and roll() < 0.1:
            return None
        # Most of the time in a task that can still move; now and then in one that has ended.
        number = self._choose.randrange(len(tasks))
        if live and roll() < 0.9:
            number = self._choose.choice(live)
        passed, self._passed = self._passed, False
        if passed and "reap" in self._able and roll() < 0.5:
            return Reap()
        kind = roll()
        if kind < _LEGAL and number in live:
            return Firing(self._choose.choice(self._legal(tasks[number])), task=number)
        if kind < _UNTIMED or self._table.lease is None:
            return self._any(number)
        move = self._choose.choice(self._timed(self._table.lease, number))
        self._passed = isinstance(move, Advance)
        return move

    def _legal(self, task: Played) -> list[Letter]:
        """Return the letters that move a task."""
        key = tuple(task.oracle.params.values()), task.model.position
        if key not in self._legal_at:
            self._legal_at[key] = [
                letter
                for letter in self._table.letters
                if task.oracle.step(task.model.position, letter).kind is CellKind.LEGAL
            ]
        return self._legal_at[key]

    def _any(self, number: int) -> Firing:
        """Fire any letter, by anybody, expecting any version."""
        leased = self._table.lease is not None
        pick, able = self._choose.choice, self._able
        return Firing(
            pick(self._table.letters),
            who=pick(_WHO) if leased and "actor" in able else Who.PROPER,
            version=pick(_SHOWN) if "expected_version" in able else Shown.NOTHING,
            token=pick(_SHOWN) if leased and "token" in able else Shown.NOTHING,
            task=number,
        )

    def _timed(self, lease: Lease, number: int) -> list[Move]:
        """Return what has to do with time, and a restart."""
        moves: list[Move] = []
        if "clock" in self._able:
            moves += map(Advance, elapsing(lease))
        if "reap" in self._able:
            moves.append(Reap())
        if "heartbeat" in self._able:
            who = self._choose.choice(_WHO) if "actor" in self._able else Who.PROPER
            moves.append(Beat(who, task=number))
        if "restart" in self._able:
            moves.append(Reopen())
        return moves or [self._any(number)]

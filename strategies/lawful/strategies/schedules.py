"""Schedules: who goes on at each step, all of them, those with the fewest preemptions first.

A preemption takes the turn away from a worker that could go on. What goes wrong nearly always goes
wrong with one or two, so schedules are tried with none, then with one, then with two: what is
found first has as few as there can be. Nothing here knows what a step is.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "Chooser",
    "Diverged",
    "ScheduleError",
    "explore",
    "follow",
    "format_schedule",
    "parse_schedule",
]

T = TypeVar("T")


class ScheduleError(LawfulError):
    """A line is no schedule."""


class Diverged(LawfulError):
    """The same choices led elsewhere: the implementation is not deterministic.

    Attributes:
        step: At which step, counted from 1.
        expected: The workers that could go on there before.
        got: Those that can now.
    """

    def __init__(self, step: int, expected: Sequence[str], got: Sequence[str]) -> None:
        self.step = step
        self.expected = tuple(expected)
        self.got = tuple(got)
        could, can = ", ".join(expected) or "nobody", ", ".join(got) or "nobody"
        super().__init__(
            f"at step {step} it is {could} that should go on, and {can} can: the schedule is "
            "another's, or the implementation is not deterministic"
        )


class _Choice(NamedTuple):
    """One choice that was made: who could go on (whoever has the turn first), and who did."""

    able: tuple[str, ...]
    chosen: int
    preempting: bool
    """Whether any other than the first takes the turn away from it."""


@dataclass(slots=True)
class Chooser:
    """Chooses who goes on: as told at first, then always whoever has the turn.

    Attributes:
        made: The choices so far.
    """

    prefix: tuple[_Choice, ...] = ()
    made: list[_Choice] = field(default_factory=list)

    def __call__(self, able: Sequence[str], turn: str | None) -> str:
        """Choose.

        Args:
            able: The workers that can go on; at least one.
            turn: The one that made the last step, if it can go on.

        Raises:
            Diverged: Others can go on than when the same choices were made before.
        """
        first = [turn] if turn is not None else []
        ordered = (*first, *(worker for worker in able if worker != turn))
        index = len(self.made)
        chosen = 0
        if index < len(self.prefix):
            before = self.prefix[index]
            if before.able != ordered:
                raise Diverged(index + 1, before.able, ordered)
            chosen = before.chosen
        self.made.append(_Choice(ordered, chosen, turn is not None))
        return ordered[chosen]

    @property
    def preemptions(self) -> int:
        """How many there were so far."""
        return _preemptions(self.made)


def _preemptions(choices: Sequence[_Choice]) -> int:
    return sum(choice.preempting and choice.chosen > 0 for choice in choices)


def explore(run: Callable[[Chooser], T], *, most: int | None = None) -> Iterator[T]:
    """Run every schedule once, those with the fewest preemptions first.

    Args:
        run: Runs one schedule, asking the chooser at every step at which anybody can go on.
        most: The most preemptions; by default all schedules are run.
    """
    levels: dict[int, list[tuple[_Choice, ...]]] = {0: [()]}
    for level in itertools.count():
        prefixes = levels.pop(level, [])
        if not prefixes and not levels:
            return
        while prefixes:
            chooser = Chooser(prefixes.pop())
            yield run(chooser)
            for prefix, cost in _alternatives(chooser):
                if most is None or cost <= most:
                    (prefixes if cost == level else levels.setdefault(cost, [])).append(prefix)


def _alternatives(chooser: Chooser) -> Iterator[tuple[tuple[_Choice, ...], int]]:
    """Yield the beginnings that branch off a schedule behind its own, with their preemptions."""
    made, begin = chooser.made, len(chooser.prefix)
    used = _preemptions(made[:begin])
    for index in range(begin, len(made)):
        choice = made[index]
        for other in range(1, len(choice.able)):
            changed = choice._replace(chosen=other)
            yield (*made[:index], changed), used + choice.preempting


def follow(line: Sequence[str]) -> Callable[[Sequence[str], str | None], str]:
    """Choose as a schedule says; when it ends, whoever has the turn goes on.

    Raises:
        Diverged: The worker whose turn it is can't go on.
    """
    left = iter(line)
    steps = itertools.count(1)

    def choose(able: Sequence[str], turn: str | None) -> str:
        step, worker = next(steps), next(left, None)
        if worker is None:
            return turn if turn is not None else able[0]
        if worker not in able:
            raise Diverged(step, [worker], able)
        return worker

    return choose


def format_schedule(workers: Sequence[str]) -> str:
    """Return a schedule in one line: ``A A | B B | A``; a bar is where the turn passes."""
    groups = (" ".join(group) for _, group in itertools.groupby(workers))
    return " | ".join(groups)


def parse_schedule(line: str, names: Sequence[str]) -> tuple[str, ...]:
    """Read a schedule.

    Args:
        line: As :func:`format_schedule` writes it; the bars may be left out.
        names: The workers that there are.

    Raises:
        ScheduleError: There is a word that is no worker's name.
    """
    workers = tuple(word for word in line.split() if word != "|")
    for number, word in enumerate(workers, 1):
        if word not in names:
            allowed = ", ".join(names)
            raise ScheduleError(f"step {number} of the schedule is {word!r}; workers are {allowed}")
    return workers

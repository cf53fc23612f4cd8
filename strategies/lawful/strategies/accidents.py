"""An accident: a call, and at which of its statements something happens to it, in one line.

``enqueue@client || start@worker-1 || CRASH(3)``: the process is gone before the third statement of
``start``. A second mishap, ``CRASH(3) CRASH(5)``, meets the recovery from the first. A fourth part
is what is done afterwards: ``|| ADVANCE(31) REAP``.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from .calls import Done
from .trace import (
    ABSENT,
    LIMIT,
    TASK,
    Fire,
    Heartbeat,
    Put,
    Reap,
    Reopen,
    Submit,
    TraceError,
    format_trace,
    parse_start,
    parse_steps,
)

if TYPE_CHECKING:
    from lawful.spec.table import Table

    from .trace import Op

__all__ = [
    "Accident",
    "Hit",
    "Mishap",
    "Sort",
    "Statement",
    "format_accident",
    "is_accident",
    "parse_accident",
]

Hit: TypeAlias = Done | Reopen
"""What may be hit: a worker's call, the reaper's, or closing the store and opening it again."""


class Sort(StrEnum):
    """What happens."""

    CRASH = "CRASH"
    """The process is gone before the statement."""
    INTERRUPT = "INTERRUPT"
    """The statement fails, and takes no effect."""
    LOST = "LOST"
    """The statement takes effect, and the driver raises an error all the same."""


_SORT: Final = re.compile(rf"({'|'.join(Sort)})\b")
_MISHAP: Final = re.compile(rf"({'|'.join(Sort)})\(([1-9]\d{{0,3}})\)", re.ASCII)


class Mishap(NamedTuple):
    """What happens at one statement.

    Attributes:
        sort: What.
        at: The statement, counted from 1; one more than there are is behind the last.
    """

    sort: Sort
    at: int

    def __str__(self) -> str:
        return f"{self.sort}({self.at})"


class Statement(NamedTuple):
    """A statement that is about to run.

    Attributes:
        text: What it is.
        lands: Whether what was written is there for everybody once it has run.
        undoes: Whether it takes back what was written.
    """

    text: str
    lands: bool
    undoes: bool


class Accident(NamedTuple):
    """A call that something happens to.

    Attributes:
        before: What brings the tasks to where the call is made.
        call: The call.
        mishaps: What happens to it; a second crash meets the recovery from the first.
        then: What is done afterwards.
    """

    before: tuple[Op, ...]
    call: Hit
    mishaps: tuple[Mishap, ...]
    then: tuple[Op, ...] = ()


def format_accident(accident: Accident) -> str:
    """Write an accident in one line."""
    before, call = format_trace(accident.before) or "-", format_trace([accident.call])
    then = [format_trace(accident.then)] if accident.then else []
    return " || ".join((before, call, " ".join(map(str, accident.mishaps)), *then))


def is_accident(line: str) -> bool:
    """Say whether a line is meant for an accident, and neither for a race nor for a trace."""
    return any(_SORT.match(part.strip()) for part in line.split("||")[2:3])


def parse_accident(line: str, table: Table) -> Accident:
    """Read an accident.

    Raises:
        TraceError: It can't be read, or happens to what it can't.
    """
    if len(line) > LIMIT:
        raise TraceError(line[:20] + "...", f"{len(line)} characters; at most {LIMIT} are read")
    parts = [part.strip() for part in line.split("||")]
    if not 3 <= len(parts) <= 4:
        raise TraceError(line, "an accident is BEFORE || CALL || CRASH(STATEMENT) || AFTERWARDS")
    before = parse_start(parts[0], table)
    then = parse_steps(parts[3], table) if parts[3:] else ()
    for op in then:
        if isinstance(op, Submit | Put) or getattr(op, "task", TASK) not in {
            *_labels(before),
            ABSENT,
        }:
            raise TraceError(parts[3], "what is done afterwards is done to tasks that are there")
    return Accident(before, _hit(parts[1], before, table), _mishaps(parts[2]), then)


def _labels(before: tuple[Op, ...]) -> set[str]:
    return {op.task for op in before if isinstance(op, Submit | Put)}


def _hit(text: str, before: tuple[Op, ...], table: Table) -> Hit:
    steps = parse_steps(text, table)
    if len(steps) == 1:
        (step,) = steps
        if isinstance(step, Reap | Reopen):
            return step
        if isinstance(step, Fire | Heartbeat) and step.task in _labels(before):
            return step
    raise TraceError(
        text, "what is hit is one event, HEARTBEAT, REAP or REOPEN, on a task that is there"
    )


def _mishaps(text: str) -> tuple[Mishap, ...]:
    found = [_MISHAP.fullmatch(word) for word in text.split()]
    mishaps = tuple(Mishap(Sort(each[1]), int(each[2])) for each in found if each)
    one_or_two_crashes = len(mishaps) == 1 or [each.sort for each in mishaps] == [Sort.CRASH] * 2
    if None in found or not one_or_two_crashes:
        allowed = "CRASH(N), CRASH(N) CRASH(N), INTERRUPT(N) or LOST(N), N counted from 1"
        raise TraceError(text, f"expected {allowed}")
    return mishaps

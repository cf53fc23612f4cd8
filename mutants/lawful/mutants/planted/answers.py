"""What a trial is asked, and what it answers: values, and the wire between them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.laws.law import Status

if TYPE_CHECKING:
    from .patching import Patch

__all__ = ["Answer", "Asked", "Request", "read_answer", "write_request"]

RED: Final = frozenset({Status.FAIL, Status.ERROR})


class Request(NamedTuple):
    """What a trial is asked.

    Attributes:
        store: The shipped store that is judged.
        patches: What is patched of it; nothing for a baseline.
        checks: The checks that are asked; None for the whole profile.
        profile: How much is run, by the name of a profile.
        alone: Whether nothing else may run beside it.
    """

    store: str
    patches: tuple[Patch, ...] = ()
    checks: tuple[str, ...] | None = None
    profile: str = "quick"
    alone: bool = False


class Asked(NamedTuple):
    """One check, as it was answered.

    Attributes:
        id: Its id.
        status: How it ended.
        told: What was expected and what was seen, where it is red; else what was in the way.
        trace: The trace that shows it.
    """

    id: str
    status: Status
    told: str
    trace: str

    @property
    def red(self) -> bool:
        """Whether it has found something."""
        return self.status in RED


@dataclass(frozen=True, slots=True)
class Answer:
    """What a trial answers.

    Attributes:
        checks: Each check that was asked.
        problem: Why there is no answer, if there is none.
        late: Whether it was ended at its limit.
        ended: Whether its process ended before it had answered.
        seconds: How long it took.
    """

    checks: tuple[Asked, ...] = ()
    problem: str = ""
    late: bool = False
    ended: bool = False
    seconds: float = 0.0

    @property
    def red(self) -> tuple[Asked, ...]:
        """Every check that has found something."""
        return tuple(check for check in self.checks if check.red)

    @property
    def not_green(self) -> tuple[Asked, ...]:
        """Every check that has not passed, for whatever reason."""
        return tuple(check for check in self.checks if check.status is not Status.PASS)


def write_request(request: Request, limit: float) -> str:
    """Write a request as a trial reads it.

    Args:
        request: The request.
        limit: How long one call of the store may take, in seconds.
    """
    return json.dumps({**request._asdict(), "limit": limit})


def read_answer(text: str) -> Answer:
    """Read what a trial has answered."""
    read = json.loads(text)
    seconds = read.get("seconds", 0.0)
    if "late" in read:
        return Answer(problem=f"no end within {read['late']:g} s", late=True, seconds=seconds)
    if "ended" in read:
        told = f"its process ended with code {read['ended']}, and without an answer: {read['said']}"
        return Answer(problem=told, ended=True, seconds=seconds)
    if "error" in read:
        return Answer(problem=read["error"], seconds=seconds)
    return Answer(tuple(map(_asked, read["checks"])), seconds=seconds)


def _asked(read: dict[str, str]) -> Asked:
    told = read["cause"]
    if read["got"]:
        told = f"expected {read['expected']}, got {read['got']}"
    return Asked(read["id"], Status(read["status"]), told, read["trace"])

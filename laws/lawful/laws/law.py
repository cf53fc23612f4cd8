"""What a law is, what a run finds out about it, and how both become one check.

A *trace law* reads walks that were recorded for all laws at once. A *scenario law* drives
sessions of its own. Both count how often their trigger held, and how often the positive control
beside it did: a law whose trigger never held was not run, and never passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from lawful.strategies.seen import Aspect, How
from lawful.strategies.trace import format_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lawful.spec.table import Table
    from lawful.strategies.seen import Problem, Seen
    from lawful.strategies.trace import Op
    from lawful.strategies.walk import Walk

    from .stage import Stage

__all__ = [
    "Blocked",
    "Check",
    "Finding",
    "Law",
    "ScenarioLaw",
    "Status",
    "Tally",
    "TraceLaw",
    "everywhere",
]


class Status(StrEnum):
    """How a check ended."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"
    ERROR = "ERROR"
    """The implementation raised, hung, or gave what the contract does not allow."""
    BLOCKED = "BLOCKED"
    """A broken cell is in the way; ``cause`` names it."""
    UNSUPPORTED = "UNSUPPORTED"
    """The system does not offer what the law needs, and says why."""
    NOT_YET = "NOT_YET"
    """The same, and it is meant to change."""
    KNOWN = "KNOWN"
    """A pinned divergence, as it was."""
    STALE = "STALE"
    """A pinned divergence that is no more: its line must go."""
    MOVED = "MOVED"
    """A pinned divergence that has turned into another one."""
    NOT_RUN = "NOT_RUN"


UNLAWFUL: Final = frozenset({Status.FAIL, Status.ERROR, Status.STALE, Status.MOVED})
"""What makes a run unlawful."""


class Blocked(Exception):
    """The position that a scenario needs can't be reached.

    Attributes:
        cause: The id of the check whose failure is in the way.
        found: What went wrong, where that check has not failed itself: the step is unlawful in
            this scenario alone, which makes it the scenario's own finding.
    """

    def __init__(self, cause: str, found: Finding | None = None) -> None:
        self.cause = cause
        self.found = found
        super().__init__(cause)


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a law was broken.

    Attributes:
        expected: What the table says.
        got: What was seen.
        trace: The steps that show it; the last one is the broken one.
        how: How the task came to the broken step.
        error: Whether the implementation raised, hung, or gave what is not allowed.
        trail: The implementation's own traceback, if it raised.
        whole: Everything that was done to the store until then, should the trace alone not show
            it; the trace itself, if empty.
        line: The race with its schedule, or the accident, in one line, where that is what shows
            it.
    """

    expected: str
    got: str
    trace: tuple[Op, ...]
    how: How = How.CLEAN
    error: bool = False
    trail: str = ""
    whole: tuple[Op, ...] = ()
    line: str = ""

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Clean ways first, then shorter traces; the text decides, so that runs agree."""
        text = self.line or format_trace(self.trace)
        return (list(How).index(self.how), len(self.trace), len(text), text)


def finding(
    seen: Seen, problems: Sequence[Problem], trace: Sequence[Op], note: str = ""
) -> Finding:
    """Return a finding for the problems of one step.

    Args:
        seen: The step.
        problems: What is wrong with it; at least one.
        trace: The steps up to it.
        note: What to say before the problems.
    """
    expected = list(dict.fromkeys(problem.expected for problem in problems))
    got = list(dict.fromkeys(problem.got for problem in problems))
    error = any(problem.aspect is Aspect.ERROR for problem in problems)
    text = (f"{note}: " if note else "") + ", ".join(got)
    return Finding(", ".join(expected), text, tuple(trace), seen.how, error, seen.trail)


@dataclass(slots=True)
class Tally:
    """What a run has found out about one law.

    Attributes:
        triggers: How often what the law speaks of took place.
        controls: How often its positive control did.
        best: The finding with the shortest trace, if there is any.
        findings: How many there were.
        blocked: The cells that were in the way.
        vague: What could not be told apart where the law needs the difference.
        notes: What the report should say beside the verdict.
    """

    triggers: int = 0
    controls: int = 0
    best: Finding | None = None
    findings: int = 0
    blocked: list[str] = field(default_factory=list)
    vague: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def trigger(self, times: int = 1) -> None:
        """Count what the law speaks of."""
        self.triggers += times

    def control(self, times: int = 1) -> None:
        """Count the positive control."""
        self.controls += times

    def find(self, found: Finding, log: Sequence[Op] = ()) -> None:
        """Add a finding; the one with the shortest trace is kept.

        Args:
            found: The finding.
            log: Everything that was done to the store until then.
        """
        self.findings += 1
        if self.best is None or found.rank < self.best.rank:
            self.best = replace(found, whole=tuple(log)) if log else found

    def step(self, walk: Walk, length: int, problems: Sequence[Problem]) -> None:
        """Add a finding for the problems of a walk's step (counted from 1)."""
        seen = walk.steps[length - 1]
        if self._counts(seen.how, length):
            found = finding(seen, problems, walk.trace(length))
            self.best = replace(found, whole=walk.whole(length))

    def told(self, walk: Walk, length: int, expected: str, got: str) -> None:
        """Add a finding in words for a walk's step (counted from 1)."""
        how = walk.steps[length - 1].how
        if self._counts(how, length):
            trace, whole = walk.trace(length), walk.whole(length)
            self.best = Finding(expected, got, trace, how, whole=whole)

    def _counts(self, how: How, length: int) -> bool:
        """Count a finding, and say whether its trace is better than the best so far.

        Walks have thousands of steps: a trace is written out only if it will be kept.
        """
        self.findings += 1
        if self.best is None:
            return True
        # A trace begins with how its task came to be.
        return (list(How).index(how), length + 1) < self.best.rank[:2]

    def stop(self, blocked: Blocked) -> None:
        """Take in that a scenario could not go on."""
        if blocked.found is None:
            self.blocked.append(blocked.cause)
        else:
            self.find(blocked.found)

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)


def everywhere(_: Table) -> bool:
    """Apply to every table."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A law.

    Attributes:
        id: Its permanent id, ``family/name``.
        says: What must hold, in one sentence.
        why: What goes wrong in practice where it does not.
        needs: The names an implementation must offer for the law to be judged.
        applies: Whether a table has what the law is about.
        controlled: Whether it has a positive control.
    """

    id: str
    says: str
    why: str
    needs: tuple[str, ...] = ()
    applies: Callable[[Table], bool] = everywhere
    controlled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLaw(Law):
    """A law that reads recorded walks.

    Attributes:
        read: Reads one walk into the law's tally.
    """

    read: Callable[[Table, Walk, Tally], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioLaw(Law):
    """A law that drives sessions of its own.

    Attributes:
        run: Drives them, and fills the law's tally.
    """

    run: Callable[[Stage, Tally], None]


@dataclass(frozen=True, slots=True)
class Check:
    """What a run says of one id.

    Attributes:
        id: The check's permanent id.
        status: How it ended.
        says: The law in one sentence.
        expected: What the table says; empty unless it is broken.
        got: What was seen; empty unless it is broken.
        trace: The shortest trace that shows it, as ``lawful replay`` reads it.
        cause: For BLOCKED the id that is in the way; for a gap its reason.
        triggers: How often the trigger held.
        controls: How often the positive control did.
        how: How the task came to the broken step.
        findings: How many findings there were.
        note: What else there is to say.
        trail: The implementation's own traceback, if it raised.
        python: The trace as a pytest function that drives the adapter directly.
    """

    id: str
    status: Status
    says: str
    expected: str = ""
    got: str = ""
    trace: str = ""
    cause: str = ""
    triggers: int = 0
    controls: int = 0
    how: How = How.CLEAN
    findings: int = 0
    note: str = ""
    trail: str = ""
    python: str = ""


def conclude(law: Law, tally: Tally) -> Check:
    """Turn what a run has found out about a law into its check."""
    check = Check(
        law.id,
        Status.PASS,
        law.says,
        triggers=tally.triggers,
        controls=tally.controls,
        note="; ".join(tally.notes),
    )
    best = tally.best
    if best is not None:
        return replace(
            check,
            status=Status.ERROR if best.error else Status.FAIL,
            expected=best.expected,
            got=best.got,
            trace=best.line or format_trace(best.trace),
            how=best.how,
            findings=tally.findings,
            trail=best.trail,
        )
    if tally.vague:
        return replace(check, status=Status.UNSUPPORTED, cause=tally.vague[0])
    if tally.triggers and (tally.controls or not law.controlled):
        return check
    if tally.blocked:
        return replace(check, status=Status.BLOCKED, cause=tally.blocked[0])
    never = "its positive control never held" if tally.triggers else "its trigger never held"
    return replace(check, status=Status.NOT_RUN, note=check.note or never)

"""From checks to one verdict: lawful, unlawful or incomplete, and why.

Nothing that was not run counts for anything: a run is lawful only if every law that the table
has was judged, or is a declared gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from .law import UNLAWFUL, Status
from .sampled import DRAWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .law import Check
    from .runner import Run

__all__ = ["Judgement", "Verdict", "is_core", "judgement"]


_CLEAR = frozenset({Status.PASS, Status.UNSUPPORTED, Status.NOT_YET})
"""What leaves every position within reach of the words."""
_NAMED = 5
"""How many of what was never fired are named."""


class Verdict(StrEnum):
    """The verdict of a run. Its exit code is 0, 1 or 3; 2 is wrong usage or a wrong adapter."""

    LAWFUL = "lawful"
    UNLAWFUL = "unlawful"
    INCOMPLETE = "incomplete"

    @property
    def exit_code(self) -> int:
        """Return the process's exit code."""
        return {Verdict.LAWFUL: 0, Verdict.UNLAWFUL: 1, Verdict.INCOMPLETE: 3}[self]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reasons.

    Attributes:
        verdict: Lawful, unlawful or incomplete.
        headline: One line: the verdict and what must be said beside it.
        reasons: Why the run is incomplete, one sentence each; empty unless it is.
    """

    verdict: Verdict
    headline: str
    reasons: tuple[str, ...] = ()


def is_core(check_id: str) -> bool:
    """Say whether an id is one of the table's cells: no branch, no other parameters."""
    return check_id.startswith("cell/") and "?" not in check_id and "@" not in check_id


def judgement(run: Run) -> Judgement:
    """Judge a run."""
    checks = run.checks
    bad = [check for check in checks if check.status in UNLAWFUL]
    missing = tuple(_missing(run))
    if bad:
        verdict = Verdict.UNLAWFUL
    elif missing:
        verdict = Verdict.INCOMPLETE
    else:
        verdict = Verdict.LAWFUL
    return Judgement(verdict, ", ".join((verdict, *_beside(checks))), missing)


def _missing(run: Run) -> Iterable[str]:
    if not any(check.status is Status.PASS for check in run.checks):
        yield "no check has passed: nothing is known"
    if run.smoke.visible and not run.smoke.reached:
        yield (
            f"no code of {run.adapter.system!r} was reached: the adapter does not drive the "
            "system that it names"
        )
    for name, laws in run.undeclared.items():
        yield f"{name!r} is neither offered nor declared in `gaps` ({', '.join(laws)} ask for it)"
    known = {check.id for check in run.checks if check.status is Status.KNOWN}
    undeclared = {law for laws in run.undeclared.values() for law in laws}
    for check in run.checks:
        if check.id in undeclared:
            continue
        if check.status is Status.NOT_RUN:
            yield f"{check.id} was not run: {check.note or 'nothing reached it'}"
        elif check.status is Status.BLOCKED and check.cause not in known:
            yield f"{check.id} is blocked by {check.cause}"
    if all(check.status in _CLEAR for check in run.checks):
        yield from _unfired(run)


def _unfired(run: Run) -> Iterable[str]:
    """Name what the words should have fired and did not, where nothing was in their way."""
    missed = [where for where, layers in run.places.items() if layers.keys() <= DRAWN]
    if missed:
        some = ", ".join(missed[:_NAMED]) + (", ..." if len(missed) > _NAMED else "")
        yield f"{len(missed)} of {len(run.places)} positions x letters were never fired: {some}"


def _beside(checks: Iterable[Check]) -> Iterable[str]:
    every = list(checks)
    core = [check for check in every if is_core(check.id)]
    failed = sum(check.status in UNLAWFUL for check in core)
    if failed:
        yield f"{failed} of {len(core)} cells broken"
    laws = sum(check.status in UNLAWFUL and not check.id.startswith("cell/") for check in every)
    if laws:
        yield f"{laws} {'law' if laws == 1 else 'laws'} broken"
    hidden = sum(check.status is Status.UNSUPPORTED for check in core)
    if hidden:
        yield f"{hidden} {'cell' if hidden == 1 else 'cells'} not observable"
    known = sum(check.status is Status.KNOWN for check in every)
    if known:
        yield f"{known} known {'divergence' if known == 1 else 'divergences'}"

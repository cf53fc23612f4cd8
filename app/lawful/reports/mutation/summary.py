"""Mutants as the Markdown of a CI's step summary: scores by family, and each survivor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.mutants.score import families
from lawful.reports._plain import no_markup

from .words import COLUMNS, counted, headlines, left

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lawful.mutants.mutant import Result
    from lawful.mutants.score import Campaign
    from lawful.mutants.verdict import Judged

__all__ = ["summary"]

MOST = 50
"""How many survivors of an engine are shown: GitHub drops a summary that is too long."""


def summary(campaigns: Sequence[Campaign], judged: Judged) -> str:
    """Return campaigns as Markdown."""
    return "\n".join(_lines(campaigns, judged)) + "\n"


def _lines(campaigns: Sequence[Campaign], judged: Judged) -> Iterator[str]:
    *told, verdict = headlines(campaigns, judged)
    yield f"## Mutants: {no_markup(verdict)}"
    yield ""
    yield from (f"- {no_markup(line)}" for line in told)
    for campaign in campaigns:
        yield ""
        yield f"### {no_markup(campaign.engine)}: {no_markup(campaign.target)}"
        yield ""
        yield f"| | all | {' | '.join(name for name, _ in COLUMNS)} | adjusted |"
        yield f"|---|{'---:|' * (len(COLUMNS) + 2)}"
        for family in families(campaign.results):
            some = [each for each in campaign.results if each.mutant.family == family]
            yield f"| {no_markup(family)} | {' | '.join(counted(some))} |"
        yield f"| **in all** | {' | '.join(counted(campaign.results))} |"
        yield from _survivors(left(campaign))


def _survivors(missed: Sequence[Result]) -> Iterator[str]:
    if not missed:
        return
    yield ""
    yield f"Not found: {len(missed)}"
    yield ""
    for result in missed[:MOST]:
        mutant = result.mutant
        change = f" ({mutant.before} -> {mutant.after})" if mutant.before or mutant.after else ""
        yield f"- {no_markup(mutant.id)}: {no_markup(mutant.says + change)}"
    if len(missed) > MOST:
        yield f"- and {len(missed) - MOST} more"

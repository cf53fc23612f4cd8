"""What every report of mutants says in the same words: numbers, headlines and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.mutants.mutant import DETECTED, EXCLUDED, Fate
from lawful.mutants.score import score
from lawful.mutants.verdict import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lawful.mutants.mutant import Result
    from lawful.mutants.score import Campaign
    from lawful.mutants.verdict import Judged

__all__ = ["COLUMNS", "counted", "headline", "headlines", "left", "percent"]

COLUMNS: Final = (
    ("killed", (Fate.KILLED, Fate.TIMEOUT)),
    ("survived", (Fate.SURVIVED, Fate.UNREACHED, Fate.BROKEN)),
    ("equivalent", (Fate.EQUIVALENT,)),
    ("set aside", (Fate.SET_ASIDE,)),
    ("pending", (Fate.PENDING,)),
)
"""The columns of a table of scores, and the fates that each counts."""


def percent(value: float | None) -> str:
    """Write a percentage; rounded down, so that 100.0 % is all of them."""
    return "-" if value is None else f"{int(value * 10) / 10:.1f} %"


def counted(results: Iterable[Result]) -> list[str]:
    """Return a row of a table of scores: all of them, each column, and the adjusted score."""
    found = score(results)
    columns = [sum(found.fates[fate] for fate in fates) for _, fates in COLUMNS]
    return [f"{number:,}" for number in (found.generated, *columns)] + [percent(found.adjusted)]


def left(campaign: Campaign) -> list[Result]:
    """Return what nobody has found, survivors first."""
    fates = [f for f in Fate if f not in DETECTED | EXCLUDED | {Fate.PENDING}]
    missed = [result for result in campaign.results if result.fate in fates]
    return sorted(missed, key=lambda result: fates.index(result.fate))


def headline(campaign: Campaign) -> str:
    """Say in one line what came of a campaign."""
    name = f"{campaign.engine}: {campaign.target}"
    if campaign.distrusted:
        return f"{name}: no score"
    found = score(campaign.results)
    able = found.generated - found.excluded
    return (
        f"{name}: {percent(found.adjusted)} ({found.detected:,} of {able:,} that can be found; "
        f"raw {percent(found.raw)} of {found.generated:,})"
    )


def headlines(campaigns: Sequence[Campaign], judged: Judged) -> list[str]:
    """Say what came of all of them: a line each, the reasons, and the verdict last."""
    verdict = {
        Standing.REACHED: "every threshold is reached",
        Standing.BELOW: "below the threshold",
        Standing.NOT_ESTABLISHED: "not established",
    }
    return [*map(headline, campaigns), *judged.reasons, verdict[judged.standing]]

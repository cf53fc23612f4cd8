"""From campaigns to one verdict: at or above each threshold, below one, or not established."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from .errors import MutationError
from .mutant import Fate
from .score import score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .score import Campaign

__all__ = ["ENGINES", "Judged", "Standing", "judge", "thresholds"]

ENGINES: Final = ("table", "planted", "mutmut")
USUAL: Final = 100.0
"""The threshold of an engine whose every survivor is one too many."""


class Standing(StrEnum):
    """What a score comes to."""

    REACHED = "reached"
    BELOW = "below"
    NOT_ESTABLISHED = "not established"

    @property
    def exit_code(self) -> int:
        """0 at or above the threshold, 1 below it, 3 where there is no score."""
        return {"reached": 0, "below": 1, "not established": 3}[self.value]


class Judged(NamedTuple):
    """The verdict of some campaigns.

    Attributes:
        standing: What they come to together.
        reasons: Why it is not the best, one line each.
    """

    standing: Standing
    reasons: tuple[str, ...]


def thresholds(given: Sequence[str]) -> dict[str, float]:
    """Read thresholds: ``95`` for every engine, ``mutmut=95`` for one.

    Raises:
        MutationError: One is no percentage, or of no engine.
    """
    read: dict[str, float] = dict.fromkeys(ENGINES, USUAL)
    for text in given:
        engine, equals, number = text.rpartition("=")
        if equals and engine not in ENGINES:
            raise MutationError(f"--threshold {text}: the engines are {', '.join(ENGINES)}")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 100:
            raise MutationError(f"--threshold {text}: a percentage from 0 to 100 is expected")
        read |= {engine: value} if equals else dict.fromkeys(ENGINES, value)
    return read


def judge(campaigns: Sequence[Campaign], least: Mapping[str, float]) -> Judged:
    """Judge campaigns by their adjusted scores; one that can't be believed has none.

    Args:
        campaigns: What was found out.
        least: The threshold of each engine, in percent.
    """
    reasons: list[str] = []
    standing = Standing.REACHED
    for campaign in campaigns:
        lost = tuple(_not_established(campaign))
        if lost:
            standing = Standing.NOT_ESTABLISHED
            reasons += lost
            continue
        adjusted = score(campaign.results).adjusted
        if adjusted is not None and adjusted < least[campaign.engine]:
            if standing is Standing.REACHED:
                standing = Standing.BELOW
            wanted = f"{least[campaign.engine]:g} %"
            seen = int(adjusted * 10) / 10  # rounded down, as everywhere
            reasons.append(f"{campaign.engine}: {seen:.1f} %, and {wanted} is the threshold")
    return Judged(standing, tuple(reasons))


def _not_established(campaign: Campaign) -> Iterator[str]:
    for trust in campaign.distrusted:
        yield f"{campaign.engine}: {trust.name}: {trust.told}"
    fates = score(campaign.results).fates
    if fates[Fate.PENDING] and not campaign.distrusted:
        why = "it was interrupted" if campaign.interrupted else "it is a part of the whole"
        yield f"{campaign.engine}: {fates[Fate.PENDING]} mutants are not tested: {why}"

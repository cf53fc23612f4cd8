"""The score: how many mutants were found, of how many, and whether that can be believed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from .mutant import DETECTED, EXCLUDED, Fate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .mutant import Result

__all__ = ["Campaign", "Score", "Trust", "families", "score"]


class Trust(NamedTuple):
    """One reason to believe a score, or not to.

    Attributes:
        name: What was looked at: ``baseline``, ``null mutant``, ``canary``, ``workspace``,
            ``tested``.
        holds: Whether it is as it must be.
        told: What was seen, in one line.
    """

    name: str
    holds: bool
    told: str


@dataclass(frozen=True, slots=True)
class Campaign:
    """What one engine has found out.

    Attributes:
        engine: Its name.
        target: What was mutated.
        results: What became of each mutant, in the order of the mutants.
        trust: Why its score can be believed, or not.
        matrix: Whether the killers are all there are, and not the first alone.
        checks: Every check or test that was asked.
        sources: The text of each file that mutants are in, by its name.
        seconds: How long it took.
        shard: Which part of how many it is, from 1; (1, 1) for all of it.
        plan: A digest of all the mutants it is about, those of its other parts included.
        interrupted: Whether somebody ended it before its end.
        remembered: How many were not tested again, since nothing has changed for them.
    """

    engine: str
    target: str
    results: tuple[Result, ...]
    trust: tuple[Trust, ...] = ()
    matrix: bool = False
    checks: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    shard: tuple[int, int] = (1, 1)
    plan: str = ""
    interrupted: bool = False
    remembered: int = 0

    @property
    def distrusted(self) -> tuple[Trust, ...]:
        """Why there is no score, if there is none: what does not hold, and nothing tested."""
        broken = [each for each in self.trust if not each.holds]
        judged = sum(result.fate not in EXCLUDED | {Fate.PENDING} for result in self.results)
        if not judged:
            broken.append(Trust("tested", False, f"none of {len(self.results)} mutants was tested"))
        return tuple(broken)


class Score(NamedTuple):
    """Mutants by what became of them.

    Attributes:
        generated: All of them.
        fates: How many had each fate.
    """

    generated: int
    fates: Counter[Fate]

    @property
    def detected(self) -> int:
        """How many were found."""
        return sum(self.fates[fate] for fate in DETECTED)

    @property
    def excluded(self) -> int:
        """How many are proven equivalent, or set aside by rule."""
        return sum(self.fates[fate] for fate in EXCLUDED)

    @property
    def raw(self) -> float | None:
        """How many were found of all, in percent; None where there are none."""
        return _percent(self.detected, self.generated)

    @property
    def adjusted(self) -> float | None:
        """How many were found of those that can be, in percent; None where there are none."""
        return _percent(self.detected, self.generated - self.excluded)


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def score(results: Iterable[Result]) -> Score:
    """Count what became of mutants."""
    fates = Counter(result.fate for result in results)
    return Score(sum(fates.values()), fates)


def families(results: Iterable[Result]) -> dict[str, Score]:
    """Count what became of the mutants of each family, in the order in which they come."""
    by_family: dict[str, list[Result]] = {}
    for result in results:
        by_family.setdefault(result.mutant.family, []).append(result)
    return {family: score(some) for family, some in by_family.items()}

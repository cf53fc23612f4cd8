"""The kill matrix: which checks find which mutants, which find nothing, and how few would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .score import Campaign

__all__ = ["Matrix", "matrix_of"]


class Matrix(NamedTuple):
    """What each check of a campaign has found, where all killers are known.

    Attributes:
        found: Each check that finds anything, and the mutants that it finds, most first.
        sole: How many mutants each check finds that nobody else does; checks without any are left
            out.
        idle: The checks that find nothing.
        enough: Checks that together find all that is found: as few as a greedy choice needs.
    """

    found: Mapping[str, frozenset[str]]
    sole: Mapping[str, int]
    idle: tuple[str, ...]
    enough: tuple[str, ...]


def matrix_of(campaign: Campaign) -> Matrix:
    """Return the kill matrix of a campaign that asked for all killers."""
    finds: dict[str, set[str]] = {}
    sole: dict[str, int] = {}
    for result in campaign.results:
        for check in result.killers:
            finds.setdefault(check, set()).add(result.mutant.id)
        if len(result.killers) == 1:
            (only,) = result.killers
            sole[only] = sole.get(only, 0) + 1
    ordered = sorted(finds, key=lambda check: (-len(finds[check]), check))
    found = {check: frozenset(finds[check]) for check in ordered}
    idle = tuple(check for check in campaign.checks if check not in finds)
    return Matrix(found, sole, idle, _enough(found))


def _enough(found: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Choose the check that finds most of what is left, again and again."""
    left = frozenset().union(*found.values())
    chosen: list[str] = []
    while left:
        best = max(found, key=lambda check: len(found[check] & left))  # the first of the best
        chosen.append(best)
        left -= found[best]
    return tuple(chosen)

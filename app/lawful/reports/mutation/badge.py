"""A badge of mutants: the JSON that shields.io's endpoint reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lawful.mutants.score import score
from lawful.mutants.verdict import Standing

from .words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lawful.mutants.score import Campaign
    from lawful.mutants.verdict import Judged

__all__ = ["badge"]


def badge(campaigns: Sequence[Campaign], judged: Judged) -> dict[str, Any]:
    """Return the badge as plain JSON values: the lowest adjusted score, or that there is none."""
    colours = {
        Standing.REACHED: "brightgreen",
        Standing.BELOW: "red",
        Standing.NOT_ESTABLISHED: "lightgrey",
    }
    adjusted = [score(campaign.results).adjusted for campaign in campaigns]
    known = [each for each in adjusted if each is not None]
    established = judged.standing is not Standing.NOT_ESTABLISHED and bool(known)
    return {
        "schemaVersion": 1,
        "label": "mutants",
        "message": percent(min(known)) if established else "not established",
        "color": colours[judged.standing],
        "isError": judged.standing is not Standing.REACHED,
    }

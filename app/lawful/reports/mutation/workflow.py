"""Mutants that nobody has found, as annotations of GitHub's: beside the lines that they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .words import left

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lawful.mutants.score import Campaign

__all__ = ["workflow_commands"]


def workflow_commands(campaigns: Sequence[Campaign], where: Callable[[str], str]) -> str:
    """Return a workflow command for each mutant that nobody has found, a line each.

    Args:
        campaigns: What was found out.
        where: Returns where a file is, from the repository's root, by its name in reports.
    """
    return "".join(
        "::warning "
        f"file={_property(where(place.file))},line={place.line},endLine={place.end_line},"
        f"col={place.column},endColumn={place.end_column},"
        f"title={_property(f'mutant {result.fate}')}::"
        f"{_data(f'{mutant.says}: {mutant.before} -> {mutant.after} ({mutant.id})')}\n"
        for campaign in campaigns
        for result in left(campaign)
        for mutant in [result.mutant]
        for place in [mutant.place]
        if place.line
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""GitHub's step summary: Markdown with the grid, and each root cause to be unfolded.

All that comes from an implementation is written as character references or in fenced code, so
that it stays text: no link, no mention, no markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lawful.laws.law import Status

from . import outline
from ._plain import no_markup, printable
from .marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.laws.law import Check

    from .report import Report

__all__ = ["summary"]

LIMIT: Final = 1_000_000
"""The longest summary, in bytes: GitHub drops one above 1 MiB without a word."""


def summary(report: Report, *, most: int = 20) -> str:
    """Return a report as the Markdown of a GitHub step summary.

    Args:
        report: The report.
        most: How many root causes are shown; fewer where they are too long for GitHub.
    """
    head = "\n".join(_head(report))
    tail = "\n".join(_tail(report))
    causes = report.causes()
    room = LIMIT - len(head.encode()) - len(tail.encode()) - 200
    shown: list[str] = []
    for check in causes[:most]:
        text = "\n".join(_cause(report, check))
        room -= len(text.encode()) + 1
        if room < 0:
            break
        shown.append(text)
    if causes:
        shown.insert(0, f"### Root causes ({len(causes)})\n")
    left = len(causes) - max(len(shown) - 1, 0)
    if left:
        shown.append(f"and {left} more\n")
    return _cut("\n".join([head, *shown, tail]))


def _cut(text: str) -> str:
    raw = text.encode()
    if len(raw) <= LIMIT:
        return text
    return raw[:LIMIT].decode(errors="ignore").rpartition("\n")[0] + "\n\n(cut)\n"


def _head(report: Report) -> Iterator[str]:
    yield f"## {no_markup(report.name)}: {no_markup(report.headline)}"
    yield ""
    yield (
        f"{report.passed} cells pass; table {no_markup(report.spec_name)} {report.spec_version}, "
        f"profile {no_markup(report.profile)}, lawful {no_markup(report.lawful)}"
    )
    yield ""
    yield f"| | {' | '.join(no_markup(event) for event in report.events)} |"
    yield "|---" * (len(report.events) + 1) + "|"
    for row in report.grid():
        cells = (_cell(kind, check) for kind, check in row.cells)
        yield f"| **{no_markup(row.state)}** | {' | '.join(cells)} |"
    yield ""
    groups = [*outline.parameter_sets(report), *outline.families(report)]
    branches = outline.branches(report)
    if branches:
        groups.insert(0, outline.Group("guard branches", branches))
    if groups:
        yield "| | pass | others |"
        yield "|---|---|---|"
    for group in groups:
        others = ", ".join(
            f"{MARKS[status].sign} {count} {MARKS[status].word}"
            for status, count in outline.tally(group.checks)
            if status is not Status.PASS
        )
        yield f"| {no_markup(group.name)} | {group.passed} | {others} |"
    yield ""


def _cell(kind: str, check: Check) -> str:
    mark = MARKS[check.status]
    return f"{mark.sign} {kind if check.status is Status.PASS else mark.word}"


def _cause(report: Report, check: Check) -> Iterator[str]:
    mark = MARKS[check.status]
    said = no_markup(check.got or check.note)
    yield f"<details><summary>{mark.sign} {no_markup(check.id)}: {said}</summary>"
    yield ""
    for fact in outline.facts(report, check):
        if fact.verbatim:
            yield f"{fact.name}:"
            yield ""
            yield from _fenced(printable(fact.text))
        else:
            yield f"{fact.name}: {no_markup(fact.text)}"
        yield ""
    if check.trail:
        yield from _fenced(printable(check.trail, lines=True))
        yield ""
    yield "</details>"
    yield ""


def _tail(report: Report) -> Iterator[str]:
    groups = outline.gap_groups(report)
    if groups:
        yield "### Gaps"
        yield ""
    for group in groups:
        mark = MARKS[group.status]
        size = len(group.ids)
        what = no_markup(group.ids[0]) if size == 1 else f"{size} checks"
        yield f"- {mark.sign} {mark.word}: {no_markup(group.reason)} ({what})"
    if groups:
        yield ""
    lines = outline.lines_to_add(report)
    if lines:
        yield "### Undeclared: write these methods, or add to the adapter"
        yield ""
        yield from _fenced("\n".join(printable(line) for line in lines))
        yield ""
    if report.reasons:
        yield f"<details><summary>Not judged ({len(report.reasons)})</summary>"
        yield ""
        yield from (f"- {no_markup(reason)}" for reason in report.reasons)
        yield ""
        yield "</details>"
        yield ""


def _fenced(text: str) -> tuple[str, str, str]:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return (fence, text, fence)

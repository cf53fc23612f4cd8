"""The HTML report: one file that asks nobody for anything; the grid, and all behind each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.laws.judgement import Verdict
from lawful.laws.law import Status

from . import outline
from ._page import page
from ._pieces import button, copyable, group, legend, link, tag, text, verdict
from .comparison import comparisons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .comparison import Comparison, Line
    from .report import Report

__all__ = ["compare_html", "html"]

MOST: Final = 10
"""How many root causes are named above the list of every check."""
FEW: Final = 4
"""Up to how many columns a grid keeps its words where there is little room."""
_HELP: Final = '<p class="quiet">Arrow keys move in the grid, Enter opens a cell.</p>'
_PANEL: Final = '<section id="panel" aria-live="polite" aria-label="The check" hidden></section>'


def html(report: Report) -> str:
    """Return a report as one HTML file. A cell's address is ``#cell/running/cancel``."""
    return page(f"{report.name}: {report.headline}", "\n".join(_body(report)))


def _body(report: Report) -> Iterator[str]:
    yield f"<header><h1>{text(report.name)}</h1>{verdict(report, named=False)}"
    yield f'<p class="quiet">{text(_beside(report))}</p></header><main>'
    yield "<h2>Cells</h2>" + _HELP
    yield _grid(report)
    yield legend(report.checks)
    yield _PANEL
    yield from _causes(report)
    yield from _groups(report)
    yield from _lacking(report)
    yield "</main>"


def _beside(report: Report) -> str:
    return (
        f"{report.passed} cells pass. Table {report.spec_name} {report.spec_version}, profile "
        f"{report.profile}, lawful {report.lawful}, {report.seconds:.1f} s; drives {report.system}."
    )


def _grid(report: Report) -> str:
    heads = "".join(f'<th scope="col"><span>{text(event)}</span></th>' for event in report.events)
    size = "wide" if len(report.events) > FEW else "few"
    rows = []
    for row in report.grid():
        squares = "".join(
            f"<td>{button(check, anchor=check.id, word=_word(kind, check.status))}</td>"
            for kind, check in row.cells
        )
        rows.append(f'<tr><th scope="row">{text(row.state)}</th>{squares}</tr>')
    return (
        '<div class="scroll"><table class="grid '
        f'{size}" aria-label="States x events"><thead><tr>'
        f'<th scope="col">state</th>{heads}</tr></thead><tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _word(kind: str, status: Status) -> str:
    return kind if status is Status.PASS else ""


def _causes(report: Report) -> Iterator[str]:
    causes = report.causes()
    if not causes:
        return
    yield f"<h2>Root causes ({len(causes)})</h2><ol>"
    for check in causes[:MOST]:
        said = f"expected {check.expected}; got {check.got}" if check.expected else check.note
        yield f"<li>{tag(check.status)} {link(check.id, check.id)}: {text(said)}</li>"
    yield "</ol>"
    if len(causes) > MOST:
        yield f'<p class="quiet">and {len(causes) - MOST} more, below</p>'


def _groups(report: Report) -> Iterator[str]:
    cells = [check for row in report.grid() for _, check in row.cells]
    yield "<h2>Every check</h2>"
    yield group(report, "cells", cells)
    branches = outline.branches(report)
    if branches:
        yield group(report, "guard branches", branches)
    for each in (*outline.parameter_sets(report), *outline.families(report)):
        yield group(report, each.name, each.checks)


def _lacking(report: Report) -> Iterator[str]:
    gaps = outline.gap_groups(report)
    if gaps:
        yield "<h2>Gaps</h2><ul>"
        for gap in gaps:
            links = ", ".join(link(each, each) for each in gap.ids)
            yield f"<li>{tag(gap.status)} {text(gap.reason)}: {links}</li>"
        yield "</ul>"
    others = outline.unasked(report)
    if others:
        said = f"Declared, and nothing here needed them: {', '.join(others)}"
        yield f'<p class="quiet">{text(said)}</p>'
    lines = outline.lines_to_add(report)
    if lines:
        yield "<h2>Undeclared</h2><p>Write these methods, or add to the adapter:</p>"
        yield copyable("\n".join(lines))
    if report.reasons:
        incomplete = report.verdict is Verdict.INCOMPLETE
        yield f"<h2>{'Incomplete, because' if incomplete else 'Not judged'}</h2><ul>"
        yield from (f"<li>{text(reason)}</li>" for reason in report.reasons)
        yield "</ul>"


def compare_html(reports: Sequence[Report]) -> str:
    """Return implementations side by side as one HTML file, each table by itself.

    The address of a check is ``#2:cell/running/cancel`` for the second report.
    """
    title = "lawful: " + ", ".join(report.name for report in reports)
    parts = [f"<header><h1>{text(title)}</h1></header><main>", _HELP]
    parts += [part for each in comparisons(reports) for part in _compared(each)]
    checks = [check for report in reports for check in report.checks if "@" not in check.id]
    parts += [legend(checks), _PANEL, "<h2>Every check</h2>"]
    for each in comparisons(reports):
        for name, number, report in zip(each.names, each.numbers, each.reports, strict=True):
            listed = [check for check in report.checks if "@" not in check.id]
            parts.append(group(report, name, listed, prefix=f"{number}:"))
    return page(title, "\n".join([*parts, "</main>"]))


def _compared(comparison: Comparison) -> Iterator[str]:
    key = f"even-{comparison.numbers[0]}"
    yield f"<h2>Table {text(comparison.spec)}</h2>"
    for name, report in zip(comparison.names, comparison.reports, strict=True):
        said = f"{name}: {report.headline}; {report.passed} cells pass"
        yield f'<p><span class="verdict {report.verdict}">{text(said)}</span></p>'
    lines = (*comparison.cells, *comparison.laws)
    even = [line for line in lines if line.even]
    if even:
        yield (
            f'<button type="button" class="toggle" aria-controls="{key}" aria-expanded="false">'
            f"show the {len(even)} of {len(lines)} that pass everywhere</button>"
        )
    heads = "".join(f'<th scope="col">{text(name)}</th>' for name in comparison.names)
    yield (
        '<div class="scroll"><table class="grid narrow" '
        f'aria-label="{text(comparison.spec)}: checks x implementations"><thead><tr>'
        f'<th scope="col">check</th>{heads}</tr></thead><tbody>'
    )
    yield from (_row(comparison, line) for line in lines if not line.even)
    yield f'</tbody><tbody id="{key}" hidden>'
    yield from (_row(comparison, line) for line in even)
    yield "</tbody></table></div>"
    for name, passed in comparison.parameters:
        each = zip(comparison.names, passed, strict=True)
        said = f"{name}: {', '.join(f'{who} {count}' for who, count in each)} pass"
        yield f'<p class="quiet">{text(said)}</p>'


def _row(comparison: Comparison, line: Line) -> str:
    squares = []
    columns = zip(comparison.names, comparison.numbers, line.checks, strict=True)
    for name, number, check in columns:
        if check is None:
            squares.append('<td class="quiet">none</td>')
            continue
        anchor = f"{number}:{check.id}"
        squares.append(f"<td>{button(check, anchor=anchor, before=f'{name}, ')}</td>")
    head = text(outline.label(line.id))
    return f'<tr><th scope="row">{head}</th>{"".join(squares)}</tr>'

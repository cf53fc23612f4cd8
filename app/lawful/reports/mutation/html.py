"""Mutants as one HTML file: scores, each table's faults as a heat map, the code's in place."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from lawful.mutants.matrix import matrix_of
from lawful.mutants.mutant import DETECTED, EXCLUDED, Fate
from lawful.mutants.score import families, score
from lawful.mutants.verdict import Standing
from lawful.reports._page import page
from lawful.reports._pieces import copyable, text

from .listing import listing
from .words import COLUMNS, counted, headlines, left

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lawful.mutants.mutant import Result
    from lawful.mutants.score import Campaign
    from lawful.mutants.verdict import Judged

__all__ = ["html"]

_CLASSES: Final = {
    Fate.KILLED: "PASS",
    Fate.TIMEOUT: "PASS",
    Fate.EQUIVALENT: "UNSUPPORTED",
    Fate.SET_ASIDE: "UNSUPPORTED",
    Fate.PENDING: "NOT_RUN",
    Fate.BROKEN: "ERROR",
}
"""How a fate looks, by the classes of the page; anything else is red."""
_SIGNS: Final = {"PASS": "✓", "UNSUPPORTED": "○", "NOT_RUN": "?", "ERROR": "!", "FAIL": "✗"}
_STANDINGS: Final = {
    Standing.REACHED: "lawful",
    Standing.BELOW: "unlawful",
    Standing.NOT_ESTABLISHED: "incomplete",
}
_PANEL: Final = '<section id="panel" aria-live="polite" aria-label="The mutants" hidden></section>'


def html(campaigns: Sequence[Campaign], judged: Judged) -> str:
    """Return campaigns as one HTML file."""
    return page(f"mutants: {headlines(campaigns, judged)[-1]}", "\n".join(_body(campaigns, judged)))


def _body(campaigns: Sequence[Campaign], judged: Judged) -> Iterator[str]:
    *told, verdict = headlines(campaigns, judged)
    yield f'<header><h1>Mutants</h1><p class="verdict {_STANDINGS[judged.standing]}">'
    yield f"{text(verdict)}</p>"
    yield from (f"<p>{text(line)}</p>" for line in told)
    yield "</header><main>"
    for campaign in campaigns:
        yield f"<h2>{text(campaign.engine)}: {text(campaign.target)}</h2>"
        yield from _trust(campaign)
        yield _scores(campaign)
        if any(result.mutant.place.cell for result in campaign.results):
            yield from _heat_map(campaign)
        if campaign.matrix:
            yield from _matrix(campaign)
    yield _PANEL
    yield "<h2>Every mutant</h2>"
    for campaign in campaigns:
        yield from _by_fate(campaign)
        yield from _by_place(campaign)
    yield "</main>"


def _trust(campaign: Campaign) -> Iterator[str]:
    yield '<ul class="quiet">'
    for trust in dict.fromkeys((*campaign.trust, *campaign.distrusted)):
        word = "holds" if trust.holds else "does NOT hold"
        yield f"<li>{text(trust.name)} {word}: {text(trust.told)}</li>"
    yield "</ul>"


def _scores(campaign: Campaign) -> str:
    heads = ("family", "all", *(name for name, _ in COLUMNS), "adjusted")
    rows = [(name, *counted(_of(campaign, name))) for name in families(campaign.results)]
    rows.append(("in all", *counted(campaign.results)))
    lines = [
        f'<tr><th scope="row">{text(row[0])}</th>'
        + "".join(f"<td>{text(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    ]
    top = "".join(f'<th scope="col">{text(head)}</th>' for head in heads)
    return (
        f'<div class="scroll"><table class="scores" aria-label="Scores by family"><thead><tr>{top}'
        "</tr></thead><tbody>" + "".join(lines) + "</tbody></table></div>"
    )


def _of(campaign: Campaign, family: str) -> list[Result]:
    return [result for result in campaign.results if result.mutant.family == family]


# -- a table: states x events ----------------------------------------------------------------------


def _heat_map(campaign: Campaign) -> Iterator[str]:
    by_cell: dict[tuple[str, str], list[Result]] = {}
    for result in campaign.results:
        if result.mutant.place.cell:
            by_cell.setdefault(result.mutant.place.cell, []).append(result)
    states = dict.fromkeys(state for state, _ in by_cell)
    events = dict.fromkeys(event for _, event in by_cell)
    heads = "".join(f'<th scope="col"><span>{text(event)}</span></th>' for event in events)
    yield '<p class="quiet">How many mutants of each cell are found, of those that can be.</p>'
    yield (
        '<div class="scroll"><table class="grid wide" aria-label="States x events"><thead><tr>'
        f'<th scope="col">state</th>{heads}</tr></thead><tbody>'
    )
    for state in states:
        squares = "".join(
            f"<td>{_square(campaign, (state, event), by_cell.get((state, event), []))}</td>"
            for event in events
        )
        yield f'<tr><th scope="row">{text(state)}</th>{squares}</tr>'
    yield "</tbody></table></div>"


def _square(campaign: Campaign, cell: tuple[str, str], results: Sequence[Result]) -> str:
    found = score(results)
    able = found.generated - found.excluded
    look = "PASS" if found.detected == able else "FAIL"
    said = f"{cell[0]} {cell[1]}: {found.detected} of {able} mutants found"
    return (
        f'<button type="button" class="{look}" data-id="{text(_anchor(campaign, cell))}" '
        f'aria-label="{text(said)}" aria-controls="panel" aria-expanded="false">'
        f'<span class="sign">{_SIGNS[look]}</span>'
        f'<span class="word">{found.detected}/{able}</span></button>'
    )


def _anchor(campaign: Campaign, cell: tuple[str, str]) -> str:
    return f"{campaign.engine}:{campaign.target}:{cell[0]}/{cell[1]}"


# -- all of them -----------------------------------------------------------------------------------


def _by_fate(campaign: Campaign) -> Iterator[str]:
    """Yield a list for each fate but the commonest, survivors first and unfolded."""
    missed = left(campaign)
    rest = [r for r in campaign.results if r.fate in EXCLUDED | {Fate.PENDING, Fate.TIMEOUT}]
    rest.sort(key=lambda result: result.fate)
    for fate, some in groupby([*missed, *rest], key=lambda result: result.fate):
        listed = list(some)
        unfolded = " open" if fate not in DETECTED | EXCLUDED else ""
        name = f"{campaign.engine}, {fate}: {len(listed)}"
        yield f'<details class="group"{unfolded}><summary>{text(name)}</summary>'
        yield from (_entry(result, result.mutant.id) for result in listed)
        yield "</details>"


def _by_place(campaign: Campaign) -> Iterator[str]:
    """Yield all mutants where they are: in a cell, or in a file, line by line."""
    places: dict[str, list[Result]] = {}
    for result in campaign.results:
        place = result.mutant.place
        name = _anchor(campaign, place.cell) if place.cell else place.file
        places.setdefault(name, []).append(result)
    yield f'<details class="group"><summary>{text(campaign.engine)}, by place</summary>'
    for name, results in places.items():
        found = score(results)
        source = campaign.sources.get(results[0].mutant.place.file, "")
        if source and results[0].mutant.place.line:
            shown = listing(source, results, _in_place)
        else:
            in_order = sorted(results, key=lambda result: result.mutant.place[1:3])
            rows = "".join(f"<dt>{_tag(r.fate)}</dt><dd>{_told(r)}</dd>" for r in in_order)
            shown = f"<dl>{rows}</dl>"
        yield (
            f'<details class="check" id="{text(name)}"><summary>{text(name)}: {found.detected} of '
            f"{found.generated - found.excluded} found</summary>{shown}</details>"
        )
    yield "</details>"


def _in_place(result: Result) -> str:
    """Return one mutant as it is shown below its line: by what it changes, if that is told."""
    mutant = result.mutant
    change = f"{mutant.before} → {mutant.after}" if mutant.before or mutant.after else mutant.says
    return (
        f'<details class="check"><summary>{_tag(result.fate)} <code>{text(change)}</code></summary>'
        f"{_facts(result)}</details>"
    )


def _told(result: Result) -> str:
    mutant = result.mutant
    line = f"line {mutant.place.line}: " if mutant.place.line else ""
    by = f", found by {', '.join(result.killers[:3])}" if result.killers else ""
    more = f" and {len(result.killers) - 3} more" if len(result.killers) > 3 else ""
    return text(f"{line}{mutant.says}{by}{more}")


def _entry(result: Result, anchor: str) -> str:
    return (
        f'<details class="check" id="{text(anchor)}"><summary>{_tag(result.fate)} '
        f"<span>{text(anchor)}</span></summary>{_facts(result)}</details>"
    )


def _facts(result: Result) -> str:
    mutant = result.mutant
    rows = [("what", text(mutant.says)), ("id", text(mutant.id))]
    place = mutant.place
    if place.line:
        rows.append(("where", text(f"{place.file}, line {place.line}")))
    if mutant.before or mutant.after:
        rows.append(("change", f"<pre>- {text(mutant.before)}\n+ {text(mutant.after)}</pre>"))
    if result.reason:
        rows.append(("reason", text(result.reason)))
    if result.killers:
        rows.append(("found by", text(", ".join(result.killers))))
    if mutant.source:
        rows.append(("from", text(mutant.source)))
    if result.trace:
        rows.append(("trace", copyable(result.trace)))
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in rows) + "</dl>"


def _tag(fate: Fate) -> str:
    look = _CLASSES.get(fate, "FAIL")
    return (
        f'<span class="tag {look}"><span class="sign" aria-hidden="true">{_SIGNS[look]}</span> '
        f"{text(fate)}</span>"
    )


def _matrix(campaign: Campaign) -> Iterator[str]:
    matrix = matrix_of(campaign)
    yield "<h3>What finds them</h3>"
    enough = f"{len(matrix.enough)} checks find all that is found: {', '.join(matrix.enough)}"
    yield f"<p>{text(enough)}</p>"
    if matrix.idle:
        yield f"<p>{text('Find nothing: ' + ', '.join(matrix.idle))}</p>"
    yield '<details class="group"><summary>by check</summary><div class="scroll">'
    yield '<table class="scores"><thead><tr><th scope="col">check</th><th scope="col">finds</th>'
    yield '<th scope="col">alone</th></tr></thead><tbody>'
    for check, some in matrix.found.items():
        alone = matrix.sole.get(check, 0)
        yield (
            f'<tr><th scope="row">{text(check)}</th><td>{len(some)}</td><td>{alone or ""}</td></tr>'
        )
    yield "</tbody></table></div></details>"

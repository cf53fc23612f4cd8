"""Mutants for a terminal: scores by family, survivors, what is proven, and the verdict last."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from lawful.mutants.matrix import matrix_of
from lawful.mutants.mutant import Fate
from lawful.mutants.score import families, score
from lawful.reports._ink import Ink

from .words import COLUMNS, counted, headlines, left

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lawful.mutants.mutant import Result
    from lawful.mutants.score import Campaign
    from lawful.mutants.verdict import Judged

__all__ = ["terminal"]

MOST: Final = 10


def terminal(
    campaigns: Sequence[Campaign],
    judged: Judged,
    *,
    width: int = 100,
    colour: bool,
    ascii: bool,
    most: int | None = MOST,
) -> str:
    """Return a report of mutants for a terminal, without a line feed at its end.

    Args:
        campaigns: What was found out.
        judged: The verdict.
        width: Columns.
        colour: Whether to write ANSI colours.
        ascii: Whether to write ASCII alone.
        most: How many survivors are shown; None shows all.
    """
    ink = Ink(width, colour, ascii)
    parts: list[list[str]] = []
    for campaign in campaigns:
        beside = f"{campaign.target}, {campaign.seconds:.1f} s"
        if campaign.remembered:
            beside += f", {campaign.remembered:,} of {len(campaign.results):,} remembered"
        parts.append([f"{ink.bold(campaign.engine)}  {ink.dim(beside)}", *_scores(ink, campaign)])
        parts.append(list(_survivors(ink, campaign, most)))
        parts.append(list(_equivalent(ink, campaign)))
        parts.append(list(_set_aside(ink, campaign)))
        parts.append(list(_matrix(ink, campaign)))
        parts.append(list(_trust(ink, campaign)))
    parts.append([ink.plain(line) for line in headlines(campaigns, judged)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _scores(ink: Ink, campaign: Campaign) -> Iterator[str]:
    heads = ["", "all", *(name for name, _ in COLUMNS), "adjusted"]
    by_family = families(campaign.results)
    rows = [[family, *counted(_of(campaign, family))] for family in by_family]
    if len(rows) > 1:
        rows.append(["in all", *counted(campaign.results)])
    used = [
        index
        for index in range(len(heads))
        if heads[index] in ("", "all", "killed", "survived", "adjusted")
        or any(row[index] != "0" for row in rows)
    ]
    wide = [max(len(line[index]) for line in (heads, *rows)) for index in range(len(heads))]
    for number, line in enumerate([heads, *rows]):
        cells = [line[i].rjust(wide[i]) if i else line[i].ljust(wide[i]) for i in used]
        text = "  ".join(cells).rstrip()
        yield ink.bold(text) if not number else ink.plain(text)


def _of(campaign: Campaign, family: str) -> list[Result]:
    return [result for result in campaign.results if result.mutant.family == family]


def _survivors(ink: Ink, campaign: Campaign, most: int | None) -> Iterator[str]:
    missed = left(campaign)
    if not missed:
        return
    yield ink.bold(f"Not found ({len(missed)})")
    for result in missed[:most]:
        mutant = result.mutant
        yield from ink.wrapped(f"{mutant.id}: {result.fate}", first="  ", rest="    ")
        place = f" ({mutant.place.file}:{mutant.place.line})" if mutant.place.line else ""
        yield from ink.wrapped(mutant.says + place, first="    ", rest="    ")
        if mutant.before or mutant.after:
            yield f"    - {ink.plain(mutant.before)}"
            yield f"    + {ink.plain(mutant.after)}"
        if result.reason:
            yield from ink.wrapped(result.reason, first="    ", rest="    ")
    if most is not None and len(missed) > most:
        yield f"  and {len(missed) - most} more: --all shows them"


def _equivalent(ink: Ink, campaign: Campaign) -> Iterator[str]:
    proven = [result for result in campaign.results if result.fate is Fate.EQUIVALENT]
    if proven:
        yield ink.bold(f"Nobody can tell ({len(proven)})")
    for result in proven:
        yield from ink.wrapped(f"{result.mutant.id}: {result.reason}", first="  ", rest="    ")


def _set_aside(ink: Ink, campaign: Campaign) -> Iterator[str]:
    """Yield by which rules, and for how many each."""
    rules = Counter(r.reason for r in campaign.results if r.fate is Fate.SET_ASIDE)
    if rules:
        yield ink.bold(f"Set aside ({rules.total()})")
    for rule, count in rules.most_common():
        yield from ink.wrapped(f"{count:,}: {rule}", first="  ", rest="    ")


def _matrix(ink: Ink, campaign: Campaign) -> Iterator[str]:
    """Yield what each family of checks finds, and which find nothing: all killers are known."""
    if not campaign.matrix:
        return
    matrix = matrix_of(campaign)
    every = frozenset().union(*matrix.found.values())
    by_family: dict[str, frozenset[str]] = {}
    for check, some in matrix.found.items():
        family = check.partition("/")[0]
        by_family[family] = by_family.get(family, frozenset()) | some
    yield ink.bold("Found by")
    for family, some in sorted(by_family.items(), key=lambda item: -len(item[1])):
        yield f"  {ink.plain(family)} {len(some):,} of {len(every):,}"
    yield f"  {len(matrix.enough)} of {len(campaign.checks)} checks find all of them"
    if matrix.idle:
        text = f"find nothing: {', '.join(matrix.idle)}"
        yield from ink.wrapped(text, first="  ", rest="    ")


def _trust(ink: Ink, campaign: Campaign) -> Iterator[str]:
    if not campaign.distrusted and not score(campaign.results).fates[Fate.PENDING]:
        return
    yield ink.bold("Why there is no score" if campaign.distrusted else "What was looked at first")
    for trust in (*campaign.trust, *(t for t in campaign.distrusted if t not in campaign.trust)):
        word = "holds" if trust.holds else "does NOT hold"
        text = f"{trust.name} {word}: {trust.told}"
        yield from ink.wrapped(text, first="  ", rest="    ")

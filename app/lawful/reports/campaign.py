"""The report of a campaign: for a terminal, and as one JSON document. Both are pure functions."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from lawful.strategies.crew import Ended
from lawful.strategies.slices import places

from ._ink import Ink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.strategies.campaign import Campaign
    from lawful.strategies.slices import Find, Place

__all__ = ["CampaignReport", "campaign_json", "campaign_terminal"]

SCHEMA_VERSION: Final = 1
NEVER: Final = 10
"""How many places that were never reached are named."""
_INDENT: Final = "  "
_LABEL: Final = 10


@dataclass(frozen=True, slots=True)
class CampaignReport:
    """What a campaign has found out, and what was asked of it.

    Attributes:
        found: What it has found out.
        seed: Its seed.
        budget: Its budget in seconds; None if it had none.
        spec: The table that was named to judge by; None if the adapter names its own.
        reached: Whether the system that the adapter names was seen to run, or can't be seen.
    """

    found: Campaign
    seed: int
    budget: float | None = None
    spec: str | None = None
    reached: bool = True

    @property
    def every_place(self) -> list[Place]:
        """Every position and letter that the table can reach, in its order."""
        return places(self.found.adapter)

    @property
    def never(self) -> list[str]:
        """Those that the campaign never reached, named."""
        hits = self.found.hits
        return [self.name(place) for place in self.every_place if not hits[place]]

    @property
    def unlawful(self) -> bool:
        """Whether anything was found."""
        return bool(self.found.findings or self.found.lost)

    @property
    def reasons(self) -> list[str]:
        """Why nothing can be said, if nothing was found."""
        found = self.found
        reasons = []
        if not found.steps:
            reasons.append("nothing was walked")
        if not self.reached:
            system = found.adapter.system
            reasons.append(
                f"no code of {system!r} was reached: the adapter does not drive what it names"
            )
        if found.ended is Ended.BROKEN:
            reasons.append(f"the executor took no more slices: {found.cause}")
        return reasons

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 something was found, 3 nothing was walked, 0 nothing was found."""
        if self.found.ended is Ended.INTERRUPTED:
            return 130
        if self.unlawful:
            return 1
        return 3 if self.reasons else 0

    @property
    def headline(self) -> str:
        """What came of it, in one line."""
        found = self.found
        part = f" of {found.asked:,}" if found.steps < found.asked else ""
        if self.unlawful:
            number = found.shapes + len(found.lost)
            return f"{number:,} {'finding' if number == 1 else 'findings'}"
        if self.reasons:
            return f"incomplete, {self.reasons[0]}"
        return f"nothing found in {found.steps:,}{part} steps"

    def name(self, place: Place) -> str:
        """Name a place: ``running(attempts=1) fail(retryable=true)``."""
        names = self.found.adapter.table.counters
        pairs = zip(names, place.counters, strict=True)
        counters = ",".join(f"{name}={value}" for name, value in pairs)
        at = f"{place.state}({counters})" if counters else place.state
        return f"{at} {place.letter}"

    def replay(self, find: Find) -> str:
        """Return the command that replays a finding; empty if it has no trace."""
        if not find.trace:
            return ""
        words = ["lawful", "replay", self.found.adapter.target, find.trace]
        words += ["--spec", self.spec] if self.spec else []
        return shlex.join(words)


def campaign_json(report: CampaignReport) -> str:
    """Return the text of the document that ``schemas/campaign.schema.json`` describes."""
    return json.dumps(_document(report), indent=2) + "\n"


def _document(report: CampaignReport) -> dict[str, Any]:
    found, adapter = report.found, report.found.adapter
    return {
        "schema_version": SCHEMA_VERSION,
        "lawful": version("lawful"),
        "spec": {"name": adapter.table.name, "version": adapter.table.version},
        "implementation": {"target": adapter.target, "system": adapter.system},
        "seed": report.seed,
        "budget": report.budget,
        "exit_code": report.exit_code,
        "headline": report.headline,
        "reasons": report.reasons,
        "ended": str(found.ended),
        "steps": {"taken": found.steps, "asked": found.asked},
        "slices": {"done": found.done, "asked": found.slices},
        "seconds": found.seconds,
        "places": {
            "reached": len(report.every_place) - len(report.never),
            "all": len(report.every_place),
            "never": report.never,
        },
        "hits": {report.name(place): found.hits[place] for place in sorted(found.hits)},
        "distinct": found.shapes,
        "findings": [
            {
                "state": find.shape.state,
                "step": find.shape.step,
                "aspect": find.shape.aspect,
                "expected": find.expected,
                "got": find.got,
                "trace": find.trace,
                "length": find.length,
                "times": find.times,
                "seed": find.seed,
                "replay": report.replay(find),
            }
            for find in found.findings
        ],
        "lost": [lost._asdict() for lost in found.lost],
    }


def campaign_terminal(report: CampaignReport, *, width: int, colour: bool, ascii: bool) -> str:
    """Return the report for a terminal, without a line feed at its end.

    Args:
        report: The report.
        width: Columns. Traces and commands are never broken: they are there to be copied.
        colour: Whether to write ANSI colours.
        ascii: Whether to write ASCII alone.
    """
    ink = Ink(width, colour, ascii)
    found = report.found
    parts = [list(_counts(report, ink)), *_findings(report, ink)]
    colours = {0: "1;32", 1: "1;31"}
    line = ink.plain(f"{found.adapter.target}: {report.headline}")
    parts.append([ink.paint(line, colours.get(report.exit_code, "1;33"))])
    return "\n\n".join("\n".join(part) for part in parts)


def _counts(report: CampaignReport, ink: Ink) -> Iterator[str]:
    found = report.found
    yield f"{found.steps:,} of {found.asked:,} steps, {_rate(found)}, seed {report.seed}"
    yield f"{found.done:,} of {found.slices:,} slices{_why(report)}"
    counters = ", ".join(("state", *found.adapter.table.counters, "letter"))
    every, never = report.every_place, report.never
    yield f"{len(every) - len(never)} of {len(every)} ({counters}) reached"
    if never and found.steps:
        more = f", and {len(never) - NEVER} more" if len(never) > NEVER else ""
        named = "; ".join(never[:NEVER])
        yield from ink.wrapped(f"never: {named}{more}", first=_INDENT, rest=_INDENT * 2)
    for reason in report.reasons:
        yield from ink.wrapped(reason, first="", rest=_INDENT)


def _rate(found: Campaign) -> str:
    return f"{found.steps / max(found.seconds, 1e-9):,.0f} steps/s"


def _why(report: CampaignReport) -> str:
    share = report.found.steps / max(report.found.asked, 1)
    match report.found.ended:
        case Ended.BUDGET:
            return f": the budget of {report.budget:g} s is spent, {share:.0%} of the steps done"
        case Ended.INTERRUPTED:
            return f": interrupted, {share:.0%} of the steps done; no trace was made shorter"
        case _:
            return ""


def _findings(report: CampaignReport, ink: Ink) -> Iterator[list[str]]:
    found = report.found
    for number, find in enumerate(found.findings, 1):
        at = f"{find.shape.step} in {find.shape.state}" if find.shape.state else find.shape.step
        times = "once" if find.times == 1 else f"{find.times:,} times"
        facts = [
            ("expected", find.expected, False),
            ("got", find.got, False),
            ("trace", find.trace, True),
            ("replay", report.replay(find), True),
        ]
        head = f"{number}. {ink.plain(at)}: {ink.plain(find.shape.aspect)}"
        yield [
            f"{ink.bold(head)} {ink.dim(f'({times}, slice {find.seed})')}",
            *(
                line
                for name, text, verbatim in facts
                if text
                for line in _fact(ink, name, text, verbatim=verbatim)
            ),
        ]
    if len(found.findings) < found.shapes:
        yield [f"and {found.shapes - len(found.findings)} more"]
    for lost in found.lost:
        yield [
            ink.bold(f"The slice with seed {lost.seed} can't be done"),
            *_fact(ink, "got", lost.reason, verbatim=False),
            *_fact(ink, "steps", f"{lost.steps:,}", verbatim=False),
        ]


def _fact(ink: Ink, name: str, text: str, *, verbatim: bool) -> list[str]:
    first = _INDENT + name.ljust(_LABEL)
    if verbatim:
        return [first + ink.plain(text)]
    return ink.wrapped(text, first=first, rest=" " * len(first))

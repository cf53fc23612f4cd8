"""What a run writes, and what every report is made of.

A run writes one versioned stream of events, a JSON object a line. A :class:`Report` is that
stream, folded; terminal, HTML, JSON, JUnit, GitHub summary and badge are pure functions of it.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from lawful.laws.judgement import Verdict, is_core, judgement
from lawful.laws.law import Check, Status
from lawful.spec.errors import LawfulError
from lawful.strategies.python import as_python
from lawful.strategies.racing import is_race
from lawful.strategies.seen import How
from lawful.strategies.trace import parse_trace
from lawful.sut.contract import NotYet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lawful.laws.runner import Profile, Run
    from lawful.spec.table import Table

__all__ = ["SCHEMA_VERSION", "Gap", "Report", "ReportError", "Row", "events", "fold"]

SCHEMA_VERSION: Final = 1


class ReportError(LawfulError):
    """A stream can't be read as a report."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What an implementation says it lacks.

    Attributes:
        name: The contract's name for it.
        kind: ``unsupported`` or ``not yet``.
        reason: One sentence.
        issue: Where it is discussed, if anywhere.
    """

    name: str
    kind: str
    reason: str
    issue: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the grid.

    Attributes:
        state: The state.
        cells: For each event of the table, in order: what the table says (``legal``, ``no-op``
            or ``refused``) and the check of the cell.
    """

    state: str
    cells: tuple[tuple[str, Check], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run.

    Attributes:
        lawful: The version of lawful that made it.
        spec_name: The table's name.
        spec_version: The table's version.
        events: The table's events: the grid's columns.
        kinds: What the table says of each cell: state to a kind for each event.
        name: The implementation's name, for people.
        target: How it was named on the command line.
        system: What it says it drives.
        gaps: What it says it lacks.
        reached: Functions of the system that were seen to run.
        profile: How much was run.
        checks: Every check: the cells in the table's order, then the laws.
        verdict: Lawful, unlawful or incomplete.
        headline: The verdict in one line.
        reasons: Why it is incomplete.
        undeclared: What laws ask for and the adapter does not mention: name to law ids.
        coverage: How often each layer fired each cell: id to layer to count.
        places: The same for each position and letter that the table can reach.
        seconds: How long it took.
    """

    lawful: str
    spec_name: str
    spec_version: int
    events: tuple[str, ...]
    kinds: Mapping[str, tuple[str, ...]]
    name: str
    target: str
    system: str
    gaps: tuple[Gap, ...]
    reached: tuple[str, ...]
    profile: str
    checks: tuple[Check, ...]
    verdict: Verdict
    headline: str
    reasons: tuple[str, ...] = ()
    undeclared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    places: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """The exit code of the command that made the report."""
        return self.verdict.exit_code

    @property
    def counts(self) -> dict[str, int]:
        """How many checks ended how, every status named."""
        ended = [check.status for check in self.checks]
        return {str(status): ended.count(status) for status in Status}

    @property
    def core(self) -> tuple[Check, ...]:
        """The checks of the table's cells: no branches, no other parameters."""
        return tuple(check for check in self.checks if is_core(check.id))

    @property
    def passed(self) -> str:
        """How many of the table's cells passed, as ``10 of 56``."""
        core = self.core
        return f"{sum(check.status is Status.PASS for check in core)} of {len(core)}"

    def grid(self) -> tuple[Row, ...]:
        """Return the table as a grid of checks, states x events."""
        by_id = {check.id: check for check in self.checks}
        return tuple(
            Row(
                state,
                tuple(
                    (kind, by_id.get(name) or Check(name, Status.NOT_RUN, ""))
                    for event, kind in zip(self.events, kinds, strict=True)
                    for name in (f"cell/{state}/{event}",)
                ),
            )
            for state, kinds in self.kinds.items()
        )

    def causes(self) -> tuple[Check, ...]:
        """Return what is broken, root causes first.

        First what blocks others, then cells, then laws; within these, shorter traces first. A
        cell that is broken with the default parameters stands for the same cell with others.
        """
        blocking = {check.cause for check in self.checks if check.status is Status.BLOCKED}
        bad = [
            check
            for check in self.checks
            if check.status in (Status.FAIL, Status.ERROR, Status.STALE, Status.MOVED)
        ]
        broken = {check.id for check in bad}
        return tuple(
            sorted(
                (c for c in bad if "@" not in c.id or c.id.partition("@")[0] not in broken),
                key=lambda check: (
                    check.id not in blocking,
                    not check.id.startswith("cell/"),
                    not is_core(check.id),
                    len(check.trace.split()),
                ),
            )
        )

    def replay(self, check: Check) -> str:
        """Return the command that replays a check's trace; empty if it has none."""
        if not check.trace:
            return ""
        return f"lawful replay {shlex.quote(self.target)} {shlex.quote(check.trace)}"


def events(run: Run, *, name: str, profile: Profile) -> Iterator[dict[str, Any]]:
    """Yield a run as the stream's events.

    Args:
        run: The run.
        name: The implementation's name, for people.
        profile: How much was run.
    """
    adapter, table = run.adapter, run.adapter.table
    yield {
        "event": "run",
        "schema_version": SCHEMA_VERSION,
        "lawful": version("lawful"),
        "spec": {
            "name": table.name,
            "version": table.version,
            "events": list(table.event_names),
            "cells": _kinds(table),
        },
        "implementation": {
            "name": name,
            "target": adapter.target,
            "system": adapter.system,
            "gaps": [
                {
                    "name": gap_name,
                    "kind": "not yet" if isinstance(gap, NotYet) else "unsupported",
                    "reason": gap.reason,
                    "issue": gap.issue,
                }
                for gap_name, gap in sorted(adapter.gaps.items())
            ],
            "reached": list(run.smoke.reached),
        },
        "profile": str(profile),
    }
    for check in run.checks:
        told = {key: value for key, value in asdict(check).items() if value}
        if check.trace and not is_race(check.trace):
            ops = parse_trace(check.trace, table)
            told["python"] = as_python(adapter, ops, check.id)
        yield {"event": "check", **told}
    judged = judgement(run)
    yield {
        "event": "verdict",
        "verdict": str(judged.verdict),
        "exit_code": judged.verdict.exit_code,
        "headline": judged.headline,
        "reasons": list(judged.reasons),
        "undeclared": run.undeclared,
        "coverage": run.coverage,
        "places": run.places,
        "seconds": round(run.seconds, 3),
    }


def _kinds(table: Table) -> dict[str, list[str]]:
    return {
        state: [str(cell.kind) for cell in row]
        for state, row in zip(table.states, table.cells, strict=True)
    }


def fold(stream: Iterable[Mapping[str, Any]]) -> Report:
    """Fold a stream of events into a report.

    Raises:
        ReportError: The stream has no beginning or no end, or is of another schema version.
    """
    every = list(stream)
    run = next((event for event in every if event.get("event") == "run"), None)
    end = next((event for event in every if event.get("event") == "verdict"), None)
    if run is None or end is None:
        missing = "its `run` event" if run is None else "its `verdict` event: the run did not end"
        raise ReportError(f"the stream lacks {missing}")
    if run["schema_version"] != SCHEMA_VERSION:
        raise ReportError(
            f"the stream has schema version {run['schema_version']!r}; this is {SCHEMA_VERSION}"
        )
    spec, implementation = run["spec"], run["implementation"]
    return Report(
        lawful=run["lawful"],
        spec_name=spec["name"],
        spec_version=spec["version"],
        events=tuple(spec["events"]),
        kinds={state: tuple(kinds) for state, kinds in spec["cells"].items()},
        name=implementation["name"],
        target=implementation["target"],
        system=implementation["system"],
        gaps=tuple(Gap(**gap) for gap in implementation["gaps"]),
        reached=tuple(implementation["reached"]),
        profile=run["profile"],
        checks=tuple(_check(event) for event in every if event.get("event") == "check"),
        verdict=Verdict(end["verdict"]),
        headline=end["headline"],
        reasons=tuple(end["reasons"]),
        undeclared={name: tuple(laws) for name, laws in end["undeclared"].items()},
        coverage=end["coverage"],
        places=end["places"],
        seconds=end["seconds"],
    )


def _check(event: Mapping[str, Any]) -> Check:
    fields = {key: value for key, value in event.items() if key != "event"}
    fields["status"] = Status(fields["status"])
    if "how" in fields:
        fields["how"] = How(fields["how"])
    return Check(**{"says": "", **fields})

"""The JSON report: a report as one document, its schemas, and the way back.

What is read back is checked by hand against the same shape as the schema, since the schema's
validator is no dependency: names, types and lengths, and nothing is evaluated.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal

from lawful.laws.judgement import Verdict
from lawful.laws.law import Check, Status
from lawful.spec.table import CellKind
from lawful.strategies.seen import How

from ._fields import Fields
from .report import SCHEMA_VERSION, Gap, Report, ReportError, fold

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "from_json",
    "json_text",
    "load_schema",
    "read_document",
    "read_stream",
    "to_json",
]

LIMIT: Final = 64 * 1024 * 1024
"""The longest text that is read, in characters."""
_GAPS: Final = ("not yet", "unsupported")


def load_schema(name: Literal["campaign", "report", "stream"]) -> dict[str, Any]:
    """Return a JSON Schema (draft 2020-12).

    Args:
        name: ``report`` for the document, ``stream`` for one event of the stream, ``campaign``
            for the document of a long walk.
    """
    text = (files("lawful.reports") / "schemas" / f"{name}.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def to_json(report: Report) -> dict[str, Any]:
    """Return a report as plain JSON values, as ``schemas/report.schema.json`` describes them."""
    return {
        "schema_version": SCHEMA_VERSION,
        "lawful": report.lawful,
        "spec": {
            "name": report.spec_name,
            "version": report.spec_version,
            "events": list(report.events),
            "cells": {state: list(kinds) for state, kinds in report.kinds.items()},
        },
        "implementation": {
            "name": report.name,
            "target": report.target,
            "system": report.system,
            "gaps": [
                {"name": gap.name, "kind": gap.kind, "reason": gap.reason, "issue": gap.issue}
                for gap in report.gaps
            ],
            "reached": list(report.reached),
        },
        "profile": report.profile,
        "verdict": str(report.verdict),
        "exit_code": report.exit_code,
        "headline": report.headline,
        "counts": report.counts,
        "checks": [_check_to_json(report, check) for check in report.checks],
        "coverage": {cell: dict(layers) for cell, layers in report.coverage.items()},
        "places": {place: dict(layers) for place, layers in report.places.items()},
        "undeclared": {name: list(laws) for name, laws in report.undeclared.items()},
        "reasons": list(report.reasons),
        "seconds": report.seconds,
    }


def json_text(report: Report) -> str:
    """Return a report as the text of a JSON file."""
    return json.dumps(to_json(report), indent=2) + "\n"


def _check_to_json(report: Report, check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "status": str(check.status),
        "says": check.says,
        "expected": check.expected,
        "got": check.got,
        "trace": check.trace,
        "replay": report.replay(check),
        "cause": check.cause,
        "triggers": check.triggers,
        "controls": check.controls,
        "how": str(check.how),
        "findings": check.findings,
        "note": check.note,
        "trail": check.trail,
        "python": check.python,
    }


def read_document(text: str) -> Report:
    """Read the text of a JSON report.

    Raises:
        ReportError: It is too long, not JSON, or no report.
    """
    if len(text) > LIMIT:
        raise ReportError(f"the report has {len(text)} characters; at most {LIMIT} are read")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the report is not JSON: {error}") from error
    return from_json(document)


def from_json(document: object) -> Report:
    """Return the report that :func:`to_json` wrote.

    What a report computes from the rest (``exit_code``, ``counts``) must agree with it.

    Args:
        document: Plain JSON values.

    Raises:
        ReportError: It is no such document; the message names the place.
    """
    top = Fields(document, "report")
    if top.integer("schema_version") != SCHEMA_VERSION:
        raise top.wrong("schema_version", f"{SCHEMA_VERSION}, the one that this version reads")
    spec, implementation = top.fields("spec"), top.fields("implementation")
    events = spec.texts("events")
    report = Report(
        lawful=top.text("lawful"),
        spec_name=spec.text("name"),
        spec_version=spec.integer("version"),
        events=events,
        kinds=_kinds(spec, len(events)),
        name=implementation.text("name"),
        target=implementation.text("target"),
        system=implementation.text("system"),
        gaps=tuple(_gap(each) for each in implementation.items("gaps")),
        reached=implementation.texts("reached"),
        profile=top.text("profile"),
        checks=tuple(_check(each) for each in top.items("checks")),
        verdict=Verdict(top.one_of("verdict", tuple(Verdict))),
        headline=top.text("headline"),
        reasons=top.texts("reasons"),
        undeclared=_undeclared(top.fields("undeclared")),
        coverage=_coverage(top.fields("coverage")),
        places=_coverage(top.fields("places")),
        seconds=top.number("seconds"),
    )
    if top.integer("exit_code") != report.exit_code:
        raise top.wrong("exit_code", f"{report.exit_code}, since it is {report.verdict}")
    counts = top.fields("counts")
    for status, count in report.counts.items():
        if counts.integer(status) != count:
            raise counts.wrong(status, f"{count}, as in `checks`")
    for each in (counts, spec, implementation, top):
        each.done()
    return report


def _kinds(spec: Fields, width: int) -> dict[str, tuple[str, ...]]:
    cells = spec.fields("cells")
    kinds = {state: cells.texts(state) for state in cells.names}
    for state, row in kinds.items():
        if len(row) != width:
            raise cells.wrong(state, f"one word for each of the {width} events")
        if not set(row) <= set(CellKind):
            raise cells.wrong(state, f"only {', '.join(CellKind)}")
    return kinds


def _gap(each: Fields) -> Gap:
    gap = Gap(
        each.text("name"),
        each.one_of("kind", _GAPS),
        each.text("reason"),
        each.text_or_none("issue"),
    )
    each.done()
    return gap


def _check(each: Fields) -> Check:
    each.text("replay")  # made anew from the target and the trace
    check = Check(
        id=each.text("id"),
        status=Status(each.one_of("status", tuple(Status))),
        says=each.text("says"),
        expected=each.text("expected"),
        got=each.text("got"),
        trace=each.text("trace"),
        cause=each.text("cause"),
        triggers=each.integer("triggers"),
        controls=each.integer("controls"),
        how=How(each.one_of("how", tuple(How))),
        findings=each.integer("findings"),
        note=each.text("note"),
        trail=each.text("trail"),
        python=each.text("python"),
    )
    each.done()
    return check


def _undeclared(fields: Fields) -> Mapping[str, tuple[str, ...]]:
    return {name: fields.texts(name) for name in fields.names}


def _coverage(fields: Fields) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, Mapping[str, int]] = {}
    for cell in fields.names:
        layers = fields.fields(cell)
        found[cell] = {layer: layers.integer(layer) for layer in layers.names}
    return found


def read_stream(text: str) -> Report:
    """Read the text of a stream that a run wrote.

    Raises:
        ReportError: It is too long, not JSON lines, or no whole stream.
    """
    if len(text) > LIMIT:
        raise ReportError(f"the stream has {len(text)} characters; at most {LIMIT} are read")
    try:
        report = fold(json.loads(line) for line in text.splitlines() if line.strip())
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ReportError(f"the stream is not one of ours: {error}") from error
    # What was folded is only as good as its values: they are checked as a document's are.
    return from_json(to_json(report))

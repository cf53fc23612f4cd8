"""``lawful check``: judge an implementation and say what came of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawful.spec.errors import LawfulError

from . import walk
from .console import Progress, colour, is_ascii, quiet_stdout, width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lawful.judging import Options
    from lawful.reports.report import Report

__all__ = ["arguments", "check_writable", "options_of", "run", "running_arguments"]


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("target", nargs="?", default="reference", metavar="TARGET")
    running_arguments(parser)
    walk.arguments(parser)
    known = parser.add_argument_group("known divergences")
    known.add_argument("--known", type=Path, metavar="FILE", help="read them from FILE")
    known.add_argument(
        "--record-known", type=Path, metavar="FILE", help="write what is broken now to FILE"
    )
    known.add_argument("--reason", metavar="TEXT", help="why they are accepted")
    reports = parser.add_argument_group("reports")
    reports.add_argument("--json", metavar="FILE", help="the JSON report; - for stdout alone")
    reports.add_argument("--html", type=Path, metavar="FILE", help="a page of its own")
    reports.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML")
    reports.add_argument("--summary", type=Path, metavar="FILE", help="Markdown for a CI summary")
    reports.add_argument("--badge", type=Path, metavar="FILE", help="a shields.io endpoint")
    reports.add_argument("--stream", type=Path, metavar="FILE", help="the run as JSON lines")
    reports.add_argument("--all", action="store_true", help="show every finding, not ten")


def running_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of every command that runs laws."""
    parser.add_argument(
        "--profile",
        choices=("quick", "default", "deep"),
        default="default",
        help="quick leaves out the suite deep, races and what is random; deep runs more races",
    )
    parser.add_argument(
        "--limit", type=float, default=60.0, metavar="SECONDS", help="on one call (default: 60)"
    )
    parser.add_argument(
        "--effort",
        choices=("dev", "ci", "nightly", "mutation"),
        default="ci",
        help="how much is searched at random: dev 50 examples of 20 steps, ci 100 x 20 and the "
        "same in each run (default), nightly 1,000 x 50, mutation 30 x 20",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="of what is searched at random")
    parser.add_argument(
        "--database", type=Path, metavar="DIR", help="keep failing examples, and begin with them"
    )
    parser.add_argument("--store", type=Path, metavar="DIR", help="where stores are made")
    parser.add_argument("--spec", metavar="TABLE", help="judge by this table: a name or a file")


def check_writable(path: Path) -> None:
    """Refuse a report's place before the run, not after it."""
    if not path.absolute().parent.is_dir():
        raise LawfulError(f"{path} can't be written: there is no folder {path.parent}")


def options_of(given: Namespace, progress: Progress) -> Options:
    """Return how to judge, from a command's arguments."""
    from lawful.judging import Options
    from lawful.laws.runner import Profile
    from lawful.laws.stage import Search

    if given.limit <= 0:
        raise LawfulError(f"--limit {given.limit:g}: a positive number of seconds is expected")
    if given.database is not None and given.effort in ("ci", "mutation"):
        raise LawfulError(
            f"--database needs --effort dev or nightly: {given.effort} searches the same in each "
            "run, and keeps nothing"
        )
    record = getattr(given, "record_known", None)
    if record is not None and not (given.reason or "").strip():
        raise LawfulError("--record-known needs --reason TEXT: why is the divergence accepted?")
    return Options(
        profile=Profile(given.profile),
        limit=given.limit,
        store=given.store,
        table=given.spec,
        search=Search(given.effort, given.seed, given.database),
        known=getattr(given, "known", None),
        record=record,
        reason=getattr(given, "reason", None) or "",
        progress=progress,
    )


def run(given: Namespace) -> int:
    """Judge the target, write the reports, and return the exit code."""
    if given.walk is not None:
        return walk.run(given)
    walk.refuse_strays(given)
    from lawful.judging import judge

    progress = Progress(given.target)
    options = options_of(given, progress)
    outputs = [given.json, given.html, given.junit, given.summary, given.badge, given.stream]
    for output in [*outputs, given.record_known]:
        if output and output != "-":
            check_writable(Path(output))
    with quiet_stdout():
        try:
            report, stream = judge(given.target, options)
        finally:
            progress.clear()
    _write(given, report, stream)
    return report.exit_code


def _write(given: Namespace, report: Report, stream: list[dict[str, Any]]) -> None:
    from lawful import reports

    if given.json and given.json != "-":
        reports.write(Path(given.json), reports.json_text(report))
    if given.html:
        reports.write(given.html, reports.html(report))
    if given.junit:
        reports.write(given.junit, reports.junit(report))
    if given.summary:
        reports.write(given.summary, reports.summary(report))
    if given.badge:
        reports.write(given.badge, json.dumps(reports.badge(report)) + "\n")
    if given.stream:
        reports.write(given.stream, "".join(json.dumps(event) + "\n" for event in stream))
    if given.json == "-":
        sys.stdout.write(reports.json_text(report))
        return
    sys.stdout.write(
        reports.terminal(
            report,
            width=width(),
            colour=colour(sys.stdout),
            ascii=is_ascii(sys.stdout),
            most=None if given.all else 10,
        )
        + "\n"
    )

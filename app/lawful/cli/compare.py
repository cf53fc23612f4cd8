"""``lawful compare``: set implementations side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError

from .check import check_writable, options_of, running_arguments
from .console import Progress, colour, is_ascii, quiet_stdout, width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lawful.reports.report import Report

__all__ = ["arguments", "run"]


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "targets", nargs="+", metavar="TARGET", help="at least two; or JSON reports made before"
    )
    running_arguments(parser)
    parser.add_argument("--json", metavar="FILE", help="the JSON reports in a list; - for stdout")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page of its own")
    parser.epilog = "The exit code says whether a comparison could be made, not what it showed."


def run(given: Namespace) -> int:
    """Judge every target and compare; 0 if that could be done, whatever it showed."""
    from lawful import reports

    if len(given.targets) < 2:
        raise LawfulError("compare needs at least two targets")
    for output in (given.json, given.html):
        if output and output != "-":
            check_writable(Path(output))
    every = [_report(given, target) for target in given.targets]
    document = json.dumps([reports.to_json(report) for report in every], indent=2) + "\n"
    if given.json and given.json != "-":
        reports.write(Path(given.json), document)
    if given.html:
        reports.write(given.html, reports.compare_html(every))
    if given.json == "-":
        sys.stdout.write(document)
        return 0
    sys.stdout.write(
        reports.compare_terminal(
            every, width=width(), colour=colour(sys.stdout), ascii=is_ascii(sys.stdout)
        )
        + "\n"
    )
    return 0


def _report(given: Namespace, target: str) -> Report:
    from lawful.judging import judge
    from lawful.reports import ReportError, read_document

    if target.endswith(".json"):
        try:
            return read_document(Path(target).read_text(encoding="utf-8"))
        except OSError as error:
            raise LawfulError(f"{target}: can't be read: {error.strerror}") from error
        except (ReportError, UnicodeDecodeError) as error:
            raise LawfulError(f"{target}: {error}") from error
    progress = Progress(target)
    with quiet_stdout():
        try:
            return judge(target, options_of(given, progress))[0]
        finally:
            progress.clear()

"""``lawful race``: the three classic interleavings, and what each writing makes of them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from lawful.spec.errors import LawfulError

from .console import quiet_stdout

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from lawful.laws.classics import Classic, Outcome
    from lawful.sut.contract import Entry, Reading

__all__ = ["arguments", "run"]

_CALLED = {
    "naive": "naive",
    "unversioned": "without the version check",
    "unfenced": "without the lease check",
    "reference": "whole",
}


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="play them on this one alone; by default on four",
    )
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def run(given: Namespace) -> int:
    """Play the interleavings; 1 if a TARGET was named and does what it must not, else 0."""
    from lawful.laws.classics import CLASSICS, WRITINGS, play
    from lawful.strategies.adapter import describe
    from lawful.strategies.driver import Fault
    from lawful.strategies.stores import store_folder
    from lawful.strategies.trace import TraceError
    from lawful.strategies.watch import Watch

    names = WRITINGS if given.target is None else (given.target,)
    played: list[tuple[Classic, dict[str, Outcome]]] = []
    watch = Watch()
    try:
        with quiet_stdout(), store_folder() as folder, watch.running():
            adapters = {name: describe(name) for name in names}
            for number, classic in enumerate(CLASSICS):
                outcomes = {
                    name: play(classic, adapter, folder / f"{number}-{at}", watch)
                    for at, (name, adapter) in enumerate(adapters.items())
                }
                played.append((classic, outcomes))
    except (Fault, TraceError) as error:
        raise LawfulError(f"the interleavings can't be played on {names[-1]}: {error}") from error
    if given.json:
        sys.stdout.write(json.dumps([_row(*each) for each in played], indent=1) + "\n")
    else:
        for number, (classic, outcomes) in enumerate(played, 1):
            sys.stdout.write("\n".join(_lines(number, classic, outcomes)) + "\n\n")
    lawful = all(one.lawful for _, outcomes in played for one in outcomes.values())
    return 0 if given.target is None or lawful else 1


def _row(classic: Classic, outcomes: dict[str, Outcome]) -> dict[str, Any]:
    return {
        "title": classic.title,
        "trace": classic.trace,
        "outcomes": [
            {
                "target": name,
                "lawful": one.lawful,
                "reports": [report._asdict() for report in one.reports],
                "reading": _shown(one.view.reading),
                "history": [_entry(entry) for entry in one.view.history or ()],
            }
            for name, one in outcomes.items()
        ],
    }


def _lines(number: int, classic: Classic, outcomes: dict[str, Outcome]) -> Iterator[str]:
    yield f"{number}. {classic.title}"
    yield f"   {classic.trace}"
    for name, one in outcomes.items():
        yield ""
        yield f"   {_CALLED.get(name, name)}"
        for report in one.reports:
            told = "written" if report.written else report.why
            yield f"     {report.actor} {report.event}: {told}"
        yield f"     -> {_shown(one.view.reading)}"
        for entry in one.view.history or ():
            yield f"        {_entry(entry)}"


def _shown(reading: Reading) -> str:
    told = [reading.state]
    for name in ("attempts", "version"):
        value = getattr(reading, name)
        told += [f"{name} {value}"] if value is not None else []
    told += [f"owner {reading.lease_owner}"] if reading.lease_owner else []
    return ", ".join(told)


def _entry(entry: Entry) -> str:
    """Write an entry as ``(2 start, queued, running, worker-A)``; the first is the submission."""
    version = "" if entry.version is None else f"{entry.version} "
    event, before, actor = entry.event or "submit", entry.before or "-", entry.actor or "client"
    return f"({version}{event}, {before}, {entry.after}, {actor})"

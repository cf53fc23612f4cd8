"""``lawful mutate``: see whether the checks would notice."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError

from .check import check_writable
from .cluster import cluster
from .console import Progress, colour, is_ascii, quiet_stdout, width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping

    from lawful.mutants.engine import Engine
    from lawful.mutants.score import Campaign
    from lawful.mutants.shards import Shard
    from lawful.mutants.verdict import Judged

__all__ = ["arguments", "run"]


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--engine",
        action="append",
        choices=("table", "planted", "mutmut"),
        metavar="ENGINE",
        help="what makes the mutants: table, faults of a table (the default); planted, faults in"
        " the shipped stores; mutmut, of your source (more than once for several)",
    )
    parser.add_argument(
        "--spec", default="task", metavar="TABLE", help="the table: a shipped name or a file"
    )
    parser.add_argument(
        "--deep", action="store_true", help="table: faults with a memory too (thousands)"
    )
    parser.add_argument(
        "--matrix", action="store_true", help="ask for every check that finds a mutant"
    )
    parser.add_argument(
        "--threshold",
        action="append",
        default=[],
        metavar="[ENGINE=]PERCENT",
        help="the least adjusted score (default: 100)",
    )
    parser.add_argument(
        "--shard", metavar="K/N", help="test part K of N alone, from 1; with --results for --merge"
    )
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="test nothing: put the --results of all parts together, and report those",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="ID",
        help="test those alone whose id begins with that: planted/reaper (or more than once)",
    )
    parser.add_argument(
        "--since", metavar="REF", help="test those alone that are in lines changed since a commit"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="planted, mutmut: how many are tried at once (default: the cores)",
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="planted: the scheduler of a Dask cluster that tries them"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="FILE",
        help="remember there what became of mutants, and test again what has changed",
    )
    parser.add_argument("--store", type=Path, metavar="DIR", help="where stores are made")
    mutmut = parser.add_argument_group(
        "mutmut", "Without --source, what [tool.lawful.mutmut] of ./pyproject.toml names."
    )
    mutmut.add_argument(
        "--source", type=Path, action="append", metavar="PATH", help="files and folders of source"
    )
    mutmut.add_argument(
        "--tests", type=Path, action="append", metavar="PATH", help="the tests that judge it"
    )
    mutmut.add_argument(
        "--implementation",
        metavar="TARGET",
        help="what the conformance suite judges besides: a shipped name, or module:Class",
    )
    mutmut.add_argument(
        "--reviewed", type=Path, metavar="FILE", help="what is known of survivors, as TOML"
    )
    reports = parser.add_argument_group("reports")
    reports.add_argument(
        "--json", metavar="FILE", help="a mutation testing report; - for stdout alone"
    )
    reports.add_argument("--results", type=Path, metavar="FILE", help="what --merge reads")
    reports.add_argument("--html", type=Path, metavar="FILE", help="a page of its own")
    reports.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML")
    reports.add_argument("--summary", type=Path, metavar="FILE", help="Markdown for a CI summary")
    reports.add_argument("--badge", type=Path, metavar="FILE", help="a shields.io endpoint")
    reports.add_argument(
        "--annotate", action="store_true", help="tell GitHub of survivors beside their lines"
    )
    reports.add_argument("--all", action="store_true", help="show every survivor, not ten")


def run(given: Namespace) -> int:
    """Test the mutants, write the reports, and return the exit code."""
    from lawful.mutants.shards import parse_shard
    from lawful.mutants.verdict import judge, thresholds

    least = thresholds(given.threshold)
    shard = None if given.shard is None else parse_shard(given.shard)
    if given.jobs is not None and given.jobs < 1:
        raise LawfulError(f"--jobs {given.jobs}: at least one process is needed")
    if given.jobs is not None and given.dask is not None:
        raise LawfulError("--jobs and --dask: one of them says who tries mutants")
    outputs = (
        given.cache,
        given.json,
        given.results,
        given.html,
        given.junit,
        given.summary,
        given.badge,
    )
    for output in outputs:
        if output and output != "-":
            check_writable(Path(output))
    campaigns = _tested(given, shard) if given.merge is None else _merged(given)
    judged = judge(campaigns, least)
    _write(given, campaigns, judged, least)
    return 130 if campaigns[-1].interrupted else judged.standing.exit_code


def _tested(given: Namespace, shard: Shard | None) -> list[Campaign]:
    """Run one engine after the other, as far as nobody ends it."""
    from lawful.mutants.campaign import ALL, beginning_with, mutate
    from lawful.mutants.changes import changed_since
    from lawful.mutants.memory import Memory
    from lawful.reports.writing import write

    memory = None if given.cache is None else Memory.read(given.cache)
    choices = []
    if given.since:
        choices.append(changed_since(Path.cwd(), given.since))
    if given.only:
        choices.append(beginning_with(given.only))
    campaigns: list[Campaign] = []
    for name in dict.fromkeys(given.engine or ("table",)):
        progress = Progress(name)
        with ExitStack() as left:
            engine = _engine(name, given, left)
            left.callback(progress.clear)
            left.enter_context(quiet_stdout())
            left.enter_context(engine)
            campaigns.append(
                mutate(
                    engine,
                    matrix=given.matrix,
                    chosen=lambda every: reduce(lambda some, choose: choose(some), choices, every),
                    memory=memory,
                    shard=shard or ALL,
                    progress=progress,
                )
            )
        if memory is not None and given.cache is not None:
            write(given.cache, memory.text())
        if campaigns[-1].interrupted:
            break
    return campaigns


def _engine(name: str, given: Namespace, left: ExitStack) -> Engine:
    if given.dask is not None and name != "planted":
        raise LawfulError(f"--dask tries planted faults alone; --shard splits those of {name}")
    if name == "table":
        from lawful.mutants.table import TableEngine
        from lawful.spec.reader import parse_table, table_text

        text, file = table_text(given.spec)
        return TableEngine(parse_table(text, file), text, deep=given.deep, store=given.store)
    jobs = given.jobs or os.cpu_count() or 1
    if name == "planted":
        from lawful.mutants.planted import PlantedEngine

        crew = left.enter_context(cluster(given.dask)) if given.dask else None
        return PlantedEngine(
            workers=jobs, store=given.store, executor=crew.executor if crew else None
        )
    from lawful.mutants.generic.engine import MutmutEngine
    from lawful.mutants.generic.reviewed import read_reviews
    from lawful.mutants.generic.settings import Settings, read_settings
    from lawful.mutants.generic.workspace import Suite

    settings = read_settings(Path.cwd())
    if given.source or given.tests or given.implementation:
        settings = Settings(
            tuple(given.source or ()), tuple(given.tests or ()), given.implementation or ""
        )
    reviewed = given.reviewed or settings.reviewed
    return MutmutEngine(
        settings.source,
        Suite(settings.tests, settings.implementation),
        project=Path.cwd(),
        reviewed=read_reviews(reviewed) if reviewed else {},
        workers=jobs,
        store=given.store,
    )


def _merged(given: Namespace) -> list[Campaign]:
    """Read parts and put them together.

    Raises:
        MutationError: They are not the parts of one whole.
    """
    from lawful.mutants.errors import MutationError
    from lawful.mutants.results import read_results
    from lawful.mutants.shards import merge

    for option in (
        "engine",
        "only",
        "since",
        "shard",
        "deep",
        "matrix",
        "jobs",
        "dask",
        "cache",
        "store",
        "source",
        "tests",
        "implementation",
        "reviewed",
    ):
        if getattr(given, option):
            raise MutationError(f"--merge tests nothing: --{option} has no place beside it")
    return merge([part for path in given.merge for part in read_results(path)])


def _write(
    given: Namespace, campaigns: list[Campaign], judged: Judged, least: Mapping[str, float]
) -> None:
    from lawful.mutants.results import results_text
    from lawful.reports import mutation
    from lawful.reports.writing import write

    if given.results:
        write(given.results, results_text(campaigns))

    if given.json and given.json != "-":
        write(Path(given.json), mutation.report_json(campaigns, least))
    if given.html:
        write(given.html, mutation.html(campaigns, judged))
    if given.junit:
        write(given.junit, mutation.junit(campaigns, judged))
    if given.summary:
        write(given.summary, mutation.summary(campaigns, judged))
    if given.badge:
        write(given.badge, json.dumps(mutation.badge(campaigns, judged)) + "\n")
    if given.annotate:
        sys.stderr.write(mutation.workflow_commands(campaigns, _where))
    if given.json == "-":
        sys.stdout.write(mutation.report_json(campaigns, least))
        return
    sys.stdout.write(
        mutation.terminal(
            campaigns,
            judged,
            width=width(),
            colour=colour(sys.stdout),
            ascii=is_ascii(sys.stdout),
            most=None if given.all else 10,
        )
        + "\n"
    )


def _where(name: str) -> str:
    """Return where a file is from here, by its name from the source root."""
    here = Path.cwd()
    for place in (here, here / "src", *map(Path, sys.path)):
        if (file := place / name).is_file() and file.is_relative_to(here):
            return file.relative_to(here).as_posix()
    return name

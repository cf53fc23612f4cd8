"""``lawful check --walk``: a long seeded walk at random, in place of the suites.

In this process, in processes beside it, or through a Dask cluster; the findings are the same.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lawful.spec.errors import LawfulError

from .cluster import Crew, cluster
from .console import Progress, colour, is_ascii, quiet_stdout, width

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from lawful.reports.campaign import CampaignReport

__all__ = ["arguments", "refuse_strays", "run"]

_OWN: Final = ("budget", "jobs", "dask")
_OTHERS: Final = {
    "profile": "default",
    "effort": "ci",
    "database": None,
    "known": None,
    "record_known": None,
    "reason": None,
    "html": None,
    "junit": None,
    "summary": None,
    "badge": None,
    "stream": None,
    "all": False,
}
"""What goes with the suites alone, each with the value that it has when it is not given."""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments of a long walk."""
    walk = parser.add_argument_group(
        "long campaigns",
        "A seeded walk at random (--seed N, by default 0), in place of the suites.",
    )
    walk.add_argument("--walk", type=int, metavar="STEPS", help="how many steps it takes")
    walk.add_argument(
        "--budget", type=float, metavar="SECONDS", help="begin no slice of it after so long"
    )
    walk.add_argument("--jobs", type=int, metavar="N", help="processes that walk (default: 1)")
    walk.add_argument(
        "--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster that walks"
    )


def refuse_strays(given: Namespace) -> None:
    """Refuse what means something for a walk alone, where there is none."""
    for name in _OWN:
        if getattr(given, name) is not None:
            raise LawfulError(f"--{name} goes with --walk STEPS")


def run(given: Namespace) -> int:
    """Walk, write the report, and return the exit code."""
    _check(given)
    from lawful.reports.campaign import campaign_json, campaign_terminal

    progress = Progress(given.target)
    with quiet_stdout():
        try:
            report = _walk(given, progress)
        finally:
            progress.clear()
    if given.json:
        text = campaign_json(report)
        if given.json == "-":
            sys.stdout.write(text)
            return report.exit_code
        from lawful.reports.writing import write

        write(Path(given.json), text)
    out = sys.stdout
    shown = campaign_terminal(report, width=width(), colour=colour(out), ascii=is_ascii(out))
    out.write(shown + "\n")
    return report.exit_code


def _check(given: Namespace) -> None:
    from .check import check_writable

    for name, usual in _OTHERS.items():
        if getattr(given, name) != usual:
            option = name.replace("_", "-")
            raise LawfulError(f"--{option} does not go with --walk; its report is --json FILE")
    if given.walk < 1:
        raise LawfulError(f"--walk {given.walk}: a positive number of steps is expected")
    for name in ("budget", "limit"):
        seconds = getattr(given, name)
        if seconds is not None and not 0 < seconds < float("inf"):
            raise LawfulError(f"--{name} {seconds:g}: a positive number of seconds is expected")
    if given.jobs is not None and given.jobs < 1:
        raise LawfulError(f"--jobs {given.jobs}: at least one process is needed")
    if given.jobs is not None and given.dask is not None:
        raise LawfulError("--jobs and --dask: one of them says who walks")
    if given.json and given.json != "-":
        check_writable(Path(given.json))


def _walk(given: Namespace, progress: Progress) -> CampaignReport:
    from lawful.laws.smoke import smoke
    from lawful.reports.campaign import CampaignReport
    from lawful.spec.reader import find_table
    from lawful.strategies.adapter import describe
    from lawful.strategies.campaign import campaign
    from lawful.strategies.slices import slices
    from lawful.strategies.stores import store_folder
    from lawful.strategies.watch import Watch

    table = None if given.spec is None else find_table(given.spec)
    adapter = describe(given.target, table=table)
    seed = 0 if given.seed is None else given.seed
    watch = Watch(given.limit)
    with store_folder(given.store) as folder:
        with watch.running():
            fit = smoke(adapter, folder, watch)
        with _crew(given) as crew:
            found = campaign(
                fit.adapter,
                slices(given.walk, seed),
                crew.executor,
                ahead=crew.ahead,
                limit=given.limit,
                budget=given.budget,
                # Whatever becomes of a worker on this machine, its stores go with the folder.
                store=given.store if given.dask else folder,
                progress=_Pace(progress),
            )
    reached = bool(fit.reached) or not fit.visible
    return CampaignReport(found, seed, given.budget, given.spec, reached)


@contextmanager
def _crew(given: Namespace) -> Iterator[Crew]:
    """Have somebody walk, and let go of them at the end, whatever they are at."""
    if given.dask is not None:
        with cluster(given.dask) as crew:
            yield crew
    elif (given.jobs or 1) > 1:
        from lawful.strategies.processes import Processes

        executor = Processes(given.jobs)
        try:
            yield Crew(executor, given.jobs)
        finally:
            executor.shutdown(cancel_futures=True)
    else:
        yield Crew(None)


class _Pace:
    """Tells the steps done, how many they are in a second, and how long the rest takes.

    Args:
        progress: Where to show it.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begun = time.monotonic()

    def __call__(self, done: int, of: int, what: str) -> None:
        """Show how far the walk is."""
        said = f"{what} {done:,} of {of:,}"
        if what == "walking" and done:
            rate = done / max(time.monotonic() - self._begun, 1e-9)
            left = (of - done) / rate
            clock = f"{left // 60:.0f} min {left % 60:.0f} s" if left >= 60 else f"{left:.0f} s"
            said = f"{done:,} of {of:,} steps, {rate:,.0f} steps/s, {clock} left"
        self._progress(done, of, said)

"""The pytest plugin: every law of every target as a test of its own. Inert unless asked for.

``pytest --lawful TARGET``, or ``lawful = ["TARGET"]`` in the ini options. This module is loaded
in every pytest run of whoever has lawful installed: it imports nothing heavy.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.laws.law import Check
    from lawful.reports.report import Report
    from lawful.strategies.wander import Slice

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("lawful", "conformance to a lifecycle table")
    group.addoption(
        "--lawful",
        action="append",
        default=[],
        metavar="TARGET",
        help="judge TARGET: a shipped name, or module:Class; may be given several times",
    )
    group.addoption(
        "--lawful-profile",
        choices=("quick", "default", "deep"),
        default="default",
        help="how much is run",
    )
    group.addoption(
        "--lawful-walk",
        type=int,
        metavar="STEPS",
        help="walk so many random steps too, in slices that pytest-xdist spreads over its workers",
    )
    group.addoption("--lawful-known", metavar="FILE", help="a file of known divergences")
    parser.addini("lawful", "targets to judge in every run", type="linelist", default=[])
    parser.addini("lawful_known", "a file of known divergences", default="")


def _targets(config: pytest.Config) -> list[str]:
    asked: list[str] = config.getoption("--lawful") or []
    always: list[str] = config.getini("lawful") or []
    return list(dict.fromkeys([*always, *asked]))


def pytest_configure(config: pytest.Config) -> None:
    """Take part only if there is something to judge, and only with adapters that are fit."""
    targets = _targets(config)
    if not targets:
        return
    steps = config.getoption("--lawful-walk")
    if steps is not None and steps < 1:
        raise pytest.UsageError(f"--lawful-walk {steps}: a positive number of steps is expected")
    folder = str(config.invocation_params.dir)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    judging = _Judging(config, targets)
    if not hasattr(config, "workerinput"):
        judging.smoke()
    config.pluginmanager.register(judging, "lawful-judging")


class _Judging:
    """Collects the checks of the targets, judges each target once, and reports."""

    def __init__(self, config: pytest.Config, targets: list[str]) -> None:
        self.config = config
        self.targets = targets
        self.reports: dict[str, Report] = {}
        self.walked: dict[str, Counter[str]] = {}

    def smoke(self) -> None:
        """Refuse targets that can't be judged, before anything is collected."""
        from lawful.laws.smoke import smoke
        from lawful.spec.errors import LawfulError
        from lawful.strategies.adapter import describe
        from lawful.strategies.stores import store_folder
        from lawful.strategies.watch import Watch

        for target in self.targets:
            try:
                watch = Watch()
                with store_folder() as folder, watch.running():
                    smoke(describe(target), folder, watch)
            except LawfulError as error:
                raise pytest.UsageError(f"--lawful {error}") from error

    def report(self, target: str) -> Report:
        """Judge a target, the first time it is asked for."""
        from pathlib import Path

        from lawful.judging import Options, judge
        from lawful.laws.runner import Profile

        if target not in self.reports:
            known = self.config.getoption("--lawful-known") or self.config.getini("lawful_known")
            profile = Profile(self.config.getoption("--lawful-profile"))
            options = Options(profile=profile, known=Path(known) if known else None)
            self.reports[target] = judge(target, options)[0]
        return self.reports[target]

    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        root = LawfulRoot.from_parent(session, name="lawful", nodeid="lawful")
        for target in self.targets:
            items += LawfulTarget.from_parent(
                root, name=target, nodeid=f"lawful::{target}", judging=self
            ).collect()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        walked: Any  # a property of ours, back from whichever process ran the item
        for name, walked in report.user_properties:
            if name == "lawful-walk" and report.when == "call":
                self.walked.setdefault(walked["target"], Counter()).update(walked["hits"])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        from lawful.cli.console import is_ascii
        from lawful.reports import terminal

        colour = bool(terminalreporter.config.get_terminal_writer().hasmarkup)
        for target, report in sorted(self.reports.items()):
            terminalreporter.section(f"lawful: {target}")
            terminalreporter.write(
                terminal(
                    report,
                    width=min(terminalreporter.config.get_terminal_writer().fullwidth, 120),
                    colour=colour,
                    ascii=is_ascii(sys.stdout),
                    most=3,
                )
                + "\n"
            )
        for target, hits in sorted(self.walked.items()):
            terminalreporter.section(f"lawful: {target}, walked")
            steps = f"{hits.total():,} events fired at {len(hits)} of {self._places(target)}"
            terminalreporter.write(f"{steps} positions x letters\n")

    def _places(self, target: str) -> int:
        from lawful.strategies.adapter import describe
        from lawful.strategies.slices import places

        return len(places(describe(target)))

    def pytest_sessionfinish(self) -> None:
        from lawful.reports import to_json

        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output["lawful"] = {name: to_json(report) for name, report in self.reports.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # pytest-xdist's own type
        from lawful.reports import from_json

        for target, document in getattr(node, "workeroutput", {}).get("lawful", {}).items():
            self.reports.setdefault(target, from_json(document))


class LawfulRoot(pytest.Collector):
    """The collector above all targets."""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        """Collect nothing: the targets add themselves."""
        return []


class LawfulTarget(pytest.Collector):
    """One target: an item for each check, and one for the verdict."""

    def __init__(self, *, judging: _Judging, **keywords: Any) -> None:  # pytest's own arguments
        super().__init__(**keywords)
        self.judging = judging

    def collect(self) -> list[Any]:  # items; pytest's own type is wider
        """Return the target's items, without judging it yet."""
        return list(self._items())

    def _items(self) -> Iterator[pytest.Item]:
        from lawful.laws.catalogue import check_ids
        from lawful.strategies.adapter import describe

        quick = self.judging.config.getoption("--lawful-profile") == "quick"
        table = describe(self.name).table
        for name in (*check_ids(table, quick=quick), "verdict"):
            yield LawfulItem.from_parent(self, name=name, nodeid=f"{self.nodeid}::{name}")
        steps = self.judging.config.getoption("--lawful-walk")
        if steps is not None:
            from lawful.strategies.slices import slices

            for number, part in enumerate(slices(steps, 0)):
                name = f"walk/{number}"
                yield LawfulWalk.from_parent(
                    self, name=name, nodeid=f"{self.nodeid}::{name}", part=part
                )


class LawBroken(Exception):
    """A check that is broken, on its way to pytest's report."""


class LawfulItem(pytest.Item):
    """One check of a target, or its verdict."""

    def runtest(self) -> None:
        """Pass, skip or fail as the check does."""
        from lawful.laws.law import UNLAWFUL, Status

        target = self.parent
        assert isinstance(target, LawfulTarget)  # noqa: S101 - nothing else makes items
        report = target.judging.report(target.name)
        if self.name == "verdict":
            if report.exit_code:
                raise LawBroken("\n".join((report.headline, *report.reasons)))
            return
        check = next(check for check in report.checks if check.id == self.name)
        if check.status in UNLAWFUL:
            raise LawBroken(_broken(report, check))
        if check.status is not Status.PASS:
            why = check.cause or check.note
            pytest.skip(f"{check.status}: {why}" if why else str(check.status))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a broken law in its own words, without a traceback of ours."""
        if isinstance(excinfo.value, LawBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return what the report's headline shows."""
        return self.path, None, self.nodeid


class LawfulWalk(pytest.Item):
    """One slice of a random walk.

    Args:
        part: The slice.
    """

    def __init__(self, *, part: Slice, **keywords: Any) -> None:  # pytest's own arguments
        super().__init__(**keywords)
        self.part = part

    def runtest(self) -> None:
        """Walk the slice; fail with the shortest of what was found."""
        from lawful.laws.smoke import smoke
        from lawful.strategies.adapter import describe
        from lawful.strategies.slices import Errand, shorten, walk_slice
        from lawful.strategies.stores import store_folder
        from lawful.strategies.watch import Watch

        target = self.parent.name if self.parent else ""
        with store_folder() as folder:
            adapter = smoke(describe(target), folder, Watch()).adapter
        errand = Errand(target, adapter.table, tuple(sorted(adapter.offered)), self.part)
        walked = walk_slice(errand)
        hits: Counter[str] = Counter()
        for place, count in walked.hits:
            hits[str(place)] += count
        self.user_properties.append(("lawful-walk", {"target": target, "hits": dict(hits)}))
        if walked.found:
            short = (shorten(replace(errand, find=find)) for find in walked.found)
            find = min(short, key=lambda each: each.rank)
            lines = (
                f"{len(walked.found)} findings in {walked.steps} steps; the shortest:",
                f"expected: {find.expected}",
                f"got:      {find.got}",
                f"trace:    {find.trace}",
                f"replay:   lawful replay {shlex.quote(target)} {shlex.quote(find.trace)}",
            )
            raise LawBroken("\n".join(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a finding in its own words, without a traceback of ours."""
        if isinstance(excinfo.value, LawBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return what the report's headline shows."""
        return self.path, None, self.nodeid


def _broken(report: Report, check: Check) -> str:
    lines = [
        f"{check.id}: {check.says}",
        f"expected: {check.expected}",
        f"got:      {check.got}",
        f"trace:    {check.trace}",
        f"replay:   {report.replay(check)}",
    ]
    lines += [check.note] if check.note else []
    return "\n".join((*lines, *check.trail.splitlines()))

"""The pytest plugin: every law of every target as a test of its own. Inert unless asked for.

``pytest --lawful TARGET``, or ``lawful = ["TARGET"]`` in the ini options. This module is loaded
in every pytest run of whoever has lawful installed: it imports nothing heavy.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.laws.law import Check
    from lawful.reports.report import Report

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
        choices=("quick", "default"),
        default="default",
        help="how much is run",
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

    def _items(self) -> Iterator[LawfulItem]:
        from lawful.laws.catalogue import check_ids
        from lawful.strategies.adapter import describe

        for name in (*check_ids(describe(self.name).table), "verdict"):
            yield LawfulItem.from_parent(self, name=name, nodeid=f"{self.nodeid}::{name}")


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

"""A plugin for pytest, in a workspace: it tells which test was red first, and what was imported.

Everything told is a line of JSON, written at once: several processes write into one file.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["FIRST", "MATRIX", "MODULES", "TOLD"]

TOLD: Final = "LAWFUL_MUTANTS_TOLD"
"""The environment variable that names the file."""
MATRIX: Final = "LAWFUL_MUTANTS_MATRIX"
"""The environment variable that is set where all killers are asked for."""
FIRST: Final = "LAWFUL_MUTANTS_FIRST"
"""The environment variable that names the file of who has found mutants before."""
MODULES: Final = "LAWFUL_MUTANTS_MODULES"
"""The environment variable that names the mutated modules, with commas."""


def pytest_configure(config: pytest.Config) -> None:
    """Have Hypothesis draw the same each time, however slow the machine is."""
    hypothesis.settings.register_profile(
        "lawful-mutants",
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("lawful-mutants")
    if os.environ.get(MATRIX):
        config.option.maxfail = 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have those asked first that have found this mutant before."""
    if where := os.environ.get(FIRST):
        before = json.loads(Path(where).read_text("utf-8"))
        killers = before.get(os.environ.get("MUTANT_UNDER_TEST", ""), ())
        items.sort(key=lambda item: item.nodeid not in killers)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell of a test that is red."""
    report = yield
    if report.failed and call.excinfo is not None:
        error = call.excinfo.value
        check = getattr(error, "check", "")
        told = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        _tell(killer=check if isinstance(check, str) and check else item.nodeid, told=told)
    return report


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Tell of what can't be collected: nothing was tested there."""
    if report.failed:
        _tell(uncollected=report.nodeid, told=str(report.longrepr).strip()[-500:])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Tell how it ended, and where the mutated modules came from."""
    names = os.environ.get(MODULES, "").split(",")
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name in names if name}
    _tell(ended=int(exitstatus), tests=session.testscollected, files=files)


def _tell(**told: Any) -> None:  # a wire format
    if where := os.environ.get(TOLD):
        line = json.dumps({"mutant": os.environ.get("MUTANT_UNDER_TEST", ""), **told}) + "\n"
        descriptor = os.open(where, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

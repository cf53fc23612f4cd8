"""A folder of its own for mutmut: the source by its import path, the tests, and a configuration.

mutmut writes into ``./mutants`` and changes into it, whatever else is there; so it never runs in a
checkout. What it is given is a copy, and gone afterwards.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.mutants.errors import MutationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .layout import Layout

__all__ = ["CONFORMANCE", "Suite", "Workspace"]

CONFORMANCE: Final = "conformance/test_conformance.py"
"""The test that has an implementation judged, in a workspace."""

_CONFORMANCE: Final = '''\
"""Whether the implementation conforms."""

from lawful.mutants.generic.conforming import conforms


def test_conformance(tmp_path):
    conforms({target!r}, tmp_path)
'''

_TABLE: Final = re.compile(r"^\[\[?tool\.mutmut\b.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
_NOT_COPIED: Final = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "mutants.out")
_SETTINGS: Final = (
    "pyproject.toml",
    "pytest.toml",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "conftest.py",
)


class Suite(NamedTuple):
    """Who judges mutants.

    Attributes:
        tests: Files and folders of tests, below the folder in which the command was given.
        target: An implementation that the conformance suite judges besides; empty for none.
    """

    tests: tuple[Path, ...] = ()
    target: str = ""


class Workspace:
    """A workspace.

    Args:
        folder: An empty folder, which becomes the workspace.
        layout: The source.
        suite: Who judges.
        project: The folder that the tests are below, and whose pytest settings hold.

    Raises:
        MutationError: There are no such tests.
    """

    def __init__(self, folder: Path, layout: Layout, suite: Suite, project: Path) -> None:
        self.folder = folder
        self.layout = layout
        self.tests = [*(_below(project, each) for each in suite.tests)]
        if suite.target:
            self.tests.append(CONFORMANCE)
        if not self.tests:
            raise MutationError(
                "no tests: name --tests, or an --implementation that the conformance suite judges"
            )
        self._copy_source()
        self._copy_tests(project)
        if suite.target:
            self._write(CONFORMANCE, _CONFORMANCE.format(target=suite.target))
        self._write("pyproject.toml", self._settings(project))
        self._temporary = folder / "temporary"
        self._temporary.mkdir()
        self.mutants.mkdir()  # before anybody looks there: Python remembers what was not there

    @property
    def mutants(self) -> Path:
        """Where mutmut writes, and runs the tests."""
        return self.folder / "mutants"

    @property
    def copied(self) -> list[str]:
        """The folders and files of the tests and of what is set for them."""
        tops = dict.fromkeys(test.split("/")[0].split("::")[0] for test in self.tests)
        return [*tops, *(name for name in _SETTINGS if (self.folder / name).is_file())]

    def environment(self) -> dict[str, str]:
        """Return what has Python import the mutants' source, and leave nothing anywhere else."""
        return {
            "PYTHONPATH": str(self.mutants),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DEBUG_TEMPROOT": str(self._temporary),
        }

    def _copy_source(self) -> None:
        for name, source in self.layout.roots.items():
            where = self.folder.joinpath(*name.split("."))
            where.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, where, ignore=_NOT_COPIED)
            else:
                shutil.copy2(source, where.with_suffix(".py"))

    def _copy_tests(self, project: Path) -> None:
        """Copy the outermost folders of the tests: there is what tests share."""
        for top in dict.fromkeys(test.split("/")[0].split("::")[0] for test in self.tests):
            source, where = project / top, self.folder / top
            if source.is_dir():
                shutil.copytree(source, where, ignore=_NOT_COPIED, dirs_exist_ok=True)
            elif source.is_file():
                shutil.copy2(source, where)
        for name in _SETTINGS:
            if (project / name).is_file():
                shutil.copy2(project / name, self.folder / name)

    def _settings(self, project: Path) -> str:
        """Return the project's settings, with ours for mutmut in place of its own."""
        file = project / "pyproject.toml"
        own = _TABLE.sub("", file.read_text("utf-8")) if file.is_file() else ""
        tops = list(dict.fromkeys(name.split(".")[0] for name in self.layout.roots))
        sources = [top if (self.folder / top).is_dir() else f"{top}.py" for top in tops]
        lines = {
            "source_paths": sources,
            "only_mutate": [module.path for module in self.layout.modules],
            "also_copy": self.copied,
            "pytest_add_cli_args": list(ARGUMENTS),
            "pytest_add_cli_args_test_selection": self.tests,
        }
        text = "\n".join(f"{name} = {_listed(value)}" for name, value in lines.items())
        limits = "\n".join(f"{name} = {value}" for name, value in LIMITS.items())
        return f"{own.rstrip()}\n\n[tool.mutmut]\n{text}\n{limits}\n"

    def _write(self, name: str, text: str) -> None:
        where = self.folder / name
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text, "utf-8")


ARGUMENTS: Final = ("-p", "lawful.mutants.generic.plugin", "-p", "no:cacheprovider", "-n0")
"""How pytest is called in a workspace: with our plugin, and in one process."""


LIMITS: Final = {"timeout_multiplier": 4.0, "timeout_constant": 4.0}
"""How long a mutant's tests may take: what they take without it and the constant, times so much."""


def _below(project: Path, tests: Path) -> str:
    place, colons, rest = str(tests).partition("::")
    project = project.resolve()
    found = (project / place).resolve()
    if not found.exists():
        raise MutationError(f"--tests {tests}: there are no such tests")
    if not found.is_relative_to(project):
        raise MutationError(f"--tests {tests}: not below {project}, where the command was given")
    return found.relative_to(project).as_posix() + colons + rest


def _listed(values: Sequence[str]) -> str:
    """Return a list of strings as TOML, in which JSON's are strings too."""
    return json.dumps(list(values))

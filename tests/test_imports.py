"""Imports point one way, and touching one thing does not load another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(code: str, *roots: str) -> subprocess.CompletedProcess[str]:
    """Run code with nothing but some of the source roots (and the libraries) on the path.

    The editable install puts all roots on the path; they are taken off again, and a finder keeps
    any other copy of the package out.
    """
    keep = [str(ROOT / root) for root in roots]
    prelude = (
        "import sys\n"
        f"sys.path[:] = {keep!r} + [p for p in sys.path if not p.startswith({str(ROOT)!r})]\n"
        "import importlib.util\n"
    )
    return subprocess.run(
        [sys.executable, "-c", prelude + code], capture_output=True, text=True, check=False, cwd="/"
    )


@pytest.mark.parametrize("root", ["spec", "sut"])
def test_spec_and_sut_need_nothing_but_themselves(root: str) -> None:
    done = run(f"import lawful.{root}; print(lawful.{root}.__file__)", root)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(ROOT / root / "lawful" / root / "__init__.py")


@pytest.mark.parametrize(
    ("name", "roots"),
    [
        ("strategies.session", ("strategies", "spec")),
        ("strategies.session", ("strategies", "sut")),
        ("laws", ("laws", "spec", "sut")),
        ("mutants.table", ("mutants", "strategies", "spec", "sut")),
        ("judging", ("app", "strategies", "spec", "sut")),
    ],
)
def test_the_others_need_what_is_below_them(name: str, roots: tuple[str, ...]) -> None:
    done = run(f"import lawful.{name}", *roots)
    assert "ModuleNotFoundError: No module named 'lawful." in done.stderr


@pytest.mark.parametrize(
    ("name", "roots"),
    [
        ("strategies.session", ("strategies", "spec", "sut")),
        ("laws", ("laws", "strategies", "spec", "sut")),
        ("mutants.table", ("mutants", "laws", "strategies", "spec", "sut")),
    ],
)
def test_nothing_needs_what_is_above_it(name: str, roots: tuple[str, ...]) -> None:
    done = run(f"import lawful.{name}", *roots)
    assert done.returncode == 0, done.stderr


def loaded(code: str) -> set[str]:
    """Return the modules that are loaded after some code."""
    every = ("spec", "sut", "strategies", "laws", "mutants", "app")
    done = run(f"{code}\nprint('\\n'.join(sys.modules))", *every)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines())


def test_the_contract_loads_no_adapter_and_no_database() -> None:
    modules = loaded("from lawful.sut import Implementation, Reading")
    assert not {m for m in modules if m.startswith("lawful.sut.reference")}
    assert not modules & {"sqlite3", "lawful.sut.flags", "lawful.sut.gate", "litequeue"}


def test_help_loads_no_law_no_hypothesis_and_no_pytest() -> None:
    modules = loaded(
        "import lawful.cli.main\n"
        "try:\n    lawful.cli.main.main(['--help'])\nexcept SystemExit:\n    pass"
    )
    assert not modules & {"hypothesis", "pytest", "lawful.laws", "sqlite3", "lawful.strategies"}


def test_the_plugin_loads_nothing_of_ours_until_it_is_asked() -> None:
    ours = {m for m in loaded("import lawful.plugin") if m.startswith("lawful.")}
    assert ours == {"lawful.plugin"}


def test_judging_loads_no_hypothesis_and_no_pytest() -> None:
    assert not loaded("import lawful.judging, lawful.cli.check") & {"hypothesis", "pytest"}


def test_no_root_makes_the_namespace_a_package_of_its_own() -> None:
    assert not list(ROOT.glob("*/lawful/__init__.py"))

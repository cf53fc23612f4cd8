"""Patched source is what runs, in the process that asked for it: anything else is an error."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGUN = """
from lawful.mutants.planted import Patch
from lawful.mutants.planted.planting import plant

MOVED = Patch(
    "lawful.sut.reference.machine", "_moved", "version = task.version + 1", "version = 7"
)
LIMIT = Patch("lawful.sut.reference.schema", "", "'succeeded', ", "", text=True)
"""

PLANTED = "planted = plant([MOVED])\n"
IMPORT = "import lawful.sut.reference.machine as machine\n"
CHECK = "planted.check()"


def said(program: str) -> str:
    """Run a program after its preamble, and return the last thing that it has said."""
    done = subprocess.run(
        [sys.executable, "-c", BEGUN + program], capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).strip().rpartition("\n")[2]


def test_whoever_imports_the_module_gets_the_patched_one() -> None:
    told = said(
        "planted = plant([MOVED])\n"
        "from lawful.sut.reference import Reference\n"
        "planted.check()\n"
        "import inspect, lawful.sut.reference.machine as machine\n"
        "print(7 in machine._moved.__code__.co_consts, 'version = 7' in inspect.getsource(machine))"
    )
    assert told == "True False"  # and the file is as it was


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            IMPORT + PLANTED,
            "lawful.sut.reference.machine was imported before it could be patched",
        ),
        (
            "plant([MOVED]).check()",
            "lawful.sut.reference.machine is patched, and was never imported",
        ),
        (
            "import sys\n" + PLANTED + "sys.meta_path.pop(0)\n" + IMPORT + CHECK,
            "lawful.sut.reference.machine was imported past its patch",
        ),
        (
            "import importlib, sys\n"
            + PLANTED
            + IMPORT
            + "sys.meta_path.pop(0)\nimportlib.reload(machine)\n"
            + CHECK,
            "lawful.sut.reference.machine:_moved is not the patched one",
        ),
        (
            PLANTED + IMPORT + "machine._moved = lambda *given: None\n" + CHECK,
            "lawful.sut.reference.machine:_moved is not the patched one",
        ),
        (
            PLANTED + IMPORT + "machine._moved = 3\n" + CHECK,
            "lawful.sut.reference.machine:_moved is no function once it is imported",
        ),
    ],
)
def test_code_that_is_not_the_patched_code_is_an_error(program: str, told: str) -> None:
    assert said(program) == f"lawful.mutants.errors.MutationError: {told}"

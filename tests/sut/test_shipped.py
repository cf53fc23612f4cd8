"""What comes with the package loads by name, declares itself, and is imported only when used."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lawful.sut
from lawful.sut import GAP_NAMES, OPTIONAL_METHODS, SHIPPED, Implementation, load_shipped

ROOT = Path(__file__).parents[2] / "sut"


DRIVEN = ("litequeue", "procrastinate", "psycopg", "redis")


def run(code: str) -> str:
    """Run ``code`` in a fresh interpreter that has only this source root; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_fourteen_systems_are_shipped() -> None:
    assert list(SHIPPED) == [
        "flags",
        "gate",
        "gate-words",
        "litequeue",
        "naive",
        "postgresql",
        "procrastinate",
        "procrastinate-memory",
        "redis",
        "redis-lua",
        "reference",
        "review",
        "unfenced",
        "unversioned",
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_system_loads_and_declares_only_what_the_contract_knows(name: str) -> None:
    system = load_shipped(name)
    assert issubclass(system, Implementation)
    assert getattr(lawful.sut, system.__name__) is system
    assert set(system.gaps) <= GAP_NAMES
    offered = {method for method in OPTIONAL_METHODS if hasattr(system, method)}
    assert not offered & set(system.gaps)
    fire = getattr(system, "fire", None)
    if fire is not None:
        missing = {"expected_version", "token"} - set(inspect.signature(fire).parameters)
        needed = {"expected_version", "token"} if system.lifecycle == "task" else set()
        assert missing & needed <= set(system.gaps)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown system 'refrence': .* did you mean 'reference'"):
        load_shipped("refrence")
    with pytest.raises(AttributeError, match="Refrence"):
        lawful.sut.__getattr__("Refrence")


def test_all_names_of_the_package_are_sorted_and_there() -> None:
    names = lawful.sut.__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), name.islower(), name))
    for name in names:
        assert getattr(lawful.sut, name) is not None


def test_touching_the_contract_loads_no_system_and_no_database() -> None:
    code = (
        "import sys, lawful.sut, lawful.sut.contract, lawful.sut.shipped\n"
        "print(*sorted(n for n in sys.modules if n.startswith(('lawful.', 'sqlite3'))))"
    )
    assert run(code) == "lawful.sut lawful.sut.contract lawful.sut.shipped"


def test_every_system_imports_with_only_its_own_root_and_without_what_it_drives() -> None:
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({DRIVEN}))\n"
        "from lawful.sut import SHIPPED, load_shipped\n"
        "print(*(load_shipped(name).__name__ for name in SHIPPED))\n"
        "assert not any(n.startswith('lawful.') and not n.startswith('lawful.sut')"
        " for n in sys.modules)"
    )
    assert run(code) == (
        "Flags Gate GateWords LiteQueue Naive Postgresql Procrastinate ProcrastinateMemory Redis"
        " RedisLua Reference Review Unfenced Unversioned"
    )

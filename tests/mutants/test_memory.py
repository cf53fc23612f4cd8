"""What is remembered of mutants: under the same key, and from a file of this version alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lawful.mutants import Fate, Mutant, Place, Result
from lawful.mutants.errors import MutationError
from lawful.mutants.memory import Memory, key_of

if TYPE_CHECKING:
    from pathlib import Path

MUTANT = Mutant("mutmut/text/a.b/1", "mutmut", "text", "text changed", Place("a.py", 3), "a", "b")
KILLED = Result(MUTANT, Fate.KILLED, ("t.py::test_a",), "AssertionError", "start@worker-1")


def remembered(tmp_path: Path, result: Result = KILLED) -> Memory:
    memory = Memory()
    memory.remember(result, "key")
    file = tmp_path / "memory.json"
    file.write_text(memory.text(), "utf-8")
    return Memory.read(file)


def test_what_is_read_is_what_was_remembered(tmp_path: Path) -> None:
    memory = remembered(tmp_path)
    assert memory.recall(MUTANT, "key") == KILLED
    assert memory.recall(MUTANT, "another key") is None
    assert memory.recall(replace(MUTANT, id="mutmut/text/a.b/2"), "key") is None
    assert memory.killers() == {MUTANT.id: ("t.py::test_a",)}


@pytest.mark.parametrize("fate", [Fate.TIMEOUT, Fate.BROKEN, Fate.PENDING, Fate.SET_ASIDE])
def test_what_says_nothing_for_good_is_not_remembered(tmp_path: Path, fate: Fate) -> None:
    memory = remembered(tmp_path)
    memory.remember(Result(MUTANT, fate), "key")
    assert memory.recall(MUTANT, "key") is None


def test_where_there_is_no_file_nothing_is_remembered(tmp_path: Path) -> None:
    assert Memory.read(tmp_path / "none.json").killers() == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no cache of `lawful mutate`"),
        ("[]", "no cache of `lawful mutate`"),
        ('{"format": "lawful-mutants-memory/0", "mutants": {}}', "a cache of another version"),
        ('{"format": "lawful-mutants-memory/1"}', "no cache of `lawful mutate`"),
        ('{"format": "lawful-mutants-memory/1", "mutants": {"a": 1}}', "no cache of"),
        ("[" * 100_000, "no cache of `lawful mutate`"),
    ],
    ids=["empty", "a list", "another version", "half", "no row", "deep"],
)
def test_another_file_is_refused_with_what_to_do(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "memory.json"
    file.write_text(text, "utf-8")
    with pytest.raises(MutationError) as refused:
        Memory.read(file)
    assert told in str(refused.value)
    assert "delete it" in str(refused.value)


def test_a_row_of_no_fate_is_refused(tmp_path: Path) -> None:
    rows = json.loads(Memory().text())
    rows["mutants"]["a"] = {"key": "k", "fate": "eaten", "killers": [], "reason": "", "trace": ""}
    file = tmp_path / "memory.json"
    file.write_text(json.dumps(rows), "utf-8")
    with pytest.raises(MutationError, match="no cache of"):
        Memory.read(file)


def test_a_key_is_another_if_anything_that_decides_is(monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of(MUTANT, ["judge"], matrix=False)
    assert key == key_of(MUTANT, ["judge"], matrix=False)
    others = [
        key_of(MUTANT, ["another judge"], matrix=False),
        key_of(MUTANT, ["judge"], matrix=True),
        key_of(replace(MUTANT, after="c"), ["judge"], matrix=False),
        key_of(replace(MUTANT, claims=("lease/held",)), ["judge"], matrix=False),
    ]
    monkeypatch.setattr("lawful.mutants.memory.version", lambda name: "0.0")
    others.append(key_of(MUTANT, ["judge"], matrix=False))
    assert len({key, *others}) == 6

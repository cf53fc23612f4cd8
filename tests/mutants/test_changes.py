"""Mutants in lines that have changed since a commit, in a repository of a few lines."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from lawful.mutants import Mutant, Place
from lawful.mutants.changes import changed_lines, changed_since
from lawful.mutants.errors import MutationError

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "".join(f"line {number}\n" for number in range(1, 11))


def git(folder: Path, *given: str) -> None:
    nobody = {
        name: value
        for kind in ("AUTHOR", "COMMITTER")
        for name, value in ((f"GIT_{kind}_NAME", "n"), (f"GIT_{kind}_EMAIL", "n@example.org"))
    }
    environment = {**os.environ, **nobody, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *given], cwd=folder, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(TEXT)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    changed = TEXT.replace("line 3\n", "line three\nand more\n").replace("line 8\n", "")
    (tmp_path / "src" / "a.py").write_text(changed)
    return tmp_path


def mutant(line: int, end: int, file: str = "a.py") -> Mutant:
    return Mutant(f"mutmut/x/{file}/{line}-{end}", "mutmut", "x", "", Place(file, line, 1, end, 5))


def test_lines_are_those_of_the_new_text(repository: Path) -> None:
    # By hand: 3 became 3 and 4; 8 was taken out between 8 and 9.
    assert changed_lines(repository, "HEAD") == {"src/a.py": [range(3, 5), range(8, 10)]}


def test_a_mutant_is_chosen_if_one_of_its_lines_has_changed(repository: Path) -> None:
    every = [mutant(1, 2), mutant(2, 3), mutant(4, 4), mutant(5, 7), mutant(6, 10), mutant(10, 10)]
    chosen = changed_since(repository, "HEAD")(every)
    assert [(each.place.line, each.place.end_line) for each in chosen] == [(2, 3), (4, 4), (6, 10)]
    assert changed_since(repository, "HEAD")([mutant(3, 3, "b.py"), mutant(3, 3, "ba.py")]) == []


@pytest.mark.parametrize("ref", ["nowhere", "--output=stolen.txt", "HEAD~7"])
def test_what_is_no_commit_is_told(repository: Path, ref: str) -> None:
    with pytest.raises(MutationError, match=f"--since {ref}: "):
        changed_lines(repository, ref)
    assert [each.name for each in repository.iterdir() if not each.is_dir()] == []


def test_where_there_is_no_repository_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(MutationError, match="--since HEAD: "):
        changed_lines(tmp_path, "HEAD")

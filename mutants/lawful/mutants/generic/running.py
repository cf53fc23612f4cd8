"""Processes in a workspace: mutmut, and pytest alone; none outlives whoever has begun it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lawful.mutants.errors import MutationError
from lawful.mutants.owned import ended, owned, talk

from .plugin import FIRST, MATRIX, MODULES, TOLD
from .workspace import ARGUMENTS

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence

    from .workspace import Workspace

__all__ = ["PATIENCE", "Outcome", "Session", "Told", "generate", "pytest_alone", "test_mutants"]

PATIENCE: Final = 600.0
"""How long one run of all tests may take, in seconds."""


class Session(NamedTuple):
    """What a run of the tests has told.

    Attributes:
        code: pytest's exit code; None if it came to no end.
        tests: How many tests were collected.
        red: The first check or test that was red, and what was seen.
        files: Where the mutated modules came from.
        said: The last line that was said, where there is nothing else.
    """

    code: int | None
    tests: int = 0
    red: tuple[str, str] | None = None
    files: Mapping[str, str | None] = {}
    said: str = ""


class Outcome(NamedTuple):
    """What mutmut says of one mutant.

    Attributes:
        name: mutmut's name of it.
        code: The exit code of its tests.
        seconds: How long they took.
    """

    name: str
    code: int
    seconds: float


def generate(workspace: Workspace) -> None:
    """Have mutmut generate the mutants.

    Raises:
        MutationError: It can't.
    """
    with _begun(workspace, _driver("generate", 1), {}) as (process, errors):
        talk(process, "", PATIENCE)
        if ended(process):
            raise MutationError(f"mutmut can't generate mutants: {_last(errors)}")


def pytest_alone(
    workspace: Workspace, *, mutant: str = "", canary: str = "", limit: float
) -> Session:
    """Run all tests once, in the generated source, as far as the first that is red.

    Args:
        workspace: The workspace, with its mutants generated.
        mutant: mutmut's name of the mutant that is active; none by default.
        canary: The module of which each function raises; none by default.
        limit: How long it may take, in seconds.
    """
    told = Told(workspace.folder / f"told-{mutant}-{canary}.jsonl")
    environment = {
        "MUTANT_UNDER_TEST": mutant,
        "LAWFUL_CANARY": canary,
        TOLD: str(told.file),
        MODULES: ",".join(module.name for module in workspace.layout.modules),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--rootdir=.", "--tb=native"]
    command += [*ARGUMENTS, *workspace.tests]
    with _begun(workspace, command, environment, workspace.mutants) as (process, errors):
        said, late = talk(process, "", limit)
        if late:
            return Session(None, said=f"no end within {limit:g} s")
        rows = told.of(mutant)
        last_row = next((row for row in rows if "ended" in row), {})
        red = next(((row["killer"], row["told"]) for row in rows if "killer" in row), None)
        lost = next((row["told"] for row in rows if "uncollected" in row), "")
        last = lost.rpartition("\n")[2] or said.strip().rpartition("\n")[2] or _last(errors)
        tests, files = last_row.get("tests", 0), last_row.get("files", {})
        return Session(ended(process), tests, red, files, last)


@contextmanager
def test_mutants(
    workspace: Workspace,
    names: Sequence[str],
    *,
    jobs: int,
    matrix: bool,
    told: Path,
    first: Mapping[str, Sequence[str]],
) -> Iterator[Iterator[Outcome]]:
    """Have mutmut test mutants, and read what becomes of each as it is known.

    Args:
        workspace: The workspace, with its mutants generated.
        names: mutmut's names of them.
        jobs: How many are tested at once.
        matrix: Whether all killers are asked for.
        told: Where the tests tell what is red.
        first: Who has found mutants before, by mutmut's names of them: they are asked first.

    Raises:
        MutationError: mutmut gives up: the tests are red without a mutant, or reach none.
    """
    before = workspace.folder / "first.json"
    before.write_text(json.dumps({name: list(some) for name, some in first.items()}), "utf-8")
    environment = {TOLD: str(told), FIRST: str(before), **({MATRIX: "1"} if matrix else {})}
    with _begun(workspace, _driver("test", jobs), environment) as (process, errors):

        def outcomes() -> Iterator[Outcome]:
            assert process.stdin and process.stdout  # noqa: S101, PT018 - pipes were asked for
            process.stdin.write("\n".join(names))
            process.stdin.close()
            for line in process.stdout:
                read = json.loads(line)
                yield Outcome(read["mutant"], read["code"], read["seconds"])
            if ended(process):
                raise MutationError(f"mutmut gives up: {_last(errors)}")

        yield outcomes()


class Told:
    """What tests tell, in a file that they write line by line.

    Args:
        file: The file; it need not be there yet.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._read = 0
        self._rows: dict[str, list[dict[str, Any]]] = {}

    def of(self, mutant: str) -> list[dict[str, Any]]:
        """Return what was told by now while a mutant was active."""
        if self.file.exists():
            with self.file.open("rb") as file:
                file.seek(self._read)
                whole = file.read().rpartition(b"\n")[0]
            self._read += len(whole) + 1 if whole else 0
            for line in whole.splitlines():
                with suppress(ValueError):  # one that was cut off by a kill
                    row = json.loads(line)
                    self._rows.setdefault(row["mutant"], []).append(row)
        return self._rows.get(mutant, [])


def _driver(what: str, jobs: int) -> list[str]:
    return [sys.executable, "-m", "lawful.mutants.generic.driver", what, str(jobs)]


@contextmanager
def _begun(
    workspace: Workspace,
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    handle, name = tempfile.mkstemp(".txt", "errors-", workspace.folder)
    os.close(handle)
    here = {**workspace.environment(), **environment}
    with owned(command, folder or workspace.folder, Path(name), here) as process:
        yield process, Path(name)


def _last(errors: Path) -> str:
    """Return the last lines that were said, but for what Python says of its own."""
    lines = [line.strip() for line in errors.read_text("utf-8", "replace").splitlines()]
    said = [line for line in lines if line and "Warning: " not in line]
    return " / ".join(said[-3:]) or "it has said nothing"

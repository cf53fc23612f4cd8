"""Processes in a workspace: mutmut, and pytest alone; none outlives whoever has begun it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lawful.mutants.errors import MutationError

from .plugin import MATRIX, MODULES, TOLD
from .workspace import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .workspace import Workspace

__all__ = ["Outcome", "Session", "Told", "generate", "pytest_alone", "test_mutants"]


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
        process.communicate("")
        if process.returncode:
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
        try:
            said, _ = process.communicate("", timeout=limit)
        except subprocess.TimeoutExpired:
            return Session(None, said=f"no end within {limit:g} s")
        rows = told.of(mutant)
        ended = next((row for row in rows if "ended" in row), {})
        red = next(((row["killer"], row["told"]) for row in rows if "killer" in row), None)
        lost = next((row["told"] for row in rows if "uncollected" in row), "")
        last = lost.rpartition("\n")[2] or said.strip().rpartition("\n")[2] or _last(errors)
        return Session(process.returncode, ended.get("tests", 0), red, ended.get("files", {}), last)


@contextmanager
def test_mutants(
    workspace: Workspace, names: Sequence[str], *, jobs: int, matrix: bool, told: Path
) -> Iterator[Iterator[Outcome]]:
    """Have mutmut test mutants, and read what becomes of each as it is known.

    Args:
        workspace: The workspace, with its mutants generated.
        names: mutmut's names of them.
        jobs: How many are tested at once.
        matrix: Whether all killers are asked for.
        told: Where the tests tell what is red.

    Raises:
        MutationError: mutmut gives up: the tests are red without a mutant, or reach none.
    """
    environment = {TOLD: str(told), **({MATRIX: "1"} if matrix else {})}
    with _begun(workspace, _driver("test", jobs), environment) as (process, errors):

        def outcomes() -> Iterator[Outcome]:
            assert process.stdin and process.stdout  # noqa: S101, PT018 - pipes were asked for
            process.stdin.write("\n".join(names))
            process.stdin.close()
            for line in process.stdout:
                read = json.loads(line)
                yield Outcome(read["mutant"], read["code"], read["seconds"])
            if process.wait():
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
    """Begin a process in a group of its own, and end the group afterwards, whatever happens."""
    handle, name = tempfile.mkstemp(".txt", "errors-", workspace.folder)
    errors = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as trail:
        process = subprocess.Popen(  # noqa: S603 - a command of our own
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=trail,
            text=True,
            cwd=folder or workspace.folder,
            env={**os.environ, **workspace.environment(), **environment},
            start_new_session=True,
        )
    try:
        yield process, errors
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None and not pipe.closed:
                with suppress(BrokenPipeError):
                    pipe.close()


def _last(errors: Path) -> str:
    """Return the last lines that were said, but for what Python says of its own."""
    lines = [line.strip() for line in errors.read_text("utf-8", "replace").splitlines()]
    said = [line for line in lines if line and "Warning: " not in line]
    return " / ".join(said[-3:]) or "it has said nothing"

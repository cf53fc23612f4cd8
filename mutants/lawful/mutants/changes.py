"""Which mutants are in what has changed since some commit: lines of files, as git tells them."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

from .errors import MutationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from .mutant import Mutant

__all__ = ["changed_lines", "changed_since"]

_FILE: Final = re.compile(r"\+\+\+ b/(.+)")
_HUNK: Final = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def changed_lines(project: Path, ref: str) -> dict[str, list[range]]:
    """Return the lines that are not as they were, by file; what is not committed counts too.

    Where lines were taken out, the two around them have changed.

    Args:
        project: A folder of a repository.
        ref: A commit, a branch or a tag.

    Raises:
        MutationError: There is no repository, or no such commit.
    """
    command = ["git", "-C", str(project), "diff", "--unified=0", "--no-color", "--no-ext-diff"]
    command += ["--no-renames", "--end-of-options", ref, "--"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise MutationError(f"--since {ref}: git can't be run: {error.strerror}") from error
    if done.returncode:
        told = done.stderr.strip().partition("\n")[0] or "git has said nothing"
        raise MutationError(f"--since {ref}: {told}")
    found: dict[str, list[range]] = {}
    lines: list[range] = []
    for line in done.stdout.splitlines():
        if file := _FILE.fullmatch(line):
            lines = found.setdefault(file[1], [])
        elif hunk := _HUNK.match(line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.append(range(first, first + count) if count else range(first, first + 2))
    return found


def changed_since(project: Path, ref: str) -> Callable[[Sequence[Mutant]], Sequence[Mutant]]:
    """Return what chooses the mutants in lines that are not as they were.

    Args:
        project: A folder of a repository.
        ref: A commit, a branch or a tag.
    """
    changed = changed_lines(project, ref)

    return lambda every: [mutant for mutant in every if _is_in(mutant, changed)]


def _is_in(mutant: Mutant, changed: Mapping[str, Sequence[range]]) -> bool:
    """Say whether a mutant's lines have changed; git names files from the repository's root."""
    place = mutant.place
    for file, lines in changed.items():
        if file == place.file or file.endswith(f"/{place.file}"):
            return any(r.start <= place.end_line and place.line < r.stop for r in lines)
    return False

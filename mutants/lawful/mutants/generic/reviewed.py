"""What somebody has found out about survivors: argued, and not proven, so they still count as such.

A review holds as long as the function that it is about is the same.
"""

from __future__ import annotations

import hashlib
import tomllib
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.mutants.errors import MutationError
from lawful.mutants.mutant import Fate

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Review", "read_reviews", "stamp"]

MOST: Final = 4 * 1024 * 1024
"""The longest file that is read, in bytes."""


class Review(NamedTuple):
    """What is known of one survivor.

    Attributes:
        function: The stamp of the function that it is in.
        reason: Why nobody finds it.
    """

    function: str
    reason: str

    def of(self, fate: Fate, function: str, told: str) -> str:
        """Return what a report says of the mutant, whatever has become of it.

        Args:
            fate: What has become of it.
            function: The text of the function that it is in.
            told: What was seen.
        """
        if fate is not Fate.SURVIVED:
            return f"{told} (reviewed as a survivor: its line can go)"
        if stamp(function) != self.function:
            return f"{told}; reviewed, but its function has changed since: {self.reason}"
        return f"reviewed: {self.reason}"


def stamp(function: str) -> str:
    """Return what tells a function's text from another."""
    return hashlib.sha256(function.encode()).hexdigest()[:12]


def read_reviews(file: Path) -> dict[str, Review]:
    """Read reviews: one table for each mutant, named by its id, with ``function`` and ``reason``.

    Raises:
        MutationError: It can't be read, or is no such file.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise MutationError(f"{file}: can't be read: {error.strerror}") from error
    if len(content) > MOST:
        raise MutationError(f"{file}: longer than {MOST} bytes: no file of reviews is")
    try:
        read = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:
        raise MutationError(f"{file}: no TOML: {error}") from error
    return {name: _review(file, name, row) for name, row in read.items()}


def _review(file: Path, name: str, row: object) -> Review:
    if isinstance(row, dict) and row.keys() == {"function", "reason"}:
        function, reason = row["function"], row["reason"]
        if isinstance(function, str) and isinstance(reason, str) and reason.strip():
            return Review(function, reason)
    raise MutationError(f'{file}: ["{name}"]: a text "function" and a text "reason" are expected')

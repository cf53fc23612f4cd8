"""Files written whole or not at all: aside, in the same folder, and then renamed."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["WriteError", "write"]


class WriteError(LawfulError):
    """A file can't be written.

    Attributes:
        path: The file.
        problem: Why, and what to do.
    """

    def __init__(self, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"cannot write {str(path)!r}: {problem}")


def write(path: Path, text: str) -> None:
    """Write a file whole, as UTF-8, in the place of one that is there.

    A device or a pipe (``/dev/stdout``) is written straight, since it can't be renamed.

    Raises:
        WriteError: The folder is missing, or the file can't be written. What was there before
            is untouched, and nothing is left beside it.
    """
    content = text.encode("utf-8", "backslashreplace")
    try:
        if path.is_dir():
            raise WriteError(path, "it is a folder; name a file in it")
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        path = path.resolve()  # a link stays one, and its target is replaced
        if not path.parent.is_dir():
            raise WriteError(path, f"there is no folder {str(path.parent)!r}; create it first")
        _replace(path, content)
    except OSError as error:
        raise WriteError(path, error.strerror or type(error).__name__) from error


def _replace(path: Path, content: bytes) -> None:
    aside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        # Made by open, not by tempfile: a report is as readable as the user's umask says.
        with aside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)

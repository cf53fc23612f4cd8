"""What is in a store's files at one instant: what a process that is killed there leaves behind.

A copy taken within the process that has the files open must not cost it its locks: POSIX lets go
of all of a process's locks on a file when any descriptor of it is closed. So what was opened for
reading stays open until the store is closed.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Camera", "Image", "unsound"]

_SHARED: Final = "-shm"
"""SQLite's index of a write-ahead log: it is made anew when the last process is gone."""
_SQLITE: Final = b"SQLite format 3\x00"


class Image(NamedTuple):
    """The files of a store.

    Attributes:
        files: Each file's path within the store's folder, and what is in it.
    """

    files: tuple[tuple[str, bytes], ...]

    def restore(self, folder: Path) -> None:
        """Write the files into a folder, which is made."""
        folder.mkdir(parents=True)
        for name, content in self.files:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


class Camera:
    """Takes images of a store that is open in this process.

    Args:
        folder: The store's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[tuple[int, int], int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the files. The store must be closed by then."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()

    def take(self) -> Image:
        """Return what is in the files now. Nobody may write meanwhile."""
        return Image(tuple((name, self._content(file)) for name, file in self._files()))

    def _files(self) -> Iterator[tuple[str, Path]]:
        for file in sorted(self._folder.rglob("*")):
            if not file.name.endswith(_SHARED) and file.is_file():
                yield str(file.relative_to(self._folder)), file

    def _content(self, file: Path) -> bytes:
        found = file.stat()
        key = found.st_dev, found.st_ino
        if key not in self._open:
            self._open[key] = os.open(file, os.O_RDONLY)
        return os.pread(self._open[key], found.st_size, 0)


def unsound(folder: Path) -> str:
    """Say what SQLite finds wrong with the databases in a folder; empty if nothing is.

    No process may have them open.
    """
    for file in sorted(folder.rglob("*")):
        if file.is_file() and _is_sqlite(file):
            try:
                with closing(sqlite3.connect(file)) as db:
                    (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            except sqlite3.DatabaseError as error:
                found = str(error)
            if found != "ok":
                return f"{file.name}: {found}"
    return ""


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(_SQLITE)) == _SQLITE

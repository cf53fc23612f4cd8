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
    from pathlib import Path

__all__ = ["Camera", "Image", "unsound"]

_SHARED: Final = "-shm"
"""SQLite's index of a write-ahead log: it is made anew when the last process is gone."""
_SQLITE: Final = b"SQLite format 3\x00"
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Image(NamedTuple):
    """The files of a store.

    Attributes:
        files: Each file's path within the store's folder, and what is in it.
        folders: The path of each folder within it: an empty one is missed too.
    """

    files: tuple[tuple[str, bytes], ...]
    folders: tuple[str, ...] = ()

    def restore(self, folder: Path) -> None:
        """Write the files into a folder, which is made."""
        folder.mkdir(parents=True)
        for name in self.folders:
            (folder / name).mkdir()
        for name, content in self.files:
            (folder / name).write_bytes(content)


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
        there = sorted(self._folder.rglob("*"))
        folders = (str(path.relative_to(self._folder)) for path in there if path.is_dir())
        return Image(
            tuple(
                (str(path.relative_to(self._folder)), self._content(path))
                for path in there
                if path.is_file() and not path.name.endswith(_SHARED)
            ),
            tuple(folders),
        )

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
                # A function or a collation of the store's own is missing here, and is no damage.
                damaged = error.sqlite_errorcode & 0xFF in _DAMAGED
                found = str(error) if damaged else "ok"
            if found != "ok":
                return f"{file.name}: {found}"
    return ""


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(_SQLITE)) == _SQLITE

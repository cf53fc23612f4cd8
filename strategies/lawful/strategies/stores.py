"""Where stores live while they are judged: in memory where that can be, and gone afterwards."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["store_folder"]

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of our own is made below it


@contextmanager
def store_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make an empty folder for stores, and remove it at the end, interrupted or not.

    Args:
        parent: Where to make it. By default a memory-backed folder, where there is one: a commit
            on a disk takes a hundred times as long.

    Raises:
        LawfulError: ``parent`` is no folder that can be written to.
    """
    if parent is None and _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
        parent = _MEMORY
    try:
        folder = tempfile.TemporaryDirectory(
            prefix="lawful-", dir=parent, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise LawfulError(f"no store can be made in {parent}: {error.strerror}") from error
    with folder as name:
        yield Path(name)

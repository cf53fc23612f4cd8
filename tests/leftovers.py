"""What is left behind: the files, connections among them, that this process has open."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

__all__ = ["descriptors", "needs_descriptors"]

_DESCRIPTORS: Final = Path("/proc/self/fd")

needs_descriptors: Final = pytest.mark.skipif(
    not _DESCRIPTORS.is_dir(), reason="this system lists no descriptors"
)


def descriptors() -> list[str]:
    """Return what each open descriptor of this process leads to."""
    found = []
    for descriptor in _DESCRIPTORS.iterdir():
        with suppress(FileNotFoundError):  # the descriptor of the listing itself
            found.append(str(descriptor.readlink()))
    return sorted(found)

"""Makes ``miniatures`` importable, and gives every test a folder in memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds nothing to the path


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder, memory-backed where that can be had."""
    from miniatures import workplace

    with workplace() as where:
        yield where

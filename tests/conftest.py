"""Makes ``miniatures`` importable, and gives every test a folder in memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds nothing to the path


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder, memory-backed where that can be had."""
    from miniatures import workplace

    with workplace() as where:
        yield where


@pytest.fixture
def server() -> Callable[[str], str]:
    """Tells where a server is; where there is none, the test is skipped, unless it must run."""
    from lawful.strategies.servers import ServerMissing, server_url

    def url(kind: str) -> str:
        try:
            return server_url(kind)
        except ServerMissing as missing:
            if os.environ.get("LAWFUL_REQUIRE_SERVERS") == "1":
                raise
            pytest.skip(str(missing))

    return url

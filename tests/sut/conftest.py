"""The clock and the opened systems that these tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.strategies.clock import ManualClock
from lawful.sut import Flags, Gate, GateWords, Reference, Review

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1000.0)


@pytest.fixture
def reference(tmp_path: Path, clock: ManualClock) -> Iterator[Reference]:
    system = Reference()
    system.open(tmp_path, clock)
    yield system
    system.close()


@pytest.fixture
def flags(tmp_path: Path, clock: ManualClock) -> Iterator[Flags]:
    system = Flags()
    system.open(tmp_path, clock)
    yield system
    system.close()


@pytest.fixture
def gate(tmp_path: Path, clock: ManualClock) -> Iterator[Gate]:
    system = Gate()
    system.open(tmp_path, clock)
    yield system
    system.close()


@pytest.fixture
def gate_words(tmp_path: Path, clock: ManualClock) -> Iterator[GateWords]:
    system = GateWords()
    system.open(tmp_path, clock)
    yield system
    system.close()


@pytest.fixture
def review(tmp_path: Path, clock: ManualClock) -> Iterator[Review]:
    system = Review()
    system.open(tmp_path, clock)
    yield system
    system.close()

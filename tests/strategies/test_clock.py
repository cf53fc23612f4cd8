"""The moved clock goes forward, and only when it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.strategies import ManualClock
from lawful.strategies.clock import MappedClock

if TYPE_CHECKING:
    from pathlib import Path


def test_the_clock_stands_until_it_is_moved() -> None:
    clock = ManualClock(100.0)
    assert [clock.now(), clock.now()] == [100.0, 100.0]
    clock.advance(30)
    clock.advance(0.5)
    assert clock.now() == 130.5


def test_two_clocks_are_independent() -> None:
    one, other = ManualClock(), ManualClock()
    one.advance(1)
    assert one.now() == other.now() + 1


def test_time_does_not_go_back() -> None:
    clock = ManualClock(100.0)
    with pytest.raises(ValueError, match=r"can't be moved by -1 s: time does not go back"):
        clock.advance(-1)
    assert clock.now() == 100.0


def test_a_mapped_clock_is_one_time_for_all_that_have_mapped_it(tmp_path: Path) -> None:
    first = MappedClock(tmp_path / "clock", 100.0)
    second = MappedClock(tmp_path / "clock", 7.0)  # it is there already: it shows what it shows
    first.advance(1.5)
    second.advance(30)
    assert (first.now(), second.now()) == (131.5, 131.5)
    with pytest.raises(ValueError, match="does not go back"):
        first.advance(-1)
    assert second.now() == 131.5
    first.close()
    second.close()

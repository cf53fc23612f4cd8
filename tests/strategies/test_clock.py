"""The moved clock goes forward, and only when it is told to."""

from __future__ import annotations

import pytest

from lawful.strategies import ManualClock


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

"""A call that hangs is ended by the watch; everything else is left alone."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from lawful.strategies.watch import LIMIT, Overrun, Watch


def test_the_limit_is_a_minute_unless_something_else_is_said() -> None:
    assert LIMIT == 60.0
    assert Watch().limit == 60.0


@pytest.mark.parametrize("limit", [0, -1.0])
def test_a_limit_that_is_no_positive_number_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match="a positive number of seconds; got"):
        Watch(limit)


def test_a_call_that_waits_for_ever_is_ended() -> None:
    watch = Watch(0.05)
    with watch.running():
        watch.since = time.monotonic()
        with pytest.raises(Overrun):
            threading.Event().wait()
        assert watch.since is None


def test_no_adapter_that_catches_everything_catches_the_end_of_its_call() -> None:
    swallowed = []

    def call() -> None:
        try:
            threading.Event().wait()
        except Exception as error:
            swallowed.append(error)

    watch = Watch(0.05)
    with watch.running():
        watch.since = time.monotonic()
        with pytest.raises(Overrun):
            call()
    assert swallowed == []


def test_between_calls_nothing_is_ended() -> None:
    watch, looked = Watch(0.02), threading.Event()
    with watch.running():
        looks = signal.getsignal(signal.SIGALRM)

        def look(number: int, frame: object) -> None:
            assert callable(looks)
            looks(number, None)
            looked.set()

        signal.signal(signal.SIGALRM, look)
        assert looked.wait(10)  # the watch has looked in, and found no call running


def test_the_timer_and_its_handler_are_given_back() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with Watch(1).running():
        assert signal.getsignal(signal.SIGALRM) is not before
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_timer_is_given_back_after_an_error_too() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(KeyError), Watch(1).running():
        raise KeyError
    assert signal.getsignal(signal.SIGALRM) is before


def test_in_another_thread_the_block_runs_without_a_timer() -> None:
    ran = []

    def work() -> None:
        with Watch(1).running():
            ran.append(signal.getitimer(signal.ITIMER_REAL)[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [0.0]

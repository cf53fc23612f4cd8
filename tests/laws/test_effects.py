"""How often a receiver outside the store is called, however workers die."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar

import pytest

import racers
import scenes
from lawful.laws import Status
from lawful.laws.effects import LAWS, starts_at_most
from lawful.spec.oracle import Oracle
from lawful.strategies.adapter import describe
from lawful.strategies.receiver import Receiver
from miniatures.trial import task_table
from scenes import of

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.laws import Check
    from lawful.strategies.adapter import Adapter
    from lawful.sut import Clock, Refused
    from miniatures.honest import Call, Row


def judged(adapter: Adapter) -> dict[str, Check]:
    return scenes.judged(LAWS, adapter)


class ForgetsAttempts(racers.Whole):
    """What was running when the service went down is queued again, as if it never had been."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        with self.transaction():
            tasks = self.load()
            for row in tasks.values():
                if row["state"] == "running":
                    row.update(state="queued", attempts=0, owner=None, until=None)
            self.save(tasks)


class DoneAtBoot(racers.Whole):
    """What was running when the service went down must have been done."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        with self.transaction():
            tasks = self.load()
            for row in tasks.values():
                if row["state"] == "running":
                    row.update(state="succeeded", owner=None, until=None)
            self.save(tasks)


class SameToken(racers.Whole):
    """Every start has the same token."""

    def grant(self, row: Row, actor: str) -> None:
        super().grant(row, actor)
        row["grants"] = 1


class HangsAtStart(racers.Whole):
    """A worker's start never returns."""

    woken: ClassVar = threading.Event()

    def on(self, call: Call) -> Refused | None:
        if threading.current_thread() is not threading.main_thread() and call.event == "start":
            self.woken.wait()
            self.close()  # nobody else will
        return super().on(call)


def test_what_hangs_ends_the_law_as_an_error() -> None:
    before = set(threading.enumerate())
    try:
        checks = scenes.judged(LAWS[:2], of(HangsAtStart), limit=0.2)
    finally:
        HangsAtStart.woken.set()
    for check in checks.values():
        assert check.status is Status.ERROR
        assert "came to no next step within 0.2 s" in check.got
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize("factory", [racers.Whole, racers.Compared, racers.DefaultMode])
def test_a_store_that_is_right_is_never_accused(factory: type) -> None:
    checks = judged(of(factory))
    assert {check.status for check in checks.values()} == {Status.PASS}
    assert all(check.triggers and check.controls for check in checks.values())


def test_the_reference_passes() -> None:
    assert {check.status for check in judged(describe("reference")).values()} == {Status.PASS}


@pytest.mark.parametrize(
    ("factory", "law", "got"),
    [
        (ForgetsAttempts, "effect/at-most", "called 2 times"),
        (DoneAtBoot, "effect/at-least", "it is succeeded, and the receiver was never called"),
        (SameToken, "effect/fenced", "the zombie shows 1, the next worker 1"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_a_store_that_is_wrong_is_found(factory: type, law: str, got: str) -> None:
    check = judged(of(factory))[law]
    assert check.status is Status.FAIL
    assert check.got.endswith(got)


def test_the_table_says_how_often_a_task_can_be_started() -> None:
    table = task_table()
    lease = table.lease
    assert lease is not None
    limits = [{"max_attempts": most} for most in (1, 2, 3)]
    assert [starts_at_most(Oracle(table, params), lease) for params in limits] == [1, 2, 3]


def test_a_receiver_refuses_an_older_token_than_it_has_seen() -> None:
    receiver = Receiver()
    assert [receiver.call(token) for token in (2, 5, 5, 2, 4, 6)] == [
        True,
        True,
        True,
        False,
        False,
        True,
    ]
    assert receiver.calls == 4


def test_a_receiver_that_is_shown_no_token_can_refuse_nobody() -> None:
    receiver = Receiver(1)
    assert receiver.call(None)
    assert receiver.call(3)
    assert receiver.call(None)
    assert receiver.calls == 4

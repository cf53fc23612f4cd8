"""litequeue through its adapter: the plain path, and the faults that the adapter passes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.sut import LiteQueue, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lawful.strategies.clock import ManualClock

pytest.importorskip("litequeue", reason="the extra `litequeue` is not installed")


@pytest.fixture
def queue(tmp_path: Path, clock: ManualClock) -> Iterator[LiteQueue]:
    system = LiteQueue()
    system.open(tmp_path, clock)
    yield system
    system.close()


def test_a_message_is_claimed_in_its_turn_and_done(queue: LiteQueue) -> None:
    first, second = queue.submit({}), queue.submit({})
    assert queue.claim("w") == first
    assert (queue.read(first), queue.read(second)) == (Reading("LOCKED"), Reading("READY"))
    queue.done(first)
    assert queue.read(first) == Reading("DONE")
    assert queue.claim("w") == second
    assert queue.claim("w") is None


def test_a_locked_message_is_ready_again_after_a_retry_or_failed(queue: LiteQueue) -> None:
    task = queue.submit({})
    queue.claim("w")
    queue.retry(task)
    assert queue.read(task) == Reading("READY")
    queue.claim("w")
    queue.mark_failed(task)
    assert queue.read(task) == Reading("FAILED")


def test_done_then_retry_runs_again_and_is_passed_through(queue: LiteQueue) -> None:
    task = queue.submit({})
    queue.claim("w")
    queue.done(task)
    queue.retry(task)
    assert queue.claim("w") == task


def test_done_of_an_unknown_id_is_accepted_and_passed_through(queue: LiteQueue) -> None:
    task = queue.submit({})
    before = queue.dump()
    queue.done(queue.absent())
    assert queue.dump() == before
    assert queue.read(task) == Reading("READY")


def test_reading_an_unknown_id_is_a_key_error(queue: LiteQueue) -> None:
    with pytest.raises(KeyError, match="no message '00000000"):
        queue.read(queue.absent())


def test_a_dump_is_every_row_or_one_messages(queue: LiteQueue) -> None:
    first, second = queue.submit({}, task="a"), queue.submit({}, task="b")
    assert [row[:3] for row in queue.dump()] == [("a", first, 0), ("b", second, 0)]
    assert [row[:3] for row in queue.dump(second)] == [("b", second, 0)]
    assert queue.dump(queue.absent()) == ()


def test_messages_survive_a_restart_and_a_second_instance_sees_them(
    tmp_path: Path, clock: ManualClock
) -> None:
    first, second = LiteQueue(), LiteQueue()
    first.open(tmp_path, clock)
    second.open(tmp_path, clock)
    task = first.submit({})
    assert second.claim("w") == task
    assert first.read(task) == Reading("LOCKED")
    first.close()
    second.close()
    third = LiteQueue()
    third.open(tmp_path, clock)
    assert third.read(task) == Reading("LOCKED")
    third.close()

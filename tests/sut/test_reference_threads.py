"""A smoke test beside the chosen schedules: real threads claim one task, and one of them has it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from lawful.strategies import ManualClock
from lawful.sut.reference import IllegalTransition, Store

if TYPE_CHECKING:
    from pathlib import Path

THREADS = 8
ROUNDS = 50


def test_of_eight_threads_that_start_a_task_exactly_one_has_it_in_each_round(
    tmp_path: Path,
) -> None:
    clock, file = ManualClock(), tmp_path / "tasks.db"
    main = Store(file, now=clock.now)
    for number in range(ROUNDS):
        main.submit({}, task=f"task-{number}")
        main.fire(f"task-{number}", "enqueue", actor="client")
    barrier = threading.Barrier(THREADS, timeout=60)  # one that fails must not hang the others
    won: list[tuple[int, str]] = []

    def work(name: str) -> None:
        store = Store(file, now=clock.now)
        for number in range(ROUNDS):
            barrier.wait()
            try:
                store.fire(f"task-{number}", "start", actor=name)
            except IllegalTransition:
                continue
            won.append((number, name))
        store.close()

    threads = [threading.Thread(target=work, args=(f"worker-{n}",)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for number, _ in won) == list(range(ROUNDS))
    for number, name in won:
        task = main.read(f"task-{number}")
        assert (task.state, task.attempts, task.version, task.lease_owner) == (
            "running",
            1,
            2,
            name,
        )
        assert [entry.event for entry in main.history(f"task-{number}")][-1] == "start"
        assert len(main.history(f"task-{number}")) == 3
    main.close()

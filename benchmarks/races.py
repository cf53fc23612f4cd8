"""What chosen schedules cost, and what luck costs: ``python benchmarks/races.py``.

Every figure comes from one run on one machine, so the ratios hold where the seconds do not.
"""

from __future__ import annotations

import math
import sqlite3
import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from lawful.strategies.adapter import describe, describe_class
from lawful.strategies.calls import Came
from lawful.strategies.linear import explained, gave_up, orders
from lawful.strategies.performing import perform
from lawful.strategies.racing import Arena, parse_race
from lawful.strategies.schedules import explore
from lawful.strategies.session import Session
from lawful.strategies.stores import store_folder
from lawful.strategies.trace import TASK, Fire
from lawful.strategies.watch import Watch
from lawful.sut import Refusal
from lawful.sut.naive import TABLES, Naive

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.driver import Driver
    from lawful.strategies.racing import Race
    from lawful.strategies.tracked import Tracked
    from lawful.sut import Clock, Payload

RACE = "enqueue@client || start@worker-1 || start@worker-2"
ROUNDS = 5
MOST = 2_000
"""How many rounds real threads are given to show a lost update."""


class NotQueued(Exception):
    """The task can't be started."""


class Checked(Naive):
    """The naive store with a look before it starts a task: call by call, that is lawful."""

    refusals: ClassVar = {NotQueued: Refusal.ILLEGAL}

    def fire(self, task: str, event: str, *, actor: str, payload: Payload) -> None:
        """Write what an event leads to, if a task to be started is queued."""
        if event == "start" and self.read(task).state != "queued":
            raise NotQueued(task)
        super().fire(task, event, actor=actor, payload=payload)


class DefaultMode(Checked):
    """The same in the transactions that ``sqlite3`` begins by itself."""

    def open(self, path: Path, clock: Clock) -> None:
        """Open the file in the default mode."""
        self.db = sqlite3.connect(path / "naive.db")
        self.clock = clock
        self.db.executescript(TABLES)

    def submit(self, params: dict[str, int], *, task: str | None = None) -> str:  # type: ignore[override]
        """Store a new task in one transaction."""
        with self.db:
            return super().submit(params, task=task)

    def fire(self, task: str, event: str, *, actor: str, payload: Payload) -> None:
        """Write what an event leads to in one transaction."""
        with self.db:
            super().fire(task, event, actor=actor, payload=payload)


def schedules(adapter: Adapter, folder: Path) -> tuple[int, int, float]:
    """Run every schedule: (schedules, unrestricted interleavings, seconds)."""
    race = parse_race(RACE, adapter.table)
    began, count, free = time.perf_counter(), 0, 0
    with Arena(adapter, folder) as arena:
        for run in explore(lambda choose: arena.run(race, choose)):
            count += 1
            each = Counter(step.worker for step in run.taken)
            free = max(free, math.comb(each.total(), each["A"]))
    return count, free, time.perf_counter() - began


def first_hit(adapter: Adapter, folder: Path) -> tuple[int, float]:
    """Choose schedules as far as the first lost update: (schedules, seconds)."""
    race = parse_race(RACE, adapter.table)
    began = time.perf_counter()
    with Arena(adapter, folder) as arena:
        for count, run in enumerate(explore(lambda choose: arena.run(race, choose)), 1):
            if not run.lawful:
                return count, time.perf_counter() - began
    raise SystemExit("the checked store was not found out")


def by_luck(adapter: Adapter, folder: Path) -> tuple[int, float]:
    """Let real threads meet as far as the first lost update: (rounds, seconds)."""
    race = parse_race(RACE, adapter.table)
    began = time.perf_counter()
    for count in range(1, MOST + 1):
        if not _met(adapter, race, folder / f"round-{count}"):
            return count, time.perf_counter() - began
    return MOST, time.perf_counter() - began


def _met(adapter: Adapter, race: Race, folder: Path) -> bool:
    """Let real threads do a race once, and say whether some order explains it."""
    with Session(adapter, folder, Watch()) as session:
        for op in race.before:
            perform(session, op)
        task = session.tasks[TASK]
        came: dict[str, list[Came]] = {name: [] for name in race.by_worker}
        barrier = threading.Barrier(len(came))
        threads = [
            threading.Thread(target=_worker, args=(session, task, ops[0], barrier, came[name]))
            for name, ops in race.by_worker.items()
            if isinstance(ops[0], Fire)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        view, does = session.look(task), race.by_worker
        every = orders(task.oracle, task.model, session.clock.now(), does, gave_up(does, came))
        return any(explained(adapter, task, order, came, view) for order in every)


def _worker(
    session: Session, task: Tracked, op: Fire, barrier: threading.Barrier, came: list[Came]
) -> None:
    driver: Driver = session.opened()
    barrier.wait()
    came.append(Came(driver.fire(task.id, op.letter, op.actor)))
    driver.close()


def main() -> int:
    """Print the figures."""
    table = describe("naive").table
    stores = {
        "reference (BEGIN IMMEDIATE)": describe("reference"),
        "checked, default mode": describe_class(DefaultMode, "default", table=table),
        "checked, no transactions": describe_class(Checked, "checked", table=table),
    }
    limits = {"reference (BEGIN IMMEDIATE)": 0.10, "checked, default mode": 0.15}
    with store_folder() as folder:
        title = "two starts of one task"
        print(f"{title:<28} {'schedules':>9} {'all':>5} {'of all':>6} {'per s':>6}")
        for number, (name, adapter) in enumerate(stores.items()):
            results = [schedules(adapter, folder / f"{number}-{n}") for n in range(ROUNDS)]
            count, free, seconds = min(results, key=lambda result: result[2])
            most = f"  ({limits[name]:.2f} at most)" if name in limits else ""
            speed = count / seconds
            print(f"{name:<28} {count:>9} {free:>5} {count / free:>6.2f} {speed:>6.0f}{most}")
        naive = stores["checked, no transactions"]
        chosen = min(first_hit(naive, folder / f"c{n}") for n in range(ROUNDS))
        lucky = [by_luck(naive, folder / f"l{n}") for n in range(ROUNDS)]
    rounds = sorted(lucky)[len(lucky) // 2]
    print(
        f"first lost update without transactions: schedule {chosen[0]}, {chosen[1] * 1e3:.0f} ms; "
        f"real threads: round {rounds[0]} (median of {ROUNDS}), {rounds[1] * 1e3:.0f} ms\n"
        f"seconds to it, chosen / real threads: {chosen[1] / rounds[1]:.2f} (0.20 at most)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

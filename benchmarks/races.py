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

from lawful.strategies.adapter import AdapterError, describe, describe_class
from lawful.strategies.calls import Came
from lawful.strategies.linear import explained, gave_up, orders
from lawful.strategies.performing import perform
from lawful.strategies.racing import Arena, parse_race
from lawful.strategies.schedules import explore
from lawful.strategies.servers import ServerError, server_url
from lawful.strategies.session import Session
from lawful.strategies.stores import store_folder
from lawful.strategies.trace import TASK, Fire
from lawful.strategies.watch import Watch
from lawful.sut import Entry, Refusal
from lawful.sut.naive import LEADS_TO, TABLES, Naive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.driver import Driver
    from lawful.strategies.racing import Race
    from lawful.strategies.tracked import Tracked
    from lawful.sut import Clock, Payload

RACE = "enqueue@client || start@worker-1 || start@worker-2"
LOGGED = "SUBMIT || enqueue@client || cancel@client"
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


class LogsLater(Naive):
    """The row is compared as it is written, and its log is written a statement later."""

    refusals: ClassVar = {NotQueued: Refusal.ILLEGAL}

    def fire(self, task: str, event: str, *, actor: str, payload: Payload) -> None:
        """Write what an event leads to from ``submitted``, if nobody has written since."""
        before, after = self.read(task), LEADS_TO[event]
        update = "UPDATE tasks SET state = ?, version = version + 1 WHERE id = ? AND version = ?"
        moves = before.state == "submitted" or (before.state, event) == ("queued", "cancel")
        if not moves or not self.db.execute(update, (after, task, before.version)).rowcount:
            raise NotQueued(task)
        version = (before.version or 0) + 1
        self._log(task, Entry(version, event, before.state, after, actor, payload))


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


def first_hit(adapter: Adapter, line: str, folder: Path) -> tuple[int, float]:
    """Choose schedules as far as the first unlawful end: (schedules, seconds)."""
    race = parse_race(line, adapter.table)
    began = time.perf_counter()
    with Arena(adapter, folder) as arena:
        for count, run in enumerate(explore(lambda choose: arena.run(race, choose)), 1):
            if not run.lawful:
                return count, time.perf_counter() - began
    raise SystemExit("the store was not found out")


def by_luck(adapter: Adapter, line: str, folder: Path) -> tuple[int, float]:
    """Let real threads meet as far as the first unlawful end: (rounds, seconds)."""
    race = parse_race(line, adapter.table)
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


def _median(results: Iterable[tuple[int, float]]) -> tuple[int, float]:
    every = sorted(results, key=lambda result: result[1])
    return every[len(every) // 2]


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
    found = [
        ("checked, no transactions", stores["checked, no transactions"], RACE),
        ("compared, logged later", describe_class(LogsLater, "later", table=table), LOGGED),
    ]
    limits = {"reference (BEGIN IMMEDIATE)": 0.10, "checked, default mode": 0.15}
    for name in ("postgresql", "redis", "redis-lua"):
        try:
            stores[name] = describe(name)
            server_url(stores[name].server)
        except (AdapterError, ServerError) as error:
            stores.pop(name, None)
            print(f"{name}: left out: {error}")
    with store_folder() as folder:
        title = "two starts of one task"
        print(f"{title:<28} {'schedules':>9} {'all':>5} {'of all':>6} {'per s':>6}")
        for number, (name, adapter) in enumerate(stores.items()):
            results = [schedules(adapter, folder / f"{number}-{n}") for n in range(ROUNDS)]
            count, free, seconds = min(results, key=lambda result: result[2])
            most = f"  ({limits[name]:.2f} at most)" if name in limits else ""
            speed = count / seconds
            print(f"{name:<28} {count:>9} {free:>5} {count / free:>6.2f} {speed:>6.0f}{most}")
        title = "to the first unlawful end"
        print(f"\n{title:<30} {'schedule':>8} {'ms':>6} {'round':>7} {'ms':>6}  chosen / threads")
        for number, (name, adapter, line) in enumerate(found):
            chosen = _median(
                first_hit(adapter, line, folder / f"{number}c{n}") for n in range(ROUNDS)
            )
            lucky = _median(by_luck(adapter, line, folder / f"{number}l{n}") for n in range(ROUNDS))
            print(
                f"{name:<30} {chosen[0]:>8} {chosen[1] * 1e3:>6.0f} {lucky[0]:>7}"
                f" {lucky[1] * 1e3:>6.0f}  {chosen[1] / lucky[1]:.2f}"
            )
    print("Threads meet at a barrier just before the two calls: whoever does that knows the fault.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

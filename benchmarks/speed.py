"""What a check costs, and whose time it is: ``python benchmarks/speed.py``.

Every figure comes from one run on one machine, so the ratios hold where the seconds do not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.laws.runner import Profile, run
from lawful.spec import Oracle, packed, shipped_table
from lawful.spec.model import Call, fire, submitted
from lawful.strategies.adapter import describe
from lawful.strategies.clock import ManualClock
from lawful.strategies.driver import Driver
from lawful.strategies.session import Session
from lawful.strategies.stores import store_folder
from lawful.strategies.walk import Cast, walk
from lawful.strategies.watch import Watch

if TYPE_CHECKING:
    from lawful.spec.words import Word
    from lawful.strategies.adapter import Adapter

ROUNDS = 3


def oracle_alone(words: tuple[Word, ...], oracle: Oracle) -> tuple[int, float]:
    """Step the table alone through the words: (steps, seconds)."""
    began, steps = time.perf_counter(), 0
    for word in words:
        model = submitted(oracle)
        for letter in word:
            actor = model.holding.owner if model.holding else "worker-1"
            model = fire(oracle, model, Call(letter, actor), 0.0).after
            steps += 1
    return steps, time.perf_counter() - began


def store_alone(words: tuple[Word, ...], adapter: Adapter, folder: Path) -> tuple[int, float]:
    """Fire the words at the store and read after each step, judging nothing: (steps, seconds)."""
    folder.mkdir()
    driver = Driver(adapter, Watch())
    driver.open(folder, ManualClock())
    oracle = adapter.oracle({})
    began, steps = time.perf_counter(), 0
    for word in words:
        task, model = driver.submit(oracle.params, None), submitted(oracle)
        for letter in word:
            actor = model.holding.owner if model.holding else "worker-1"
            driver.fire(task, letter, actor)
            driver.read(task)
            model = fire(oracle, model, Call(letter, actor), 0.0).after
            steps += 1
    seconds = time.perf_counter() - began
    driver.close()
    return steps, seconds


def judged(words: tuple[Word, ...], adapter: Adapter, folder: Path) -> tuple[int, float]:
    """Walk the words as a check does: (steps, seconds)."""
    began, steps = time.perf_counter(), 0
    for number in range(0, len(words), 5):
        with Session(adapter, folder / f"judged-{number}", Watch()) as session:
            for index, word in enumerate(words[number : number + 5]):
                tracked = session.submit({}, f"t{index}")
                steps += len(walk(session, word, tracked, suite="packed", cast=Cast.SAME).steps)
    return steps, time.perf_counter() - began


def share(target: str) -> tuple[float, float]:
    """Run a quick check and measure the calls apart: (seconds in all, seconds in the store)."""
    adapter, spent = describe(target), 0.0
    original = Driver._call

    def timed(self: Driver, name: str, method: object, *args: object, **keywords: object) -> object:
        nonlocal spent
        began = time.perf_counter()
        try:
            return original(self, name, method, *args, **keywords)
        finally:
            spent += time.perf_counter() - began

    Driver._call = timed  # type: ignore[method-assign]
    try:
        with store_folder() as folder:
            seconds = run(adapter, folder, profile=Profile.QUICK).seconds
    finally:
        Driver._call = original  # type: ignore[method-assign]
    return seconds, spent


def best(results: list[tuple[int, float]]) -> float:
    """Return steps per second of the fastest round: noise only ever slows one down."""
    return max(steps / seconds for steps, seconds in results)


def main() -> int:
    """Print the figures."""
    table = shipped_table("task")
    oracle = Oracle(table, table.defaults)
    words = packed(oracle)
    adapter = describe("reference")
    with store_folder() as memory, tempfile.TemporaryDirectory() as disk:
        rows = {
            "oracle alone": best(
                [oracle_alone(words, Oracle(table, table.defaults)) for _ in range(ROUNDS)]
            ),
            "reference in memory": best(
                [store_alone(words, adapter, memory / f"s{n}") for n in range(ROUNDS)]
            ),
            "reference on disk": best([store_alone(words, adapter, Path(disk) / "store")]),
            "judged in memory": best(
                [judged(words, adapter, memory / f"j{n}") for n in range(ROUNDS)]
            ),
        }
    base = rows["reference in memory"]
    print(f"{'steps per second':<22} {'':>9}  x reference in memory")
    for name, speed in rows.items():
        print(f"{name:<22} {speed:>9,.0f}  {speed / base:.2f}")
    for target in ("reference", "flags"):
        seconds, spent = min(share(target) for _ in range(ROUNDS))
        print(
            f"lawful check {target} --profile quick: {seconds:.2f} s, of which "
            f"{1 - spent / seconds:.0%} ours and {spent / seconds:.0%} the store's"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

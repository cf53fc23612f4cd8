"""What a crash costs, read out of the files and really died: ``python benchmarks/crashes.py``.

Every figure comes from one run on one machine, so the ratios hold where the seconds do not.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from lawful.strategies.accidents import Sort, parse_accident
from lawful.strategies.adapter import describe
from lawful.strategies.crashes import CrashSite
from lawful.strategies.killing import killed
from lawful.strategies.stores import store_folder

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.accidents import Accident
    from lawful.strategies.adapter import Adapter

CALLS = (
    "enqueue@client || start@worker-1",
    "enqueue@client start@worker-1 || succeed@worker-1",
    "enqueue@client start@worker-1 ADVANCE(31) || REAP",
)


def copied(adapter: Adapter, accident: Accident, folder: Path) -> tuple[int, float]:
    """Judge a crash at every statement by images of the files: (points, seconds)."""
    began = time.perf_counter()
    with CrashSite(adapter, folder) as site:
        film = site.film(accident.before, accident.call)
        for number in range(len(film.images)):
            site.after(film, number)
    return len(film.images), time.perf_counter() - began


def died(adapter: Adapter, accident: Accident, points: int, folder: Path) -> float:
    """Kill a process at every statement, and judge what it leaves: seconds."""
    began = time.perf_counter()
    for at in range(1, points + 1):
        killed(adapter, folder / f"{at}", accident.before, accident.call, at)
    return time.perf_counter() - began


def main() -> int:
    """Print the figures."""
    adapter = describe("reference")
    print(f"{'call of the reference':<52} {'points':>6} {'copy ms':>8} {'kill ms':>8} {'ratio':>6}")
    with store_folder() as folder:
        for number, call in enumerate(CALLS):
            accident = parse_accident(f"{call} || {Sort.CRASH}(1)", adapter.table)
            died(adapter, accident, 1, folder / f"{number}-first")  # starts the server
            points, copies = copied(adapter, accident, folder / f"{number}-copies")
            (folder / f"{number}-kills").mkdir()
            kills = died(adapter, accident, points, folder / f"{number}-kills")
            each = copies / points * 1e3, kills / points * 1e3
            print(f"{call:<52} {points:>6} {each[0]:>8.1f} {each[1]:>8.1f} {copies / kills:>6.2f}")
    print("ratio: 0.40 at most")
    return 0


if __name__ == "__main__":
    sys.exit(main())

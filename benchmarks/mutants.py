"""What the faults of a table cost, beside one quick check of the reference: one run, one machine.

Each is a command of its own, start-up included.
"""

from __future__ import annotations

import subprocess
import sys
import time

RUNS = 3


def seconds(*command: str) -> float:
    """Return the best of some runs of a command, in seconds."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "lawful", *command], check=True, capture_output=True
        )
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    """Print the figures."""
    quick = seconds("check", "reference", "--profile", "quick")
    print(f"lawful check --profile quick   {quick:5.2f} s")
    for table in ("task", "gate", "review"):
        found = seconds("mutate", "--engine", "table", "--spec", table)
        print(
            f"lawful mutate --spec {table:<9} {found:5.2f} s  {found / quick:4.2f}  (2.0 at most)"
        )


if __name__ == "__main__":
    main()

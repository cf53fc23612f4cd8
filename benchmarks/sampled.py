"""What the random layer costs: ``python benchmarks/sampled.py``.

Every figure comes from one run on one machine, so the ratios hold where the seconds do not.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from lawful.laws.law import Tally
from lawful.laws.sampled import LAWS
from lawful.laws.smoke import smoke
from lawful.laws.stage import Stage
from lawful.laws.verdict import Evidence
from lawful.spec import cells, packed
from lawful.strategies.adapter import describe
from lawful.strategies.drawing import courses
from lawful.strategies.profiles import Effort, profile
from lawful.strategies.searching import search_machine
from lawful.strategies.session import Session
from lawful.strategies.stores import store_folder
from lawful.strategies.walk import Cast, walk
from lawful.strategies.wander import Slice, wander
from lawful.strategies.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lawful.spec.words import Word
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.seen import Seen

ROUNDS = 5
WANDERED = 5_000
WORDS_PER_STORE = 5
CI = profile(Effort.CI)


class Counted:
    """Counts the steps that a search has taken: a step may be judged on several tasks."""

    def __init__(self) -> None:
        self.steps = 0
        self._op: object = None

    def __call__(self, session: Session, seen: Seen) -> None:
        """Count a step, once."""
        self.steps += seen.op is not self._op
        self._op = seen.op


def bare_machine() -> tuple[int, float]:
    """Run a machine of one rule over a dictionary, which judges nothing: (steps, seconds)."""
    steps = 0

    class Bare(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.store: dict[int, int] = {}

        @rule(key=st.integers(0, 3), value=st.integers(0, 100))
        def put(self, key: int, value: int) -> None:
            nonlocal steps
            steps += 1
            self.store[key] = value

    began = time.perf_counter()
    run_state_machine_as_test(Bare, settings=CI)
    return steps, time.perf_counter() - began


def machine(adapter: Adapter, folder: Path) -> tuple[int, float]:
    """Run the state machine: (steps, seconds)."""
    counted = Counted()
    began = time.perf_counter()
    found = search_machine(adapter, folder, CI, observe=counted)
    seconds = time.perf_counter() - began
    if found is not None:
        raise SystemExit(f"nothing should be found here: {found}")
    return counted.steps, seconds


def random_layer(adapter: Adapter, folder: Path) -> dict[str, float]:
    """Run the random laws as a check does: seconds by the law's id."""
    stage = Stage(adapter, folder, Watch())
    for params in adapter.table.valuations:
        stage.evidence[tuple(params.items())] = Evidence(adapter.oracle(params))
    seconds = {}
    for law in LAWS:
        tally, began = Tally(), time.perf_counter()
        law.run(stage, tally)
        seconds[law.id] = time.perf_counter() - began
        if tally.best is not None:
            raise SystemExit(f"nothing should be found here: {tally.best}")
    return seconds


def drawing(adapter: Adapter) -> tuple[int, float]:
    """Draw the programs and do nothing with them: (moves, seconds)."""
    moves = 0

    @CI
    @given(courses(adapter.table, least=20, tail=20, tasks=4))
    def draw(course: tuple[object, ...]) -> None:
        nonlocal moves
        moves += len(course)

    began = time.perf_counter()
    draw()
    return moves, time.perf_counter() - began


def exhaustive(adapter: Adapter, folder: Path) -> tuple[int, float]:
    """Walk the suites ``cells`` and ``packed`` with the default parameters: (steps, seconds)."""
    oracle = adapter.oracle({})
    suites: list[tuple[str, tuple[Word, ...], Cast]] = [
        ("cells", cells(oracle), Cast.ANOTHER),
        ("packed", packed(oracle), Cast.SAME),
    ]
    began, steps = time.perf_counter(), 0
    for suite, words, cast in suites:
        for first in range(0, len(words), WORDS_PER_STORE):
            with Session(adapter, folder / f"{suite}-{first}", Watch()) as session:
                for number, word in enumerate(words[first : first + WORDS_PER_STORE]):
                    tracked = session.submit({}, f"t{number}")
                    steps += len(walk(session, word, tracked, suite=suite, cast=cast).steps)
    return steps, time.perf_counter() - began


def wandering(adapter: Adapter, folder: Path) -> tuple[int, float]:
    """Walk at random without Hypothesis: (steps, seconds)."""
    began = time.perf_counter()
    steps = wander(adapter, Slice(1, WANDERED), folder).steps
    return steps, time.perf_counter() - began


def best(measure: Callable[[], tuple[int, float]]) -> tuple[int, float]:
    """Return the fastest of some rounds: noise only ever slows one down."""
    return min((measure() for _ in range(ROUNDS)), key=lambda result: result[1] / result[0])


def main() -> int:
    """Print the figures."""
    with store_folder() as folder:
        adapter = smoke(describe("reference"), folder, Watch()).adapter
        rows = {
            "a bare machine": best(bare_machine),
            "machine": best(lambda: machine(adapter, folder)),
            "programs, drawn alone": best(lambda: drawing(adapter)),
            "wander": best(lambda: wandering(adapter, folder)),
            "cells and packed": best(lambda: exhaustive(adapter, folder)),
        }
        layers = [random_layer(adapter, folder) for _ in range(ROUNDS)]
    print(f"{'reference, 100 x 20':<22} {'steps':>7} {'seconds':>8} {'steps/s':>9}")
    for name, (steps, seconds) in rows.items():
        print(f"{name:<22} {steps:>7,} {seconds:>8.2f} {steps / seconds:>9,.0f}")
    layer = min(layers, key=lambda seconds: sum(seconds.values()))
    for name, seconds in layer.items():
        print(f"{name:<22} {'':>7} {seconds:>8.2f}")
    speed = {name: steps / seconds for name, (steps, seconds) in rows.items()}
    exhaustively = rows["cells and packed"][1]
    print(
        f"steps per second, machine / a bare machine: "
        f"{speed['machine'] / speed['a bare machine']:.2f} (0.50 at least)\n"
        f"seconds, cells and packed / the random layer: "
        f"{exhaustively / sum(layer.values()):.2f} (0.15 at most)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

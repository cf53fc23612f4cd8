"""``lawful replay``: do the steps of a trace again and judge each."""

from __future__ import annotations

import itertools
import json
import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lawful.spec.errors import LawfulError

from .console import quiet_stdout

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from pathlib import Path

    from lawful.laws.replaying import Replayed
    from lawful.strategies.adapter import Adapter

__all__ = ["arguments", "run"]


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument(
        "trace", metavar="TRACE", help="in quotes, as a finding prints it: 'enqueue start@worker-1'"
    )
    parser.add_argument("--python", action="store_true", help="print it as a pytest function")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    parser.add_argument(
        "--limit", type=float, default=60.0, metavar="SECONDS", help="on one call (default: 60)"
    )
    parser.add_argument("--spec", metavar="TABLE", help="judge by this table: a name or a file")


def run(given: Namespace) -> int:
    """Replay the trace; 1 if a step was unlawful, else 0."""
    from lawful.laws.replaying import replay
    from lawful.spec.reader import find_table
    from lawful.strategies.accidents import is_accident
    from lawful.strategies.adapter import describe
    from lawful.strategies.python import as_python
    from lawful.strategies.racing import is_race
    from lawful.strategies.trace import parse_trace

    if not 0 < given.limit < math.inf:
        raise LawfulError(f"--limit {given.limit:g}: a positive number of seconds is expected")
    table = None if given.spec is None else find_table(given.spec)
    adapter = describe(given.target, table=table)
    if is_accident(given.trace):
        return _accident(given, adapter)
    if is_race(given.trace):
        return _race(given, adapter)
    ops = parse_trace(given.trace, adapter.table)
    if given.python:
        sys.stdout.write(as_python(adapter, ops))
        return 0
    with _fit(given, adapter) as (adapter, folder):
        steps = replay(adapter, ops, folder, limit=given.limit)
    if given.json:
        sys.stdout.write(json.dumps([_row(step) for step in steps], indent=1) + "\n")
    else:
        sys.stdout.write("".join(_lines(number, step) for number, step in enumerate(steps, 1)))
    bad = sum(not step.lawful for step in steps)
    if not given.json:
        said = f"{bad} of {len(steps)} steps unlawful" if bad else f"{len(steps)} steps, all lawful"
        sys.stdout.write(f"{said}\n")
    return 1 if bad else 0


@contextmanager
def _fit(given: Namespace, adapter: Adapter) -> Iterator[tuple[Adapter, Path]]:
    """Give the adapter, once it has passed the smoke test, and a folder for stores."""
    from lawful.laws.smoke import smoke
    from lawful.strategies.stores import store_folder
    from lawful.strategies.watch import Watch

    with quiet_stdout(), store_folder() as folder:
        watch = Watch(given.limit)
        with watch.running():
            fit = smoke(adapter, folder, watch).adapter
        yield fit, folder


def _no_python(given: Namespace) -> None:
    if given.python:
        raise LawfulError("--python writes a trace as a test; schedules and crashes are no trace")


def _accident(given: Namespace, adapter: Adapter) -> int:
    """Stage an accident."""
    from lawful.laws.replaying import replay_accident
    from lawful.strategies.accidents import format_accident, parse_accident

    _no_python(given)
    accident = parse_accident(given.trace, adapter.table)
    with _fit(given, adapter) as (adapter, folder):
        staged = replay_accident(adapter, accident, folder, limit=given.limit)
    if given.json:
        row = {
            "line": format_accident(accident),
            "statements": [statement.text for statement in staged.statements],
            "lawful": staged.lawful,
            "expected": staged.found.expected,
            "got": staged.found.got,
            "steps": [_row(step) for step in staged.steps],
        }
        sys.stdout.write(json.dumps(row, indent=1) + "\n")
        return 0 if staged.lawful else 1
    last = accident.mishaps[-1]
    texts = [*(statement.text for statement in staged.statements), "(its end)"]
    lines = [
        f"{number:>3}  {text}{f'   <- {last.sort}' if number == last.at else ''}"
        for number, text in enumerate(texts, 1)
    ]
    if staged.found.lawful:
        states = ", ".join(task.view.reading.state for task in staged.found.tasks)
        lines.append(f"     found {states}, whole")
    else:
        lines += [f"expected  {staged.found.expected}", f"got       {staged.found.got}"]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.write("".join(_lines(number, step) for number, step in enumerate(staged.steps, 1)))
    sys.stdout.write("lawful\n" if staged.lawful else "UNLAWFUL\n")
    return 0 if staged.lawful else 1


def _race(given: Namespace, adapter: Adapter) -> int:
    """Run a race under its schedule."""
    from lawful.laws.replaying import replay_race
    from lawful.strategies.racing import parse_run

    _no_python(given)
    race, schedule = parse_run(given.trace, adapter.table)
    with _fit(given, adapter) as (adapter, folder):
        run = replay_race(adapter, race, schedule, folder, limit=given.limit)
    if given.json:
        row = {
            "line": run.line,
            "steps": [step._asdict() for step in run.taken],
            "lawful": run.lawful,
            "expected": list(run.expected),
            "got": run.got,
            "ordered": run.ordered,
        }
        sys.stdout.write(json.dumps(row, indent=1) + "\n")
        return 0 if run.lawful else 1
    numbers = itertools.count(1)
    lines = [
        f"{next(numbers) if step.chosen else '':>3}  {step.worker}  {step.text}"
        for step in run.taken
    ]
    lines += ["", *(f"expected  {each}" for each in run.expected), f"got       {run.got}"]
    if not run.ordered:
        lines.append("two waited at once: the server has ordered them, and may do it otherwise")
    lines.append("some order of the calls explains it" if run.lawful else "UNLAWFUL: no order does")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if run.lawful else 1


def _row(step: Replayed) -> dict[str, Any]:
    from lawful.strategies.trace import format_trace

    return {
        "step": format_trace([step.op]),
        "lawful": step.lawful,
        "fault": step.fault,
        "tasks": [
            {
                "task": seen.task,
                "expected": str(seen.answer.kind),
                "reason": seen.answer.reason,
                "claim": seen.claim and str(seen.claim.kind),
                "state": seen.after and seen.after.reading.state,
                "version": seen.after and seen.after.reading.version,
                "problems": [problem._asdict() for problem in seen.problems],
            }
            for seen in step.seen
        ],
    }


def _lines(number: int, step: Replayed) -> str:
    from lawful.strategies.trace import format_trace

    lines = [f"{number:>3}  {format_trace([step.op])}"]
    for seen in step.seen:
        label = "" if len(step.seen) == 1 else f"{seen.task}: "
        state = seen.after.reading.state if seen.after else "?"
        claim = f"{seen.claim.kind}" if seen.claim else "seen"
        why = f" ({seen.claim.text})" if seen.claim and seen.claim.text else ""
        lines.append(f"     {label}{claim}{why} -> {state or '-'}")
        lines += [
            f"     UNLAWFUL {p.aspect}: expected {p.expected}; got {p.got}" for p in seen.problems
        ]
        lines += [f"     | {line}" for line in seen.trail.splitlines()]
    if step.fault:
        lines.append(f"     UNLAWFUL: {step.fault}")
    return "\n".join(lines) + "\n"

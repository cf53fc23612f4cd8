"""``lawful replay``: do the steps of a trace again and judge each."""

from __future__ import annotations

import itertools
import json
import sys
from typing import TYPE_CHECKING, Any

from lawful.spec.errors import LawfulError

from .console import quiet_stdout

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

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
    from lawful.laws.smoke import smoke
    from lawful.spec.reader import find_table
    from lawful.strategies.adapter import describe
    from lawful.strategies.python import as_python
    from lawful.strategies.racing import is_race
    from lawful.strategies.stores import store_folder
    from lawful.strategies.trace import parse_trace
    from lawful.strategies.watch import Watch

    table = None if given.spec is None else find_table(given.spec)
    adapter = describe(given.target, table=table)
    if is_race(given.trace):
        return _race(given, adapter)
    ops = parse_trace(given.trace, adapter.table)
    if given.python:
        sys.stdout.write(as_python(adapter, ops))
        return 0
    with quiet_stdout(), store_folder() as folder:
        watch = Watch(given.limit)
        with watch.running():
            adapter = smoke(adapter, folder, watch).adapter
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


def _race(given: Namespace, adapter: Adapter) -> int:
    """Run a race under its schedule."""
    from lawful.laws.replaying import replay_race
    from lawful.laws.smoke import smoke
    from lawful.strategies.racing import parse_run
    from lawful.strategies.stores import store_folder
    from lawful.strategies.watch import Watch

    if given.python:
        raise LawfulError("--python writes a trace as a test; a race has its schedule beside it")
    race, schedule = parse_run(given.trace, adapter.table)
    with quiet_stdout(), store_folder() as folder:
        watch = Watch(given.limit)
        with watch.running():
            adapter = smoke(adapter, folder, watch).adapter
        run = replay_race(adapter, race, schedule, folder)
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

"""The family ``counter``: versions count transitions, counters count what the table says."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lawful.spec.oracle import Position
from lawful.spec.table import CellKind, Name
from lawful.spec.words import reachable
from lawful.strategies.driver import ClaimKind
from lawful.strategies.seen import Aspect, counter

from .applying import reached
from .law import TraceLaw

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Branch, Table
    from lawful.strategies.seen import Seen
    from lawful.strategies.walk import Walk

    from .law import Tally

__all__ = ["laws"]


def _version(_: Table, walk: Walk, tally: Tally) -> None:
    for length, seen in enumerate(walk.steps, 1):
        if seen.after is None or seen.wrong(frozenset({Aspect.STATE, Aspect.ERROR})):
            continue  # it did not make the move that is counted
        legal = seen.answer.kind is CellKind.LEGAL
        tally.trigger(legal)
        tally.control(not legal)
        version, after = seen.before.reading.version, seen.after.reading.version
        if problems := seen.wrong(frozenset({Aspect.VERSION})):
            tally.step(walk, length, problems)
        elif not legal and after != version and _declined(seen):
            tally.told(walk, length, f"version {version}", f"version {after}")


def _declined(seen: Seen) -> bool:
    """Say whether a call says itself that it moved nothing."""
    refused = seen.claim is not None and seen.claim.kind is ClaimKind.REFUSED
    return refused or seen.answer.kind is CellKind.NOOP


def _counted(name: str, table: Table, walk: Walk, tally: Tally) -> None:
    """Check one counter at every step; a step that must count it is the trigger."""
    index = table.counters.index(name)
    for length, seen in enumerate(walk.steps, 1):
        if seen.after is None:
            continue
        want = seen.answer.after.position.counters[index]
        grew = want != seen.model.position.counters[index]
        tally.trigger(grew)
        tally.control(not grew)
        problems = [
            p for p in seen.wrong(frozenset({Aspect.COUNTER})) if p.expected.startswith(name + " ")
        ]
        if problems:
            tally.step(walk, length, problems)


def _bounded(name: str, table: Table, walk: Walk, tally: Tally) -> None:
    """Check that a counter never passes the highest value that the table can reach."""
    index = table.counters.index(name)
    oracle = walk.oracle
    highest = _highest(oracle)[index]
    for length, seen in enumerate(walk.steps, 1):
        shown = counter(seen.after.reading, name) if seen.after else None
        if shown is None:
            continue
        tally.trigger(shown == highest)
        if shown > highest:
            expected = f"{name} never above {highest} with {_told(walk)}"
            tally.told(walk, length, expected, f"{name} {shown}")


@lru_cache(maxsize=64)
def _highest(oracle: Oracle) -> tuple[int, ...]:
    """Return the highest value of each counter that the table can reach."""
    return tuple(map(max, zip(*(p.counters for p in reachable(oracle)), strict=True)))


def _told(walk: Walk) -> str:
    return ", ".join(f"{name} {value}" for name, value in walk.oracle.params.items())


def _guarded(name: str, table: Table, walk: Walk, tally: Tally) -> None:
    """Check every guard that looks at a counter, on the counter that was read."""
    oracle = walk.oracle
    for length, seen in enumerate(walk.steps, 1):
        if seen.letter is None or seen.after is None or not _looks_at(table, seen, name):
            continue
        shown = tuple(
            value if (read := counter(seen.before.reading, own)) is None else read
            for own, value in zip(table.counters, seen.model.position.counters, strict=True)
        )
        outcome = oracle.step(Position(seen.model.position.state, shown), seen.letter)
        tally.trigger(outcome.branch != "")
        tally.control(outcome.branch == "")
        got = seen.after.reading.state
        if (
            not walk.same(outcome.after.state, got)
            and seen.claim
            and seen.before.reading != seen.after.reading
        ):
            values = ", ".join(f"{n} {v}" for n, v in zip(table.counters, shown, strict=True))
            tally.told(walk, length, f"{outcome.after.state} at {values} with {_told(walk)}", got)


def _looks_at(table: Table, seen: Seen, name: str) -> bool:
    state = seen.model.position.state
    cell = table.cell(state, seen.letter.event) if seen.letter else None
    if cell is None or cell.guard is None:
        return False
    return any(_names(branch, name) for branch in table.guard(cell.guard).branches)


def _decides(table: Table, name: str) -> bool:
    """Say whether a guard that looks at a counter goes one way here and another there."""
    ways = {
        (cell.guard, one.outcome.branch)
        for one in reached(table)
        if (cell := table.cell(one.position.state, one.letter.event)).guard is not None
        and any(_names(branch, name) for branch in table.guard(cell.guard).branches)
    }
    return any(branch for _, branch in ways) and any(not branch for _, branch in ways)


def _names(branch: Branch, name: str) -> bool:
    return any(Name(name) in (c.left, c.right) for c in branch.conditions)


VERSION = TraceLaw(
    id="counter/version",
    says="the version grows by one with every real transition and with nothing else",
    why="A version that stands still lets a writer with an old reading through; one that grows on "
    "a refusal turns honest writers away.",
    needs=("version",),
    read=_version,
)


def laws(table: Table) -> list[TraceLaw]:
    """Return the laws about a table's version and counters."""
    found = [VERSION]
    for name in table.counters:
        needs = ("attempts",) if name == "attempts" else ()
        found += [
            TraceLaw(
                id=f"counter/{name}",
                says=f"{name} grows where the table adds to it, and nowhere else",
                why="Counted at the failure instead of the start, not counted on one of two ways "
                "to start, rewound by a stale write: each has been reported of a real queue.",
                needs=needs,
                read=lambda table, walk, tally, name=name: _counted(name, table, walk, tally),  # type: ignore[misc]
            ),
            TraceLaw(
                id=f"counter/{name}-bound",
                says=f"{name} never passes its bound, by whatever way the task went",
                why="A task that is started once more than it may be does its side effect once "
                "more than it may.",
                needs=needs,
                controlled=False,
                read=lambda table, walk, tally, name=name: _bounded(name, table, walk, tally),  # type: ignore[misc]
            ),
        ]
        if _decides(table, name):
            found.append(
                TraceLaw(
                    id=f"counter/{name}-exhausted",
                    says=f"a task is given up for {name} exactly at the bound: not before, not "
                    "after",
                    why="Kubernetes gave a job of six retries up after five failures (issue "
                    "92245); Airflow granted one retry too few after a rerun (issue 18285).",
                    needs=needs,
                    read=lambda table, walk, tally, name=name: _guarded(name, table, walk, tally),  # type: ignore[misc]
                )
            )
    return found

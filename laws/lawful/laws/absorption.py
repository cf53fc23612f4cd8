"""The family ``absorption``: what has ended stays ended, and what was called off stays off."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lawful.spec.table import CellKind
from lawful.spec.words import reachable

from .applying import ends, reached
from .law import TraceLaw

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle, Position
    from lawful.spec.table import Table
    from lawful.strategies.walk import Walk

    from .law import Tally

__all__ = ["RESTART", "TERMINAL"]


def _terminal(table: Table, walk: Walk, tally: Tally) -> None:
    for length, seen in enumerate(walk.steps, 1):
        before = seen.before.reading.state
        if before not in table.terminal or seen.after is None:
            # Getting there is the control: an implementation in which nothing ever ends
            # would keep this law by doing nothing.
            tally.control(
                seen.after is not None
                and seen.after.reading.state in table.terminal
                and seen.answer.kind is CellKind.LEGAL
            )
            continue
        tally.trigger()
        after = seen.after.reading.state
        if after != before:
            tally.told(walk, length, f"{before} is never left", after)


@lru_cache(maxsize=64)
def foreclosed(oracle: Oracle) -> frozenset[Position]:
    """Return the positions from which the table allows no further start."""
    lease = oracle.table.lease
    granting = lease.granted_by if lease else ()
    positions = reachable(oracle)
    onward = {
        position: [
            (letter, outcome.after)
            for letter in oracle.table.letters
            if (outcome := oracle.step(position, letter)).kind is CellKind.LEGAL
        ]
        for position in positions
    }
    open_ = {p for p in positions if any(letter.event in granting for letter, _ in onward[p])}
    while grown := {
        p for p in positions if p not in open_ and any(after in open_ for _, after in onward[p])
    }:
        open_ |= grown
    return frozenset(positions) - open_


def _closes(table: Table) -> bool:
    """Say whether a task can come from where it may be started to where it never will be."""
    return table.lease is not None and any(
        one.outcome.kind is CellKind.LEGAL
        and one.position not in foreclosed(one.oracle)
        and one.outcome.after in foreclosed(one.oracle)
        for one in reached(table)
    )


def _restart(table: Table, walk: Walk, tally: Tally) -> None:
    shut = foreclosed(walk.oracle)
    lease = table.lease
    granting = lease.granted_by if lease else ()
    since: str | None = None
    for length, seen in enumerate(walk.steps, 1):
        if seen.letter is None or seen.after is None:
            continue
        if since is None:
            if seen.answer.kind is not CellKind.LEGAL or seen.problems:
                continue
            tally.control(seen.letter.event in granting)
            if seen.answer.after.position in shut and seen.model.position not in shut:
                since = f"{seen.letter} in {seen.model.position.state}"
        elif seen.letter.event in granting:
            tally.trigger()
            if seen.after.reading.state != seen.before.reading.state:
                tally.told(
                    walk, length, f"no start after {since}", f"started: {seen.after.reading.state}"
                )


TERMINAL = TraceLaw(
    id="absorption/terminal",
    says="a terminal state is never left",
    why="A run reported as failed that turns completed, a cancelled one that succeeds: whoever "
    "read the first end has acted on it (prefect 16429, dagster 34175).",
    applies=ends,
    read=_terminal,
)

RESTART = TraceLaw(
    id="absorption/no-restart",
    says="once the table rules out another start (a cancel that was accepted, an end), none is "
    "accepted, by whatever way",
    why="A retry that runs after a cancel is the largest family of public reports (dagster 23409, "
    "rq 2160, celery 1007).",
    applies=_closes,
    read=_restart,
)

"""What a table can reach, and so which laws can be about it.

A law that speaks of what a table never does is none of the table's laws: it could only ever be
reported as not run. What decides is the table alone, never what an implementation has done.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.oracle import Oracle
from lawful.spec.table import CellKind
from lawful.spec.words import reachable

if TYPE_CHECKING:
    from lawful.spec.oracle import Outcome, Position
    from lawful.spec.table import Letter, Table

__all__ = ["Reached", "ends", "noops", "quiet", "reached", "refusals", "reports", "with_leases"]


class Reached(NamedTuple):
    """A letter at a position that the table reaches.

    Attributes:
        oracle: The table, with the parameters.
        position: Where the task is.
        letter: What is fired.
        outcome: What the table says.
    """

    oracle: Oracle
    position: Position
    letter: Letter
    outcome: Outcome


@lru_cache(maxsize=16)
def reached(table: Table) -> tuple[Reached, ...]:
    """Return every letter at every position, for each set of parameters that is checked."""
    return tuple(
        Reached(oracle, position, letter, oracle.step(position, letter))
        for params in table.valuations
        for oracle in [Oracle(table, params)]
        for position in reachable(oracle)
        for letter in table.letters
    )


def refusals(table: Table) -> bool:
    """Say whether anything is refused."""
    return any(one.outcome.kind is CellKind.REFUSED for one in reached(table))


def noops(table: Table) -> bool:
    """Say whether anything is accepted and writes nothing."""
    return any(one.outcome.kind is CellKind.NOOP for one in reached(table))


def quiet(table: Table) -> bool:
    """Say whether anything is to write nothing: a refusal, or a no-op."""
    return refusals(table) or noops(table)


def ends(table: Table) -> bool:
    """Say whether a task can come to an end."""
    return any(one.position.state in table.terminal for one in reached(table))


def with_leases(table: Table) -> bool:
    """Say whether there are leases."""
    return table.lease is not None


@lru_cache(maxsize=16)
def reports(table: Table) -> tuple[Reached, ...]:
    """Return every report that a holder may make; none, if there are no leases."""
    lease = table.lease
    return tuple(
        one
        for one in (reached(table) if lease else ())
        if lease
        and one.position.state in lease.held_in
        and one.letter.event in lease.needed_by
        and one.outcome.kind is CellKind.LEGAL
    )

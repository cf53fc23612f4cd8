"""Faults with a memory: one cell sets a hidden bit, and another misbehaves from then on.

No single cell is wrong by itself: only a suite in which one comes before the other can tell. There
are thousands of them, which is why they are left to ``--deep``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lawful.mutants.mutant import Mutant, Place
from lawful.spec.oracle import Oracle
from lawful.spec.table import CellKind
from lawful.spec.words import reachable
from lawful.sut.contract import Refusal

from .differences import Difference
from .effects import lawful_effect
from .faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.spec.oracle import Position
    from lawful.spec.table import Letter, Table

    from .effects import Effect

__all__ = ["Pair", "StickyFault", "sticky_faults"]


class Pair(NamedTuple):
    """Where a fault is armed, and where it shows."""

    arms: Difference
    shows: Difference


@dataclass(frozen=True, slots=True)
class StickyFault:
    """What is legal is refused, and what is refused is accepted: once another cell was fired."""

    pair: Pair

    @property
    def state(self) -> str:
        """The one state in which it may differ."""
        return self.pair.shows.position.state

    def effect(self, oracle: Oracle, position: Position, letter: Letter, *, armed: bool) -> Effect:
        """Return what comes of a letter."""
        lawful = lawful_effect(oracle, position, letter)
        if not armed or (position, letter) != self.pair.shows[1:]:
            return lawful
        refusal = None if lawful.refusal else Refusal.ILLEGAL
        return lawful._replace(refusal=refusal, after=position, versions=0, lines=())

    def arms(self, position: Position, letter: Letter) -> bool:
        """Say whether a letter sets the hidden bit."""
        return (position, letter) == self.pair.arms[1:]


def sticky_faults(table: Table) -> Iterator[Fault]:
    """Yield every such fault that can show, with the table's default parameters."""
    oracle = Oracle(table, table.defaults)
    params = tuple(table.defaults.items())
    after = {position: _onward(oracle, position) for position in reachable(oracle)}
    for position in after:
        for letter in table.letters:
            there = oracle.step(position, letter).after
            for later in after[there]:
                for shown in table.letters:
                    pair = Pair(
                        Difference(params, position, letter), Difference(params, later, shown)
                    )
                    yield Fault(_mutant(table, pair), StickyFault(pair))


def _onward(oracle: Oracle, position: Position) -> list[Position]:
    """Return every position that legal letters reach from one, itself included."""
    found = [position]
    for there in found:
        for letter in oracle.table.letters:
            outcome = oracle.step(there, letter)
            if outcome.kind is CellKind.LEGAL and outcome.after not in found:
                found.append(outcome.after)
    return found


def _mutant(table: Table, pair: Pair) -> Mutant:
    arms, shows = (_named(table, each) for each in pair)
    return Mutant(
        f"table/sticky/{arms}/{shows}",
        "table",
        "sticky",
        f"once {arms} was fired, {shows} does the contrary",
        Place(table.name, cell=(pair.shows.position.state, pair.shows.letter.event)),
        source="every pair of cells",
    )


def _named(table: Table, there: Difference) -> str:
    counters = zip(table.counters, there.position.counters, strict=True)
    at = ",".join(f"{name}={value}" for name, value in counters)
    return f"{there.position.state}({at}) {there.letter}"

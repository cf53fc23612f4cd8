"""Where a fault differs from its table: what settles whether anybody can tell them apart.

A faulty machine that has answered like the table so far is where the table has it, so it is enough
to compare their effects at every position that the table reaches. None that differs is a proof.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.spec.oracle import Oracle
from lawful.spec.words import reachable

from .effects import lawful_effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.spec.oracle import Position
    from lawful.spec.table import Letter, Table

    from .machine import Behaviour

__all__ = ["Difference", "Differences"]

BEYOND: Final = 3
"""How far above the greatest value that suites run with parameters are proven."""
MOST: Final = 200
"""How many combinations of parameters are looked at in a proof."""


class Difference(NamedTuple):
    """A position and a letter at which a fault shows.

    Attributes:
        params: What the task was submitted with.
        position: Where it is.
        letter: What is fired.
    """

    params: tuple[tuple[str, int], ...]
    position: Position
    letter: Letter


class Differences:
    """The positions of one table, and where faults show there.

    Args:
        table: The table.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._checked = [Oracle(table, params) for params in table.valuations]
        checked = [oracle.params for oracle in self._checked]
        further = [params for params in _further(table) if params not in checked]
        self._further = [Oracle(table, params) for params in further]
        self._reached = {
            id(oracle): reachable(oracle) for oracle in (*self._checked, *self._further)
        }

    @property
    def proven_for(self) -> str:
        """Say for which parameters a proof holds: ``max_attempts 1 to 6``."""
        ranges = [
            f"{param.name} {min(param.check)} to {max(param.check) + BEYOND}"
            for param in self.table.params
        ]
        return " and ".join(ranges) or "its one set of parameters"

    def checked(self, behaviour: Behaviour) -> tuple[Difference, ...]:
        """Return where a fault shows with parameters that every suite runs with."""
        return tuple(self._of(self._checked, behaviour))

    def beyond(self, behaviour: Behaviour) -> Difference | None:
        """Return one place where a fault shows with other parameters; None if it never does."""
        return next(self._of(self._further, behaviour), None)

    def _of(self, oracles: list[Oracle], behaviour: Behaviour) -> Iterator[Difference]:
        for oracle in oracles:
            params = tuple(oracle.params.items())
            for position in self._reached[id(oracle)]:
                if behaviour.state not in (None, position.state):
                    continue
                for letter in self.table.letters:
                    wrong = behaviour.effect(oracle, position, letter, armed=False)
                    if wrong != lawful_effect(oracle, position, letter):
                        yield Difference(params, position, letter)


def _further(table: Table) -> list[dict[str, int]]:
    names = [param.name for param in table.params]
    ranges = [range(min(p.check), max(p.check) + BEYOND + 1) for p in table.params]
    every = [dict(zip(names, chosen, strict=True)) for chosen in product(*ranges)]
    return every[:MOST]

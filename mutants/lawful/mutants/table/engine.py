"""The engine ``table``: every first-order fault of a table, in one process, at the real judge.

No source is changed and nothing is imported anew: a machine of the table is wrong in one respect,
and the suites that every run walks are walked at it, as far as the first finding.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from lawful.laws.catalogue import check_ids
from lawful.mutants.judges import laws_digest
from lawful.mutants.mutant import Fate, Result
from lawful.mutants.score import Trust
from lawful.strategies.stores import store_folder

from .differences import Differences
from .faults import faults
from .machine import Lawful
from .proven import written_equivalents
from .screening import Screen
from .sticky import StickyFault, sticky_faults
from .suites import Suites

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lawful.mutants.mutant import Mutant
    from lawful.spec.table import Table

    from .faults import Fault
    from .suites import Walked

__all__ = ["TableEngine"]


class TableEngine:
    """Faults of one table.

    Args:
        table: The table.
        text: The text of its file.
        deep: Whether faults with a memory are made too.
        store: Where stores are made; a memory-backed folder by default.
    """

    name = "table"

    def __init__(
        self, table: Table, text: str, *, deep: bool = False, store: Path | None = None
    ) -> None:
        self.table = table
        self.target = table.name
        self._text = text
        self._store = store
        every = [*faults(table), *(sticky_faults(table) if deep else ())]
        self._faults: dict[str, Fault] = {fault.mutant.id: fault for fault in every}
        self._written = written_equivalents(table.name)
        self._suites = Suites(table)
        self._differences = Differences(table)
        self._left = ExitStack()

    def __enter__(self) -> Self:
        """Make a folder for stores."""
        folder = self._left.enter_context(store_folder(self._store))
        self._screen = Screen(self.table, folder)
        cells = [name for name in check_ids(self.table, quick=True) if name.startswith("cell/")]
        self.checks: Sequence[str] = (*cells, *(law.id for law in self._screen.laws))
        return self

    def __exit__(self, *error: object) -> None:
        """Remove it."""
        self._left.close()

    def mutants(self) -> Sequence[Mutant]:
        """Return every mutant, cell by cell, then the guards, then the rows."""
        return [fault.mutant for fault in self._faults.values()]

    def sources(self) -> Mapping[str, str]:
        """Return the table's file."""
        return {self.table.name: self._text}

    def trust(self, some: Sequence[Mutant]) -> Iterator[Trust]:
        """Look whether a score could be believed."""
        lawful = Lawful()
        for _ in range(2):
            found = self._screen.first(lawful, self._suites.words)
            told = f"{found.check}: {found.told}" if found else "green"
            yield Trust("baseline", found is None, f"{len(self._suites.words)} words: {told}")
        canary = self._faults[self._canary]
        found = self._screen.first(canary.behaviour, self._suites.words)
        told = f"found by {found.check}" if found else "nobody has found it"
        yield Trust("canary", found is not None, f"{canary.mutant.id}: {told}")
        if self._written is not None:
            yield self._as_written(self._written)

    @property
    def _canary(self) -> str:
        """The mutant that refuses the first thing that anybody does."""
        return next(name for name in self._faults if name.startswith("table/verdict/"))

    def _as_written(self, written: Mapping[str, str]) -> Trust:
        proven = {name for name in self._faults if self._is_equivalent(name)}
        extra = [f"{name} is proven, and not written down" for name in proven - written.keys()]
        extra += [f"{name} is written down, and not proven" for name in written.keys() - proven]
        told = "; ".join(extra) or f"{len(proven)} proven, all of them written down"
        return Trust("equivalents", not extra, told)

    def _is_equivalent(self, name: str) -> bool:
        behaviour = self._faults[name].behaviour
        return not isinstance(behaviour, StickyFault) and not (
            self._differences.checked(behaviour) or self._differences.beyond(behaviour)
        )

    def test(
        self, some: Sequence[Mutant], *, matrix: bool, killers: Mapping[str, Sequence[str]]
    ) -> Iterator[Result]:
        """Test mutants; the first word that comes by a fault mostly finds it."""
        for mutant in some:
            began = time.perf_counter()
            result = self._tested(mutant, matrix=matrix)
            yield replace(result, seconds=time.perf_counter() - began)

    def _tested(self, mutant: Mutant, *, matrix: bool) -> Result:
        behaviour = self._faults[mutant.id].behaviour
        words: Iterator[Walked]
        if isinstance(behaviour, StickyFault):
            words = self._suites.through_both(behaviour.pair)
        else:
            differences = self._differences.checked(behaviour)
            if not differences:
                return self._never_different(mutant)
            words = self._suites.through(differences)
        if matrix:
            every = self._screen.every(behaviour, words)
        else:
            first = self._screen.first(behaviour, words)
            every = (first,) if first else ()
        if not every:
            return Result(mutant, Fate.SURVIVED, reason="every word of every suite stays green")
        killers = tuple(found.check for found in every)
        return Result(mutant, Fate.KILLED, killers, every[0].told, every[0].trace)

    def _never_different(self, mutant: Mutant) -> Result:
        beyond = self._differences.beyond(self._faults[mutant.id].behaviour)
        if beyond is not None:
            params = ", ".join(f"{name}={value}" for name, value in beyond.params)
            reason = f"it shows only with {params}, which no suite runs with: add it to `check`"
            return Result(mutant, Fate.SURVIVED, reason=reason)
        why = (self._written or {}).get(mutant.id, "")
        proof = f"proven at every position, with {self._differences.proven_for}"
        return Result(mutant, Fate.EQUIVALENT, reason=f"{why}; {proof}" if why else proof)

    def depends(self, mutant: Mutant) -> Iterator[str]:
        """Return the table's text, and what judges it."""
        yield self._text
        yield laws_digest()

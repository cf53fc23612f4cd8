"""The engine ``planted``: each fault of the catalogue, tried on the store it is in.

A fault is killed if each check that claims it goes red, every other law left out. Where one stays
green it survives, whoever else finds it: the whole profile is run, to tell who does.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Self

from lawful.laws.catalogue import check_ids
from lawful.mutants.errors import MutationError
from lawful.mutants.judges import digest_of, laws_digest, part
from lawful.mutants.mutant import Fate, Mutant, Place, Result
from lawful.spec.reader import shipped_table
from lawful.strategies.watch import LIMIT

from .catalogue import FAULTS
from .course import Whole, course
from .patching import file_of, patched, source_of
from .trials import Trials
from .trusted import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from lawful.mutants.score import Trust

    from .fault import Fault
    from .trials import Course

__all__ = ["PlantedEngine"]

PATIENCE: Final = 600.0
"""How long one trial may take, in seconds: ten times what the slowest takes."""

STORES: Final = {
    "postgresql": ("postgresql.py", "namespaces.py"),
    "redis": ("redis_store.py", "namespaces.py"),
    "redis-lua": ("redis_store.py", "namespaces.py"),
}
"""The files of ``lawful.sut`` that stores on servers have besides."""


class PlantedEngine:
    """Faults in the code of the shipped stores.

    Args:
        faults: The faults; the catalogue's by default.
        workers: How many trials run at once.
        limit: How long one call of a store may take, in seconds.
        patience: How long one trial may take, in seconds.
        store: Where stores are made; a memory-backed folder by default.
        executor: What trials are handed to, in place of this process's own threads.
    """

    name = "planted"
    target = "the shipped stores"

    def __init__(
        self,
        faults: Sequence[Fault] = FAULTS,
        *,
        workers: int = 2,
        limit: float = LIMIT,
        patience: float = PATIENCE,
        store: Path | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._faults = {fault.id: fault for fault in faults}
        self._mutants = {fault.id: _mutant(fault) for fault in faults}
        self._trials = Trials(
            workers=workers, limit=limit, patience=patience, store=store, executor=executor
        )
        self.checks: Sequence[str] = check_ids(shipped_table("task"))

    def __enter__(self) -> Self:
        """Be ready to run trials."""
        self._trials.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """End whatever is running."""
        self._trials.__exit__(*error)

    def mutants(self) -> Sequence[Mutant]:
        """Return every fault, family by family."""
        if not self._mutants:
            raise MutationError("there are no planted faults: the catalogue is empty")
        return list(self._mutants.values())

    def sources(self) -> Mapping[str, str]:
        """Return the text of each module that is patched."""
        modules = dict.fromkeys(p.module for fault in self._faults.values() for p in fault.patches)
        return {file_of(name): source_of(name).read_text("utf-8") for name in modules}

    def trust(self, some: Sequence[Mutant]) -> Iterator[Trust]:
        """Look whether a score could be believed."""
        faults = [self._faults[mutant.id] for mutant in some]
        here = [fault for fault in faults if not self._trials.missing(fault.store)]
        yield from trusted(here, self._trials)

    def test(
        self, some: Sequence[Mutant], *, matrix: bool, killers: Mapping[str, Sequence[str]]
    ) -> Iterator[Result]:
        """Try faults. Who has found one before makes no difference: its claims are asked first."""
        whole = Whole()
        longest_first = sorted(some, key=self._seems_short)
        yield from self._trials.run([self._course(each, whole, matrix) for each in longest_first])

    def _seems_short(self, mutant: Mutant) -> bool:
        """Say whether its trial is a short one: what is proven, and what a server does, is not."""
        fault = self._faults[mutant.id]
        return not fault.equivalent and not self._trials.needs_server(fault.store)

    def _course(self, mutant: Mutant, whole: Whole, matrix: bool) -> Course[Result]:
        fault = self._faults[mutant.id]
        if missing := self._trials.missing(fault.store):
            return Result(mutant, Fate.SET_ASIDE, reason=missing)
        try:
            patched(fault.patches)
        except MutationError as error:
            return Result(mutant, Fate.BROKEN, reason=str(error))
        return (yield from course(fault, mutant, whole, matrix=matrix))

    def depends(self, mutant: Mutant) -> Iterator[str]:
        """Return what digests the store that it is in, and everything that judges it."""
        yield self._store_digest(self._faults[mutant.id].store)
        yield laws_digest()

    @staticmethod
    @cache
    def _store_digest(store: str) -> str:
        sut = part("lawful.sut")
        own = ("contract.py", "shipped.py", "reference", *STORES.get(store, ()))
        return digest_of(sut / name for name in own)


def _mutant(fault: Fault) -> Mutant:
    try:
        place = patched(fault.patches).place
    except MutationError:
        place = Place("")  # why, its trial tells
    return Mutant(
        fault.id,
        "planted",
        fault.family,
        fault.says,
        place,
        "\n".join(patch.before for patch in fault.patches),
        "\n".join(patch.after for patch in fault.patches),
        fault.claims,
        fault.source,
    )

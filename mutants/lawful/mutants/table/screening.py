"""Words walked at a faulty machine with the real driver and judge, as far as the first finding.

What finds a fault here is what finds it in a run: the same sessions, the same cells, the same laws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.laws.catalogue import laws_of
from lawful.laws.cells import cell_id
from lawful.laws.law import Tally, TraceLaw
from lawful.laws.smoke import smoke
from lawful.strategies.adapter import describe_class
from lawful.strategies.seen import CELL_ASPECTS
from lawful.strategies.session import Session
from lawful.strategies.trace import TASK, format_trace
from lawful.strategies.walk import Walk, actor_for
from lawful.strategies.watch import Watch

from .machine import Lawful, Machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Table
    from lawful.strategies.seen import Seen

    from .machine import Behaviour, Row
    from .suites import Walked

__all__ = ["Found", "Screen"]


class Found(NamedTuple):
    """A check that went red.

    Attributes:
        check: Its id.
        told: What was expected, and what was seen.
        trace: The steps that show it, in one line.
    """

    check: str
    told: str
    trace: str


class Screen:
    """Walks words at machines of one table.

    Args:
        table: The table.
        folder: An empty folder for stores.

    Attributes:
        laws: The laws that read walks, and can be judged here.
    """

    def __init__(self, table: Table, folder: Path) -> None:
        self._table = table
        self._behaviour: Behaviour = Lawful()
        self._oracles: dict[tuple[tuple[str, int], ...], Oracle] = {}
        self._stores: dict[Path, dict[str, Row]] = {}
        self._folder = folder / "store"
        self._watch = Watch()
        screen = self

        class Screened(Machine):
            """The machine that is looked at."""

            def __init__(self) -> None:
                super().__init__(table, screen._behaviour, screen._oracles, screen._stores)

        adapter = describe_class(Screened, f"a machine of {table.name}", table=table)
        self._adapter = smoke(adapter, folder, self._watch).adapter
        self.laws = tuple(
            law
            for law in laws_of(table, quick=True)
            if isinstance(law, TraceLaw) and set(law.needs) <= self._adapter.offered
        )

    def first(self, behaviour: Behaviour, words: Iterable[Walked]) -> Found | None:
        """Walk words, as far as the first finding; None if there is none in any of them."""
        return next(self._found(behaviour, words, whole=False), None)

    def every(self, behaviour: Behaviour, words: Iterable[Walked]) -> tuple[Found, ...]:
        """Walk words to their ends, and return one finding of each check that went red."""
        found: dict[str, Found] = {}
        for one in self._found(behaviour, words, whole=True):
            found.setdefault(one.check, one)
        return tuple(found.values())

    def _found(
        self, behaviour: Behaviour, words: Iterable[Walked], *, whole: bool
    ) -> Iterator[Found]:
        self._behaviour = behaviour
        for walked in words:
            self._stores.clear()
            with Session(self._adapter, self._folder, self._watch) as session:
                yield from self._walk(session, walked, whole=whole)

    def _walk(self, session: Session, walked: Walked, *, whole: bool) -> Iterator[Found]:
        tracked = session.submit(dict(walked.params), TASK)
        walk = Walk(
            walked.suite,
            tracked.oracle,
            begin=session.log[-1],
            log=session.log,
            offered=self._adapter.offered,
            word=walked.word,
            indistinct=self._adapter.indistinct,
        )
        for letter in walked.word:
            seen = session.fire(letter, actor_for(tracked, letter, walked.cast))
            walk.steps.append(seen)
            if seen.problems:
                yield from self._cell(walk, seen)
                if not whole:
                    # Nobody else than the cell has a word in it, or a law that reads the walk.
                    yield from self._laws(walk)
            if tracked.ended:
                break
        yield from self._laws(walk)

    def _cell(self, walk: Walk, seen: Seen) -> Iterator[Found]:
        problems = seen.wrong(CELL_ASPECTS)
        if problems and seen.letter is not None:
            name = cell_id(walk.oracle, seen.model.position, seen.letter)
            got = ", ".join(dict.fromkeys(problem.got for problem in problems))
            told = f"expected {problems[0].expected}, got {got}"
            yield Found(name, told, format_trace(walk.trace(len(walk.steps))))

    def _laws(self, walk: Walk) -> Iterator[Found]:
        for law in self.laws:
            tally = Tally()
            law.read(self._table, walk, tally)
            if tally.best is not None:
                best = tally.best
                told = f"expected {best.expected}, got {best.got}"
                yield Found(law.id, told, format_trace(best.trace))

"""Where scenario laws play: fresh stores, and tasks brought to where a scenario begins."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from lawful.spec.table import CellKind
from lawful.spec.words import reachable
from lawful.strategies.driver import Fault
from lawful.strategies.seen import CELL_ASPECTS
from lawful.strategies.session import Session
from lawful.strategies.trace import TASK
from lawful.strategies.tracked import relabelled
from lawful.strategies.walk import Cast, actor_for, walk

from .cells import cell_id
from .law import Blocked, finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from lawful.spec.oracle import Oracle, Position
    from lawful.spec.table import Letter, Params
    from lawful.spec.words import Word
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.seen import Aspect, Problem, Seen
    from lawful.strategies.trace import Op
    from lawful.strategies.tracked import Tracked
    from lawful.strategies.walk import Walk
    from lawful.strategies.watch import Watch

    from .law import Tally
    from .verdict import Evidence

__all__ = ["Stage", "own_trace", "probe", "rows"]

WORDS_PER_STORE: Final = 5

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Search:
    """How the random laws search.

    Attributes:
        effort: How much, by the name of an effort of ``lawful.strategies.profiles``.
        seed: What the draws begin with; by default the effort decides.
        database: A folder for failing examples; none are kept by default.
    """

    effort: str = "ci"
    seed: int | None = None
    database: Path | None = None


class Stage:
    """Fresh stores of one implementation, and what the cells' walks have shown of it.

    Args:
        adapter: The adapter.
        folder: An empty folder for stores; a memory-backed one is much faster.
        watch: What ends a call that hangs.
        search: How the random laws search.
        thorough: Whether races begin everywhere, and may be preempted twice.
    """

    def __init__(
        self,
        adapter: Adapter,
        folder: Path,
        watch: Watch,
        search: Search | None = None,
        *,
        thorough: bool = False,
    ) -> None:
        self.thorough = thorough
        self.preemptions = 2 if thorough else 1
        self.adapter = adapter
        self.search = search or Search()
        self.known_aspects: set[Aspect] = set()
        self.table = adapter.table
        self.evidence: dict[tuple[tuple[str, int], ...], Evidence] = {}
        self.faults: list[Fault] = []
        self.recorded: dict[tuple[tuple[str, int], ...], list[Walk]] = {}
        self._folder = folder
        self._watch = watch
        self._numbers = itertools.count(1)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a fresh store, and remove it at the end."""
        folder = self._folder / f"store-{next(self._numbers)}"
        with Session(self.adapter, folder, self._watch) as session:
            yield session

    def folder(self, name: str) -> Path:
        """Return a folder for stores that are not this stage's own to open."""
        return self._folder / f"{name}-{next(self._numbers)}"

    @property
    def faulty(self) -> bool:
        """Whether anything is known to be wrong with calls that were made one after the other."""
        broken = any(evidence.faulty for evidence in self.evidence.values())
        return broken or bool(self.known_aspects)

    @property
    def limit(self) -> float:
        """How long one call may take, in seconds."""
        return self._watch.limit

    def cover(self, layer: str, oracle: Oracle, position: Position, letter: Letter) -> None:
        """Count that a letter was fired at a position, in one of the coverage's layers."""
        self.evidence[tuple(oracle.params.items())].cover(layer, position, letter)

    def walks(
        self, params: Params, words: Iterable[Word], *, suite: str, cast: Cast
    ) -> Iterator[Walk]:
        """Walk each word with a task of its own.

        A store is renewed every few words, so that dumps stay small. Where workers take what
        comes, it is renewed for each: a task that an earlier word left waiting would be taken.
        """
        batch = 1 if self.adapter.claims else WORDS_PER_STORE
        for some in batched(words, batch):
            try:
                with self.session() as session:
                    for number, word in enumerate(some):
                        try:
                            tracked = session.submit(params, f"{TASK}{number}")
                        except Fault as fault:
                            self.keep(fault)
                            continue
                        yield walk(session, word, tracked, suite=suite, cast=cast)
            except Fault as fault:
                self.keep(fault)

    def keep(self, fault: Fault) -> None:
        """Keep what failed outside a judged step; after a call that hangs, nothing goes on."""
        if fault.hung:
            raise fault
        self.faults.append(fault)

    def packed(self, params: Params) -> list[Walk]:
        """Return the walks of the suite ``packed``, which are kept for laws that compare them."""
        return self.recorded[tuple(params.items())]

    def oracles(self) -> Iterator[Oracle]:
        """Yield the table for each set of parameters that every suite runs with."""
        for params in self.table.valuations:
            yield self.adapter.oracle(params)

    def positions(self, params: Params) -> tuple[Position, ...]:
        """Return what the table can reach, nearest first."""
        return reachable(self.adapter.oracle(params))

    def populated(
        self, oracle: Oracle, tally: Tally, positions: Sequence[Position] | None = None
    ) -> Iterator[tuple[Session, list[Tracked]]]:
        """Yield stores with a task at each position: one store where that can be.

        Where workers take what comes, each position has a store of its own: a waiting task
        would be taken in another's place.
        """
        every = self.positions(oracle.params) if positions is None else positions
        for some in batched(every, 1 if self.adapter.claims else max(len(every), 1)):
            with self.session() as session:
                tasks = []
                for position in some:
                    label = f"{TASK}{len(session.tasks)}"
                    try:
                        tasks.append(self.reach(session, oracle.params, position, label=label))
                    except Blocked as blocked:
                        tally.stop(blocked)
                if tasks:
                    yield session, tasks

    def later(self, session: Session, oracle: Oracle, tally: Tally) -> None:
        """Bring more tasks to every held position of a store: their leases are younger."""
        row = rows(tally)
        for position in self.held(oracle):
            with row():
                self.reach(session, oracle.params, position, label=f"{TASK}{len(session.tasks)}")

    def everywhere(self, oracle: Oracle, tally: Tally) -> Iterator[tuple[Session, Tracked]]:
        """Yield a task at each position."""
        for session, tasks in self.populated(oracle, tally):
            for tracked in tasks:
                yield session, tracked

    def held(self, oracle: Oracle) -> list[Position]:
        """Return the positions in which a lease is held."""
        lease = self.table.lease
        states = lease.held_in if lease else ()
        return [position for position in self.positions(oracle.params) if position.state in states]

    def way(self, params: Params, position: Position) -> Word:
        """Return a shortest way that the implementation obeys.

        Raises:
            Blocked: There is none; it names the cell that is in the way.
        """
        evidence = self.evidence[tuple(params.items())]
        ways = evidence.ways()
        if position not in ways:
            raise Blocked(evidence.cause(position))
        return ways[position]

    def reach(
        self,
        session: Session,
        params: Params,
        position: Position,
        *,
        label: str = TASK,
        cast: Cast = Cast.ANOTHER,
        own: str | None = None,
    ) -> Tracked:
        """Submit a task and bring it to a position.

        Args:
            session: The store.
            params: What the task is submitted with.
            position: Where it should be.
            label: Its name in the trace.
            cast: Which worker starts it again.
            own: The id it should get, where the system lets one choose.

        Raises:
            Blocked: The implementation breaks a cell on every way there.
        """
        word = self.way(params, position)
        tracked = session.submit(params, label, own)
        for letter in word:
            self.go(session, tracked, letter, cast=cast)
        return tracked

    def go(
        self, session: Session, tracked: Tracked, letter: Letter, *, cast: Cast = Cast.ANOTHER
    ) -> Seen:
        """Fire a letter that a scenario needs, by whoever should.

        Raises:
            Blocked: The step is unlawful.
        """
        position = tracked.model.position
        seen = session.fire(letter, actor_for(tracked, letter, cast), task=tracked.label)
        if seen.wrong(CELL_ASPECTS):
            raise self.broken(session, seen, tracked.oracle, position, letter)
        return seen

    def sound(self, oracle: Oracle, position: Position, letter: Letter) -> None:
        """See that a cell which a scenario is not about was not seen broken.

        Raises:
            Blocked: It was.
        """
        name = cell_id(oracle, position, letter)
        if self.evidence[tuple(oracle.params.items())].broke(name):
            raise Blocked(name)

    def broken(
        self, session: Session, seen: Seen, oracle: Oracle, position: Position, letter: Letter
    ) -> Blocked:
        """Return what an unlawful step means for a scenario that is not about it.

        The step's cell is in the way; or, where the cell was lawful by itself, it is broken here
        alone, and that is a finding.
        """
        name = cell_id(oracle, position, letter)
        if self.evidence[tuple(oracle.params.items())].broke(name):
            return Blocked(name)
        problems = seen.wrong(CELL_ASPECTS)
        return Blocked(name, finding(seen, problems, session.log, f"{name}, lawful elsewhere"))

    def moves(self, oracle: Oracle, position: Position) -> list[Letter]:
        """Return the letters that move a task at a position."""
        return [
            letter
            for letter in self.table.letters
            if oracle.step(position, letter).kind is CellKind.LEGAL
        ]


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of at most ``size`` items (``itertools.batched`` is younger than our Python)."""
    rest = iter(items)
    while some := list(itertools.islice(rest, size)):
        yield some


def own_trace(session: Session, label: str) -> tuple[Op, ...]:
    """Return what was done to one task, and to the store as a whole."""
    return tuple(relabelled(op, TASK) for op in session.log if getattr(op, "task", label) == label)


def rows(tally: Tally) -> Callable[[], _Row]:
    """Return a maker of context managers: a row of a scenario that may be blocked."""
    return lambda: _Row(tally)


class _Row:
    """One row of a scenario: if it is blocked, the others still run."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trail: object) -> bool:
        if isinstance(error, Blocked):
            self._tally.stop(error)
            return True
        return False


def probe(
    tally: Tally,
    session: Session,
    seen: Seen,
    aspects: frozenset[Aspect],
    note: str = "",
) -> tuple[Problem, ...]:
    """Count a step that a law is about, and add what is wrong with it to the tally."""
    tally.trigger()
    problems = seen.wrong(aspects)
    if problems:
        known = seen.task in session.tasks
        trace = own_trace(session, seen.task) if known else session.log
        tally.find(finding(seen, problems, trace, note), session.log)
    return problems

"""A slice of a campaign: what is handed to a worker, what it does, and what it hands back.

Everything that is handed over is a plain value, and the functions are found by name, so that any
executor can take them to any machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.spec.words import reachable

from .adapter import AdapterError, describe
from .moves import Beat, Begin, Firing, Shown, Who, resolved
from .shrinking import shrink_moves
from .stores import store_folder
from .trace import format_trace
from .wander import TASKS_PER_STORE, Slice, first_broken, wander
from .watch import LIMIT, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lawful.spec.table import Table

    from .adapter import Adapter
    from .moves import Move
    from .wander import Broken, Found, Shape

__all__ = ["Errand", "Find", "Place", "Walked", "places", "shorten", "slices", "walk_slice"]

SLICE: Final = 20_000
"""The most steps of a slice: some seconds, so that progress is seen and little can be lost."""
SMALLEST: Final = 1_000
PARTS: Final = 20
"""A campaign is cut into so many slices at least, if they are not to be smaller than that."""


class Place(NamedTuple):
    """Where a letter was fired.

    Attributes:
        state: The state.
        counters: The counters' values, in the table's order.
        letter: The letter as text.
    """

    state: str
    counters: tuple[int, ...]
    letter: str


@dataclass(frozen=True, slots=True)
class Errand:
    """All that a worker needs to walk a slice: plain values, and none that belong to a machine.

    Attributes:
        target: How the adapter is named.
        table: The table to judge by.
        offered: What the smoke test has seen it offer.
        part: The slice.
        limit: How long one call may take, in seconds.
        store: Where stores are made; by default in the worker's memory.
        seconds: How long it may take altogether.
        again: How often it was begun before. A cluster takes equal errands for one.
        find: What to make shorter, if that is the errand.
    """

    target: str
    table: Table
    offered: tuple[str, ...]
    part: Slice
    limit: float = LIMIT
    store: str | None = None
    seconds: float | None = None
    again: int = 0
    find: Find | None = None


class Find(NamedTuple):
    """A finding.

    Attributes:
        shape: What makes it the same as another one.
        expected: What the table says.
        got: What was seen.
        trace: The steps that show it, as one line.
        length: How many steps these are.
        times: How often it was met.
        seed: The seed of the slice that met it.
        moves: What the trace is made of; none if it should not be done again.
    """

    shape: Shape
    expected: str
    got: str
    trace: str
    length: int
    times: int
    seed: int
    moves: tuple[Move, ...] = ()

    @property
    def rank(self) -> tuple[int, int, str, Shape]:
        """Shorter traces first; the text decides, so that runs agree."""
        return self.length, len(self.trace), self.trace, self.shape


class Walked(NamedTuple):
    """What came of a slice.

    Attributes:
        steps: How many steps were taken.
        hits: How often each letter was fired at each position.
        found: The findings, one of each shape.
        wrong: Why the worker could not begin; empty if it could.
    """

    steps: int = 0
    hits: tuple[tuple[Place, int], ...] = ()
    found: tuple[Find, ...] = ()
    wrong: str = ""


def slices(steps: int, seed: int) -> list[Slice]:
    """Cut a campaign into slices; the same for the same numbers.

    Args:
        steps: How many steps there are in all; at least 1.
        seed: What the slices' own seeds come from.
    """
    if steps < 1:
        raise ValueError(f"{steps} steps: at least one is needed")
    size = max(SMALLEST, min(SLICE, -(-steps // PARTS)))
    chooser = Random(seed)  # noqa: S311 - it chooses seeds, no secrets
    return [
        Slice(chooser.getrandbits(32), min(size, steps - before))
        for before in range(0, steps, size)
    ]


def places(adapter: Adapter) -> list[Place]:
    """Return every position that the table can reach, with every letter, in the table's order."""
    table = adapter.table
    every = {p for params in table.valuations for p in reachable(adapter.oracle(params))}
    order = list(table.states)
    return [
        Place(position.state, position.counters, str(letter))
        for position in sorted(every, key=lambda p: (order.index(p.state), p.counters))
        for letter in table.letters
    ]


def walk_slice(errand: Errand, progress: Callable[[int], None] = lambda steps: None) -> Walked:
    """Walk a slice.

    A call that does not return is ended only where this is called in a process's main thread: in a
    cluster's worker it is not.

    Args:
        errand: What to do.
        progress: Told how many steps were taken, now and then.
    """
    try:
        adapter = _adapter(errand)
    except AdapterError as error:
        return Walked(wrong=str(error))
    until = None if errand.seconds is None else time.monotonic() + errand.seconds
    with store_folder(_folder(errand)) as folder:
        result = wander(
            adapter, errand.part, folder, limit=errand.limit, until=until, progress=progress
        )
    hits = {
        Place(position.state, position.counters, str(letter)): count
        for (position, letter), count in result.hits.items()
    }
    found = (
        Find(
            one.shape,
            *_said(one),
            format_trace(one.trace),
            len(one.trace),
            result.shapes[one.shape],
            errand.part.seed,
            one.moves,
        )
        for one in result.found
    )
    return Walked(result.steps, tuple(sorted(hits.items())), tuple(found))


def shorten(errand: Errand) -> Find:
    """Return a finding with a trace as short as it can be made, move by move.

    Args:
        errand: What to do; it has a finding.
    """
    find = errand.find
    if find is None:
        raise ValueError("the errand has no finding")
    if not find.moves:
        return find
    with store_folder(_folder(errand)) as folder:
        watch = Watch(errand.limit)
        with watch.running():
            return _Shortening(_adapter(errand), find, folder, watch).shortest()


class _Shortening:
    def __init__(self, adapter: Adapter, find: Find, folder: Path, watch: Watch) -> None:
        self._adapter = adapter
        self._find = find
        self._folder = folder / "shortest"
        self._watch = watch
        self._hung = False

    def shortest(self) -> Find:
        """Leave out what is not needed, and say the rest as plainly as it can be said."""
        find = self._find
        table = self._adapter.table
        moves = self._plain(shrink_moves(table, find.moves, self._shown))
        broken = self._broken(moves)
        if broken is None:
            return find
        ops = resolved(table, moves, tasks=TASKS_PER_STORE)
        expected, got = _said(broken)
        return find._replace(
            shape=broken.shape,
            expected=expected,
            got=got,
            trace=format_trace(ops),
            length=len(ops),
            moves=moves,
        )

    def _shown(self, moves: tuple[Move, ...]) -> int | None:
        broken = self._broken(moves)
        return broken and broken.length

    def _broken(self, moves: tuple[Move, ...]) -> Broken | None:
        """Do moves, and return the first step that is unlawful if it is what was found."""
        if not moves or not isinstance(moves[0], Begin) or self._hung:
            return None
        ops = resolved(self._adapter.table, moves, tasks=TASKS_PER_STORE)
        broken = first_broken(self._adapter, ops, self._folder, self._watch)
        if broken is None:
            return None
        self._hung = broken.hung
        # What was seen may tell more or less of the same fault; what was expected may not.
        return broken if broken.shape[:4] == self._find.shape[:4] else None

    def _plain(self, moves: tuple[Move, ...]) -> tuple[Move, ...]:
        """Let whoever should make each move, if it shows the same, with default parameters."""
        for number in range(len(moves)):
            for simpler in self._simpler(moves[number]):
                other = (*moves[:number], simpler, *moves[number + 1 :])
                if simpler != moves[number] and self._shown(other) == len(other):
                    moves = other
                    break
        return moves

    def _simpler(self, move: Move) -> Iterator[Move]:
        match move:
            case Begin(start):
                yield Begin(start._replace(params=tuple(self._adapter.table.defaults.items())))
            case Firing():
                yield Firing(move.letter, task=move.task)
                yield replace(move, version=Shown.NOTHING, token=Shown.NOTHING)
                yield replace(move, who=Who.PROPER, token=Shown.NOTHING)
                yield replace(move, who=Who.PROPER, version=Shown.NOTHING)
            case Beat():
                yield Beat(task=move.task)
                yield replace(move, token=Shown.NOTHING)
            case _:
                pass


def _adapter(errand: Errand) -> Adapter:
    """Return the adapter as the smoke test returned it, wherever this is."""
    adapter = describe(errand.target, table=errand.table)
    return replace(adapter, offered=frozenset(errand.offered))


def _folder(errand: Errand) -> Path | None:
    return None if errand.store is None else Path(errand.store)


def _said(found: Broken | Found) -> tuple[str, str]:
    """Return what was expected and what was seen, in words."""
    expected = dict.fromkeys(problem.expected for problem in found.problems)
    got = dict.fromkeys(problem.got for problem in found.problems)
    return ", ".join(expected), ", ".join(got)

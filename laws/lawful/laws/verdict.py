"""How a cell came to its verdict.

A cell is judged where every step before it was lawful, if it can be reached so; else where the
task was put; else where an earlier fault left the task. A cell that can't be reached at all is
BLOCKED by the first broken cell on the shortest way to it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from lawful.spec.table import CellKind
from lawful.spec.words import Edge, shortest_paths
from lawful.strategies.seen import CELL_ASPECTS, Aspect, How
from lawful.strategies.trace import Fire, format_trace

from .cells import CellKey, Cells, cell_id
from .law import Check, Status, finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from lawful.spec.oracle import Oracle, Position
    from lawful.spec.table import Letter
    from lawful.spec.words import Word
    from lawful.strategies.seen import Problem, Seen
    from lawful.strategies.walk import Walk

    from .law import Finding

__all__ = ["Evidence"]


class Evidence:
    """What walks have shown of the cells, for one set of parameters.

    Args:
        oracle: The table and the parameters.
        observable: Whether a move between states that can't be told apart would show anyway.
    """

    def __init__(self, oracle: Oracle, *, hidden: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.oracle = oracle
        self.cells = Cells(oracle)
        self._hidden = hidden
        self.layers: dict[str, dict[str, int]] = defaultdict(dict)
        self.places: dict[CellKey, dict[str, int]] = defaultdict(dict)
        self._hits: dict[str, dict[How, int]] = defaultdict(lambda: dict.fromkeys(How, 0))
        self._best: dict[tuple[str, How], Finding] = {}
        self._findings: dict[str, int] = defaultdict(int)
        self._broken: dict[Edge, None] = {}
        self._ways: tuple[int, dict[Position, Word]] | None = None

    def read(self, walk: Walk) -> None:
        """Take in what a walk has shown."""
        for length, seen in enumerate(walk.steps, 1):
            if not isinstance(seen.op, Fire):
                continue
            position, letter = seen.model.position, seen.op.letter
            name = cell_id(self.oracle, position, letter)
            self._hits[name][seen.how] += 1
            self.cover(walk.suite, position, letter)
            problems = seen.wrong(CELL_ASPECTS)
            if problems:
                self._findings[name] += 1
                best = self._best.get((name, seen.how))
                if best is None or length < len(best.trace):
                    found = finding(seen, cell_problems(seen, problems), walk.trace(length))
                    self.add(name, replace(found, whole=walk.whole(length)))
            if problems and seen.answer.kind is CellKind.LEGAL and seen.how is How.CLEAN:
                self._broken[Edge(position, letter)] = None

    def cover(self, layer: str, position: Position, letter: Letter) -> None:
        """Count that a letter was fired at a position, in one of the coverage's layers."""
        for hits in (
            self.layers[cell_id(self.oracle, position, letter)],
            self.places[CellKey(position, letter)],
        ):
            hits[layer] = hits.get(layer, 0) + 1

    def add(self, name: str, found: Finding) -> None:
        """Add a finding to a cell's check; the one with the shortest trace is kept."""
        key = name, found.how
        if key not in self._best or found.rank < self._best[key].rank:
            self._best[key] = found

    def hang(self, seen: Seen, found: Finding) -> None:
        """Add the step that did not return."""
        if seen.letter is not None:
            name = cell_id(self.oracle, seen.model.position, seen.letter)
            self._hits[name][found.how] += 1
            self.add(name, found)

    def shorten(self, shorter: Callable[[str, Finding], Finding]) -> None:
        """Give each finding whose trace is longer than a shortest one the chance to be shorter."""
        usual = shortest_paths(self.oracle)
        for (name, how), found in self._best.items():
            keys = self.cells.keys.get(name)
            # A trace has its beginning, the way, and the letter.
            if keys and how is How.CLEAN and len(found.trace) > len(usual[keys[0].position]) + 2:
                self._best[name, how] = shorter(name, found)

    @property
    def broken(self) -> frozenset[Edge]:
        """The transitions that the implementation was seen to break."""
        return frozenset(self._broken)

    @property
    def faulty(self) -> bool:
        """Whether any cell was seen broken."""
        return bool(self._best)

    def ways(self) -> dict[Position, Word]:
        """Return a shortest way to each position over transitions that were not seen broken."""
        if self._ways is None or self._ways[0] != len(self._broken):
            self._ways = len(self._broken), shortest_paths(self.oracle, without=self.broken)
        return self._ways[1]

    def broke(self, name: str) -> bool:
        """Say whether a cell's check has failed anywhere, however the task came there."""
        return any((name, how) in self._best for how in How)

    def hits(self, name: str) -> int:
        """Return how often a cell's check was asked."""
        return sum(self._hits[name].values())

    def unreached(self) -> list[str]:
        """Return the ids that no lawful way and no ``put`` has reached."""
        return [
            name
            for name in self.cells.says
            if not self._hits[name][How.CLEAN] and not self._hits[name][How.PUT]
        ]

    def cause(self, position: Position) -> str:
        """Return the first broken cell on the shortest way to a position."""
        there = self.oracle.origin
        for letter in shortest_paths(self.oracle).get(position, ()):
            if Edge(there, letter) in self._broken:
                return cell_id(self.oracle, there, letter)
            there = self.oracle.step(there, letter).after
        return ""

    def checks(self) -> list[Check]:
        """Return every cell's check, in the table's order."""
        return [self._check(name) for name in self.cells.says]

    def _check(self, name: str) -> Check:
        says, hits = self.cells.says[name], self._hits[name]
        if name in self._unobservable():
            cause = "its state can't be told from the one before (indistinct)"
            return Check(name, Status.UNSUPPORTED, says, cause=cause, triggers=sum(hits.values()))
        how = next((how for how in How if hits[how]), None)
        if how is None:
            cause = self.cause(self.cells.keys[name][0].position)
            status = Status.BLOCKED if cause else Status.NOT_RUN
            return Check(name, status, says, cause=cause)
        best = self._best.get((name, how))
        if best is None:
            return Check(name, Status.PASS, says, triggers=hits[how], how=how)
        return Check(
            name,
            Status.ERROR if best.error else Status.FAIL,
            says,
            best.expected,
            best.got,
            format_trace(best.trace),
            triggers=hits[how],
            how=how,
            findings=self._findings[name],
            trail=best.trail,
        )

    def _unobservable(self) -> set[str]:
        return {
            cell_id(self.oracle, key.position, key.letter)
            for keys in self.cells.keys.values()
            for key in keys
            if (
                key.position.state,
                self.oracle.step(key.position, key.letter).after.state,
            )
            in self._hidden
        }


def cell_problems(seen: Seen, problems: tuple[Problem, ...]) -> list[Problem]:
    """Say what a cell demands and what came instead, in one line each.

    Where a call that must be refused wrote, that it was accepted says less than what it wrote:
    both are told, the table's word once.
    """
    shown = list(problems)
    if seen.answer.kind is CellKind.LEGAL:
        # What follows from a refusal, or from the wrong state, would only repeat it.
        telling = (Aspect.ERROR, Aspect.CLAIM, Aspect.STATE)
        first = next((aspect for aspect in telling if any(p.aspect is aspect for p in shown)), None)
        return [p for p in shown if first is None or p.aspect is first]
    if seen.answer.kind is CellKind.REFUSED:
        expected = f"refused ({seen.answer.reason}), nothing written"
    else:
        expected = "accepted, nothing written"
    return [problem._replace(expected=expected) for problem in shown]

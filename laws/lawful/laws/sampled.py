"""The family ``random``: what Hypothesis finds beyond the words.

The words settle the table; this goes where they don't: several tasks at once, time, stale tokens,
restarts, and refused events put into programs that nobody wrote down. It begins where the walks
have ended: a cell that is known to be broken ends a program and is not found again.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lawful.spec.table import CellKind
from lawful.strategies.performing import perform
from lawful.strategies.seen import CELL_ASPECTS

from .bisimulation import came_of, told
from .cells import cell_id
from .law import Finding, ScenarioLaw, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import hypothesis

    from lawful.strategies.seen import Seen
    from lawful.strategies.session import Session
    from lawful.strategies.trace import Op
    from lawful.strategies.unlawful import Unlawful

    from .bisimulation import Move
    from .law import Tally
    from .stage import Stage

__all__ = ["DRAWN", "LAWS"]

DRAWN: Final = frozenset({"machine", "programs"})
"""The layers of the coverage that are drawn; all others are exhaustive."""


@dataclass(slots=True)
class _Watcher:
    """Counts what a search does, for one law.

    Attributes:
        stage: Whose evidence says what is known.
        tally: The law's tally.
        layer: What the steps count for in the coverage.
        kinds: How often each kind of step was done.
        session: The store that was seen last.
        op: The step that was seen last: it may be judged on several tasks.
    """

    stage: Stage
    tally: Tally
    layer: str
    kinds: Counter[str] = field(default_factory=Counter)
    session: Session | None = None
    op: Op | None = None

    def observe(self, session: Session, seen: Seen) -> None:
        """Count a step that was judged."""
        if session is not self.session:
            self.session = session
            self.kinds["examples"] += 1
        if seen.op is not self.op:
            self.op = seen.op
            self.kinds[type(seen.op).__name__.lower()] += 1
        self.tally.trigger()
        self.tally.control(seen.answer.kind is CellKind.LEGAL and not seen.problems)
        if seen.letter is not None and seen.task in session.tasks:
            oracle = session.tasks[seen.task].oracle
            self.stage.cover(self.layer, oracle, seen.model.position, seen.letter)

    def known(self, session: Session, seen: Seen) -> bool:
        """Say whether the walks have shown an unlawful step's fault already."""
        if {problem.aspect for problem in seen.problems} <= self.stage.known_aspects:
            return True
        if seen.letter is None or seen.task not in session.tasks or not seen.wrong(CELL_ASPECTS):
            return False
        oracle = session.tasks[seen.task].oracle
        name = cell_id(oracle, seen.model.position, seen.letter)
        return self.stage.evidence[tuple(oracle.params.items())].broke(name)

    def report(self) -> None:
        """Say how many examples there were, and of what."""
        examples = self.kinds.pop("examples", 0)
        steps = self.kinds.total()
        if examples:
            each = ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common())
            mean = steps / examples
            self.tally.note(f"{examples} examples of {mean:.1f} steps in the mean: {each}")


def _programs(stage: Stage, tally: Tally) -> None:
    from lawful.strategies.searching import search_programs

    watcher = _Watcher(stage, tally, "programs")
    with _settings(stage) as how:
        found = search_programs(
            stage.adapter,
            stage.folder("programs"),
            how,
            seed=stage.search.seed,
            observe=watcher.observe,
            known=watcher.known,
        )
    _tell(tally, watcher, found)


def _machine(stage: Stage, tally: Tally) -> None:
    from lawful.strategies.searching import search_machine

    watcher = _Watcher(stage, tally, "machine")
    with _settings(stage) as how:
        found = search_machine(
            stage.adapter,
            stage.folder("machine"),
            how,
            seed=stage.search.seed,
            observe=watcher.observe,
            known=watcher.known,
        )
    _tell(tally, watcher, found)


@contextmanager
def _settings(stage: Stage) -> Iterator[hypothesis.settings]:
    """Give the search's settings, and keep Hypothesis's own files out of the user's folder."""
    from hypothesis.configuration import set_hypothesis_home_dir

    from lawful.strategies.profiles import Effort, profile

    set_hypothesis_home_dir(stage.folder("hypothesis"))
    try:
        yield profile(Effort(stage.search.effort), database=stage.search.database)
    finally:
        set_hypothesis_home_dir(None)


def _tell(tally: Tally, watcher: _Watcher, found: Unlawful | None) -> None:
    watcher.report()
    if found is not None:
        tally.find(finding(found.seen, found.seen.problems, found.trace))


def _bisimulation(stage: Stage, tally: Tally) -> None:
    """Run programs twice, with and without the calls that the table refuses, and compare."""
    from hypothesis import given, seed

    from lawful.strategies.drawing import programs
    from lawful.strategies.moves import abilities

    adapter, tasks = stage.adapter, 1 if stage.adapter.claims else 2

    def same(program: tuple[Op, ...]) -> None:
        steps = _played(stage, program)
        quiet = [op for op, seen in steps if seen.answer.reason is not None]
        for _, seen in steps:
            if seen.wrong(CELL_ASPECTS):
                tally.blocked.append(_name(seen))
                return
        if not quiet:
            return
        # A call that is refused may stand in a program twice, word for word: each goes.
        bare = tuple(op for op in program if not any(op is other for other in quiet))
        tally.trigger(len(quiet))
        with_, without = (
            came_of(seen for _, seen in each) for each in (steps, _played(stage, bare))
        )
        tally.control(len(without))
        if with_ != without:
            raise _Differ(program, steps, with_, without)

    drawn = programs(stage.table, tasks=tasks, abilities=abilities(adapter))
    try:
        with _settings(stage) as how:
            test = how(given(drawn)(same))
            if stage.search.seed is not None:
                test = seed(stage.search.seed)(test)
            test()
    except _Differ as differ:
        tally.find(differ.finding)


class _Differ(AssertionError):
    """A program went another way because of what was refused in it.

    Attributes:
        finding: What to report.
    """

    def __init__(
        self,
        program: tuple[Op, ...],
        steps: Sequence[tuple[Op, Seen]],
        with_: Sequence[Move],
        without: Sequence[Move],
    ) -> None:
        moved = [op for op, seen in steps if seen.answer.kind is CellKind.LEGAL and seen.after]
        pairs = zip(moved, with_, without, strict=False)
        op, got, want = next(pair for pair in pairs if pair[1] != pair[2])
        length = next(n for n, other in enumerate(program, 1) if other is op)
        expected = f"as without the refused events: {told(want, got)}"
        self.finding = Finding(expected, told(got, want), program[:length])
        super().__init__(expected)


def _played(stage: Stage, program: Sequence[Op]) -> list[tuple[Op, Seen]]:
    with stage.session() as session:
        return [(op, seen) for op in program for seen in perform(session, op)]


def _name(seen: Seen) -> str:
    """Return the cell of a step, whatever the task's parameters are."""
    branch = f"?{seen.answer.branch}" if seen.answer.branch else ""
    event = seen.letter.event if seen.letter else "any"
    return f"cell/{seen.model.position.state}/{event}{branch}"


LAWS = (
    ScenarioLaw(
        id="random/programs",
        says="no program that is drawn at random is unlawful in any step: a task brought to a "
        "start, then anything, by anybody, at any time, with other tasks beside it",
        why="What nobody wrote down is what users do. Drawn as a whole, a program shrinks to a "
        "shortest one.",
        run=_programs,
    ),
    ScenarioLaw(
        id="random/machine",
        says="no run of the state machine is unlawful in any step: several tasks in one store, "
        "time, heartbeats, the reaper, restarts",
        why="A long run meets what a short program can't: the fifth start, the third restart.",
        run=_machine,
    ),
    ScenarioLaw(
        id="random/bisimulation",
        says="a program that is drawn at random goes the same way with and without the calls that "
        "are refused in it",
        why="A refusal that leaves a mark in nobody's row acts later, and perhaps on another task.",
        run=_bisimulation,
    ),
)

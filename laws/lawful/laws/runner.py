"""One run: the smoke test, the walks, the laws, and what they have found out.

The walks of the word suites come first, since every scenario stands on what they have shown.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from lawful.spec.words import cells, deep, packed, shortest_paths
from lawful.strategies.driver import Fault
from lawful.strategies.seen import Aspect, Hung
from lawful.strategies.trace import TASK
from lawful.strategies.walk import Cast, walk
from lawful.strategies.watch import LIMIT, Watch
from lawful.sut.contract import NotYet

from .catalogue import CALLS, laws_of
from .cells import place, suffix
from .law import Blocked, Check, Finding, ScenarioLaw, Status, Tally, TraceLaw, conclude, finding
from .shorten import shortened_cell, shortened_law
from .smoke import smoke
from .stage import WORDS_PER_STORE, Stage, batched
from .verdict import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from lawful.spec.oracle import Oracle
    from lawful.spec.words import Edge, Word
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.walk import Walk

    from .law import Law
    from .smoke import Smoke
    from .stage import Search

__all__ = ["Profile", "Run", "run"]


class Profile(StrEnum):
    """How much is run."""

    QUICK = "quick"
    """Every deterministic law with the suites ``cells`` and ``packed``."""
    DEFAULT = "default"
    """The same, the suite ``deep``, races of one preemption from every state, and what Hypothesis
    finds at random."""
    DEEP = "deep"
    """The same, with races of two preemptions from every position."""


ALWAYS: Final = frozenset({"restart", "second_connection", "clock", "crash"})
"""What every implementation offers unless it says otherwise."""


@dataclass(slots=True)
class Run:
    """What a run has found out.

    Attributes:
        adapter: The adapter, with what its readings show.
        smoke: What the first calls have shown.
        checks: Every check: the cells in the table's order, then the laws.
        undeclared: Names that a law asks for and that the adapter neither offers nor names as a
            gap, with the laws that ask.
        coverage: For each cell id, how often each layer fired it.
        places: The same for each position and letter that the table can reach.
        seconds: How long it took.
    """

    adapter: Adapter
    smoke: Smoke
    checks: list[Check] = field(default_factory=list)
    undeclared: dict[str, list[str]] = field(default_factory=dict)
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)
    places: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: float = 0.0


def run(
    adapter: Adapter,
    folder: Path,
    *,
    profile: Profile = Profile.DEFAULT,
    limit: float = LIMIT,
    search: Search | None = None,
    only: Collection[str] | None = None,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
    checked: Callable[[Check], None] = lambda check: None,
) -> Run:
    """Judge an implementation.

    Args:
        adapter: The adapter.
        folder: An empty folder for stores; a memory-backed one is much faster.
        profile: How much is run.
        limit: How long one call may take, in seconds.
        search: How the random laws search.
        only: The laws that are run, by id; all of the profile by default. One that takes long is
            run in every profile, if it is named. The cells are always walked. Such a run judges a
            mutant, and no implementation: what was left out is not missed.
        progress: Told how far the run is.
        checked: Told of each check as soon as it is known.

    Raises:
        AdapterError: The adapter is not fit to be judged.
    """
    began = time.perf_counter()
    watch = Watch(limit)
    with watch.running():
        first = smoke(adapter, folder, watch)
        result = Run(first.adapter, first)
        thorough = profile is Profile.DEEP
        stage = Stage(first.adapter, folder, watch, search, thorough=thorough)
        _Runner(result, stage, profile, only, progress, checked).run()
    result.seconds = time.perf_counter() - began
    return result


class _Runner:
    def __init__(
        self,
        result: Run,
        stage: Stage,
        profile: Profile,
        only: Collection[str] | None,
        progress: Callable[[int, int, str], None],
        checked: Callable[[Check], None],
    ) -> None:
        self._result = result
        self._stage = stage
        self._adapter = result.adapter
        self._profile = profile
        self._progress = progress
        self._checked = checked
        self._tallies: dict[str, Tally] = {}
        self._done = 0
        every = laws_of(self._adapter.table, quick=profile is Profile.QUICK and only is None)
        if only is not None:
            every = [law for law in every if law.id in only or law is CALLS]
        self._gapped = {law.id: check for law in every if (check := self._gap(law))}
        self._laws = [law for law in every if law.id not in self._gapped]
        self._all = every

    # -- what can be judged --------------------------------------------------------------------

    def _gap(self, law: Law) -> Check | None:
        """Return the check of a law that can't be judged, because of what is not offered."""
        gaps, offered = self._adapter.gaps, self._adapter.offered | ALWAYS
        for name in law.needs:
            if name in gaps:
                gap = gaps[name]
                status = Status.NOT_YET if isinstance(gap, NotYet) else Status.UNSUPPORTED
                issue = f" ({gap.issue})" if gap.issue else ""
                return Check(law.id, status, law.says, cause=f"{name}: {gap.reason}{issue}")
        missing = [name for name in law.needs if name not in offered]
        for name in missing:
            self._result.undeclared.setdefault(name, []).append(law.id)
        if missing:
            note = f"{', '.join(missing)}: neither offered nor declared in `gaps`"
            return Check(law.id, Status.NOT_RUN, law.says, note=note)
        return None

    # -- the run -------------------------------------------------------------------------------

    def run(self) -> None:
        """Run everything; a call that hangs ends it early."""
        self._tallies = {law.id: Tally() for law in self._laws}
        try:
            self._walks()
            self._know()
            for law in self._laws:
                if isinstance(law, ScenarioLaw):
                    self._tell(law.id)
                    self._scene(law)
        except (Hung, Fault) as ended:
            for tally in self._tallies.values():
                if not tally.triggers:
                    tally.note(f"not run: {ended}")
        for fault in self._stage.faults:
            self._tallies[CALLS.id].find(_broken(fault))
        for law in self._all:
            check = self._gapped.get(law.id) or self._concluded(law)
            self._result.checks.append(check)
            self._checked(check)
        self._cover()
        self._tell("done")

    def _cover(self) -> None:
        """Write down how often each layer fired what the table can reach."""
        for evidence in self._stage.evidence.values():
            for name, keys in evidence.cells.keys.items():
                self._result.coverage[name] = dict(evidence.layers.get(name, {}))
                for key in keys:
                    hits = dict(evidence.places.get(key, {}))
                    self._result.places[place(evidence.oracle, key)] = hits

    def _concluded(self, law: Law) -> Check:
        tally = self._tallies[law.id]
        if tally.best is not None and not tally.best.error and not tally.best.line:
            tally.best = shortened_law(self._stage, law, tally.best)
        return conclude(law, tally)

    def _know(self) -> None:
        """Tell the stage which faults the walks have shown, so that no search finds them again."""
        for name, aspect in (("lease/held", Aspect.LEASE), ("replay/entry", Aspect.ENTRY)):
            if name in self._tallies and self._tallies[name].best is not None:
                self._stage.known_aspects.add(aspect)

    def _tell(self, what: str) -> None:
        self._progress(self._done, self._total(), what)
        self._done += 1

    def _total(self) -> int:
        suites = 2 if self._profile is Profile.QUICK else 3
        scenes = sum(isinstance(law, ScenarioLaw) for law in self._laws)
        return suites * len(self._adapter.table.valuations) + scenes

    def _scene(self, law: ScenarioLaw) -> None:
        tally = self._tallies[law.id]
        try:
            law.run(self._stage, tally)
        except Blocked as blocked:
            tally.stop(blocked)
        except Hung as hung:
            tally.find(finding(hung.seen, hung.seen.problems, hung.log))
            raise
        except Fault as fault:
            # Outside a judged step: opening, submitting or looking failed.
            tally.find(_broken(fault))
            if fault.hung:
                raise

    def _walks(self) -> None:
        table = self._adapter.table
        for params in table.valuations:
            oracle = self._adapter.oracle(params)
            evidence = Evidence(oracle, hidden=self._hidden())
            self._stage.evidence[tuple(params.items())] = evidence
            try:
                self._settle(evidence, oracle)
            except Hung as hung:
                found = finding(hung.seen, hung.seen.problems, hung.log)
                evidence.hang(hung.seen, found)
                raise
            except Fault as fault:
                self._stage.faults.append(fault)
                raise
            else:
                evidence.shorten(partial(shortened_cell, self._stage))
            finally:
                for check in evidence.checks():
                    self._result.checks.append(check)
                    self._checked(check)

    def _settle(self, evidence: Evidence, oracle: Oracle) -> None:
        """Walk the suites for one set of parameters."""
        at = suffix(oracle.table, oracle.params)
        self._tell(f"cells{at}")
        self._suite(evidence, "cells", cells(oracle), Cast.ANOTHER)
        self._detours(evidence, oracle)
        self._tell(f"packed{at}")
        walks = self._suite(evidence, "packed", packed(oracle), Cast.SAME)
        self._stage.recorded[tuple(oracle.params.items())] = walks
        if self._profile is not Profile.QUICK:
            self._tell(f"deep{at}")
            self._suite(evidence, "deep", deep(oracle), Cast.ANOTHER)
        if "put" in self._adapter.offered and oracle.params == oracle.table.defaults:
            self._put(evidence)

    def _suite(
        self, evidence: Evidence, suite: str, words: Iterable[Word], cast: Cast
    ) -> list[Walk]:
        walks = []
        for walked in self._stage.walks(evidence.oracle.params, words, suite=suite, cast=cast):
            self._read(evidence, walked)
            walks.append(walked)
        return walks

    def _read(self, evidence: Evidence, walked: Walk) -> None:
        evidence.read(walked)
        for law in self._laws:
            if isinstance(law, TraceLaw):
                law.read(self._adapter.table, walked, self._tallies[law.id])

    def _detours(self, evidence: Evidence, oracle: Oracle) -> None:
        """Where a transition is broken, go to the positions behind it by another way."""
        usual = shortest_paths(oracle)
        walked: frozenset[Edge] = frozenset()
        while evidence.broken != walked:
            walked = evidence.broken
            other = {p: way for p, way in evidence.ways().items() if way != usual[p]}
            self._suite(evidence, "cells", cells(oracle, paths=other), Cast.ANOTHER)

    def _put(self, evidence: Evidence) -> None:
        """Put tasks straight into positions, for the cells that no lawful way reaches."""
        keys = [key for name in evidence.unreached() for key in evidence.cells.keys[name]]
        for some in batched(keys, 1 if self._adapter.claims else WORDS_PER_STORE):
            try:
                with self._stage.session() as session:
                    for number, (position, letter) in enumerate(some):
                        tracked = session.put(position, "worker-1", f"{TASK}{number}")
                        walked = walk(session, (letter,), tracked, suite="put", cast=Cast.SAME)
                        self._read(evidence, walked)
            except Fault as fault:
                self._stage.keep(fault)

    def _hidden(self) -> frozenset[tuple[str, str]]:
        """Return the moves that can't be seen: between states that can't be told apart."""
        if self._adapter.offered & {"history", "version"}:
            return frozenset()
        return frozenset(
            (state, other)
            for state, alike in self._adapter.indistinct.items()
            for other in alike
            if state != other
        )


def _broken(fault: Fault) -> Finding:
    return Finding(
        "every call returns what the contract allows", str(fault), (), error=True, trail=fault.trail
    )

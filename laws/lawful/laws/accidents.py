"""What the laws about accidents have in common: which calls are hit, and how it is told."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lawful.strategies.accidents import Accident, Mishap, Sort, format_accident
from lawful.strategies.trace import Advance, Heartbeat, Reap, Reopen, format_trace

from .law import Finding, finding
from .leases import MARGIN
from .stage import rows
from .starts import begin, call, starts, unready_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lawful.spec.model import Model
    from lawful.spec.oracle import Oracle, Position
    from lawful.spec.table import Letter
    from lawful.strategies.accidents import Hit, Statement
    from lawful.strategies.crashes import CrashSite, Film
    from lawful.strategies.seen import Problem, Seen
    from lawful.strategies.trace import Op

    from .law import Tally
    from .stage import Stage

__all__ = ["Afterwards", "Call", "crashes", "each_call", "gone_wrong", "judge_calls", "told"]


class Call(NamedTuple):
    """A call that is hit.

    Attributes:
        before: What brings the tasks to where it is made.
        hit: The call.
        oracle: The table, with the parameters of its task.
        model: Its task then.
        letter: The event that is fired, by the caller or by the reaper; None if there is none.
    """

    before: tuple[Op, ...]
    hit: Hit
    oracle: Oracle
    model: Model
    letter: Letter | None

    def finding(
        self, mishaps: Sequence[Mishap], expected: str, got: str, then: Sequence[Op] = ()
    ) -> Finding:
        """Return what is wrong after an accident, or after what was done then, or without any."""
        line = self.line(mishaps, then) if mishaps else ""
        return Finding(expected, got, self.trace(then), line=line)

    def line(self, mishaps: Sequence[Mishap], then: Sequence[Op] = ()) -> str:
        """Return the accident in one line, with what was done then."""
        return format_accident(Accident(self.before, self.hit, tuple(mishaps), tuple(then)))

    def trace(self, then: Sequence[Op] = ()) -> tuple[Op, ...]:
        """Return the same without an accident: its length is what counts."""
        return (*self.before, self.hit, *then)


def each_call(stage: Stage, tally: Tally, judge: Callable[[CrashSite, Call], None]) -> None:
    """Judge every call that writes something, wherever things begin.

    Events, a heartbeat, the reaper with two tasks to reap, and the opening of the store.
    """
    oracle = stage.adapter.oracle({})
    positions = starts(stage, oracle)
    judge_calls(stage, tally, [partial(_calls, stage, oracle, each) for each in positions], judge)


def judge_calls(
    stage: Stage,
    tally: Tally,
    groups: Iterable[Callable[[], Iterable[Call]]],
    judge: Callable[[CrashSite, Call], None],
) -> None:
    """Judge groups of calls at one site; where the way to a group is blocked, the others still are.

    Args:
        stage: What the walks have shown.
        tally: The law's.
        groups: Each gives its calls.
        judge: Judges one.
    """
    from lawful.strategies.canary import distrust
    from lawful.strategies.hub import Stuck
    from lawful.strategies.severed import crash_site

    if reason := distrust(stage.adapter.server):
        tally.vague.append(reason)
        return
    row = rows(tally)
    with crash_site(stage.adapter, stage.folder("accidents"), limit=stage.limit) as site:
        try:
            for calls in groups:
                with row():
                    for each in calls():
                        with row():
                            _judge(stage, tally, site, each, judge)
        except Stuck as error:
            tally.vague.append(str(error))
        if site.unseen and (tally.triggers or not tally.blocked):
            tally.vague.append(site.unseen)


def _judge(
    stage: Stage,
    tally: Tally,
    site: CrashSite,
    each: Call,
    judge: Callable[[CrashSite, Call], None],
) -> None:
    from lawful.strategies.driver import Fault
    from lawful.strategies.hub import Stuck
    from lawful.strategies.performing import Unready

    if each.letter is not None:
        stage.sound(each.oracle, each.model.position, each.letter)
    try:
        judge(site, each)
    except Unready as unready:
        raise unready_blocks(unready) from unready
    except (Fault, Stuck) as error:
        found = each.finding((), "the store can be opened, looked at and closed", str(error))
        tally.find(replace(found, error=True))
        if isinstance(error, Stuck):
            raise


def _calls(stage: Stage, oracle: Oracle, position: Position) -> Iterator[Call]:
    begun = begin(stage, oracle, position)
    task, lease, offered = begun.task, stage.table.lease, stage.adapter.offered
    for letter in stage.moves(oracle, position):
        yield Call(begun.before, call(letter, task, 0), oracle, task.model, letter)
    if lease is None or task.model.holding is None:
        return
    if "heartbeat" in offered:
        yield Call(begun.before, call(Heartbeat, task, 0), oracle, task.model, None)
    if "reap" in offered and "clock" not in stage.adapter.gaps:
        both = begin(stage, oracle, position, tasks=1 if stage.adapter.claims else 2)
        expired = (*both.before, Advance(lease.seconds + MARGIN))
        for hit in (Reap(), Reopen()):
            yield Call(expired, hit, oracle, task.model, lease.on_expiry)


def crashes(film: Film) -> Iterator[tuple[Mishap, str, int]]:
    """Yield every point of a call that leaves something else behind than the points before it.

    Each with where it is, in words, and the number of its image.
    """
    last = len(film.statements)
    seen = set()
    for number, image in enumerate(film.images):
        if number == last or image not in seen:
            seen.add(image)
            at = "at its end" if number == last else f"before {told(film.statements[number])}"
            yield Mishap(Sort.CRASH, number + 1), at, number


def told(statement: Statement) -> str:
    """Return a statement, shortened to a line."""
    return statement.text if len(statement.text) <= 60 else statement.text[:57] + "..."


def gone_wrong(
    stage: Stage,
    tally: Tally,
    site: CrashSite,
    each: Call,
    mishap: Mishap,
    at: str,
    then: Sequence[Op],
) -> bool:
    """Have a statement of a call go wrong, and do some steps; say whether nothing is wrong then.

    Args:
        stage: What the walks have shown.
        tally: The law's.
        site: Where it happens.
        each: The call.
        mishap: What happens to it.
        at: The same in words.
        then: What is done afterwards. Whether it is right there is the control.
    """
    with site.hurt(each.before, each.hit, mishap) as hurt:
        tally.trigger()
        if not hurt.found.lawful:
            tally.find(each.finding([mishap], hurt.found.expected, f"{at}: {hurt.found.got}"))
            return False
        afterwards = Afterwards(stage, tally, each, mishap, at)
        tally.control(afterwards.lawful(partial(site.perform, hurt.session), then))
    return True


class Afterwards(NamedTuple):
    """What is done after an accident, and how it is judged.

    Attributes:
        stage: What the walks have shown.
        tally: The law's.
        each: The call that was hit.
        mishap: What happened to it.
        at: Where, in words.
    """

    stage: Stage
    tally: Tally
    each: Call
    mishap: Mishap
    at: str

    def lawful(
        self, perform: Callable[[Op], list[Seen]], ops: Iterable[Op], *, others: int = 0
    ) -> bool:
        """Do some steps and say whether nothing new is wrong with them; add it, if it is.

        What is broken without an accident too is in the way, or left out.

        Args:
            perform: Does a step.
            ops: The steps; each is asked for when those before it are done.
            others: How many of the first steps are another law's to judge.
        """
        done: list[Op] = []
        for op in ops:
            done.append(op)
            for seen in perform(op):
                if problems := self._problems(seen):
                    if len(done) > others:
                        self._find(seen, problems, done)
                    return False
        return True

    def _problems(self, seen: Seen) -> list[Problem]:
        known = self.stage.known_aspects
        problems = [problem for problem in seen.problems if problem.aspect not in known]
        if problems and seen.letter is not None:
            oracle = self.stage.adapter.oracle({})
            self.stage.sound(oracle, seen.model.position, seen.letter)
        return problems

    def _find(self, seen: Seen, problems: Sequence[Problem], done: Sequence[Op]) -> None:
        note = f"{self.at}, then {format_trace(done)}"
        found = finding(seen, problems, self.each.trace(done), note)
        self.tally.find(replace(found, line=self.each.line([self.mishap], done)))

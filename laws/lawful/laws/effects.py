"""The family ``effect``: what a worker does outside the store, when it dies before or after it.

A worker starts a task, calls a receiver, and reports. How often the call may be made is in the
table: as often as a task whose lease expires each time can be started.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from lawful.spec.model import Call as CalledBy
from lawful.spec.model import fire
from lawful.strategies.driver import ClaimKind
from lawful.strategies.receiver import Receiver
from lawful.strategies.trace import Advance, Fire, Read, Reap
from lawful.strategies.walk import Cast, actor_for

from .accidents import Call, crashes, judge_calls
from .applying import reports
from .law import Finding, ScenarioLaw
from .leases import MARGIN, restarts, started_again
from .stage import rows
from .starts import begin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Lease, Letter, Table
    from lawful.strategies.accidents import Mishap
    from lawful.strategies.crashes import CrashSite
    from lawful.strategies.session import Session
    from lawful.strategies.tracked import Tracked

    from .law import Tally
    from .stage import Stage

__all__ = ["LAWS", "starts_at_most"]

_WORKER: Final = "worker-1"
_MANY: Final = 20
"""A task that can be started more often than this may as well be started for ever."""


@lru_cache(maxsize=64)
def starts_at_most(oracle: Oracle, lease: Lease) -> int | None:
    """Return how often a task can be started that expires each time; None if there is no end."""
    position = oracle.origin
    for starts in range(_MANY):
        word = started_again(oracle, lease, position)
        if word is None:
            return starts
        for letter in (*word, lease.on_expiry):
            position = oracle.step(position, letter).after
    return None


def _bounded(table: Table) -> bool:
    """Say whether there is an end to the starts of a task that expires each time."""
    lease = table.lease
    oracles = {one.oracle for one in reports(table)}
    return lease is not None and any(starts_at_most(oracle, lease) for oracle in oracles)


def _reported(table: Table) -> frozenset[str]:
    """Return the ends that only a worker's report leads to, and no expiry."""
    lease = table.lease
    expired = {
        one.oracle.step(one.position, lease.on_expiry).after.state
        for one in reports(table)
        if lease
    }
    ends = {one.outcome.after.state for one in reports(table)} & set(table.terminal)
    return frozenset(ends - expired)


def _works(table: Table) -> bool:
    """Say whether a task that expires can be started again, and comes to an end by a report."""
    return restarts(table) and bool(_reported(table))


def _each_worked(
    stage: Stage, tally: Tally, judge: Callable[[CrashSite, Call, Lease], None]
) -> None:
    """Judge a task's first start and each report behind it, for each set of parameters."""
    lease = stage.table.lease
    if lease is not None:
        groups = [partial(_worked, stage, oracle, lease) for oracle in stage.oracles()]
        judge_calls(stage, tally, groups, lambda site, each: judge(site, each, lease))


def _worked(stage: Stage, oracle: Oracle, lease: Lease) -> Iterator[Call]:
    """Yield a task's first start, and each report behind it: the receiver is called between."""
    word = started_again(oracle, lease, oracle.origin)
    if not word:
        return
    *way, letter = word
    there = oracle.origin
    for each in way:
        there = oracle.step(there, each).after
    begun, start = begin(stage, oracle, there), Fire(letter, _WORKER)
    yield Call(begun.before, start, oracle, begun.task.model, letter)
    model = fire(oracle, begun.task.model, CalledBy(letter, _WORKER), 0.0).after
    for report in stage.moves(oracle, model.position):
        if report.event in lease.needed_by:
            before = (*begun.before, start)
            yield Call(before, Fire(report, _WORKER), oracle, model, report)


def _called(each: Call) -> Receiver:
    """Return a receiver as it is where a call is made: it is called when a worker has started."""
    return Receiver(calls=each.model.grants)


def _at_most(stage: Stage, tally: Tally) -> None:
    """Start a task again and again, each worker dying when it has called the receiver."""

    def judge(site: CrashSite, each: Call, lease: Lease) -> None:
        most = starts_at_most(each.oracle, lease)
        if most is None:
            return
        for mishap, at, session in _left(site, each):
            receiver = _called(each)
            for _ in range(most + 1):
                _expire(site, session, lease)
                if _start(site, session, lease) is ClaimKind.ACCEPTED:
                    receiver.call(_token(session))
            tally.trigger()
            tally.control(receiver.calls == most)
            if receiver.calls > most:
                got = f"a crash {at}: called {receiver.calls} times"
                asked = f"a receiver is called at most {most} times"
                tally.find(each.finding([mishap], asked, got, session.log))

    _each_worked(stage, tally, judge)


def _at_least(stage: Stage, tally: Tally) -> None:
    """Recover from a crash and work on: what ends as reported has called the receiver."""
    reported = _reported(stage.table)

    def judge(site: CrashSite, each: Call, lease: Lease) -> None:
        for mishap, at, session in _left(site, each):
            receiver = _called(each)
            _expire(site, session, lease)
            if _start(site, session, lease) is ClaimKind.ACCEPTED:
                receiver.call(_token(session))
                _report(site, session, lease)
            tally.trigger()
            tally.control(receiver.calls > 0)
            state = _task(session).view.reading.state
            if not receiver.calls and state in reported:
                got = f"a crash {at}: it is {state}, and the receiver was never called"
                asked = "what was reported has called the receiver"
                tally.find(each.finding([mishap], asked, got, session.log))

    _each_worked(stage, tally, judge)


def _left(site: CrashSite, each: Call) -> Iterator[tuple[Mishap, str, Session]]:
    """Yield what each crash of a call leaves, whatever it is: here calls are counted alone."""
    film = site.film(each.before, each.hit)
    for mishap, at, number in crashes(film):
        with site.reopened(film, number, film.tasks) as session:
            site.perform(session, Read())
            yield mishap, at, session


def _fenced(stage: Stage, tally: Tally) -> None:
    """Have a zombie call the receiver when the next worker has called it."""
    lease, row = stage.table.lease, rows(tally)
    for oracle in stage.oracles():
        for position in stage.held(oracle):
            if lease is None or not started_again(
                oracle, lease, oracle.step(position, lease.on_expiry).after
            ):
                continue
            with row(), stage.session() as session:
                tracked = stage.reach(session, oracle.params, position)
                receiver, older = Receiver(), _token(session)
                tally.control(receiver.call(older))
                session.advance(lease.seconds + MARGIN)
                session.reap()
                for letter in started_again(oracle, lease, tracked.model.position) or ():
                    stage.go(session, tracked, letter)
                newer = _token(session)
                tally.trigger()
                if not receiver.call(newer) or receiver.call(older):
                    got = f"the zombie shows {older}, the next worker {newer}"
                    asked = "each start has a newer token: the receiver refuses the zombie's"
                    tally.find(Finding(asked, got, tuple(session.log)), session.log)


def _expire(site: CrashSite, session: Session, lease: Lease) -> None:
    for op in (Advance(lease.seconds + MARGIN), Reap()):
        site.perform(session, op)


def _task(session: Session) -> Tracked:
    (task,) = session.tasks.values()
    return task


def _token(session: Session) -> int | None:
    return _task(session).view.reading.lease_token


def _start(site: CrashSite, session: Session, lease: Lease) -> ClaimKind | None:
    """Have the next worker start the task: on the table's way, or straight away without one."""
    task = _task(session)
    way = started_again(task.oracle, lease, task.model.position)
    claim = None
    for letter in way or (_first(session, lease.granted_by),):
        claim = _fired(site, session, letter)
    return claim


def _report(site: CrashSite, session: Session, lease: Lease) -> None:
    _fired(site, session, _first(session, lease.needed_by))


def _first(session: Session, events: Collection[str]) -> Letter:
    return next(letter for letter in session.table.letters if letter.event in events)


def _fired(site: CrashSite, session: Session, letter: Letter) -> ClaimKind | None:
    op = Fire(letter, actor_for(_task(session), letter, Cast.ANOTHER))
    claims = [seen.claim for seen in site.perform(session, op)]
    return next((claim.kind for claim in claims if claim is not None), None)


_NEEDS = ("restart", "crash", "reap", "clock", "actor")

LAWS = (
    ScenarioLaw(
        id="effect/at-most",
        says="however its workers die, a task is not started, and its receiver not called, more "
        "often than the table lets it be started",
        why="A start that a crash forgets to count is an email that is sent once more.",
        needs=_NEEDS,
        applies=_bounded,
        run=_at_most,
    ),
    ScenarioLaw(
        id="effect/at-least",
        says="a task that ends, after a crash, as only a report ends it has called its receiver",
        why="A boot that marks what was running as done loses the work, and says it is there.",
        needs=_NEEDS,
        applies=_works,
        run=_at_least,
    ),
    ScenarioLaw(
        id="effect/fenced",
        says="a receiver that refuses older tokens refuses a zombie once the next worker has "
        "called it",
        why="A lease can't stop a worker that sleeps through its end; a token that grows can.",
        needs=("lease_token", "reap", "clock", "actor"),
        applies=restarts,
        run=_fenced,
    ),
)

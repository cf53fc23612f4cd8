"""The family ``effect``: what a worker does outside the store, when it dies before or after it.

A worker starts a task, calls a receiver, and reports. How often the call may be made is in the
table: as often as a task whose lease expires each time can be started.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.strategies.driver import ClaimKind
from lawful.strategies.receiver import Receiver
from lawful.strategies.trace import Advance, Fire, Read, Reap
from lawful.strategies.walk import Cast, actor_for

from .accidents import Call, crashes
from .applying import reports
from .law import Finding, ScenarioLaw
from .leases import MARGIN, restarts, started_again
from .stage import rows
from .starts import begin, unready_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Lease, Letter, Table
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


class _Scene(NamedTuple):
    """A crash, and how often the receiver had been called by then."""

    site: CrashSite
    call: Call
    oracle: Oracle
    lease: Lease
    calls: int


def _each_scene(stage: Stage, tally: Tally, play: Callable[[_Scene], None]) -> None:
    """Play every first start and every first report, for each set of parameters."""
    from lawful.strategies.canary import distrust
    from lawful.strategies.performing import Unready
    from lawful.strategies.severed import crash_site

    lease, row = stage.table.lease, rows(tally)
    if (reason := distrust(stage.adapter.server)) or lease is None:
        tally.vague.append(reason or "no leases")
        return
    with crash_site(stage.adapter, stage.folder("effects"), limit=stage.limit) as site:
        for oracle in stage.oracles():
            with row():
                for call, calls in _worked(stage, oracle, lease):
                    try:
                        play(_Scene(site, call, oracle, lease, calls))
                    except Unready as unready:
                        raise unready_blocks(unready) from unready
        if tally.triggers and site.unseen:
            tally.vague.append(site.unseen)


def _worked(stage: Stage, oracle: Oracle, lease: Lease) -> Iterator[tuple[Call, int]]:
    """Yield a task's first start, and each report behind it: the receiver is called between."""
    word = started_again(oracle, lease, oracle.origin)
    if not word:
        return
    *way, letter = word
    there = oracle.origin
    for each in way:
        there = oracle.step(there, each).after
    begun, start = begin(stage, oracle, there), Fire(letter, _WORKER)
    yield Call(begun.before, start, 0, letter), 0
    for report in stage.moves(oracle, oracle.step(there, letter).after):
        if report.event in lease.needed_by:
            yield Call((*begun.before, start), Fire(report, _WORKER), 0, report), 1


def _at_most(stage: Stage, tally: Tally) -> None:
    """Start a task again and again, each worker dying when it has called the receiver."""

    def play(scene: _Scene) -> None:
        most = starts_at_most(scene.oracle, scene.lease)
        if most is None:
            return
        film = scene.site.film(scene.call.before, scene.call.hit)
        for mishap, at, number in crashes(film):
            # As it is found, whatever it is: here calls are counted, and no more.
            with scene.site.reopened(film, number, film.tasks) as session:
                scene.site.perform(session, Read())
                receiver = Receiver(scene.calls)
                for _ in range(most + 1):
                    _expire(scene, session)
                    if _start(scene, session) is ClaimKind.ACCEPTED:
                        receiver.call(_token(session))
                tally.trigger()
                tally.control(receiver.calls == most)
                if receiver.calls > most:
                    got = f"a crash {at}: called {receiver.calls} times"
                    asked = f"a receiver is called at most {most} times"
                    tally.find(scene.call.finding([mishap], asked, got, session.log))

    _each_scene(stage, tally, play)


def _at_least(stage: Stage, tally: Tally) -> None:
    """Recover from a crash and work on: what ends as reported has called the receiver."""
    reported = _reported(stage.table)

    def play(scene: _Scene) -> None:
        film = scene.site.film(scene.call.before, scene.call.hit)
        for mishap, at, number in crashes(film):
            # As it is found, whatever it is: here calls are counted, and no more.
            with scene.site.reopened(film, number, film.tasks) as session:
                scene.site.perform(session, Read())
                receiver = Receiver(scene.calls)
                _expire(scene, session)
                if _start(scene, session) is ClaimKind.ACCEPTED:
                    receiver.call(_token(session))
                    _report(scene, session)
                tally.trigger()
                tally.control(receiver.calls > 0)
                state = _task(session).view.reading.state
                if not receiver.calls and state in reported:
                    got = f"a crash {at}: it is {state}, and the receiver was never called"
                    asked = "what was reported has called the receiver"
                    tally.find(scene.call.finding([mishap], asked, got, session.log))

    _each_scene(stage, tally, play)


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


def _expire(scene: _Scene, session: Session) -> None:
    for op in (Advance(scene.lease.seconds + MARGIN), Reap()):
        scene.site.perform(session, op)


def _task(session: Session) -> Tracked:
    (task,) = session.tasks.values()
    return task


def _token(session: Session) -> int | None:
    return _task(session).view.reading.lease_token


def _start(scene: _Scene, session: Session) -> ClaimKind | None:
    """Have the next worker start the task: on the table's way, or straight away without one."""
    task, lease = _task(session), scene.lease
    way = started_again(scene.oracle, lease, task.model.position)
    granting = (one for one in scene.oracle.table.letters if one.event in lease.granted_by)
    claim = None
    for letter in way or (next(granting),):
        claim = _fired(scene, session, letter)
    return claim


def _report(scene: _Scene, session: Session) -> None:
    reports = (one for one in scene.oracle.table.letters if one.event in scene.lease.needed_by)
    _fired(scene, session, next(reports))


def _fired(scene: _Scene, session: Session, letter: Letter) -> ClaimKind | None:
    op = Fire(letter, actor_for(_task(session), letter, Cast.ANOTHER))
    claims = [seen.claim for seen in scene.site.perform(session, op)]
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

"""The family ``lease``: who may report, and until when.

A lease belongs to one start, not to a worker's name. Every refusal here has its positive
control beside it: the holder's call is accepted where another's is refused.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from lawful.spec.model import Reason
from lawful.spec.table import CellKind
from lawful.strategies.moves import elapsing
from lawful.strategies.seen import CELL_ASPECTS, Aspect
from lawful.strategies.walk import STRANGER, Cast

from .applying import reports, with_leases
from .law import Blocked, ScenarioLaw, TraceLaw, finding
from .order import asked
from .stage import own_trace, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lawful.spec.oracle import Oracle, Position
    from lawful.spec.table import Lease, Letter, Table
    from lawful.spec.words import Word
    from lawful.strategies.seen import Seen
    from lawful.strategies.session import Session
    from lawful.strategies.tracked import Tracked
    from lawful.strategies.walk import Walk

    from .law import Tally
    from .stage import Stage

__all__ = ["LAWS", "MARGIN", "restarts", "started_again"]

_ALL = frozenset(Aspect)
MARGIN: Final = 1
"""Seconds past a deadline: at the deadline itself nothing is judged."""


def _lease(stage: Stage) -> Lease:
    lease = stage.table.lease
    assert lease is not None  # noqa: S101 - these laws apply to tables with leases alone
    return lease


def _held(_: Table, walk: Walk, tally: Tally) -> None:
    for length, seen in enumerate(walk.steps, 1):
        if seen.after is None or seen.wrong(frozenset({Aspect.STATE, Aspect.ERROR})):
            continue  # whose lease it should be depends on the state
        holds = seen.answer.after.holding is not None
        tally.trigger(holds)
        tally.control(not holds)
        for name in ("lease_until", "lease_token"):
            if name not in walk.offered:
                tally.note(f"{name} is not shown, and not judged")
        if problems := seen.wrong(frozenset({Aspect.LEASE})):
            tally.step(walk, length, problems)


def _reports(stage: Stage, oracle: Oracle, position: Position) -> list[Letter]:
    """Return the reports that are legal at a position."""
    return [
        letter
        for letter in stage.moves(oracle, position)
        if letter.event in _lease(stage).needed_by
    ]


def _each_report(
    stage: Stage,
    tally: Tally,
    play: Callable[[Session, Tracked, Letter], None],
    *,
    cast: Cast = Cast.ANOTHER,
) -> None:
    """Play a scene on a fresh task, for each held position and each report legal there."""
    row = rows(tally)
    for oracle in stage.oracles():
        for position in stage.held(oracle):
            for letter in _reports(stage, oracle, position):
                with row(), stage.session() as session:
                    stage.sound(oracle, position, letter)
                    tracked = stage.reach(session, oracle.params, position, cast=cast)
                    play(session, tracked, letter)


def _owner(tracked: Tracked) -> str:
    holding = tracked.model.holding
    return holding.owner if holding else STRANGER


def _accepted(tally: Tally, seen: Seen) -> None:
    tally.control(not seen.problems)


def _holder(stage: Stage, tally: Tally) -> None:
    def play(session: Session, tracked: Tracked, letter: Letter) -> None:
        owner = _owner(tracked)
        asked(tally, session, session.fire(letter, STRANGER))
        if not tracked.lost():
            _accepted(tally, session.fire(letter, owner))

    _each_report(stage, tally, play)


def started_again(oracle: Oracle, lease: Lease, position: Position) -> Word | None:
    """Return how an expired task is started again, from where the reaper left it."""
    seen = {position}
    queue: list[tuple[Position, Word]] = [(position, ())]
    for there, word in queue:
        for letter in oracle.table.letters:
            outcome = oracle.step(there, letter)
            if outcome.kind is not CellKind.LEGAL:
                continue
            if letter.event in lease.granted_by:
                return (*word, letter)
            if outcome.after not in seen:
                seen.add(outcome.after)
                queue.append((outcome.after, (*word, letter)))
    return None


def _retaken_at(
    oracle: Oracle, lease: Lease, position: Position, letter: Letter
) -> Position | None:
    """Return where an expired task is once it was started again; None if its report is illegal."""
    there = oracle.step(position, lease.on_expiry).after
    again = started_again(oracle, lease, there)
    for each in again or ():
        there = oracle.step(there, each).after
    legal = oracle.step(there, letter).kind is CellKind.LEGAL
    return there if again is not None and legal else None


def restarts(table: Table) -> bool:
    """Say whether an expired task can be started again, and reported on as before."""
    lease = table.lease
    return lease is not None and any(
        _retaken_at(one.oracle, lease, one.position, one.letter) for one in reports(table)
    )


def _reported(table: Table) -> bool:
    return bool(reports(table))


def _timely(stage: Stage, session: Session, tracked: Tracked, letter: Letter, tally: Tally) -> None:
    """See that the same report is accepted in time, on another task."""
    oracle, position = tracked.oracle, tracked.model.position
    timely = stage.reach(session, oracle.params, position, label="timely")
    _accepted(tally, session.fire(letter, _owner(timely), task="timely"))


def _retaken(stage: Stage, session: Session, tracked: Tracked, cast: Cast) -> Iterator[str]:
    """Expire a task, reap it and have it started again; yield what it does at each pause."""
    lease = _lease(stage)
    session.advance(lease.seconds + MARGIN)
    for seen in session.reap():
        if seen.wrong(CELL_ASPECTS):
            raise Blocked("lease/reaper")
    yield "waiting"
    again = started_again(tracked.oracle, lease, tracked.model.position)
    if again is None:
        return
    for letter in again:
        stage.go(session, tracked, letter, cast=cast)
    yield "taken again"


def _zombie(stage: Stage, tally: Tally) -> None:
    lease = _lease(stage)

    def play(session: Session, tracked: Tracked, letter: Letter) -> None:
        zombie = _owner(tracked)
        if _retaken_at(tracked.oracle, lease, tracked.model.position, letter) is None:
            _timely(stage, session, tracked, letter, tally)
        for when in _retaken(stage, session, tracked, Cast.ANOTHER):
            if tracked.lost():
                return
            late = session.fire(letter, zombie)
            asked(tally, session, late, Reason.ILLEGAL, Reason.STALE_LEASE)
            if when == "taken again" and not tracked.lost() and _legal(tracked, letter):
                _accepted(tally, session.fire(letter, _owner(tracked)))

    _each_report(stage, tally, play)


def _legal(tracked: Tracked, letter: Letter) -> bool:
    return tracked.oracle.step(tracked.model.position, letter).kind is CellKind.LEGAL


def _fencing(stage: Stage, tally: Tally) -> None:
    """Let the same worker start a task twice, then report with the older start's token."""

    def play(session: Session, tracked: Tracked, letter: Letter) -> None:
        older = tracked.model.grants
        for when in _retaken(stage, session, tracked, Cast.SAME):
            holding = tracked.model.holding
            if when == "waiting" or holding is None or not _legal(tracked, letter):
                continue
            seen = session.fire(letter, holding.owner, grant=older)
            asked(tally, session, seen)
            if not tracked.lost():
                _accepted(tally, session.fire(letter, holding.owner, grant=holding.grant))

    _each_report(stage, tally, play, cast=Cast.SAME)


def _release(stage: Stage, tally: Tally) -> None:
    def play(session: Session, tracked: Tracked, letter: Letter) -> None:
        owner = _owner(tracked)
        left = stage.go(session, tracked, letter)
        tally.control(tracked.view.reading.lease_owner is None)
        if problems := left.wrong(frozenset({Aspect.LEASE})):
            tally.find(finding(left, problems, session.log))
        else:
            asked(tally, session, session.heartbeat(owner), Reason.STALE_LEASE)

    _each_report(stage, tally, play)


def _heartbeat(stage: Stage, tally: Tally) -> None:
    row, lease = rows(tally), _lease(stage)
    for oracle in stage.oracles():
        for position in stage.held(oracle):
            with row(), stage.session() as session:
                tracked = stage.reach(session, oracle.params, position)
                asked(tally, session, session.heartbeat(STRANGER), Reason.STALE_LEASE)
                for _ in range(2):  # what is renewed once is not yet renewed again
                    session.advance(elapsing(lease)[0])
                    seen = session.heartbeat(_owner(tracked))
                    _judged(tally, session, seen)
                    tally.control(not seen.problems)
                    if seen.problems:
                        break


def _beats_expired(stage: Stage, tally: Tally) -> None:
    row, lease = rows(tally), _lease(stage)
    for oracle in stage.oracles():
        for position in stage.held(oracle):
            with row(), stage.session() as session:
                tracked = stage.reach(session, oracle.params, position)
                session.advance(lease.seconds + MARGIN)
                beat = session.heartbeat(_owner(tracked))
                _judged(tally, session, beat)
                for seen in session.reap():
                    tally.control(not seen.problems)
                    if seen.problems and not beat.problems:
                        tally.find(finding(seen, seen.problems, session.log))


def _judged(tally: Tally, session: Session, seen: Seen) -> None:
    tally.trigger()
    if problems := seen.wrong(_ALL):
        tally.find(finding(seen, problems, own_trace(session, seen.task)), session.log)


def _expiry(stage: Stage, tally: Tally) -> None:
    lease = _lease(stage)

    def play(session: Session, tracked: Tracked, letter: Letter) -> None:
        _timely(stage, session, tracked, letter, tally)
        session.advance(lease.seconds + MARGIN)
        _judged(tally, session, session.fire(letter, _owner(tracked)))

    _each_report(stage, tally, play)


def _reaper(stage: Stage, tally: Tally) -> None:
    """Reap a store in which some leases have expired, some have not, and others never were."""
    part, whole = elapsing(_lease(stage))
    for oracle in stage.oracles():
        for session, _ in stage.populated(oracle, tally):
            session.advance(part)
            stage.later(session, oracle, tally)
            session.advance(whole - part)
            steps = session.reap()
            for seen in steps:
                expired = seen.answer.kind is CellKind.LEGAL
                tally.trigger(expired)
                tally.control(not expired and seen.model.holding is not None)
                if problems := seen.wrong(_ALL):
                    tally.find(finding(seen, problems, own_trace(session, seen.task)), session.log)
            for seen in session.reap():
                if (problems := seen.wrong(_ALL)) and not steps[0].problems:
                    note = "the second time"
                    own = own_trace(session, seen.task)
                    tally.find(finding(seen, problems, own, note), session.log)


def _poison(stage: Stage, tally: Tally) -> None:
    """Reap several expired tasks, one of which can't be written."""
    # The oldest, then the youngest: a reaper may begin at either end.
    for oracle, which in product(stage.oracles(), (0, -1)):
        held = stage.held(oracle)
        # Of one that can't be written, another must be reaped.
        for session, tasks in stage.populated(oracle, tally, held * 2 if len(held) == 1 else held):
            session.poison(tasks[which].label)
            session.advance(_lease(stage).seconds + MARGIN)
            for seen in session.reap():
                poisoned_one = session.tasks[seen.task].poisoned
                tally.trigger(not poisoned_one)
                tally.control(poisoned_one and not seen.problems)
                if problems := seen.wrong(_ALL):
                    note = "one task of the store can't be written"
                    tally.find(finding(seen, problems, session.log, note))


_HELD = ("lease_owner", "actor")
_REAPED = (*_HELD, "reap", "clock")

HELD = TraceLaw(
    id="lease/held",
    says="a lease is held exactly where the table says: granted by the start to its actor, for as "
    "long as the table says, with a token that only grows; and released on leaving",
    why="A task that runs and that nobody holds is invisible to the reaper (aegra 547).",
    needs=("lease_owner",),
    applies=with_leases,
    read=_held,
)

LAWS = (
    HELD,
    ScenarioLaw(
        id="lease/holder",
        says="on every reporting path only the holder reports; a stranger's legal report is a "
        "stale lease",
        why="Fencing one path and leaving another open is the usual half of it (jamjet 108).",
        needs=_HELD,
        applies=_reported,
        run=_holder,
    ),
    ScenarioLaw(
        id="lease/zombie",
        says="a worker that comes back after the reaper is refused: as illegal while the task "
        "waits, for its lease once another start holds it",
        why="procrastinate and RQ let the zombie's late report close the run of its successor.",
        needs=_REAPED,
        applies=_reported,
        run=_zombie,
    ),
    ScenarioLaw(
        id="lease/fencing",
        says="a report with the token of an older start is refused, by the same worker too",
        why="A lease that belongs to a worker's name lets that worker's older attempt through "
        "(aegra 547).",
        needs=(*_REAPED, "lease_token", "token"),
        applies=restarts,
        run=_fencing,
    ),
    ScenarioLaw(
        id="lease/release",
        says="after a report the lease is released: the old holder's heartbeat is refused",
        why="A heartbeat that is still accepted keeps a finished task alive for the reaper.",
        needs=(*_HELD, "heartbeat"),
        applies=_reported,
        run=_release,
    ),
    ScenarioLaw(
        id="lease/heartbeat",
        says="the holder's heartbeat renews the lease and changes neither version nor history; "
        "anybody else's is refused",
        why="A stranger's heartbeat that is accepted steals the lease back (lion-reader 917).",
        needs=(*_HELD, "lease_until", "heartbeat", "clock"),
        applies=with_leases,
        run=_heartbeat,
    ),
    ScenarioLaw(
        id="lease/heartbeat-expired",
        says="a heartbeat after the deadline and before the reaper counts as the table's expiry "
        "says, and a renewed task is not reaped",
        why="A slow worker that is still alive should not lose its work to a lazy reaper, nor "
        "keep it against a strict one.",
        needs=(*_HELD, "heartbeat", "reap", "clock"),
        applies=with_leases,
        run=_beats_expired,
    ),
    ScenarioLaw(
        id="lease/expiry",
        says="after the deadline and before the reaper, the holder's report counts as the table's "
        "expiry says",
        why="Both are right, and a worker must know which: lazy keeps finished work, strict keeps "
        "a promise about time.",
        needs=(*_HELD, "clock"),
        applies=_reported,
        run=_expiry,
    ),
    ScenarioLaw(
        id="lease/reaper",
        says="the reaper handles every task whose lease has expired and no other, logs what it "
        "did, and finds nothing the second time",
        why="A reaper that takes the live ones too runs tasks twice; one that misses some leaves "
        "them running for ever (prefect, solid_queue 589).",
        needs=_REAPED,
        applies=with_leases,
        run=_reaper,
    ),
    ScenarioLaw(
        id="lease/poison",
        says="a task that can't be written stops no other from being reaped, and stays as it was",
        why="One broken row must not keep a whole queue from being recovered.",
        needs=(*_REAPED, "poison"),
        applies=with_leases,
        run=_poison,
    ),
)

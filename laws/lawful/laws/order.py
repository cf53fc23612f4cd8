"""The family ``order``: which error comes first, when more than one thing is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.spec.model import Reason
from lawful.spec.table import CellKind
from lawful.strategies.seen import Aspect
from lawful.strategies.walk import CLIENT, STRANGER, Cast, actor_for
from lawful.sut.contract import Refusal

from .applying import reached, reports
from .law import ScenarioLaw
from .stage import probe

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Table
    from lawful.strategies.seen import Seen
    from lawful.strategies.session import Session
    from lawful.strategies.tracked import Tracked

    from .law import Tally
    from .stage import Stage

__all__ = ["ILLEGAL_FIRST", "UNKNOWN_FIRST", "VERSION_FIRST", "asked"]

_REFUSED = frozenset({Aspect.CLAIM, Aspect.REASON, Aspect.WROTE, Aspect.ERROR})


def asked(tally: Tally, session: Session, seen: Seen, *rivals: Reason) -> None:
    """Judge a refusal, unless the implementation can't tell it from the law's rivals."""
    reasons = seen.claim.reasons if seen.claim else frozenset()
    wanted = seen.answer.reason
    fits = wanted is not None and Refusal(wanted.value) in reasons
    if fits and len(reasons & {Refusal(rival.value) for rival in rivals}) > 1:
        tally.vague.append(f"one refusal may mean {' or '.join(sorted(reasons))}")
        return
    probe(tally, session, seen, _REFUSED)


def _stale(tracked: Tracked) -> int:
    """Return a version that is not the task's: an older one, where it has one."""
    return tracked.model.version - 1 if tracked.model.version else 1


def _version_first(stage: Stage, tally: Tally) -> None:
    for oracle in stage.oracles():
        for session, tracked in stage.everywhere(oracle, tally):
            for letter in stage.table.letters:
                for actor in dict.fromkeys((actor_for(tracked, letter, Cast.ANOTHER), STRANGER)):
                    if tracked.lost():
                        break
                    seen = session.fire(letter, actor, version=_stale(tracked), task=tracked.label)
                    asked(tally, session, seen, *Reason)
            _right_version(stage, session, tracked, oracle, tally)


def _right_version(
    stage: Stage, session: Session, tracked: Tracked, oracle: Oracle, tally: Tally
) -> None:
    """Fire one legal event with the version that the task really has: it is accepted."""
    moves = stage.moves(oracle, tracked.model.position)
    if moves and not tracked.lost():
        actor = actor_for(tracked, moves[0], Cast.ANOTHER)
        version = tracked.model.version
        seen = session.fire(moves[0], actor, version=version, task=tracked.label)
        tally.control(not seen.problems)


def _illegal_first(stage: Stage, tally: Tally) -> None:
    lease = stage.table.lease
    reports = lease.needed_by if lease else ()
    for oracle in stage.oracles():
        for session, tracked in stage.everywhere(oracle, tally):
            for letter in stage.table.letters:
                if letter.event not in reports or tracked.lost():
                    continue
                illegal = oracle.step(tracked.model.position, letter).kind is CellKind.REFUSED
                seen = session.fire(letter, STRANGER, task=tracked.label)
                if illegal:
                    asked(tally, session, seen, Reason.ILLEGAL, Reason.STALE_LEASE)
                else:
                    tally.control(not seen.problems)


def _reported_amiss(table: Table) -> bool:
    """Say whether a report is legal somewhere, and somewhere illegal."""
    lease = table.lease
    return bool(reports(table)) and any(
        lease and one.letter.event in lease.needed_by and one.outcome.kind is CellKind.REFUSED
        for one in reached(table)
    )


def _unknown_first(stage: Stage, tally: Tally) -> None:
    with stage.session() as session:
        tracked = session.submit({})
        for letter in stage.table.letters:
            for version in (0, 7):
                seen = session.fire_absent(letter, CLIENT, version=version)
                asked(tally, session, seen, *Reason)
        seen = session.fire(stage.table.letters[0], CLIENT, version=_stale(tracked))
        tally.control(not seen.problems)


VERSION_FIRST = ScenarioLaw(
    id="order/version-first",
    says="a stale expected version is refused as such before anything else about the task is "
    "looked at: before a no-op is granted, before an illegal transition, before a stale lease",
    why="A caller that acts on an old reading must learn that its reading is old. Granted a "
    "no-op, it believes that it has seen the task as it is.",
    needs=("version", "expected_version"),
    run=_version_first,
)

ILLEGAL_FIRST = ScenarioLaw(
    id="order/illegal-before-lease",
    says="a stranger's illegal report is refused as illegal, its legal one for the lease",
    why="A late report is an illegal transition while the task waits and a stale lease once "
    "another start holds it: a worker that can't tell the two can't tell whether to give up.",
    needs=("lease_owner", "actor"),
    applies=_reported_amiss,
    run=_illegal_first,
)

UNKNOWN_FIRST = ScenarioLaw(
    id="order/unknown-first",
    says="an unknown task is refused as unknown, whatever version the caller expects of it",
    why="An id that nobody gave out has no version to be stale.",
    needs=("absent", "version", "expected_version"),
    run=_unknown_first,
)

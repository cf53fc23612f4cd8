"""The families ``recover`` and ``reply``: what went wrong strands nothing and doubles nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lawful.strategies.accidents import Mishap, Sort
from lawful.strategies.trace import Advance, Fire, Reap, Reopen
from lawful.strategies.walk import Cast, actor_for

from .accidents import Afterwards, crashes, each_call, gone_wrong, told
from .applying import with_leases
from .law import ScenarioLaw
from .leases import MARGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lawful.strategies.crashes import CrashSite
    from lawful.strategies.session import Session
    from lawful.strategies.trace import Op

    from .accidents import Call
    from .law import Tally
    from .stage import Stage

__all__ = ["LAWS"]


def _after_crashes(
    stage: Stage,
    tally: Tally,
    steps: Callable[[Stage, Session], Iterable[Op]],
    *,
    others: int = 0,
) -> None:
    """Crash at each statement of every call, and judge what is done afterwards."""

    def judge(site: CrashSite, each: Call) -> None:
        film = site.film(each.before, each.hit)
        for mishap, at, number in crashes(film):
            found = site.after(film, number)
            if not found.lawful:
                continue
            with site.reopened(film, number, found.tasks) as session:
                tally.trigger()
                then = Afterwards(stage, tally, each, mishap, f"a crash {at}")
                ops = steps(stage, session)
                tally.control(then.lawful(partial(site.perform, session), ops, others=others))

    each_call(stage, tally, judge)


def _recovery(stage: Stage) -> tuple[Op, ...]:
    """Return what a recovery is: wait until every lease has expired, and reap."""
    lease = stage.table.lease
    return (Advance(lease.seconds + MARGIN), Reap()) if lease else ()


def _stranded(stage: Stage, tally: Tally) -> None:
    _after_crashes(stage, tally, _onward)


def _onward(stage: Stage, session: Session) -> Iterator[Op]:
    """Recover, and move each task on to its end."""
    yield from _recovery(stage)
    for task in session.tasks.values():
        for _ in stage.positions(task.oracle.params):
            moves = stage.moves(task.oracle, task.model.position)
            if not moves or task.lost():
                break
            actor = actor_for(task, moves[0], Cast.ANOTHER)
            yield Fire(moves[0], actor, None, None, task.label)


def _again(stage: Stage, tally: Tally) -> None:
    first = _recovery(stage)
    steps = (*first, Reap(), Reopen(), Reap())
    _after_crashes(stage, tally, lambda _, __: steps, others=len(first))


def _repeated(stage: Stage, tally: Tally) -> None:
    """Lose the reply to each write; the caller makes the call again."""

    def again(each: Call) -> Op | None:
        if isinstance(each.hit, Fire) and "expected_version" in stage.adapter.offered:
            return replace(each.hit, version=each.model.version)
        return each.hit

    _lost(stage, tally, again)


def _error_path(stage: Stage, tally: Tally) -> None:
    """Lose the reply to each report; the worker reports a failure instead."""
    lease = stage.table.lease

    def failure(each: Call) -> Op | None:
        hit = each.hit
        if lease is None or not isinstance(hit, Fire) or hit.letter == lease.on_expiry:
            return None
        reports = hit.letter.event in lease.needed_by
        return replace(hit, letter=lease.on_expiry) if reports else None

    _lost(stage, tally, failure)


def _lost(stage: Stage, tally: Tally, then_does: Callable[[Call], Op | None]) -> None:
    """Lose the reply to each write of every call, and judge what is done then."""

    def judge(site: CrashSite, each: Call) -> None:
        op = then_does(each)
        if op is None:
            return
        film = site.film(each.before, each.hit)
        for number, statement in enumerate(film.statements, 1):
            if not statement.lands:
                continue
            mishap = Mishap(Sort.LOST, number)
            at, then = f"the reply to {told(statement)} is lost", (op, Reopen())
            if not gone_wrong(stage, tally, site, each, mishap, at, then):
                return

    each_call(stage, tally, judge)


_NEEDS = ("restart", "crash", "reap", "clock")

LAWS = (
    ScenarioLaw(
        id="recover/stranded",
        says="after a crash at any statement, waiting and reaping frees every task, and each can "
        "be moved on to its end",
        why="A worker that dies between two writes leaves a task that nobody will ever look at.",
        needs=_NEEDS,
        applies=with_leases,
        run=_stranded,
    ),
    ScenarioLaw(
        id="recover/again",
        says="recovering a second time, by the reaper or by a restart, changes nothing",
        why="A recovery that is not idempotent takes attempts away at every restart.",
        needs=_NEEDS,
        applies=with_leases,
        run=_again,
    ),
    ScenarioLaw(
        id="reply/repeated",
        says="a call whose write landed and whose reply was lost is applied once, or not at all, "
        "when it is made again",
        why="The caller can't tell; a retry that is applied twice counts an attempt twice.",
        needs=("restart", "crash"),
        run=_repeated,
    ),
    ScenarioLaw(
        id="reply/error-path",
        says="a report whose reply was lost, and after which the worker reports a failure, stands",
        why="A success whose answer is lost is turned into a failure, and runs again.",
        needs=("restart", "crash", "actor"),
        applies=with_leases,
        run=_error_path,
    ),
)

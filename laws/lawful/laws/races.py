"""The family ``race``: what several workers do at once is what they could have done in turn.

Every schedule is chosen, none is met by luck: each worker is stopped before each statement that
the others can see, on the implementation's own connections.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, TypeAlias

from lawful.spec.table import CellKind, Letter
from lawful.strategies.linear import orders
from lawful.strategies.trace import Advance, Fire, Heartbeat, Reap, Submit

from .law import Finding, ScenarioLaw
from .leases import MARGIN, restarts, started_again
from .stage import rows
from .starts import begin, call, starts, unready_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Letter
    from lawful.strategies.moves import Played
    from lawful.strategies.racing import Arena, Race, Run
    from lawful.strategies.trace import Op

    from .law import Tally
    from .stage import Stage
    from .starts import Begun

    Races: TypeAlias = Callable[[Stage, "Begun"], Iterator[Race]]

__all__ = ["LAWS"]


def _pairs(stage: Stage, tally: Tally) -> None:
    _run(stage, tally, _pairs_at, workers=2)


def _versions(stage: Stage, tally: Tally) -> None:
    _run(stage, tally, _versions_at, workers=2)


def _triples(stage: Stage, tally: Tally) -> None:
    _run(stage, tally, _triples_at, workers=3)


def _submissions(stage: Stage, tally: Tally) -> None:
    if stage.adapter.claims:
        tally.vague.append("workers take what comes: another task would be taken for the one")
        return
    _run(stage, tally, _submissions_at, workers=2)


def _run(stage: Stage, tally: Tally, races: Races, *, workers: int) -> None:
    from lawful.strategies.canary import distrust
    from lawful.strategies.racing import Arena

    if reason := distrust(stage.adapter.server):
        tally.vague.append(reason)
        return
    row = rows(tally)
    oracle = stage.adapter.oracle({})
    folder = stage.folder("races")
    with Arena(stage.adapter, folder, workers=workers, limit=stage.limit) as arena:
        try:
            for position in starts(stage, oracle):
                with row():
                    begun = begin(stage, oracle, position)
                    for race in races(stage, begun):
                        with row():
                            _sound(stage, oracle, race, begun.task)
                            if not _explore(stage, arena, race, tally) and stage.thorough:
                                # What no schedule of fewer choices has shown, none of all must.
                                _explore(stage, arena, race._replace(every=True), tally)
        except Unfollowed as error:
            tally.vague.append(str(error))
        if tally.triggers and arena.unseen:
            tally.vague.append(arena.unseen)


def _pairs_at(stage: Stage, begun: Begun) -> Iterator[Race]:
    """Yield every pair of calls, in one order each: the schedules have both."""
    from lawful.strategies.racing import Race

    lease, offered = stage.table.lease, stage.adapter.offered
    calls: list[Letter | type[Heartbeat | Reap]] = [*stage.table.letters]
    if lease and "heartbeat" in offered:
        calls.append(Heartbeat)
    if lease and "reap" in offered and "clock" not in stage.adapter.gaps:
        calls.append(Reap)
    for both in combinations_with_replacement(calls, 2):
        late = (Advance(lease.seconds + MARGIN),) if lease and Reap in both else ()
        does = tuple((call(one, begun.task, number),) for number, one in enumerate(both))
        yield Race((*begun.before, *late), does)


def _submissions_at(stage: Stage, begun: Begun) -> Iterator[Race]:
    """Yield a submission against each legal call, and two submissions at once where all begins."""
    from lawful.strategies.racing import Race

    oracle, position, lease = begun.task.oracle, begun.task.model.position, stage.table.lease
    calls: list[Letter | type[Heartbeat | Reap]] = [*stage.moves(oracle, position)]
    if lease and begun.task.model.holding and "heartbeat" in stage.adapter.offered:
        calls.append(Heartbeat)
    new = Submit((), "u")
    for one in calls:
        yield Race(begun.before, ((new,), (call(one, begun.task, 0),)))
    if lease and "reap" in stage.adapter.offered and "clock" not in stage.adapter.gaps:
        yield Race((*begun.before, Advance(lease.seconds + MARGIN)), ((new,), (Reap(),)))
    if position == oracle.origin:
        other = tuple(stage.table.valuations[-1].items())
        yield Race(begun.before, ((new,), (Submit(other, "v"),)))


def _versions_at(stage: Stage, begun: Begun) -> Iterator[Race]:
    """Yield every pair of legal calls by two who have read the task, and say which version."""
    from lawful.strategies.racing import Race

    model = begun.task.model
    letters = stage.moves(begun.task.oracle, model.position)
    for both in combinations_with_replacement(letters, 2):
        calls = (call(letter, begun.task, number) for number, letter in enumerate(both))
        read = (replace(one, version=model.version) for one in calls if isinstance(one, Fire))
        yield Race(begun.before, tuple((one,) for one in read))


def _triples_at(stage: Stage, begun: Begun) -> Iterator[Race]:
    """Yield a late report, the reaper, and whatever starts the task again, at once."""
    from lawful.strategies.racing import Race

    oracle, position, lease = begun.task.oracle, begun.task.model.position, stage.table.lease
    if lease is None or begun.task.model.holding is None:
        return
    reaped = oracle.step(position, lease.on_expiry).after
    again = started_again(oracle, lease, reaped)
    for letter in stage.moves(oracle, position):
        if letter.event in lease.needed_by and again:
            next_worker = tuple(call(each, begun.task, 0) for each in again)
            yield Race(
                (*begun.before, Advance(lease.seconds + MARGIN)),
                ((call(letter, begun.task, 0),), (Reap(),), next_worker),
            )


def _sound(stage: Stage, oracle: Oracle, race: Race, task: Played) -> None:
    """See that no call of a race is known to be wrong by itself, in whichever order.

    Raises:
        Blocked: One is.
    """
    does = race.by_worker
    for order in orders(oracle, task.model, 0.0, does):
        position = task.model.position
        for name, number, answer in order.calls:
            op = does[name][number]
            if isinstance(op, Fire):
                stage.sound(oracle, position, op.letter)
            if answer.kind is CellKind.LEGAL:
                position = answer.after.position


def _explore(stage: Stage, arena: Arena, race: Race, tally: Tally) -> bool:
    """Run a race's schedules, as far as the first that no order explains; say if there is one."""
    from lawful.strategies.driver import Fault
    from lawful.strategies.hub import Deadlock, Stuck
    from lawful.strategies.performing import Unready
    from lawful.strategies.schedules import Diverged, explore

    try:
        for run in explore(lambda choose: arena.run(race, choose), most=stage.preemptions):
            tally.trigger()
            tally.control(run.lawful and _wrote(run))
            if not run.lawful:
                if not (run.in_turn and stage.faulty):
                    tally.find(_finding(run))
                return True
    except Unready as unready:
        raise unready_blocks(unready) from unready
    except (Deadlock, Fault) as error:
        tally.find(_failed(race, str(error)))
        return True
    except Diverged as error:
        raise Unfollowed(f"its steps are not the same each time: {error}") from error
    except Stuck as error:
        tally.find(_failed(race, str(error)))
        raise Unfollowed(str(error)) from error
    return False


class Unfollowed(Exception):
    """No more races can be run."""


def _wrote(run: Run) -> bool:
    """Say whether anything was accepted: two calls that are refused tell nothing."""
    return any(
        one.handled or one.made is not None or (one.claim is not None and not one.claim.reasons)
        for each in run.came.values()
        for one in each
    )


def _finding(run: Run) -> Finding:
    failed = any(one.fault for each in run.came.values() for one in each)
    got = run.got if run.ordered else f"{run.got} (the server has ordered who waited)"
    return Finding(" or ".join(run.expected), got, _trace(run.race), error=failed, line=run.line)


def _failed(race: Race, problem: str) -> Finding:
    from lawful.strategies.racing import format_race

    return Finding("somebody goes on", problem, _trace(race), error=True, line=format_race(race))


def _trace(race: Race) -> tuple[Op, ...]:
    """Return a race's steps in some order: its length is what counts."""
    return (*race.before, *(op for ops in race.does for op in ops))


LAWS = (
    ScenarioLaw(
        id="race/pairs",
        says="whatever two workers do to a task at once, on connections of their own, is what they "
        "could have done one after the other: results, reading and history",
        why="Two workers claim one task, a cancel is lost, a late success overwrites: between the "
        "check and the write somebody else has written (rq 2160, dagster 23409).",
        needs=("second_connection",),
        run=_pairs,
    ),
    ScenarioLaw(
        id="race/versions",
        says="of two workers who have read the same version and say so, one writes and the other "
        "is told that the task has moved on",
        why="A version that is compared before the write, and not with it, is compared in vain.",
        needs=("second_connection", "expected_version"),
        run=_versions,
    ),
    ScenarioLaw(
        id="race/submissions",
        says="a task that is submitted while another worker writes is a task of its own, and "
        "nobody's write is lost",
        why="Ids are counted before they are written, or all rows are written back: two tasks "
        "under one id, and one of them is gone.",
        needs=("second_connection",),
        run=_submissions,
    ),
    ScenarioLaw(
        id="race/triples",
        says="a late report, the reaper and the next worker, at once on a task whose lease has "
        "expired: what comes of it is what some order of them comes to",
        why="The late success is written over the reaper's retry, or over the next worker's run "
        "(procrastinate, RQ): it takes three to see it.",
        needs=("second_connection", "reap", "clock", "actor"),
        applies=restarts,
        run=_triples,
    ),
)

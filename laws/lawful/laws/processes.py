"""The family ``crash`` in real processes: killed while they write, killed or frozen at work."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lawful.strategies.linear import explained, orders, outcome
from lawful.strategies.performing import perform
from lawful.strategies.trace import Advance, Fire, Reap
from lawful.strategies.walk import Cast, actor_for

from .accidents import crashes, each_call
from .law import Finding, ScenarioLaw, finding
from .leases import MARGIN, restarts, started_again
from .stage import rows
from .starts import starts

if TYPE_CHECKING:
    from collections.abc import Callable

    from lawful.spec.table import Lease, Letter
    from lawful.strategies.calls import Came
    from lawful.strategies.crashes import CrashSite
    from lawful.strategies.killing import Worker
    from lawful.strategies.seen import Seen
    from lawful.strategies.session import Session
    from lawful.strategies.trace import Op
    from lawful.strategies.tracked import Tracked

    from .accidents import Call
    from .law import Tally
    from .stage import Stage

__all__ = ["LAWS"]


def _writing(stage: Stage, tally: Tally) -> None:
    """Kill a process at the statements of a call: its first at each start, or of every call."""
    from lawful.strategies.child import Gone
    from lawful.strategies.killing import killed, unfit

    if reason := unfit(stage.adapter):
        tally.vague.append(reason)
        return
    tried: set[tuple[Op, ...]] = set()

    def judge(site: CrashSite, each: Call) -> None:
        if each.before in tried and not stage.thorough:
            return
        tried.add(each.before)
        film = site.film(each.before, each.hit)
        last = len(film.statements)
        if stage.faulty and not site.after(film, last).lawful:
            return  # it is wrong without being killed
        for mishap, at, number in crashes(film):
            folder = stage.folder("killed")
            try:
                found = killed(stage.adapter, folder, each.before, each.hit, mishap.at)
            except Gone as gone:
                tally.vague.append(str(gone))
                return
            if found is None:
                tally.vague.append("its statements are not the same in another process")
                return
            tally.trigger()
            tally.control(number == last and found.lawful)
            if not found.lawful:
                got = f"a process that is killed, {at}: {found.got}"
                tally.find(each.finding([mishap], found.expected, got))
                return

    each_call(stage, tally, judge)


def _killed(stage: Stage, tally: Tally) -> None:
    def late(scene: _Scene, reports: list[Fire]) -> None:
        for report in reports:
            scene.judge(scene.session.fire(report.letter, report.actor, grant=report.grant))

    _each_start(stage, tally, lambda worker: worker.process.kill(), late)


def _frozen(stage: Stage, tally: Tally) -> None:
    def late(scene: _Scene, reports: list[Fire]) -> None:
        for number, report in enumerate(reports):
            scene.worker.begin(scene.task, report)
            if number == 0:
                scene.worker.process.wake()
            scene.heard(report, scene.worker.end())

    _each_start(stage, tally, lambda worker: worker.process.freeze(), late)


class _Scene:
    """A store, a worker of its own process on it, and everybody else in this one."""

    def __init__(self, session: Session, worker: Worker, stage: Stage, tally: Tally) -> None:
        self.session = session
        self.worker = worker
        self._known = stage.known_aspects
        self._tally = tally

    @property
    def task(self) -> Tracked:
        """The task there is."""
        (task,) = self.session.tasks.values()
        return task

    def judge(self, seen: Seen) -> bool:
        """Take in a step that was made in this process."""
        self._tally.trigger()
        problems = [problem for problem in seen.problems if problem.aspect not in self._known]
        if problems:
            self._tally.find(finding(seen, problems, self.session.log))
        return not problems

    def control(self, seen: Seen) -> None:
        """Take in a step that must be accepted."""
        self._tally.control(self.judge(seen))

    def heard(self, op: Fire, came: Came) -> bool:
        """Take in a call of the other process."""
        self.session.log.append(op)
        self._tally.trigger()
        task, view = self.task, self.session.look(self.task)
        now = self.session.clock.now()
        (order,) = orders(task.oracle, task.model, now, {"worker": (op,)})
        lawful = explained(self.session.adapter, task, order, {"worker": [came]}, view)
        if lawful:
            self.session.adopt(task, order.model)
            return True
        said = str(came.fault) if came.fault else f"{came.claim and came.claim.kind}"
        got = f"another process: {said} -> {view.reading.state} by {view.reading.lease_owner}"
        self._tally.find(Finding(outcome(order), got, tuple(self.session.log)))
        return False


def _each_start(
    stage: Stage,
    tally: Tally,
    stop: Callable[[Worker], None],
    late: Callable[[_Scene, list[Fire]], None],
) -> None:
    """Have a process start a task and stop; its lease expires, another starts it; then see."""
    from lawful.strategies.child import Gone
    from lawful.strategies.clock import MappedClock
    from lawful.strategies.killing import Worker, unfit
    from lawful.strategies.session import Session
    from lawful.strategies.watch import Watch

    if reason := unfit(stage.adapter):
        tally.vague.append(reason)
        return
    lease, oracle, row = stage.table.lease, stage.adapter.oracle({}), rows(tally)
    for position in starts(stage, oracle):
        for letter in stage.moves(oracle, position):
            if lease is None or letter.event not in lease.granted_by:
                continue
            try:
                with (
                    row(),
                    closing(MappedClock(stage.folder("clock"))) as clock,
                    Session(stage.adapter, stage.folder("work"), Watch(), clock) as session,
                    Worker(stage.adapter, session.folder, clock.file) as worker,
                ):
                    stage.reach(session, oracle.params, position)
                    _play(stage, lease, _Scene(session, worker, stage, tally), letter, stop, late)
            except Gone as gone:
                tally.vague.append(str(gone))


def _play(
    stage: Stage,
    lease: Lease,
    scene: _Scene,
    letter: Letter,
    stop: Callable[[Worker], None],
    late: Callable[[_Scene, list[Fire]], None],
) -> None:
    oracle, session = scene.task.oracle, scene.session
    start = Fire(letter, actor_for(scene.task, letter, Cast.ANOTHER))
    if not scene.heard(start, scene.worker.call(scene.task, start)):
        return
    stop(scene.worker)
    there = scene.task.model.position
    reports = [
        Fire(report, start.actor, None, scene.task.model.grants)
        for report in stage.moves(oracle, there)
        if report.event in lease.needed_by
    ]
    for op in (Reap(), Advance(lease.seconds + MARGIN), Reap()):  # too early, and in time
        if not all(map(scene.judge, perform(session, op))):
            return
    for again in started_again(oracle, lease, scene.task.model.position) or ():
        stage.go(session, scene.task, again)
    late(scene, reports)
    holder = actor_for(scene.task, reports[0].letter, Cast.ANOTHER)
    scene.control(session.fire(reports[0].letter, holder))


_NEEDS = ("second_connection", "crash", "reap", "clock", "actor", "lease_owner")

LAWS = (
    ScenarioLaw(
        id="crash/killed",
        says="a process that is really killed at a statement of a call leaves each task as it was "
        "or as the call has it, whole",
        why="What is read out of the files is believed because a SIGKILL leaves the same.",
        needs=("restart", "crash"),
        run=_writing,
    ),
    ScenarioLaw(
        id="crash/worker-killed",
        says="a worker's process that is killed at work loses the task to the reaper, once its "
        "lease has expired and not before; a report in its name comes too late",
        why="A worker that is gone holds its task for ever, or until somebody looks.",
        needs=_NEEDS,
        applies=restarts,
        run=_killed,
    ),
    ScenarioLaw(
        id="crash/worker-frozen",
        says="a worker's process that is frozen at work and wakes when another has its task: "
        "whatever it reports is refused",
        why="A paused worker wakes up and overwrites the other's result.",
        needs=_NEEDS,
        applies=restarts,
        run=_frozen,
    ),
)

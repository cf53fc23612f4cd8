"""An opened store and the table beside it: each step is done, seen, judged and logged.

Where an implementation departs from the table, the table follows it: the next step is judged
from what was observed, so that one fault does not hide the rest.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self

from lawful.spec.model import Answer, Call, Holding, Model, Reason, fire, heartbeat, reap, submitted
from lawful.spec.oracle import Position
from lawful.spec.table import CellKind, Letter
from lawful.sut.contract import Reading

from .clock import ManualClock
from .driver import Driver, Fault
from .seen import (
    Aspect,
    How,
    Hung,
    Judge,
    Problem,
    Seen,
    View,
    counter,
    differences,
    faulty,
)
from .servers import server_url
from .trace import (
    ABSENT,
    TASK,
    Advance,
    Fire,
    Heartbeat,
    Poison,
    Put,
    Read,
    Reap,
    Reopen,
    Second,
    Submit,
)
from .tracked import Tracked, relabelled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Params
    from lawful.sut.contract import TaskId

    from .adapter import Adapter
    from .driver import Claim
    from .trace import Op
    from .watch import Watch

__all__ = ["Session"]

_UNTAKEN: Final = object()
"""A dump that was not taken, because nobody needed it."""


class Session:
    """One store of an implementation, driven and judged.

    Args:
        adapter: The adapter.
        folder: Where the store lives; made if it is not there, and removed at the end.
        watch: What ends a call that hangs.
        clock: The clock that the store reads; a new one by default.
    """

    def __init__(
        self, adapter: Adapter, folder: Path, watch: Watch, clock: ManualClock | None = None
    ) -> None:
        self.adapter = adapter
        self.table = adapter.table
        self.clock = clock or ManualClock()
        self.log: list[Op] = []
        self.tasks: dict[str, Tracked] = {}
        self.folder = folder
        self._watch = watch
        self._judge = Judge(adapter)
        self._keeps_history = "history" in adapter.offered
        self._dumps = "dump" in adapter.offered
        self._shows_version = "version" in adapter.offered
        self._shows_lease = "lease_owner" in adapter.offered
        self._others: list[Driver] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.driver = self.opened()

    def opened(self, url: str | None = None) -> Driver:
        """Open another instance on the same store; whoever asks closes it.

        Args:
            url: Where the server is, for an adapter that needs one; this process's by default.

        Raises:
            Fault: It can't be opened.
            ServerError: There is no server.
        """
        if url is None:
            url = server_url(self.adapter.server)
        driver = Driver(self.adapter, self._watch)
        try:
            driver.open(self.folder, self.clock, url)
        except Fault:
            driver.abandon()
            raise
        return driver

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trail: TracebackType | None,
    ) -> None:
        failed = None
        for driver in (*self._others, self.driver):
            try:
                driver.close()
            except Fault as fault:
                failed = failed or fault
        shutil.rmtree(self.folder, ignore_errors=True)
        if failed is not None and kind is None:
            raise failed

    # -- new tasks -----------------------------------------------------------------------------

    def submit(self, params: Params, label: str = TASK, own: str | None = None) -> Tracked:
        """Submit a task; a :class:`Fault` if it does not begin where the table says.

        Args:
            params: Values for the table's parameters; defaults for those left out.
            label: Its name in the trace.
            own: The id it should get, where the system lets one choose.
        """
        oracle = self.adapter.oracle(params)
        other = {n: v for n, v in oracle.params.items() if v != self.table.defaults[n]}
        self.log.append(Submit(tuple(other.items()), label))
        return self.take_in(self.driver.submit(oracle.params, own), oracle, label)

    def take_in(self, task: TaskId, oracle: Oracle, label: str) -> Tracked:
        """Go on with a task that was just submitted, by whomever.

        Raises:
            Fault: It does not begin where the table says.
        """
        view = self._look(task)
        state = view.reading.state
        initial = self.table.initial
        if state not in self.table.states:
            allowed = ", ".join(self.table.states)
            problem = f"gave the state {state!r}; allowed are {allowed}; map it in `states`"
            raise Fault("read", problem)
        if not self.adapter.shows(initial, state):
            raise Fault("read", f"shows a new task as {state!r}; the table says {initial!r}")
        return self._track(label, task, oracle, submitted(oracle), view, How.CLEAN)

    def put(self, position: Position, actor: str, label: str = TASK) -> Tracked:
        """Put a new task straight into a position, with the table's default parameters."""
        oracle = self.adapter.oracle({})
        counters = dict(zip(self.table.counters, position.counters, strict=True))
        self.log.append(Put(position.state, tuple(counters.items()), actor, label))
        task = self.driver.put(position.state, counters, actor)
        view = self._look(task)
        shown = view.reading.state
        if not self.adapter.shows(position.state, shown):
            raise Fault("put", f"the task is {shown!r}; {position.state!r} was asked for")
        model = Model(position)
        lease = self.table.lease
        if lease and position.state in lease.held_in:
            until = view.reading.lease_until
            until = self.clock.now() + lease.seconds if until is None else until
            model = Model(position, 0, 1, Holding(actor, 1, until))
        tracked = self._track(label, task, oracle, model, view, How.PUT)
        tracked.tokens += [view.reading.lease_token or 0] if model.holding else []
        return tracked

    def _track(
        self, label: str, task: TaskId, oracle: Oracle, model: Model, view: View, how: How
    ) -> Tracked:
        base = (view.reading.version or 0) if self._shows_version else 0
        tracked = Tracked(label, task, oracle, model, base, view, how)
        self.tasks[label] = tracked
        return tracked

    def _look(self, task: TaskId, *, dump: bool = False) -> View:
        reading = self.driver.read(task)
        history = self.driver.history(task) if self._keeps_history else None
        stored = None
        if self._dumps:
            stored = self.driver.dump(task) if dump else _UNTAKEN
        return View(reading, history, stored)

    def look(self, tracked: Tracked) -> View:
        """Return all that can be seen of a task now, its dump apart; nothing is judged."""
        return self._look(tracked.id)._replace(dump=None)

    def _dumped(self, tracked: Tracked) -> View:
        """Return what was last seen of a task, its dump included."""
        if tracked.view.dump is _UNTAKEN:
            tracked.view = tracked.view._replace(dump=self.driver.dump(tracked.id))
        return tracked.view

    def adopt(self, other: Tracked, model: Model) -> Tracked:
        """Go on with a task that another session has known; it is looked at first.

        Args:
            other: The task, as that session last had it.
            model: Where the table has it now.
        """
        tracked = replace(other, model=model, view=self._look(other.id), tokens=[*other.tokens])
        tracked.learn(tracked.view.reading.lease_token)
        self.tasks[other.label] = tracked
        return tracked

    # -- steps ---------------------------------------------------------------------------------

    def fire(
        self,
        letter: Letter,
        actor: str,
        *,
        version: int | None = None,
        grant: int | None = None,
        task: str = TASK,
    ) -> Seen:
        """Fire an event and judge what came of it.

        Args:
            letter: The event with its payload.
            actor: Who fires it.
            version: The version to expect, in transitions since the task began.
            grant: Whose start's token to show, counted from 1.
            task: The task's label.
        """
        tracked = self.tasks[task]
        call = Call(letter, actor, version, grant)
        answer = fire(tracked.oracle, tracked.model, call, self.clock.now())
        expected = None if version is None else tracked.base + version
        token = tracked.token(grant)
        return self._step(
            tracked,
            Fire(letter, actor, version, grant, task),
            letter,
            actor,
            answer,
            lambda: self.driver.fire(tracked.id, letter, actor, expected, token),
        )

    def heartbeat(self, actor: str, *, grant: int | None = None, task: str = TASK) -> Seen:
        """Send a heartbeat and judge what came of it. The table must have leases."""
        lease = self.table.lease
        if lease is None:
            raise ValueError(f"{self.table.name} has no leases")
        tracked = self.tasks[task]
        call = Call(Letter("heartbeat"), actor, None, grant)
        answer = heartbeat(lease, tracked.model, call, self.clock.now())
        token = tracked.token(grant)
        return self._step(
            tracked,
            Heartbeat(actor, grant, task),
            None,
            actor,
            answer,
            lambda: self.driver.heartbeat(tracked.id, actor, token),
        )

    def _step(
        self,
        tracked: Tracked,
        op: Op,
        letter: Letter | None,
        actor: str,
        answer: Answer,
        call: Callable[[], Claim],
    ) -> Seen:
        self.log.append(op)
        quiet = answer.kind is not CellKind.LEGAL
        view = tracked.view
        seen = Seen(op, tracked.label, letter, actor, tracked.model, answer, None, view, None)
        seen.how = tracked.how
        try:
            if quiet:
                seen.before = self._dumped(tracked)
            seen.claim = call()
        except Fault as fault:
            self._failed(seen, fault)
        self._after(tracked, seen, dump=quiet)
        return seen

    def _after(self, tracked: Tracked, seen: Seen, *, dump: bool) -> None:
        """Look at a task after a step, judge the step, and follow the implementation."""
        try:
            seen.after = tracked.view = self._look(tracked.id, dump=dump)
        except Fault as fault:
            self._failed(seen, fault)
            tracked.ended = True
            return
        granted = max(tracked.tokens, default=-1)
        found = self._judge(seen, base=tracked.base, granted=granted)
        seen.problems += found
        state = seen.after.reading.state
        if state not in self.table.states:
            allowed = ", ".join(self.table.states)
            unknown = Problem(Aspect.STATE, f"one of {allowed}", f"unknown state {state!r}")
            others = (p for p in seen.problems if p.aspect is not Aspect.STATE)
            seen.problems = (unknown, *others)
            tracked.ended = True
            return
        token = seen.after.reading.lease_token
        if seen.problems:
            tracked.how = How.RESYNCHRONISED
            self._follow(tracked, seen)
        else:
            tracked.model = seen.answer.after
        tracked.learn(token)

    def _failed(self, seen: Seen, fault: Fault) -> None:
        """Add a fault to a step; a call that hangs ends everything.

        Raises:
            Hung: The call did not return in time.
        """
        seen.problems += (faulty(seen.answer, fault),)
        seen.trail = seen.trail or fault.trail
        if fault.hung:
            mine = (op for op in self.log if getattr(op, "task", seen.task) == seen.task)
            raise Hung(seen, [op if seen.task == ABSENT else relabelled(op, TASK) for op in mine])

    def _follow(self, tracked: Tracked, seen: Seen) -> None:
        """Put the table where the implementation was observed to be."""
        view = tracked.view
        table, answer = self.table, seen.answer.after
        read = view.reading
        counters = tuple(
            value if (shown := counter(read, name)) is None else shown
            for name, value in zip(table.counters, answer.position.counters, strict=True)
        )
        version = answer.version
        if self._shows_version and read.version is not None:
            version = read.version - tracked.base
        holding, grants = answer.holding, answer.grants
        if self._shows_lease:
            holding = None
            if read.lease_owner is not None:
                last = max(tracked.tokens, default=-1)
                fresh = read.lease_token is not None and read.lease_token > last
                grants = max(tracked.model.grants + fresh, 1)
                until = self.clock.now() if read.lease_until is None else read.lease_until
                holding = Holding(read.lease_owner, grants, until)
            else:
                grants = tracked.model.grants
        elif table.lease and read.state not in table.lease.held_in:
            holding = None
        tracked.model = Model(Position(read.state, counters), version, grants, holding)

    def advance(self, seconds: float) -> None:
        """Move the clock."""
        self.log.append(Advance(seconds))
        self.clock.advance(seconds)

    def reap(self) -> list[Seen]:
        """Run the reaper and judge what became of every task, in the order of submission."""
        lease = self.table.lease
        if lease is None:
            raise ValueError(f"{self.table.name} has no leases")
        self.log.append(Reap())
        now = self.clock.now()
        steps = []
        for tracked in self._living():
            answer = reap(tracked.oracle, lease, tracked.model, now)
            if tracked.poisoned:
                answer = Answer(CellKind.NOOP, None, tracked.model)
            steps.append((tracked, self._watched(tracked, Reap(), lease.on_expiry, answer)))
        try:
            handled = self.driver.reap()
        except Fault as fault:
            for tracked, seen in steps:
                self._failed(seen, fault)
                self._after(tracked, seen, dump=True)
            return [seen for _, seen in steps]
        for tracked, seen in steps:
            self._after(tracked, seen, dump=True)
            named, want = tracked.id in handled, seen.answer.kind is CellKind.LEGAL
            if named is not want:
                says = {True: "the reaper names the task", False: "the reaper does not name it"}
                seen.problems += (Problem(Aspect.CLAIM, says[want], says[named]),)
        return [seen for _, seen in steps]

    def restart(self, url: str | None = None) -> None:
        """Close the store and open it again; nothing is judged.

        Args:
            url: Where the server is, as for :meth:`opened`.
        """
        self.driver.close()
        self.driver = self.opened(url)

    def reopen(self) -> list[Seen]:
        """Close the store, open it again, and judge every task.

        Nothing may change, but for a task whose lease has expired: opening may recover it.
        """
        self.log.append(Reopen())
        steps = []
        for tracked in self._living():
            answer = Answer(CellKind.NOOP, None, tracked.model)
            steps.append((tracked, self._watched(tracked, Reopen(), None, answer)))
        self.restart()
        for tracked, seen in steps:
            self._recovered(tracked, seen)
            self._after(tracked, seen, dump=True)
        return [seen for _, seen in steps]

    def _recovered(self, tracked: Tracked, seen: Seen) -> None:
        lease = self.table.lease
        if lease is None:
            return
        answer = reap(tracked.oracle, lease, tracked.model, self.clock.now())
        expired = answer.kind is CellKind.LEGAL
        if expired and self.driver.read(tracked.id).state != tracked.model.position.state:
            seen.answer, seen.letter = answer, lease.on_expiry

    def _living(self) -> list[Tracked]:
        return [tracked for tracked in self.tasks.values() if not tracked.ended]

    def _watched(self, tracked: Tracked, op: Op, letter: Letter | None, answer: Answer) -> Seen:
        """Begin a step that is not a call on this task."""
        before = self._dumped(tracked)
        seen = Seen(op, tracked.label, letter, None, tracked.model, answer, None, before, None)
        seen.how = tracked.how
        return seen

    def second(self) -> list[Seen]:
        """Open a second instance on the same store, and judge every task.

        Opening it changes nothing, but for a task whose lease has expired; and it reads the same:
        another process's view.
        """
        self.log.append(Second())
        steps = []
        for tracked in self._living():
            answer = Answer(CellKind.NOOP, None, tracked.model)
            steps.append((tracked, self._watched(tracked, Second(), None, answer)))
        self._others.append(self.opened())
        for tracked, seen in steps:
            self._recovered(tracked, seen)
            self._after(tracked, seen, dump=True)
            self.elsewhere(seen)
        return [seen for _, seen in steps]

    def elsewhere(self, seen: Seen) -> None:
        """Read a step's task through the second instance, and add what differs to its problems."""
        tracked = self.tasks[seen.task]
        for driver in self._others:
            if tracked.ended:
                return
            mine, theirs = tracked.view.reading, driver.read(tracked.id)
            if mine != theirs:
                same = f"the second instance reads {tuple(mine)}"
                seen.problems += (Problem(Aspect.ELSEWHERE, same, f"{tuple(theirs)}"),)

    def poison(self, task: str = TASK) -> None:
        """Make the next write to a task fail."""
        self.log.append(Poison(task))
        tracked = self.tasks[task]
        self.driver.poison(tracked.id)
        tracked.poisoned = True
        tracked.view = self._look(tracked.id)

    def fire_absent(self, letter: Letter, actor: str, *, version: int | None = None) -> Seen:
        """Fire an event on an id that was never given out, and judge what came of it."""
        op = Fire(letter, actor, version, None, ABSENT)
        absent = self.driver.absent()
        return self._absent(
            op, letter, actor, lambda: self.driver.fire(absent, letter, actor, version)
        )

    def read(self, task: str = TASK) -> Seen:
        """Read a task, and see that it is as it was last seen."""
        self.log.append(Read(task))
        tracked = self.tasks[task]
        answer = Answer(CellKind.NOOP, None, tracked.model)
        seen = self._watched(tracked, Read(task), None, answer)
        self._after(tracked, seen, dump=True)
        return seen

    def read_absent(self) -> Seen:
        """Read an id that was never given out, and judge what came of it."""
        absent = self.driver.absent()
        return self._absent(Read(ABSENT), None, "", lambda: self.driver.find(absent))

    def heartbeat_absent(self, actor: str) -> Seen:
        """Send a heartbeat for an id that was never given out, and judge what came of it."""
        absent = self.driver.absent()
        op = Heartbeat(actor, None, ABSENT)
        return self._absent(op, None, actor, lambda: self.driver.heartbeat(absent, actor, None))

    def remember(self, tracked: Tracked) -> None:
        """Take a task's dump now, if it has not been, so that it can be compared later."""
        self._dumped(tracked)

    def untouched(self, tracked: Tracked) -> tuple[Problem, ...]:
        """Look at a task again, and say whether it is as it was last seen."""
        before = self._dumped(tracked)
        tracked.view = self._look(tracked.id, dump=True)
        if tracked.view == before:
            return ()
        changed = differences(before, tracked.view)
        return (Problem(Aspect.NEIGHBOUR, f"task {tracked.label} stays as it was", changed),)

    def neighbours(self, seen: Seen) -> None:
        """Look at every other task after a step, and add what the step changed to its problems."""
        for tracked in self._living():
            if tracked.label != seen.task:
                seen.problems += self.untouched(tracked)

    def _absent(self, op: Op, letter: Letter | None, actor: str, call: Callable[[], Claim]) -> Seen:
        self.log.append(op)
        model = Model(Position("", ()))
        answer = Answer(CellKind.REFUSED, Reason.UNKNOWN_TASK, model)
        before = self._store()
        seen = Seen(op, ABSENT, letter, actor, model, answer, None, before, None)
        try:
            seen.claim = call()
            seen.after = self._store()
        except Fault as fault:
            self._failed(seen, fault)
            return seen
        seen.problems = self._judge(seen, base=0, granted=0)
        return seen

    def _store(self) -> View:
        """Return the whole store as one view, for steps that belong to no task."""
        return View(Reading(""), None, self.driver.dump() if self._dumps else None)

"""Wrong in what is remembered, and where: hidden marks, restarts, and one task for another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from lawful.sut import Reading

from .honest import HELD, RETRYABLE, Call, Honest, Unknown
from .registry import wrong

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut import Clock, Refused

    from .honest import Row, Tasks

__all__: list[str] = []


class Remembering(Honest):
    """Keeps something in the process's memory, where no dump shows it."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        self.memory: dict[str, Any] = {}


# -- hidden marks ----------------------------------------------------------------------------------


@wrong("refusal-lengthens-the-next-lease", "silence/bisimulation")
class RefusalLengthensTheNextLease(Remembering):
    """A refusal leaves a mark in memory alone, and the next lease is a second longer."""

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        self.memory[call.task] = 1

    def grant(self, row: Row, actor: str) -> None:
        super().grant(row, actor)
        row["until"] += 1 if self.memory else 0
        self.memory.clear()


@wrong("refusal-shows-in-the-next-entry", "silence/bisimulation", alone=True)
class RefusalShowsInTheNextEntry(Remembering):
    """A refusal is remembered, and the next entry's payload tells of it."""

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        self.memory[call.task] = call.event

    def log(self, row: Row, call: Call, before: str) -> None:
        told = {"refused": self.memory.pop(call.task)} if call.task in self.memory else {}
        super().log(row, call._replace(payload={**call.payload, **told}), before)


@wrong("no-op-shows-in-the-next-entry", "silence/bisimulation", alone=True)
class NoopShowsInTheNextEntry(Remembering):
    """A repeated cancel is remembered, and the next entry's payload tells of it."""

    def noop(self, tasks: Tasks, row: Row, call: Call) -> None:
        self.memory[call.task] = call.actor

    def log(self, row: Row, call: Call, before: str) -> None:
        told = {"asked_by": self.memory.pop(call.task)} if call.task in self.memory else {}
        super().log(row, call._replace(payload={**call.payload, **told}), before)


@wrong("a-refusal-arms-another-cell", "cell/running/cancel")
class ARefusalArmsAnotherCell(Remembering):
    """After a success that was refused while it waited, a running task is cancelled at once."""

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        if (row["state"], call.event) == ("queued", "succeed"):
            self.memory[call.task] = 1

    def target(self, row: Row, call: Call) -> str | None:
        after = super().target(row, call)
        return "cancelled" if after == "cancelling" and call.task in self.memory else after


@wrong("a-refusal-is-granted-the-second-time", "cell/succeeded/cancel", "absorption/terminal")
class ARefusalIsGrantedTheSecondTime(Remembering):
    """A cancel of a finished task is refused once, and taken the second time."""

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        if (row["state"], call.event) == ("succeeded", "cancel"):
            self.memory[call.task] = 1

    def target(self, row: Row, call: Call) -> str | None:
        insists = call.task in self.memory and call.event == "cancel"
        return "cancelled" if insists else super().target(row, call)


# -- restarts and other processes ------------------------------------------------------------------


@wrong("restart-forgets-the-cancel", "durability/restart", "durability/second-connection")
class RestartForgetsTheCancel(Remembering):
    """A cancel of a running task is kept in the process's memory alone."""

    def load(self) -> Tasks:
        return super().load() | self.memory

    def write(self, tasks: Tasks, row: Row, call: Call, after: str) -> None:
        if after == "cancelling":
            self.move(row, call, after)
            self.memory[call.task] = row
            return
        self.memory.pop(call.task, None)
        super().write(tasks, row, call, after)

    def save(self, tasks: Tasks) -> None:
        before = Honest.load(self)
        super().save({task: before[task] if task in self.memory else tasks[task] for task in tasks})


@wrong("boot-recovers-the-living", "durability/restart", "durability/boot")
class BootRecoversTheLiving(Honest):
    """Opening the store fails every running task, expired or not."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        tasks = self.load()
        for task, row in tasks.items():
            if self.recovers(row):
                self.reclaim(tasks, row, Call(task, "fail", "boot", RETRYABLE))

    def recovers(self, row: Row) -> bool:
        return row["state"] in HELD


@wrong("boot-recovers-the-young", "durability/boot", alone=True)
class BootRecoversTheYoung(BootRecoversTheLiving):
    """Opening the store fails a running task whose lease was renewed, expired or not."""

    def recovers(self, row: Row) -> bool:
        return bool(row["owner"]) and row["until"] - self.clock.now() > 0 and bool(row["renewed"])

    def new(self, state: str, attempts: int, limit: int) -> Row:
        return super().new(state, attempts, limit) | {"renewed": False}

    def renew(self, row: Row, call: Call) -> None:
        super().renew(row, call)
        row["renewed"] = True


@wrong("restart-renews-the-lease", "durability/restart")
class RestartRenewsTheLease(Honest):
    """Opening the store gives every worker a second more."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        tasks = self.load()
        for row in tasks.values():
            if row["owner"]:
                row["until"] += 1
        self.save(tasks)


@wrong("second-instance-sees-the-past", "durability/second-connection", alone=True)
class SecondInstanceSeesThePast(Remembering):
    """What was read once is not read again: another process's writes are not seen."""

    def load(self) -> Tasks:
        if not self.memory:
            self.memory |= super().load()
        return self.memory

    def save(self, tasks: Tasks) -> None:
        super().save(tasks)
        if tasks:
            self.memory |= tasks


@wrong("second-instance-takes-over", "durability/second-connection", alone=True)
class SecondInstanceTakesOver(Honest):
    """An instance that is opened beside another takes the leases over."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        lock = self.lock = path / "lock"
        if lock.exists():
            tasks = self.load()
            for row in tasks.values():
                row["owner"] = "second" if row["owner"] else None
            self.save(tasks)
        lock.touch()

    def close(self) -> None:
        super().close()
        self.lock.unlink(missing_ok=True)


@wrong("second-instance-leaves-a-mark", "durability/second-connection", alone=True)
class SecondInstanceLeavesAMark(SecondInstanceTakesOver):
    """An instance that is opened beside another leaves a mark that only the dump shows."""

    def open(self, path: Path, clock: Clock) -> None:
        Honest.open(self, path, clock)
        lock = self.lock = path / "lock"
        if lock.exists():
            tasks = self.load()
            for row in tasks.values():
                row["opened"] = True
            self.save(tasks)
        lock.touch()


# -- one task for another --------------------------------------------------------------------------


@wrong("id-by-its-beginning", "identity/apart", alone=True)
class IdByItsBeginning(Honest):
    """A task is looked up by the first id that begins with the one asked for."""

    def row(self, tasks: Tasks, task: str) -> Row:
        for name, row in tasks.items():
            if name.startswith(task):
                return row
        raise Unknown(task)


@wrong("id-by-the-other-beginning", "identity/apart", alone=True)
class IdByTheOtherBeginning(Honest):
    """A task is looked up by the first id that the one asked for begins with."""

    def row(self, tasks: Tasks, task: str) -> Row:
        for name, row in tasks.items():
            if task.startswith(name):
                return row
        raise Unknown(task)


@wrong("cancel-by-prefix", "identity/apart", alone=True)
class CancelByPrefix(Honest):
    """A cancel of a waiting task cancels every waiting task whose id begins like it."""

    def write(self, tasks: Tasks, row: Row, call: Call, after: str) -> None:
        state = row["state"]
        super().write(tasks, row, call, after)
        if call.event == "cancel":
            for name, other in tasks.items():
                if name.startswith(call.task) and other["state"] == state == "queued":
                    self.move(other, call, after)
            self.save(tasks)


@wrong("cancel-marks-a-neighbour", "identity/apart", alone=True)
class CancelMarksANeighbour(Honest):
    """A cancel leaves a mark in the first task's row, which only the dump shows."""

    def write(self, tasks: Tasks, row: Row, call: Call, after: str) -> None:
        super().write(tasks, row, call, after)
        first = next(iter(tasks))
        if call.event == "cancel" and first != call.task:
            tasks[first]["marked"] = call.task
            self.save(tasks)


@wrong("limit-of-the-last", "identity/apart", limits=(2, 1), alone=True)
class LimitOfTheLast(Remembering):
    """The bound is that of the task that was submitted last."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        self.memory |= params
        return super().submit(params, task=task)

    def retries(self, row: Row, call: Call) -> bool:
        return super().retries(row | {"limit": self.memory["max_attempts"]}, call)


@wrong("history-in-the-class", "cell/submitted/enqueue", "replay/chain")
class HistoryInTheClass(Honest):
    """All tasks of a store share one list, which was meant to be each task's own."""

    lines: ClassVar[list[Any]] = []

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        self.lines.clear()

    def log(self, row: Row, call: Call, before: str) -> None:
        super().log(row, call, before)
        self.lines.append(row["history"][-1])
        row["history"] = self.lines[:]


@wrong("one-lease-per-worker", "identity/apart")
class OneLeasePerWorker(Honest):
    """A worker that starts a task loses the lease on the one it had."""

    def write(self, tasks: Tasks, row: Row, call: Call, after: str) -> None:
        if call.event == "start":
            for other in tasks.values():
                if other["owner"] == call.actor:
                    self.release(other)
        super().write(tasks, row, call, after)


@wrong("unknown-reads-as-new", "identity/unknown", alone=True)
class UnknownReadsAsNew(Honest):
    """An id that was never given out reads like a task that was just submitted."""

    def read(self, task: str) -> Reading:
        return super().read(task) if task in self.load() else Reading("submitted", 0, 0)


@wrong("unknown-can-be-cancelled", "identity/unknown")
class UnknownCanBeCancelled(Honest):
    """A cancel of an id that was never given out is accepted."""

    def on(self, call: Call) -> Refused | None:
        granted = call.event == "cancel" and call.task not in self.load()
        return None if granted else super().on(call)


@wrong("unknown-leaves-a-mark", "identity/unknown")
class UnknownLeavesAMark(Honest):
    """An event on an id that was never given out is refused, and kept."""

    def row(self, tasks: Tasks, task: str) -> Row:
        if task not in tasks:
            (self.path / "unknown.txt").write_text(task)
        return super().row(tasks, task)

    def dump(self, task: str | None = None) -> object:
        unknown = self.path / "unknown.txt"
        kept = unknown.read_text() if unknown.exists() else ""
        return (super().dump(task), kept if task is None else "")


@wrong("unknown-is-remembered", "identity/unknown", alone=True)
class UnknownIsRemembered(Remembering):
    """A cancel of an unknown id is refused, remembered, and done to a later task of that id."""

    def row(self, tasks: Tasks, task: str) -> Row:
        if task not in tasks:
            self.memory[task] = True
        return super().row(tasks, task)

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        name = super().submit(params, task=task)
        if name in self.memory:
            tasks = self.load()
            tasks[name]["state"] = "cancelled"
            self.save(tasks)
        return name

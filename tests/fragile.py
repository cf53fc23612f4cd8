"""Faults that show only when something goes wrong: each call by itself obeys the table.

Each has the laws that must find it. What finds it is a crash, a statement that fails or a reply
that is lost at the right statement, so no cell and no law of the quick profile is broken.
"""

from __future__ import annotations

import marshal
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import racers
from lawful.sut import Unsupported
from miniatures.honest import RETRYABLE, Call, Poisoned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lawful.sut import Clock, Refused
    from miniatures.honest import Honest, Row

__all__ = ["FRAGILE", "CommitsAtClose", "CommitsOutside", "Fragile", "MarksFirst", "RedoLog"]


@dataclass(frozen=True, slots=True)
class Fragile:
    """A planted fault.

    Attributes:
        id: Its permanent id.
        adapter: The implementation; its docstring says what is wrong.
        law: The law that is there for it.
        besides: Which other laws about accidents find it; the rest must not.
        why: Why these, and not the rest.
    """

    id: str
    adapter: type[Honest]
    law: str
    besides: tuple[str, ...]
    why: str


# -- transactions ----------------------------------------------------------------------------------


class CommitsAtClose(racers.Whole):
    """A task is there once it is submitted; what is done to it, when the store is closed."""

    isolation = "DEFERRED"
    gaps: ClassVar = {"second_connection": Unsupported("one process has the file")}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        with self.db:
            return super().submit(params, task=task)

    def close(self) -> None:
        self.db.commit()
        super().close()


class CommitsOutside(racers.Whole):
    """A COMMIT that fails leaves its transaction open: it is not among what is tried."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.db.execute(self.begin)
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")


# -- recovery --------------------------------------------------------------------------------------


class MarksFirst(racers.Whole):
    """The reaper marks all that has expired as taken, and then handles each: the rest is lost."""

    def prepare(self) -> None:
        super().prepare()
        self.db.execute("CREATE TABLE IF NOT EXISTS taken (task)")

    def reap(self) -> list[str]:
        with self.transaction():
            taken = {task for (task,) in self.db.execute("SELECT task FROM taken")}
            tasks = {task: row for task, row in self.load().items() if self.expired(row)}
            mine = tasks.keys() - taken
            self.db.executemany("INSERT INTO taken VALUES (?)", [(task,) for task in sorted(mine)])
        return [task for task in sorted(mine) if self.handled(task)]

    def handled(self, task: str) -> bool:
        with self.transaction():
            self.db.execute("DELETE FROM taken WHERE task = ?", (task,))
            row = self.load()[task]
            with suppress(Poisoned):
                self.reclaim({task: row}, row, Call(task, "fail", "reaper", RETRYABLE))
                return True
            return False


class RedoLog(racers.Whole):
    """What is to be written is noted first, then written and struck off; right as it is.

    Whatever is noted still when the store is opened is written then.
    """

    def prepare(self) -> None:
        super().prepare()
        self.db.execute("CREATE TABLE IF NOT EXISTS notes (task, row, history)")
        for note in self.db.execute("SELECT * FROM notes ORDER BY rowid").fetchall():
            self.recover(*note)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def store(self, task: str, row: Row, written: bytes) -> None:
        if row.get("read") is None:
            with super().transaction():
                super().store(task, row, written)
            return
        history = marshal.dumps(row["history"])
        try:
            with super().transaction():
                self.db.execute("INSERT INTO notes VALUES (?, ?, ?)", (task, written, history))
            self.carry_out(task, written, history)
        except BaseException:
            self.strike(task)
            raise

    def carry_out(self, task: str, written: bytes, history: bytes) -> None:
        with super().transaction():
            self.apply(task, written, history)
            self.strike(task)

    def recover(self, task: str, written: bytes, history: bytes) -> None:
        self.carry_out(task, written, history)

    def apply(self, task: str, written: bytes, history: bytes) -> None:
        row = {"history": marshal.loads(history)}
        self.update(task, row, written)
        self.write_history(task, row)

    def strike(self, task: str) -> None:
        self.db.execute("DELETE FROM notes WHERE task = ?", (task,))


class StruckLater(RedoLog):
    """What is noted is written in one transaction, and struck off in the next one."""

    def carry_out(self, task: str, written: bytes, history: bytes) -> None:
        with racers.Whole.transaction(self):
            self.apply(task, written, history)
        self.strike(task)


class BootStrikesLater(RedoLog):
    """A recovery that is cut short between writing and striking off is done a second time."""

    def recover(self, task: str, written: bytes, history: bytes) -> None:
        with racers.Whole.transaction(self):
            self.apply(task, written, history)
        self.strike(task)


class BootNeverStrikes(RedoLog):
    """Whatever is noted is written at every opening."""

    def recover(self, task: str, written: bytes, history: bytes) -> None:
        with racers.Whole.transaction(self):
            self.apply(task, written, history)


# -- replies ---------------------------------------------------------------------------------------


class SuccessTurnedIntoFailure(racers.Whole):
    """A success that raises an error is written as a failure, whatever is stored by then."""

    def on(self, call: Call) -> Refused | None:
        try:
            return super().on(call)
        except sqlite3.OperationalError:
            if call.event == "succeed":
                with self.transaction():
                    tasks = self.load()
                    failed = call._replace(event="fail", payload={"retryable": False})
                    self.write(tasks, tasks[call.task], failed, "failed")
            raise


class BelievesTheWorker(racers.Whole):
    """After a report that raised an error, the worker's next word is taken, whatever is stored."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        self.doubtful: set[str] = set()

    def on(self, call: Call) -> Refused | None:
        try:
            return super().on(call)
        except sqlite3.OperationalError:
            if call.event in ("succeed", "cancel_ack"):
                self.doubtful.add(call.task)
            raise

    def checked(self, row: Row, call: Call) -> str:
        if call.event == "fail" and call.task in self.doubtful:
            return "failed"
        return super().checked(row, call)


class WritesAgain(racers.ReadBefore):
    """A write that raises an error is done again: one whose reply was lost, twice."""

    def store(self, task: str, row: Row, written: bytes) -> None:
        try:
            super().store(task, row, written)
        except sqlite3.OperationalError:
            super().store(task, row, written)


FRAGILE = (
    Fragile(
        "row-then-history",
        racers.HistoryAfter,
        "crash/statement",
        ("crash/recovery", "crash/interrupted", "reply/repeated", "reply/error-path"),
        "Between the two the row has moved on and its history has not: a crash, an error and a "
        "lost reply all leave it so, and so does a second crash, in the reaper.",
    ),
    Fragile(
        "history-then-row",
        racers.HistoryBefore,
        "crash/statement",
        ("crash/recovery", "crash/interrupted", "reply/repeated", "reply/error-path"),
        "The same, the other way round.",
    ),
    Fragile(
        "every-statement-by-itself",
        racers.OneByOne,
        "crash/statement",
        ("crash/recovery", "crash/interrupted", "reply/repeated", "reply/error-path"),
        "The same: without a transaction there are two.",
    ),
    Fragile(
        "commits-at-close",
        CommitsAtClose,
        "crash/statement",
        ("crash/recovery", "crash/interrupted"),
        "The call has said that it is done, and nothing of it is there. Its reaper does no better. "
        "A write that fails takes the whole transaction back, what led there included. No reply "
        "to a write can be lost: none lands.",
    ),
    Fragile(
        "commits-outside",
        CommitsOutside,
        "crash/interrupted",
        (),
        "Whatever comes next finds a transaction open. A crash ends it, and a COMMIT whose reply "
        "is lost has ended it.",
    ),
    Fragile(
        "marks-first",
        MarksFirst,
        "recover/stranded",
        ("crash/recovery", "crash/interrupted", "reply/repeated"),
        "No task is half written, so the crash itself is lawful; what was marked is never looked "
        "at again. A reaper that runs again, after an error or a lost reply or as the recovery "
        "from a crash, shows the same.",
    ),
    Fragile(
        "struck-later",
        StruckLater,
        "crash/statement",
        ("crash/recovery",),
        "A crash in between, in the call or in the recovery, has the opening write it a second "
        "time. Recovering again does not: the first opening has struck it off.",
    ),
    Fragile(
        "boot-strikes-later",
        BootStrikesLater,
        "crash/recovery",
        (),
        "It takes a second crash: the first opening strikes off what it has written, if it is "
        "not cut short.",
    ),
    Fragile(
        "boot-never-strikes",
        BootNeverStrikes,
        "recover/again",
        ("crash/recovery",),
        "The first opening is right; the next one writes it again, whether it comes after a "
        "crash or not.",
    ),
    Fragile(
        "success-turned-into-failure",
        SuccessTurnedIntoFailure,
        "reply/repeated",
        ("reply/error-path", "crash/interrupted"),
        "The success has landed when its error is handled. If its statement failed, the table "
        "has no failure either: nobody reported one.",
    ),
    Fragile(
        "believes-the-worker",
        BelievesTheWorker,
        "reply/error-path",
        (),
        "Only a worker that reports a failure after its success has landed shows it; one that "
        "reports its success again is refused.",
    ),
    Fragile(
        "writes-again",
        WritesAgain,
        "reply/repeated",
        ("reply/error-path",),
        "A write that has landed is done twice. One that has failed has left nothing.",
    ),
)
"""Every fault that takes an accident to show."""

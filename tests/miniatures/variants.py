"""Honest in other ways: what the contract leaves open, done each way it may be done."""

from __future__ import annotations

import itertools
import marshal
import sqlite3
from typing import TYPE_CHECKING, Any, ClassVar

from lawful.sut import NotYet, Refusal, Refused, Unsupported

from .honest import (
    MEANT,
    REPORTS,
    Call,
    Honest,
    Illegal,
    StaleLease,
    StaleVersion,
    Unknown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut import Clock, Entry, Payload, Reading

    from .honest import (
        Row,
        Tasks,
    )

__all__ = [
    "Already",
    "AlreadyForAnything",
    "Asynchronous",
    "Bare",
    "InPlaceOfAPackage",
    "Indistinct",
    "IndistinctWithHistory",
    "Merged",
    "MergedOutOfOrder",
    "OnSqlite",
    "OneMethodPerEvent",
    "OwnNames",
    "Quiet",
    "Strict",
    "TokensForAll",
    "Undeclared",
    "VersionsFromSeven",
    "WithoutHeartbeat",
    "WithoutTokens",
]


class Asynchronous:
    """Every method is a coroutine; a plain class, which only looks like the contract's."""

    lifecycle: ClassVar = "task"
    system: ClassVar = "miniatures"
    refusals: ClassVar = Honest.refusals

    def __init__(self) -> None:
        self.honest = Honest()

    async def open(self, path: Path, clock: Clock) -> None:
        self.honest.open(path, clock)

    async def close(self) -> None:
        self.honest.close()

    async def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        return self.honest.submit(params, task=task)

    async def read(self, task: str) -> Reading:
        return self.honest.read(task)

    async def fire(
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> None:
        self.honest.fire(
            task,
            event,
            actor=actor,
            payload=payload,
            expected_version=expected_version,
            token=token,
        )

    async def history(self, task: str) -> list[Entry]:
        return self.honest.history(task)

    async def dump(self, task: str | None = None) -> object:
        return self.honest.dump(task)

    async def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        return self.honest.put(state, counters, actor=actor)

    async def absent(self) -> str:
        return self.honest.absent()

    async def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        self.honest.heartbeat(task, actor=actor, token=token)

    async def reap(self) -> list[str]:
        return self.honest.reap()

    async def poison(self, task: str) -> None:
        self.honest.poison(task)


# -- refusals --------------------------------------------------------------------------------------


class Quiet(Honest):
    """A refusal is returned, not raised."""

    def on(self, call: Call) -> Refused | None:
        try:
            return super().on(call)
        except (Illegal, StaleVersion, StaleLease, Unknown) as refusal:
            return Refused(MEANT[type(refusal)])


class Merged(Honest):
    """One exception stands for an illegal event and for a stale lease."""

    refusals: ClassVar = {
        **Honest.refusals,
        Illegal: {Refusal.ILLEGAL, Refusal.STALE_LEASE},
        StaleLease: {Refusal.ILLEGAL, Refusal.STALE_LEASE},
    }


class MergedOutOfOrder(Merged):
    """The same, and an illegal event is refused before the version is looked at."""

    def check_version(self, row: Row, call: Call) -> None:
        self.check_move(row, call)
        super().check_version(row, call)


class AlreadySo(Exception):
    """This report is in effect."""


class Already(Honest):
    """A report that is in effect is refused as such, if the same actor made it."""

    refusals: ClassVar = {**Honest.refusals, AlreadySo: Refusal.ALREADY}

    def check_move(self, row: Row, call: Call) -> str:
        after = self.target(row, call)
        if after is None and row["history"] and self.repeats(row["history"][-1], call):
            raise AlreadySo(call.event)
        return super().check_move(row, call)

    def repeats(self, last: list[Any], call: Call) -> bool:
        return [last[1], last[4]] == [call.event, call.actor]


class AlreadyForAnything(Already):
    """Any illegal report on a finished task is said to be in effect already."""

    def repeats(self, last: list[Any], call: Call) -> bool:
        return call.event in REPORTS


# -- names and methods -----------------------------------------------------------------------------


class OneMethodPerEvent(Honest):
    """Each event has a method of its own, which takes what it needs and no more."""

    fire: ClassVar[Any] = None

    def enqueue(self, task: str, *, actor: str, expected_version: int | None = None) -> None:
        self.on(Call(task, "enqueue", actor, {}, expected_version))

    def start(self, task: str, *, actor: str, expected_version: int | None = None) -> None:
        self.on(Call(task, "start", actor, {}, expected_version))

    def succeed(self, task: str, **given: Any) -> None:
        self.on(Call(task, "succeed", **{"payload": {}, **given}))

    def fail(self, task: str, **given: Any) -> None:
        self.on(Call(task, "fail", **given))

    def cancel(self, task: str, *, actor: str, expected_version: int | None = None) -> None:
        self.on(Call(task, "cancel", actor, {}, expected_version))

    def retry_due(self, task: str, *, actor: str, expected_version: int | None = None) -> None:
        self.on(Call(task, "retry_due", actor, {}, expected_version))

    def cancel_ack(self, task: str, **given: Any) -> None:
        self.on(Call(task, "cancel_ack", **given))


class OwnNames(Honest):
    """The states have names of the system's own, in readings and in the history."""

    states: ClassVar = {"NEW": "submitted", "READY": "queued", "ACTIVE": "running"}
    own: ClassVar = {name: own for own, name in states.items()}

    def read(self, task: str) -> Reading:
        reading = super().read(task)
        return reading._replace(state=self.own.get(reading.state, reading.state))

    def history(self, task: str) -> list[Entry]:
        return [
            entry._replace(
                before=self.own.get(entry.before or "", entry.before),
                after=self.own.get(entry.after, entry.after),
            )
            for entry in super().history(task)
        ]

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        return super().put(self.states.get(state, state), counters, actor=actor)


class TokensForAll(Honest):
    """Lease tokens grow over all tasks, and over all stores of the process."""

    numbers: ClassVar = itertools.count(1000)

    def grant(self, row: Row, actor: str) -> None:
        super().grant(row, actor)
        row["grants"] = next(self.numbers)


class VersionsFromSeven(Honest):
    """A task's first version is seven, and its submission is the first entry of its history."""

    def new(self, state: str, attempts: int, limit: int) -> Row:
        row = super().new(state, attempts, limit)
        row["version"] = 7
        row["history"].append([7, None, None, state, None, {}])
        return row


# -- gaps ------------------------------------------------------------------------------------------


class Undeclared(Honest):
    """Offers the required methods alone, and says nothing of the others."""

    absent: ClassVar[Any] = None
    due: ClassVar[Any] = None
    dump: ClassVar[Any] = None
    heartbeat: ClassVar[Any] = None
    history: ClassVar[Any] = None
    poison: ClassVar[Any] = None
    put: ClassVar[Any] = None
    reap: ClassVar[Any] = None


class Bare(Undeclared):
    """The same, with a reason for each, and for a store that does not survive its process."""

    gaps: ClassVar = {
        "absent": Unsupported("an id is any string"),
        "due": Unsupported("nobody asks"),
        "dump": Unsupported("the store is opaque"),
        "heartbeat": Unsupported("no heartbeats"),
        "history": NotYet("planned", issue="https://example.org/1"),
        "poison": Unsupported("no faults can be planted"),
        "put": Unsupported("a task begins as it is submitted"),
        "reap": Unsupported("no reaper"),
        "restart": Unsupported("kept in memory"),
        "second_connection": Unsupported("kept in memory"),
    }

    def open(self, path: Path, clock: Clock) -> None:
        self.tasks: Tasks = {}
        self.clock = clock
        self.poisoned = set()

    def close(self) -> None:
        self.tasks.clear()

    def load(self) -> Tasks:
        return self.tasks

    def save(self, tasks: Tasks) -> None:
        self.tasks = tasks


class Indistinct(Bare):
    """Shows one name for a task that is queued and one that waits, and neither version nor log."""

    gaps: ClassVar = {**Bare.gaps, "version": Unsupported("rows have none")}
    indistinct: ClassVar = [{"queued", "retry_wait"}]
    states: ClassVar = {"pending": "queued"}

    def read(self, task: str) -> Reading:
        reading = super().read(task)
        waits = reading.state in ("queued", "retry_wait")
        return reading._replace(state="pending" if waits else reading.state, version=None)


class IndistinctWithHistory(Honest):
    """Shows one name for a task that is queued and one that waits, but its history tells."""

    indistinct: ClassVar = [{"queued", "retry_wait"}]

    def read(self, task: str) -> Reading:
        reading = super().read(task)
        return reading._replace(state="queued") if reading.state == "retry_wait" else reading


# -- leases ----------------------------------------------------------------------------------------


class Strict(Honest):
    """From the deadline on, the holder is a stranger."""

    def holds(self, row: Row, call: Call) -> bool:
        return super().holds(row, call) and not self.expired(row)


def _fire(
    self: Honest,
    task: str,
    event: str,
    *,
    actor: str,
    payload: Payload,
    expected_version: int | None = None,
) -> None:
    self.on(Call(task, event, actor, payload, expected_version))


def _heartbeat(self: Honest, task: str, *, actor: str) -> None:
    Honest.heartbeat(self, task, actor=actor)


class WithoutTokens(Honest):
    """A lease has no token, and no call takes one."""

    fire: ClassVar[Any] = _fire
    heartbeat: ClassVar[Any] = _heartbeat
    gaps: ClassVar = {
        "lease_token": Unsupported("a lease is its holder's name"),
        "token": Unsupported("a lease is its holder's name"),
    }

    def read(self, task: str) -> Reading:
        return super().read(task)._replace(lease_token=None)


class WithoutHeartbeat(Honest):
    """Leases are never renewed."""

    heartbeat: ClassVar[Any] = None
    gaps: ClassVar = {"heartbeat": Unsupported("leases are never renewed")}


# -- systems ---------------------------------------------------------------------------------------


class OnSqlite(Honest):
    """Keeps its tasks with a package that is written in C, and names it as the system."""

    system: ClassVar = "sqlite3"

    def open(self, path: Path, clock: Clock) -> None:
        self.clock = clock
        self.poisoned = set()
        self.store = sqlite3.connect(path / "tasks.db", isolation_level=None)
        self.store.execute("CREATE TABLE IF NOT EXISTS kept (one INTEGER PRIMARY KEY, tasks BLOB)")

    def close(self) -> None:
        self.store.close()

    def load(self) -> Tasks:
        row = self.store.execute("SELECT tasks FROM kept").fetchone()
        tasks: Tasks = marshal.loads(row[0]) if row else {}
        return tasks

    def save(self, tasks: Tasks) -> None:
        self.store.execute("INSERT OR REPLACE INTO kept VALUES (1, ?)", (marshal.dumps(tasks),))


class InPlaceOfAPackage(Honest):
    """Claims to drive a package, and does in a dict what the package should have done."""

    system: ClassVar = "sched"

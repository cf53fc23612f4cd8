"""The lifecycle ``task`` in one file of plain values, as it should be: no law may find anything.

Written apart from the spec and from the reference, so that the three agree for a reason. The file
is read before each call and written after each change; nothing is kept in between. Its small
methods are what the wrong miniatures override, one at a time.
"""

from __future__ import annotations

import marshal
import os
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from lawful.sut import Entry, Implementation, Reading, Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from lawful.sut import Clock, Payload, Refused

__all__ = [
    "HELD",
    "LEASE",
    "MEANT",
    "NOTHING",
    "REPORTS",
    "RETRYABLE",
    "Call",
    "Honest",
    "Illegal",
    "Poisoned",
    "Row",
    "StaleLease",
    "StaleVersion",
    "Tasks",
    "Unknown",
]

Row: TypeAlias = dict[str, Any]  # a row is whatever plain values a miniature keeps
Tasks: TypeAlias = dict[str, Row]

LEASE: Final = 30
HELD: Final = ("running", "cancelling")
REPORTS: Final = ("succeed", "fail", "cancel_ack")
RETRYABLE: Final[Payload] = {"retryable": True}
NOTHING: Final = "="
"""In place of a state: accepted, and nothing is written."""

MOVES: Final = {
    "submitted": {"enqueue": "queued", "cancel": "cancelled"},
    "queued": {"start": "running", "cancel": "cancelled"},
    "running": {"succeed": "succeeded", "cancel": "cancelling"},
    "retry_wait": {"retry_due": "queued", "cancel": "cancelled"},
    "cancelling": {
        "succeed": "succeeded",
        "fail": "cancelled",
        "cancel_ack": "cancelled",
        "cancel": NOTHING,
    },
    "cancelled": {"cancel": NOTHING},
}


class Call(NamedTuple):
    """An event that is fired."""

    task: str
    event: str
    actor: str
    payload: Payload
    expected_version: int | None = None
    token: int | None = None


class Illegal(Exception):
    """The task can't do that in its state."""


class StaleVersion(Exception):
    """The task has moved on."""


class StaleLease(Exception):
    """Somebody else holds the task, or nobody does."""


class Unknown(Exception):
    """There is no such task."""


class Poisoned(Exception):
    """The row can't be written."""


MEANT: Final[Mapping[type[BaseException], Refusal]] = {
    Illegal: Refusal.ILLEGAL,
    StaleVersion: Refusal.STALE_VERSION,
    StaleLease: Refusal.STALE_LEASE,
    Unknown: Refusal.UNKNOWN_TASK,
}
"""What each of the exceptions stands for."""


class Honest(Implementation):
    """The lifecycle ``task`` in a file."""

    system: ClassVar = "miniatures"
    refusals: ClassVar[Mapping[type[BaseException], Refusal | Collection[Refusal]]] = {**MEANT}

    def open(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.file = os.open(path / "tasks", os.O_RDWR | os.O_CREAT)
        self.clock = clock
        self.poisoned: set[str] = set()

    def close(self) -> None:
        os.close(self.file)

    def load(self) -> Tasks:
        kept = os.pread(self.file, os.fstat(self.file).st_size, 0)
        tasks: Tasks = marshal.loads(kept) if kept else {}
        return tasks

    def save(self, tasks: Tasks) -> None:
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, marshal.dumps(tasks), 0)

    def row(self, tasks: Tasks, task: str) -> Row:
        if task not in tasks:
            raise Unknown(task)
        return tasks[task]

    # -- new tasks -----------------------------------------------------------------------------

    def new(self, state: str, attempts: int, limit: int) -> Row:
        return {
            "state": state,
            "attempts": attempts,
            "limit": limit,
            "version": 0,
            "grants": 0,
            "owner": None,
            "until": None,
            "history": [],
        }

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        return self.add(self.new("submitted", 0, params["max_attempts"]), task)

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        row = self.new(state, counters["attempts"], 3)
        if state in HELD:
            self.grant(row, actor)
        return self.add(row, None)

    def add(self, row: Row, task: str | None) -> str:
        tasks = self.load()
        name = task or f"job/{len(tasks)}"
        tasks[name] = row
        self.save(tasks)
        return name

    def absent(self) -> str:
        return "job/none"

    # -- looking -------------------------------------------------------------------------------

    def read(self, task: str) -> Reading:
        row = self.row(self.load(), task)
        token = row["grants"] if row["owner"] else None
        return Reading(
            row["state"], row["attempts"], row["version"], row["owner"], row["until"], token
        )

    def history(self, task: str) -> list[Entry]:
        return [Entry(*line) for line in self.row(self.load(), task)["history"]]

    def dump(self, task: str | None = None) -> object:
        tasks = self.load()
        return marshal.dumps(tasks if task is None else self.row(tasks, task), 2)

    def due(self) -> list[str]:
        waiting = ("submitted", "retry_wait")
        return [task for task, row in self.load().items() if row["state"] in waiting]

    # -- moving --------------------------------------------------------------------------------

    def fire(
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> Refused | None:
        return self.on(Call(task, event, actor, payload, expected_version, token))

    def on(self, call: Call) -> Refused | None:
        """Do what is asked, or raise. A miniature may refuse by returning."""
        tasks = self.load()
        row = self.row(tasks, call.task)
        try:
            after = self.checked(row, call)
        except (Illegal, StaleVersion, StaleLease):
            self.refused(tasks, row, call)
            raise
        if after == NOTHING:
            self.noop(tasks, row, call)
        else:
            self.write(tasks, row, call, after)
        return None

    def checked(self, row: Row, call: Call) -> str:
        """Return the state that follows, if the event is to be accepted."""
        self.check_version(row, call)
        after = self.check_move(row, call)
        self.check_lease(row, call)
        return after

    def check_version(self, row: Row, call: Call) -> None:
        if call.expected_version not in (None, row["version"]):
            raise StaleVersion(f"at {row['version']}, not {call.expected_version}")

    def check_move(self, row: Row, call: Call) -> str:
        after = self.target(row, call)
        if after is None:
            raise Illegal(f"{call.event} in {row['state']}")
        return after

    def check_lease(self, row: Row, call: Call) -> None:
        if call.event in REPORTS and not self.holds(row, call):
            raise StaleLease(f"held by {row['owner']}, not {call.actor}")

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == ("running", "fail"):
            return "retry_wait" if self.retries(row, call) else "failed"
        return MOVES.get(row["state"], {}).get(call.event)

    def retries(self, row: Row, call: Call) -> bool:
        return bool(call.payload["retryable"]) and row["attempts"] < row["limit"]

    def holds(self, row: Row, call: Call) -> bool:
        return row["owner"] == call.actor and call.token in (None, row["grants"])

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        """Nothing is written."""

    def noop(self, tasks: Tasks, row: Row, call: Call) -> None:
        """Nothing is written."""

    def write(self, tasks: Tasks, row: Row, call: Call, after: str) -> None:
        if call.task in self.poisoned:
            self.poisoned.discard(call.task)
            raise Poisoned(call.task)
        self.move(row, call, after)
        self.save(tasks)

    def move(self, row: Row, call: Call, after: str) -> None:
        before = row["state"]
        row["state"] = after
        row["version"] += 1
        if call.event == "start":
            self.count(row, call)
            self.grant(row, call.actor)
        elif after not in HELD:
            self.release(row)
        self.log(row, call, before)

    def count(self, row: Row, call: Call) -> None:
        row["attempts"] += 1

    def grant(self, row: Row, actor: str) -> None:
        row["grants"] += 1
        row["owner"] = actor
        row["until"] = self.clock.now() + LEASE

    def release(self, row: Row) -> None:
        row["owner"] = row["until"] = None

    def log(self, row: Row, call: Call, before: str) -> None:
        entry = [row["version"], call.event, before, row["state"], call.actor, dict(call.payload)]
        row["history"].append(entry)

    # -- leases --------------------------------------------------------------------------------

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        tasks = self.load()
        row = self.row(tasks, task)
        call = Call(task, "heartbeat", actor, {}, None, token)
        if not self.beats(row, call):
            self.refused(tasks, row, call)
            raise StaleLease(f"held by {row['owner']}, not {actor}")
        self.renew(row, call)
        self.save(tasks)

    def beats(self, row: Row, call: Call) -> bool:
        return self.holds(row, call)

    def renew(self, row: Row, call: Call) -> None:
        row["until"] = self.clock.now() + LEASE

    def expired(self, row: Row) -> bool:
        return row["owner"] is not None and bool(row["until"] < self.clock.now())

    def reap(self) -> list[str]:
        tasks = self.load()
        reaped = []
        for task, row in tasks.items():
            if self.expired(row):
                try:
                    self.reclaim(tasks, row, Call(task, "fail", "reaper", RETRYABLE))
                except Poisoned:
                    continue
                reaped.append(task)
        return reaped

    def reclaim(self, tasks: Tasks, row: Row, call: Call) -> None:
        self.write(tasks, row, call, self.check_move(row, call))

    def poison(self, task: str) -> None:
        self.row(self.load(), task)
        self.poisoned.add(task)

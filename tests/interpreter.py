"""A task system that obeys any table at all, or any table but for one cell.

It is to the tables that are drawn at random what the miniatures are to ``task``. It reads the
table's values and decides by itself: the oracle has no part in it. The file is read before each
call and written after each change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lawful.spec.table import CellKind, Expiry, Name
from lawful.sut import Entry, Implementation, Reading
from miniatures.honest import MEANT, Illegal, Poisoned, StaleLease, StaleVersion, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from random import Random

    from lawful.spec import Table
    from lawful.spec.table import Branch, Condition
    from lawful.sut import Clock, Payload

__all__ = ["Interpreter", "Slip", "interpreter", "slip"]


@dataclass(frozen=True, slots=True)
class Slip:
    """One cell in which an implementation departs from its table.

    Attributes:
        state: The cell's state.
        event: Its event.
        to: Where the event leads instead; None refuses it. The state itself, in a cell that is a
            no-op, makes a transition of it.
    """

    state: str
    event: str
    to: str | None

    @property
    def cell(self) -> str:
        """The id of the check that must find it."""
        return f"cell/{self.state}/{self.event}"


def slip(table: Table, chooser: Random) -> Slip:
    """Choose a cell and what is wrong with it: transfer, loss, gain, or a no-op that writes."""
    state = chooser.choice(table.states)
    event = chooser.choice(table.event_names)
    cell = table.cell(state, event)
    if cell.kind is CellKind.NOOP:
        return Slip(state, event, state)
    if cell.kind is CellKind.REFUSED:
        return Slip(state, event, chooser.choice(table.states))
    others = [other for other in table.states if other not in _targets(table, state, event)]
    return Slip(state, event, chooser.choice([None, *others]))


def _targets(table: Table, state: str, event: str) -> set[str | None]:
    cell = table.cell(state, event)
    return {branch.to for branch in table.guard(cell.guard).branches} if cell.guard else {cell.to}


def interpreter(of: Table, wrong: Slip | None = None) -> type[Interpreter]:
    """Make an implementation of a table, with a slip or without."""

    class Interpreted(Interpreter):
        table = of
        slipped = wrong

    return Interpreted


class Interpreter(Implementation):
    """Any lifecycle, in a file."""

    system: ClassVar = "interpreter"
    refusals: ClassVar = MEANT
    table: ClassVar[Table]
    slipped: ClassVar[Slip | None]

    def open(self, path: Path, clock: Clock) -> None:
        self.file = path / "tasks.json"
        self.clock = clock
        self.poisoned: set[str] = set()

    def close(self) -> None:
        """Nothing is kept."""

    def load(self) -> dict[str, Any]:
        tasks: dict[str, Any] = json.loads(self.file.read_bytes()) if self.file.exists() else {}
        return tasks

    def save(self, tasks: dict[str, Any]) -> None:
        self.file.write_text(json.dumps(tasks))

    def row(self, tasks: dict[str, Any], task: str) -> dict[str, Any]:
        if task not in tasks:
            raise Unknown(task)
        row: dict[str, Any] = tasks[task]
        return row

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        return self.add(self.table.initial, dict.fromkeys(self.table.counters, 0), params, task)

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        task = self.add(state, counters, self.table.defaults, None)
        tasks = self.load()
        if self.table.lease and state in self.table.lease.held_in:
            self.grant(tasks[task], actor)
        self.save(tasks)
        return task

    def add(
        self,
        state: str,
        counters: Mapping[str, int],
        params: Mapping[str, int],
        task: str | None,
    ) -> str:
        tasks = self.load()
        name = task or f"job/{len(tasks)}"
        tasks[name] = {
            "state": state,
            "counters": dict(counters),
            "params": dict(params),
            "version": 0,
            "grants": 0,
            "owner": None,
            "until": None,
            "history": [],
        }
        self.save(tasks)
        return name

    def absent(self) -> str:
        return "job/none"

    def due(self) -> list[str]:
        return [t for t, row in self.load().items() if row["state"] == self.table.initial]

    def read(self, task: str) -> Reading:
        row = self.row(self.load(), task)
        return Reading(
            row["state"],
            row["counters"].get("attempts"),
            row["version"],
            row["owner"],
            row["until"],
            row["grants"] if row["owner"] else None,
            row["counters"],
        )

    def history(self, task: str) -> list[Entry]:
        return [Entry(*line) for line in self.row(self.load(), task)["history"]]

    def dump(self, task: str | None = None) -> object:
        tasks = self.load()
        return tasks if task is None else self.row(tasks, task)

    def fire(
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> None:
        tasks = self.load()
        row = self.row(tasks, task)
        if expected_version not in (None, row["version"]):
            raise StaleVersion(task)
        to, add = self.target(row, event, payload)
        if to is None and self.table.cell(row["state"], event).kind is not CellKind.NOOP:
            raise Illegal(event)
        lease = self.table.lease
        if lease and event in lease.needed_by and not self.holds(row, actor, token):
            raise StaleLease(task)
        if to is not None:
            self.write(tasks, task, (event, to, actor, dict(payload)), add)

    def target(
        self, row: dict[str, Any], event: str, payload: Payload
    ) -> tuple[str | None, Mapping[str, int]]:
        """Return where an event leads, and what it adds beside its own; None leads nowhere."""
        state, wrong = row["state"], self.slipped
        if wrong and (wrong.state, wrong.event) == (state, event):
            return wrong.to, {}
        cell = self.table.cell(state, event)
        if cell.guard is None:
            return cell.to, {}
        known = {**row["counters"], **row["params"], **payload}
        for branch in self.table.guard(cell.guard).branches:
            if self.taken(branch, known):
                return branch.to, dict(branch.add)
        raise AssertionError(f"guard {cell.guard} does not decide")

    def taken(self, branch: Branch, known: Mapping[str, Any]) -> bool:
        return all(self.true(condition, known) for condition in branch.conditions)

    def true(self, condition: Condition, known: Mapping[str, Any]) -> bool:
        left, right = known[condition.left.name], condition.right
        value = known[right.name] if isinstance(right, Name) else right
        if condition.operator in ("==", "!="):
            return bool((left == value) == (condition.operator == "=="))
        smaller, equal = left < value, left == value
        return bool(smaller if condition.operator[0] == "<" else not smaller and not equal) or (
            equal and condition.operator.endswith("=")
        )

    def holds(self, row: dict[str, Any], actor: str, token: int | None) -> bool:
        lease = self.table.lease
        strict = lease is not None and lease.expiry is Expiry.STRICT
        mine = row["owner"] == actor and token in (None, row["grants"])
        return mine and not (strict and self.expired(row))

    def write(
        self,
        tasks: dict[str, Any],
        task: str,
        step: tuple[str, str, str, dict[str, Any]],
        add: Mapping[str, int],
    ) -> None:
        if task in self.poisoned:
            self.poisoned.discard(task)
            raise Poisoned(task)
        row = tasks[task]
        event, to, actor, payload = step
        before, row["state"] = row["state"], to
        row["version"] += 1
        for counter, amount in (*self.table.event(event).add, *add.items()):
            row["counters"][counter] += amount
        lease = self.table.lease
        if lease and event in lease.granted_by:
            self.grant(row, actor)
        elif lease and to not in lease.held_in:
            row["owner"] = row["until"] = None
        row["history"].append([row["version"], event, before, to, actor, payload])
        self.save(tasks)

    def grant(self, row: dict[str, Any], actor: str) -> None:
        assert self.table.lease
        row["grants"] += 1
        row["owner"], row["until"] = actor, self.clock.now() + self.table.lease.seconds

    def expired(self, row: dict[str, Any]) -> bool:
        return row["owner"] is not None and bool(row["until"] < self.clock.now())

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        tasks = self.load()
        row = self.row(tasks, task)
        if not self.holds(row, actor, token):
            raise StaleLease(task)
        assert self.table.lease
        row["until"] = self.clock.now() + self.table.lease.seconds
        self.save(tasks)

    def reap(self) -> list[str]:
        lease = self.table.lease
        assert lease
        event, payload = lease.on_expiry.event, dict(lease.on_expiry.payload)
        reaped = []
        for task, row in self.load().items():
            to, add = self.target(row, event, payload)
            if self.expired(row) and to is not None:
                try:
                    self.write(self.load(), task, (event, to, "reaper", payload), add)
                except Poisoned:
                    continue
                reaped.append(task)
        return reaped

    def poison(self, task: str) -> None:
        self.row(self.load(), task)
        self.poisoned.add(task)

"""An implementation of any table, in memory, that may be wrong in one respect.

It is what faults of a table are planted in: no source is changed, and nothing is imported anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol

from lawful.spec.oracle import Oracle
from lawful.spec.table import CellKind, Expiry, Letter
from lawful.sut.contract import Entry, Implementation, Reading, Refusal, Refused

from .effects import lawful_effect

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.spec.oracle import Position
    from lawful.spec.table import Table
    from lawful.sut.contract import Clock, Payload

    from .effects import Effect, Line

__all__ = ["Behaviour", "Lawful", "Machine", "Row"]


class Behaviour(Protocol):
    """What a machine does in place of what its table says."""

    @property
    def state(self) -> str | None:
        """The one state in which it may differ from the table; None for any."""
        ...

    def effect(self, oracle: Oracle, position: Position, letter: Letter, *, armed: bool) -> Effect:
        """Return what comes of a letter; ``armed`` if ``arms`` was ever true for this task."""
        ...

    def arms(self, position: Position, letter: Letter) -> bool:
        """Say whether a letter sets the hidden bit that a later one shows."""
        ...


class Lawful:
    """What the table says: the null mutant."""

    state = None

    def effect(self, oracle: Oracle, position: Position, letter: Letter, *, armed: bool) -> Effect:
        """Return what the table asks for."""
        return lawful_effect(oracle, position, letter)

    def arms(self, position: Position, letter: Letter) -> bool:
        """Arm nothing."""
        return False


class Unknown(KeyError):
    """No task has this id."""


@dataclass(slots=True)
class Row:
    """What is stored of a task."""

    oracle: Oracle
    position: Position
    version: int = 0
    grants: int = 0
    owner: str | None = None
    until: float | None = None
    armed: bool = False
    history: list[Entry] = field(default_factory=list)


class Machine(Implementation):
    """A table, obeyed in memory, as far as its behaviour is lawful.

    Args:
        table: The table.
        behaviour: What it does.
        oracles: Oracles by parameters, shared so that none is made twice.
        stores: The tasks of each store, by its folder: memory that outlives an instance.
    """

    system: ClassVar = "lawful.mutants.table"
    refusals: ClassVar = {Unknown: Refusal.UNKNOWN_TASK}

    def __init__(
        self,
        table: Table,
        behaviour: Behaviour,
        oracles: dict[tuple[tuple[str, int], ...], Oracle],
        stores: dict[Path, dict[str, Row]],
    ) -> None:
        self._table = table
        self._behaviour = behaviour
        self._oracles = oracles
        self._stores = stores

    def open(self, path: Path, clock: Clock) -> None:
        """Take up the tasks that were stored under this path."""
        self._clock = clock
        self._rows = self._stores.setdefault(path, {})

    def close(self) -> None:
        """Keep what is stored: it is not this instance's alone."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Submit a task."""
        key = tuple(params.items())
        oracle = self._oracles.get(key)
        if oracle is None:
            oracle = self._oracles[key] = Oracle(self._table, params)
        task = task or f"task-{len(self._rows) + 1}"
        self._rows[task] = Row(oracle, oracle.origin)
        return task

    def absent(self) -> str:
        """Return an id that is never given out."""
        return "task-0"

    def read(self, task: str) -> Reading:
        """Read a task."""
        row = self._row(task)
        counters = dict(zip(self._table.counters, row.position.counters, strict=True))
        return Reading(
            row.position.state,
            counters.get("attempts"),
            row.version,
            row.owner,
            row.until,
            row.grants if row.owner else None,
            counters,
        )

    def history(self, task: str) -> list[Entry]:
        """Return a task's history."""
        return list(self._row(task).history)

    def dump(self, task: str | None = None) -> object:
        """Return all that is stored, of one task or of all; the hidden bit is hidden."""
        if task is None:
            return tuple((name, self.dump(name)) for name in self._rows)
        row = self._row(task)
        return (row.position, row.version, row.grants, row.owner, row.until, tuple(row.history))

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
        """Fire an event."""
        row = self._row(task)
        if expected_version not in (None, row.version):
            return Refused(Refusal.STALE_VERSION)
        letter = Letter(event, tuple(payload.items()))
        if not self._reports(row, letter) or self._holds(row, actor, token):
            return self._fire(row, letter, actor)
        return Refused(Refusal.STALE_LEASE)

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> Refused | None:
        """Renew the holder's lease."""
        row = self._row(task)
        lease = self._table.lease
        if lease is None or not self._holds(row, actor, token):
            return Refused(Refusal.STALE_LEASE)
        row.until = self._clock.now() + lease.seconds
        return None

    def reap(self) -> list[str]:
        """Fire the table's expiry event at every task whose lease has expired."""
        reaped = []
        for task, row in self._rows.items():
            if self._table.lease and row.until is not None and row.until < self._clock.now():
                self._fire(row, self._table.lease.on_expiry, "reaper")
                reaped.append(task)
        return reaped

    def _row(self, task: str) -> Row:
        if task not in self._rows:
            raise Unknown(task)
        return self._rows[task]

    def _reports(self, row: Row, letter: Letter) -> bool:
        """Say whether the lease is asked for; a fault that accepts more does not ask."""
        lease = self._table.lease
        if lease is None or letter.event not in lease.needed_by:
            return False
        return row.oracle.step(row.position, letter).kind is not CellKind.REFUSED

    def _holds(self, row: Row, actor: str, token: int | None) -> bool:
        lease, until = self._table.lease, row.until
        strict = lease is not None and lease.expiry is Expiry.STRICT
        late = strict and until is not None and until < self._clock.now()
        return row.owner == actor and token in (None, row.grants) and not late

    def _fire(self, row: Row, letter: Letter, actor: str) -> Refused | None:
        before = row.position
        effect = self._behaviour.effect(row.oracle, before, letter, armed=row.armed)
        row.armed = row.armed or self._behaviour.arms(before, letter)
        if effect.after != before or effect.versions:
            row.position = effect.after
            row.version += effect.versions
            self._lease(row, letter, actor)
        for line in effect.lines:
            row.history.append(_entry(line, row.version, letter, actor))
        return Refused(effect.refusal) if effect.refusal is not None else None

    def _lease(self, row: Row, letter: Letter, actor: str) -> None:
        lease = self._table.lease
        if lease is None:
            return
        if letter.event in lease.granted_by:
            row.grants += 1
            row.owner, row.until = actor, self._clock.now() + lease.seconds
        elif row.position.state not in lease.held_in:
            row.owner = row.until = None


def _entry(line: Line, version: int, letter: Letter, actor: str) -> Entry:
    payload = {} if line.bare else dict(letter.payload)
    return Entry(
        version + line.ahead, line.event, line.before, line.after, line.actor or actor, payload
    )

"""The gate shown to the contract, twice: the same store under each of the two rules."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from lawful.sut._ledger import Ledger, Move, UnknownTask, VersionConflict, without_fields
from lawful.sut.contract import Implementation, Reading, Refusal
from lawful.sut.gate.errors import IllegalMove
from lawful.sut.gate.rules import by_table, by_word

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut._ledger import Dump, Row
    from lawful.sut.contract import Clock, Entry, Payload

__all__ = ["Gate", "GateWords"]

COLUMNS: Final = {
    "status": "TEXT NOT NULL CHECK (status IN ('pending', 'running', 'done', 'failed', 'dropped'))"
}
NOTHING: Final[Payload] = MappingProxyType({})


class Gate(Implementation):
    """The lifecycle ``gate``: a status that moves only as the table says."""

    lifecycle = "gate"
    system = "lawful.sut.gate"
    refusals: ClassVar = {
        IllegalMove: Refusal.ILLEGAL,
        VersionConflict: Refusal.STALE_VERSION,
        UnknownTask: Refusal.UNKNOWN_TASK,
    }
    rule: ClassVar[staticmethod[[str, str], None]] = staticmethod(by_table)
    """What lets a move pass."""

    ledger: Ledger
    """The ledger in use, once opened."""

    def open(self, path: Path, clock: Clock) -> None:
        """Open ``gate.db`` in the folder ``path``."""
        self.ledger = Ledger(path / "gate.db", columns=COLUMNS)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Submit a task: it is pending."""
        for name in sorted(params):
            raise ValueError(f"unknown parameter {name!r}: the gate has none")
        return self.ledger.create(task, "pending", {"status": "pending"}, actor=None)

    def read(self, task: str) -> Reading:
        """Read one task's status and version."""
        row = self.ledger.load(task)
        return Reading(str(row.fields["status"]), version=row.version)

    def fire(
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload = NOTHING,
        expected_version: int | None = None,
    ) -> None:
        """Ask for the status ``event``."""
        without_fields(event, payload)

        def move(row: Row) -> Move:
            before = str(row.fields["status"])
            self.rule(before, event)
            return Move(before, event, {"status": event})

        self.ledger.change(
            task, event, move, actor=actor, payload=payload, expected_version=expected_version
        )

    def history(self, task: str) -> list[Entry]:
        """Return one task's history."""
        return self.ledger.history(task)

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one task or of all."""
        return self.ledger.dump(task)

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        """Write a new task straight into ``state``; the gate counts nothing."""
        for name in sorted(counters):
            raise ValueError(f"unknown counter {name!r}: the gate has none")
        by_word("pending", state)
        return self.ledger.create(None, state, {"status": state}, actor=actor)

    def absent(self) -> str:
        """Return an id that was never given out."""
        return self.ledger.absent()


class GateWords(Gate):
    """The same behind a check of words alone: any known status passes, from anywhere."""

    rule = staticmethod(by_word)

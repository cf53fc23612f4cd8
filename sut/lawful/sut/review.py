"""The lifecycle ``review`` on SQLite: a document that may be sent back a bounded number of times.

The contract's ``submit`` makes the document; the event of that name, like the others, is fired.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from lawful.sut._ledger import Ledger, Move, UnknownTask, VersionConflict, without_fields
from lawful.sut.contract import Implementation, Reading, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut._ledger import Dump, Row
    from lawful.sut.contract import Clock, Entry, Payload

__all__ = ["IllegalStep", "Review"]

COLUMNS: Final = {
    "state": "TEXT NOT NULL CHECK"
    " (state IN ('draft', 'in_review', 'approved', 'rejected', 'withdrawn'))",
    "rounds": "INTEGER NOT NULL CHECK (rounds BETWEEN 0 AND max_rounds)",
    "max_rounds": "INTEGER NOT NULL CHECK (max_rounds >= 1)",
}
DEFAULT_MAX_ROUNDS: Final = 2
NOTHING: Final[Payload] = MappingProxyType({})
EVENTS: Final = ("submit", "approve", "reject", "withdraw")
STATES: Final = ("draft", "in_review", "approved", "rejected", "withdrawn")


class IllegalStep(Exception):
    """The review has no such step from the document's state.

    Attributes:
        state: The state the document is in.
        event: The event that was fired.
        allowed: The events that lead on from here; empty if the state is terminal.
    """

    def __init__(self, state: str, event: str, allowed: tuple[str, ...]) -> None:
        self.state = state
        self.event = event
        self.allowed = allowed
        way_on = f"allowed from here: {', '.join(allowed)}" if allowed else "it is terminal"
        super().__init__(f"a document that is {state} refuses {event}; {way_on}")


def allowed(state: str) -> tuple[str, ...]:
    """Return the events that lead on from ``state``."""
    if state == "draft":
        return ("submit", "withdraw")
    if state == "in_review":
        return ("approve", "reject", "withdraw")
    return ()


def moved(state: str, rounds: int, max_rounds: int, event: str) -> tuple[str, int]:
    """Return the state and the rounds after one event.

    Args:
        state: The state before.
        rounds: How often the document was sent back.
        max_rounds: How often it may be sent back in all.
        event: What is fired.

    Raises:
        IllegalStep: There is no such step.
    """
    if event not in allowed(state):
        raise IllegalStep(state, event, allowed(state))
    if event == "submit":
        return "in_review", rounds
    if event == "approve":
        return "approved", rounds
    if event == "withdraw":
        return "withdrawn", rounds
    if rounds < max_rounds:
        return "draft", rounds + 1
    return "rejected", rounds


class Review(Implementation):
    """The lifecycle ``review``, as it should be."""

    lifecycle = "review"
    system = "lawful.sut.review"
    refusals: ClassVar = {
        IllegalStep: Refusal.ILLEGAL,
        VersionConflict: Refusal.STALE_VERSION,
        UnknownTask: Refusal.UNKNOWN_TASK,
    }

    ledger: Ledger
    """The ledger in use, once opened."""

    def open(self, path: Path, clock: Clock) -> None:
        """Open ``review.db`` in the folder ``path``."""
        self.ledger = Ledger(path / "review.db", columns=COLUMNS)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Make a document: it is a draft."""
        return self.ledger.create(task, "draft", _columns("draft", params), actor=None)

    def read(self, task: str) -> Reading:
        """Read one document's state, version and rounds."""
        row = self.ledger.load(task)
        rounds = int(row.fields["rounds"])
        return Reading(str(row.fields["state"]), version=row.version, counters={"rounds": rounds})

    def fire(
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload = NOTHING,
        expected_version: int | None = None,
    ) -> None:
        """Fire one event.

        Raises:
            ValueError: The event is unknown, or a field is reported that it does not declare.
        """
        if event not in EVENTS:
            raise ValueError(f"unknown event {event!r}: expected {', '.join(EVENTS)}")
        without_fields(event, payload)

        def move(row: Row) -> Move:
            before = str(row.fields["state"])
            limit = int(row.fields["max_rounds"])
            after, rounds = moved(before, int(row.fields["rounds"]), limit, event)
            return Move(before, after, {"state": after, "rounds": rounds})

        self.ledger.change(
            task, event, move, actor=actor, payload=payload, expected_version=expected_version
        )

    def history(self, task: str) -> list[Entry]:
        """Return one document's history."""
        return self.ledger.history(task)

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one document or of all."""
        return self.ledger.dump(task)

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        """Write a new document straight into ``state``."""
        if state not in STATES:
            raise ValueError(f"unknown state {state!r}: expected {', '.join(STATES)}")
        return self.ledger.create(None, state, _columns(state, counters), actor=actor)

    def absent(self) -> str:
        """Return an id that was never given out."""
        return self.ledger.absent()


def _columns(state: str, counters: Mapping[str, int]) -> dict[str, int | str]:
    unknown = sorted(set(counters) - {"rounds", "max_rounds"})
    if unknown:
        raise ValueError(f"unknown name {unknown[0]!r}: expected rounds, max_rounds")
    limit = counters.get("max_rounds", DEFAULT_MAX_ROUNDS)
    rounds = counters.get("rounds", 0)
    if type(limit) is not int or limit < 1:
        raise ValueError(f"max_rounds = {limit!r}: expected an integer from 1 up")
    if type(rounds) is not int or not 0 <= rounds <= limit:
        raise ValueError(f"rounds = {rounds!r}: expected 0 to {limit}")
    return {"state": state, "rounds": rounds, "max_rounds": limit}

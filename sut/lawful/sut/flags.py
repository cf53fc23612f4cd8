"""The lifecycle ``task`` as it is often written first: one boolean per condition.

Each event raises its flag whatever the others say, and the state shown is read off the flags by
precedence. Nothing is refused, nobody holds anything, and a cancel takes effect at once. It is
here to be found out.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from lawful.sut._ledger import Ledger, Move, UnknownTask
from lawful.sut.contract import Implementation, Reading, Refusal, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut._ledger import Dump, Row
    from lawful.sut.contract import Clock, Entry, Payload

__all__ = ["Flags", "FlagsOf"]

# The flag that outshines all others comes first.
STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "is_cancelled": "cancelled",
        "is_failed": "failed",
        "is_done": "succeeded",
        "is_cancelling": "cancelling",
        "is_waiting": "retry_wait",
        "is_running": "running",
        "is_queued": "queued",
    }
)
UNFLAGGED: Final = "submitted"
RAISED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "enqueue": "is_queued",
        "start": "is_running",
        "succeed": "is_done",
        "cancel": "is_cancelled",
        "retry_due": "is_queued",
        "cancel_ack": "is_cancelled",
    }
)
COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{flag: f"INTEGER NOT NULL CHECK ({flag} IN (0, 1))" for flag in STATES},
        "attempts": "INTEGER NOT NULL",
        "max_attempts": "INTEGER NOT NULL",
    }
)
DEFAULT_MAX_ATTEMPTS: Final = 3

NO_LEASES: Final = Unsupported("a flag says that a task runs, not who runs it")


class FlagsOf(NamedTuple):
    """One task's flags as they are stored, the one that outshines all others first."""

    is_cancelled: bool
    is_failed: bool
    is_done: bool
    is_cancelling: bool
    is_waiting: bool
    is_running: bool
    is_queued: bool


class Flags(Implementation):
    """The lifecycle ``task`` in boolean flags, as it should not be."""

    system = "lawful.sut.flags"
    refusals: ClassVar = {UnknownTask: Refusal.UNKNOWN_TASK}
    gaps: ClassVar = {
        "claim": Unsupported("whoever names a task starts it"),
        "clock": Unsupported("nothing here depends on the time"),
        "due": Unsupported("nobody looks for what is left lying"),
        "expected_version": Unsupported("the version is counted, never compared"),
        "heartbeat": NO_LEASES,
        "lease_owner": NO_LEASES,
        "lease_token": NO_LEASES,
        "lease_until": NO_LEASES,
        "poison": Unsupported("without a reaper there is no row to stop it"),
        "reap": NO_LEASES,
        "token": NO_LEASES,
    }

    ledger: Ledger
    """The ledger in use, once opened."""

    def open(self, path: Path, clock: Clock) -> None:
        """Open ``flags.db`` in the folder ``path``."""
        self.ledger = Ledger(path / "flags.db", columns=COLUMNS)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Submit a task: no flag is up."""
        return self.ledger.create(task, UNFLAGGED, _columns(None, params), actor=None)

    def read(self, task: str) -> Reading:
        """Read the state off the flags."""
        row = self.ledger.load(task)
        return Reading(_shown(row.fields), int(row.fields["attempts"]), row.version)

    def fire(self, task: str, event: str, *, actor: str, payload: Payload) -> None:
        """Raise the event's flag, whatever the others say."""
        if event != "fail" and event not in RAISED:
            raise ValueError(f"unknown event {event!r}: expected fail, {', '.join(RAISED)}")

        def move(row: Row) -> Move:
            fields = dict(row.fields)
            attempts = int(fields["attempts"])
            if event == "start":
                fields["attempts"] = attempts + 1
            if event == "fail":
                retry = attempts < int(fields["max_attempts"])
                flag = "is_waiting" if retry else "is_failed"
            else:
                flag = RAISED[event]
            for other in STATES:
                if other == flag:
                    break
                fields[other] = 0  # it would outshine the flag that goes up
            fields[flag] = 1
            return Move(_shown(row.fields), _shown(fields), fields)

        self.ledger.change(task, event, move, actor=actor, payload=payload)

    def history(self, task: str) -> list[Entry]:
        """Return one task's history: a line for every event there ever was."""
        return self.ledger.history(task)

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of both tables, of one task or of all."""
        return self.ledger.dump(task)

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        """Write a new task straight into ``state``: that flag alone is up."""
        flags = {shown: flag for flag, shown in STATES.items()}
        if state != UNFLAGGED and state not in flags:
            raise ValueError(f"unknown state {state!r}: expected {UNFLAGGED}, {', '.join(flags)}")
        return self.ledger.create(None, state, _columns(flags.get(state), counters), actor=actor)

    def absent(self) -> str:
        """Return an id that was never given out."""
        return self.ledger.absent()

    def flags_of(self, task: str) -> FlagsOf:
        """Return the raw flags, combinations that are no state at all included.

        Raises:
            UnknownTask: There is no such task.
        """
        fields = self.ledger.load(task).fields
        return FlagsOf(*(bool(fields[flag]) for flag in FlagsOf._fields))


def _columns(flag: str | None, counters: Mapping[str, int]) -> dict[str, int]:
    unknown = sorted(set(counters) - {"attempts", "max_attempts"})
    if unknown:
        raise ValueError(f"unknown name {unknown[0]!r}: expected attempts, max_attempts")
    columns = {name: int(name == flag) for name in STATES}
    columns["attempts"] = counters.get("attempts", 0)
    columns["max_attempts"] = counters.get("max_attempts", DEFAULT_MAX_ATTEMPTS)
    return columns


def _shown(fields: Mapping[str, int | str]) -> str:
    return next((state for flag, state in STATES.items() if fields[flag]), UNFLAGGED)

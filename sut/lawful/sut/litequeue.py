"""An adapter for the PyPI package ``litequeue`` (0.9): a queue of messages on SQLite.

It passes every call through as it is and repairs nothing. The package is imported when a store is
opened, so that this module, and what it declares, can be read without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from lawful.sut.contract import Implementation, Reading, Refusal, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut.contract import Clock

__all__ = ["LiteQueue", "UnknownMessage"]

NO_OWNER: Final = Unsupported("a locked message does not say who locked it")
NO_VERSION: Final = Unsupported("a message has no version")

Dump: TypeAlias = tuple[tuple[object, ...], ...]


class UnknownMessage(KeyError):
    """``get`` returned None: there is no message of this id.

    Attributes:
        message_id: The id.
    """

    def __init__(self, message_id: str) -> None:
        super().__init__(f"litequeue has no message {message_id!r}")
        self.message_id = message_id

    def __str__(self) -> str:  # KeyError would show the message's repr
        return str(self.args[0])


class LiteQueue(Implementation):
    """A ``litequeue.LiteQueue`` in a file. ``pop`` is a claim: workers take what comes."""

    lifecycle = "litequeue"
    system = "litequeue"
    refusals: ClassVar = {UnknownMessage: Refusal.UNKNOWN_TASK}
    states: ClassVar = {"READY": "ready", "LOCKED": "locked", "DONE": "done", "FAILED": "failed"}
    gaps: ClassVar = {
        "actor": Unsupported("no call takes one"),
        "attempts": Unsupported("pops are not counted"),
        "clock": Unsupported("it reads time.time_ns()"),
        "due": Unsupported("list_locked tells by the wall clock alone"),
        "expected_version": NO_VERSION,
        "heartbeat": Unsupported("a lock is never renewed"),
        "history": Unsupported("a message is one row, overwritten by each call"),
        "lease_owner": NO_OWNER,
        "lease_token": NO_OWNER,
        "lease_until": Unsupported("a lock does not expire"),
        "poison": Unsupported("there is no reaper for a bad row to stop"),
        "put": Unsupported("a message always begins as READY"),
        "reap": Unsupported("a lock does not expire"),
        "token": NO_OWNER,
        "version": NO_VERSION,
    }

    queue: Any  # the package ships no types
    """The queue in use, once opened."""

    def open(self, path: Path, clock: Clock) -> None:
        """Open ``queue.db`` in the folder ``path``."""
        import litequeue

        self.queue = litequeue.LiteQueue(path / "queue.db")

    def close(self) -> None:
        """Close the queue."""
        self.queue.close()

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        """Put a message. Its id is the queue's; ``task`` becomes what it says."""
        for name in sorted(params):
            raise ValueError(f"unknown parameter {name!r}: the queue has none")
        message_id: str = self.queue.put(task or "").message_id
        return message_id

    def read(self, task: str) -> Reading:
        """Get a message."""
        from litequeue import MessageStatus

        message = self.queue.get(task)
        if message is None:
            raise UnknownMessage(task)
        return Reading(MessageStatus(message.status).name)

    def claim(self, actor: str) -> str | None:
        """Pop the oldest message that is ready, if any."""
        message = self.queue.pop()
        return None if message is None else message.message_id

    def done(self, task: str) -> None:
        """Mark a message as done."""
        self.queue.done(task)

    def mark_failed(self, task: str) -> None:
        """Mark a message as failed."""
        self.queue.mark_failed(task)

    def retry(self, task: str) -> None:
        """Mark a message as ready again."""
        self.queue.retry(task)

    def dump(self, task: str | None = None) -> Dump:
        """Return the rows of the queue's table, of one message or of all."""
        rows = self.queue.conn.execute("SELECT * FROM [Queue] ORDER BY message_id")
        return tuple(tuple(row) for row in rows if task in (None, row["message_id"]))

    def absent(self) -> str:
        """Return an id that was never given out: all the queue's own are timed after 1970."""
        return "00000000-0000-0000-0000-000000000000"

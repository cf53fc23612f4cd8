"""Wrong in the history: an entry that lies, lacks or repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .honest import Honest
from .registry import wrong

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.sut import Clock

    from .honest import Call, Row

__all__: list[str] = []


@wrong("entry-begins-elsewhere", "replay/entry", "replay/chain")
class EntryBeginsElsewhere(Honest):
    """An entry names the state after as the state before."""

    def log(self, row: Row, call: Call, before: str) -> None:
        super().log(row, call, row["state"])


@wrong("entry-lacks-its-payload", "replay/entry")
class EntryLacksItsPayload(Honest):
    """A failure is logged without saying whether it was retryable."""

    def log(self, row: Row, call: Call, before: str) -> None:
        super().log(row, call._replace(payload={}), before)


@wrong("entry-names-another-event", "replay/entry")
class EntryNamesAnotherEvent(Honest):
    """A success that arrives during a cancel is logged as the cancel's acknowledgement."""

    def log(self, row: Row, call: Call, before: str) -> None:
        late = (before, call.event) == ("cancelling", "succeed")
        super().log(row, call._replace(event="cancel_ack") if late else call, before)


@wrong("entry-names-another-actor", "replay/entry", alone=True)
class EntryNamesAnotherActor(Honest):
    """Every cancel is logged as the system's."""

    def log(self, row: Row, call: Call, before: str) -> None:
        super().log(row, call._replace(actor="system") if call.event == "cancel" else call, before)


@wrong("logs-twice", "cell/submitted/enqueue", "replay/chain")
class LogsTwice(Honest):
    """An enqueue is logged twice."""

    def log(self, row: Row, call: Call, before: str) -> None:
        super().log(row, call, before)
        if call.event == "enqueue":
            super().log(row, call, before)


@wrong("logs-nothing", "cell/running/cancel", "replay/fold")
class LogsNothing(Honest):
    """A cancel of a running task is not logged."""

    def log(self, row: Row, call: Call, before: str) -> None:
        if (before, call.event) != ("running", "cancel"):
            super().log(row, call, before)


@wrong("rewrites-the-past", "cell/queued/start")
class RewritesThePast(Honest):
    """A start writes its worker's name into the entries before it."""

    def log(self, row: Row, call: Call, before: str) -> None:
        if call.event == "start":
            for line in row["history"]:
                line[4] = call.actor
        super().log(row, call, before)


@wrong("skips-a-version", "replay/chain", "replay/entry")
class SkipsAVersion(Honest):
    """The entry of a start has a version that the task does not have."""

    def log(self, row: Row, call: Call, before: str) -> None:
        super().log(row, call, before)
        if call.event == "start":
            row["history"][-1][0] += 1


@wrong("reaper-logs-nothing", "replay/reaper", "lease/reaper")
class ReaperLogsNothing(Honest):
    """The reaper updates the row and logs nothing."""

    def log(self, row: Row, call: Call, before: str) -> None:
        if call.actor != "reaper":
            super().log(row, call, before)


@wrong("restart-cuts-the-history", "durability/restart", "replay/reaper")
class RestartCutsTheHistory(Honest):
    """Opening the store keeps the last entry of each history alone."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        tasks = self.load()
        for row in tasks.values():
            row["history"] = row["history"][-1:]
        self.save(tasks)

"""Wrong as an adapter: it raises, hangs, or gives what the contract does not allow."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from lawful.sut import Refused

from .honest import Honest, Illegal, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lawful.sut import Clock, Entry, Payload, Reading

    from .honest import Call, Row

__all__: list[str] = []

LATE_SUCCESS = ("cancelling", "succeed")


class RaisesInOneCell(Honest):
    """A late success raises what the adapter has not mapped."""

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == LATE_SUCCESS:
            self.fail_badly()
        return super().target(row, call)

    def fail_badly(self) -> None:
        raise KeyError("no such column")


class ExitsInOneCell(RaisesInOneCell):
    """A late success ends the process, if it may."""

    def fail_badly(self) -> None:
        raise SystemExit(3)


class CancelsInOneCell(RaisesInOneCell):
    """A late success raises what asyncio cancels a coroutine with."""

    def fail_badly(self) -> None:
        raise asyncio.CancelledError


class RefusesWithANewWord(Honest):
    """A late success is refused for a reason that the contract does not have."""

    def on(self, call: Call) -> Refused | None:
        if (self.load().get(call.task, {}).get("state"), call.event) == LATE_SUCCESS:
            word: Any = "forbidden"
            return Refused(word)
        return super().on(call)


class NamesAnUnknownState(Honest):
    """A late success leads into a state that the table has not."""

    def target(self, row: Row, call: Call) -> str | None:
        return "done" if (row["state"], call.event) == LATE_SUCCESS else super().target(row, call)


class ChangesItsNames(Honest):
    """After a while the states are told in capitals."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        self.reads = 0

    def read(self, task: str) -> Reading:
        self.reads += 1
        reading = super().read(task)
        return reading._replace(state=reading.state.upper()) if self.reads > 12 else reading


class PutIsMissing(Honest):
    """A start is refused, and ``put``, which would help, raises."""

    def put(self, state: str, counters: Mapping[str, int], *, actor: str) -> str:
        raise NotImplementedError("not yet")

    def target(self, row: Row, call: Call) -> str | None:
        return None if call.event == "start" else super().target(row, call)


class DumpRaises(Honest):
    """What was cancelled can't be dumped."""

    def dump(self, task: str | None = None) -> object:
        if task is not None and self.row(self.load(), task)["state"] == "cancelled":
            raise RuntimeError("gone")
        return super().dump(task)


class ReadRaises(Honest):
    """What is being cancelled can't be read."""

    def read(self, task: str) -> Reading:
        reading = super().read(task)
        if reading.state == "cancelling":
            raise RuntimeError("unreadable")
        return reading


class SubmitRaisesAtTimes(Honest):
    """Every seventh task of a process is refused for want of space."""

    numbers = 0

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        type(self).numbers += 1
        if self.numbers > 9 and self.numbers % 7 == 0:
            raise OSError("no space left")
        return super().submit(params, task=task)


class ReapsInNumbers(Honest):
    """The reaper says how many, not which."""

    def reap(self) -> list[str]:
        count: Any = len(super().reap())
        numbers: list[str] = count
        return numbers


# -- what the smoke test finds ---------------------------------------------------------------------


class OpenRaises(Honest):
    """Opening raises."""

    def open(self, path: Path, clock: Clock) -> None:
        raise PermissionError("not here")


class OpenRefuses(Honest):
    """Opening raises what stands for a refusal elsewhere."""

    def open(self, path: Path, clock: Clock) -> None:
        raise Illegal("not now")


class InitRefuses(Honest):
    """Making an instance raises what stands for a refusal elsewhere."""

    def __init__(self) -> None:
        raise Illegal("not now")


class CloseRaises(Honest):
    """Closing raises."""

    def close(self) -> None:
        raise RuntimeError("busy")


class ReadsNone(Honest):
    """A reading is None."""

    def read(self, task: str) -> Reading:
        none: Any = None
        reading: Reading = none
        return reading


class SubmitsNone(Honest):
    """A submission returns nothing."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        super().submit(params, task=task)
        none: Any = None
        name: str = none
        return name


class SubmitsTheSame(Honest):
    """Every submission returns the same id."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        return super().submit(params, task="the-task")


class ReadsAnotherName(Honest):
    """A reading has a state of the system's own, which is not mapped."""

    def read(self, task: str) -> Reading:
        return super().read(task)._replace(state="NEW")


class ReadsAList(Honest):
    """A reading's state is a list."""

    def read(self, task: str) -> Reading:
        state: Any = ["submitted"]
        return super().read(task)._replace(state=state)


class ReadsTextForAVersion(Honest):
    """A reading's version is text."""

    def read(self, task: str) -> Reading:
        reading = super().read(task)
        version: Any = str(reading.version)
        return reading._replace(version=version)


class ReadsTextForAToken(Honest):
    """A lease's token is text."""

    def read(self, task: str) -> Reading:
        reading = super().read(task)
        token: Any = reading.lease_token and f"token-{reading.lease_token}"
        return reading._replace(lease_token=token)


class LogsTextForAPayload(Honest):
    """A history entry's payload is text."""

    def history(self, task: str) -> list[Entry]:
        text: Any = "{}"
        return [entry._replace(payload=text) for entry in super().history(task)]


class LogsPlainTuples(Honest):
    """A history holds tuples that are no entries."""

    def history(self, task: str) -> list[Entry]:
        plain: Any = [tuple(entry) for entry in super().history(task)]
        entries: list[Entry] = plain
        return entries


class HistoryIsText(Honest):
    """A history is text."""

    def history(self, task: str) -> list[Entry]:
        text: Any = "nothing happened"
        entries: list[Entry] = text
        return entries


class DumpsAGenerator(Honest):
    """A dump is a generator, which can be read once."""

    def dump(self, task: str | None = None) -> object:
        return (line for line in ["one"])


class DumpsObjects(Honest):
    """A dump is an object that equals nothing, itself of a moment ago included."""

    def dump(self, task: str | None = None) -> object:
        return [object()]


class AcceptsUnknownNames(Honest):
    """Reading an id that is not there gives None."""

    def read(self, task: str) -> Reading:
        try:
            return super().read(task)
        except Unknown:
            none: Any = None
            reading: Reading = none
            return reading


# -- what never returns ----------------------------------------------------------------------------


def forever() -> None:
    """Wait for what nobody will ever do."""
    threading.Event().wait()


class HangsInACancel(Honest):
    """A cancel never returns."""

    def move(self, row: Row, call: Call, after: str) -> None:
        if call.event == "cancel":
            forever()
        super().move(row, call, after)


class HangsInAStart(Honest):
    """A start never returns."""

    def move(self, row: Row, call: Call, after: str) -> None:
        if call.event == "start":
            forever()
        super().move(row, call, after)


class HangsInOpen(Honest):
    """Opening never returns."""

    def open(self, path: Path, clock: Clock) -> None:
        forever()


class HangsInTheReaper(Honest):
    """The reaper never returns."""

    def reap(self) -> list[str]:
        forever()
        return []


class HangsInACoroutine(Honest):
    """A cancel awaits what never comes."""

    async def fire(  # type: ignore[override]
        self,
        task: str,
        event: str,
        *,
        actor: str,
        payload: Payload,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> None:
        if event == "cancel":
            await asyncio.Event().wait()
        super().fire(
            task,
            event,
            actor=actor,
            payload=payload,
            expected_version=expected_version,
            token=token,
        )

"""Wrong with leases: who holds, for how long, who may report, and what the reaper does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .honest import HELD, LEASE, RETRYABLE, Call, Honest, Poisoned, StaleLease
from .registry import wrong

if TYPE_CHECKING:
    from .honest import Row, Tasks

__all__: list[str] = []


# -- who may report --------------------------------------------------------------------------------


@wrong("lease-by-name", "lease/fencing", limits=(2,), alone=True)
class LeaseByName(Honest):
    """A report's token is not looked at: the worker's name is enough."""

    def holds(self, row: Row, call: Call) -> bool:
        return bool(row["owner"] == call.actor)


@wrong(
    "anybody-reports",
    "lease/holder",
    "lease/heartbeat",
    "lease/release",
    "lease/zombie",
    limits=(2,),
)
class AnybodyReports(Honest):
    """Nobody asks who holds the task."""

    def holds(self, row: Row, call: Call) -> bool:
        return True


@wrong("anybody-acknowledges", "lease/holder", alone=True)
class AnybodyAcknowledges(Honest):
    """A stranger may acknowledge a cancel: one reporting path is not fenced."""

    def check_lease(self, row: Row, call: Call) -> None:
        if call.event != "cancel_ack":
            super().check_lease(row, call)


@wrong("holder-is-refused", "cell/running/succeed")
class HolderIsRefused(Honest):
    """The holder's success is refused for its lease."""

    def holds(self, row: Row, call: Call) -> bool:
        return call.event != "succeed" and super().holds(row, call)


# -- the lease -------------------------------------------------------------------------------------


@wrong("token-stands-still", "lease/held", limits=(2,))
class TokenStandsStill(Honest):
    """Every lease of a task has the same token."""

    def grant(self, row: Row, actor: str) -> None:
        super().grant(row, actor)
        row["grants"] = 1


@wrong("lease-is-kept", "lease/held", "lease/release")
class LeaseIsKept(Honest):
    """The lease of a finished task is not released."""

    def release(self, row: Row) -> None:
        if row["state"] != "succeeded":
            super().release(row)


@wrong("lease-is-too-long", "lease/held")
class LeaseIsTooLong(Honest):
    """A lease lasts twice as long as the table says."""

    def grant(self, row: Row, actor: str) -> None:
        super().grant(row, actor)
        row["until"] += LEASE


@wrong("cancel-releases", "lease/held")
class CancelReleases(Honest):
    """A cancel takes the lease from the worker that has to acknowledge it."""

    def move(self, row: Row, call: Call, after: str) -> None:
        super().move(row, call, after)
        if after == "cancelling":
            self.release(row)


# -- heartbeats ------------------------------------------------------------------------------------


@wrong("stranger-beats", "lease/heartbeat", "lease/release")
class StrangerBeats(Honest):
    """Anybody's heartbeat is accepted."""

    def beats(self, row: Row, call: Call) -> bool:
        return True


@wrong("stranger-takes-over", "lease/heartbeat")
class StrangerTakesOver(Honest):
    """A stranger's heartbeat takes the lease over."""

    def beats(self, row: Row, call: Call) -> bool:
        return row["owner"] is not None

    def renew(self, row: Row, call: Call) -> None:
        super().renew(row, call)
        row["owner"] = call.actor


@wrong("beat-bumps-version", "lease/heartbeat")
class BeatBumpsVersion(Honest):
    """A heartbeat makes the version grow."""

    def renew(self, row: Row, call: Call) -> None:
        super().renew(row, call)
        row["version"] += 1


@wrong("beat-is-logged", "lease/heartbeat")
class BeatIsLogged(Honest):
    """A heartbeat is logged."""

    def renew(self, row: Row, call: Call) -> None:
        super().renew(row, call)
        self.log(row, call, row["state"])


@wrong("beat-renews-nothing", "lease/heartbeat")
class BeatRenewsNothing(Honest):
    """A heartbeat is accepted, and the lease is as short as before."""

    def renew(self, row: Row, call: Call) -> None:
        pass


@wrong("late-beat-is-refused", "lease/heartbeat-expired", alone=True)
class LateBeatIsRefused(Honest):
    """A heartbeat after the deadline is refused, before the reaper has run."""

    def beats(self, row: Row, call: Call) -> bool:
        return super().beats(row, call) and not self.expired(row)


@wrong("late-report-is-refused", "lease/expiry", alone=True)
class LateReportIsRefused(Honest):
    """A report after the deadline is refused, before the reaper has run."""

    def check_lease(self, row: Row, call: Call) -> None:
        super().check_lease(row, call)
        if call.event == "succeed" and self.expired(row):
            raise StaleLease("expired")


# -- the reaper ------------------------------------------------------------------------------------


@wrong("strands-every-task", "lease/reaper")
class StrandsEveryTask(Honest):
    """The reaper reaps nothing."""

    def reap(self) -> list[str]:
        return []


@wrong("reaps-the-living", "lease/reaper", "lease/heartbeat-expired")
class ReapsTheLiving(Honest):
    """The reaper takes every running task, expired or not."""

    def expired(self, row: Row) -> bool:
        return row["owner"] is not None


@wrong("reaps-one", "lease/reaper", "lease/poison")
class ReapsOne(Honest):
    """The reaper stops after the first expired task."""

    def reap(self) -> list[str]:
        tasks = self.load()
        for task, row in tasks.items():
            if self.expired(row):
                self.reclaim(tasks, row, Call(task, "fail", "reaper", RETRYABLE))
                return [task]
        return []


@wrong("reaps-the-running-only", "lease/reaper")
class ReapsTheRunningOnly(Honest):
    """The reaper passes over tasks that are being cancelled."""

    def expired(self, row: Row) -> bool:
        return super().expired(row) and row["state"] == "running"


@wrong("stops-at-poison", "lease/poison", alone=True)
class StopsAtPoison(Honest):
    """The reaper stops, quietly, at the first row that can't be written."""

    def order(self, tasks: Tasks) -> list[str]:
        return list(tasks)

    def reap(self) -> list[str]:
        tasks = self.load()
        reaped: list[str] = []
        for task in self.order(tasks):
            if self.expired(tasks[task]):
                try:
                    self.reclaim(tasks, tasks[task], Call(task, "fail", "reaper", RETRYABLE))
                except Poisoned:
                    return reaped
                reaped.append(task)
        return reaped


@wrong("stops-at-poison-backwards", "lease/poison", alone=True)
class StopsAtPoisonBackwards(StopsAtPoison):
    """The reaper begins with the youngest task, and stops at the first that can't be written."""

    def order(self, tasks: Tasks) -> list[str]:
        return list(tasks)[::-1]


@wrong("raises-at-poison", "lease/poison", alone=True)
class RaisesAtPoison(StopsAtPoison):
    """The reaper raises at the first row that can't be written."""

    def reap(self) -> list[str]:
        tasks = self.load()
        living = [task for task, row in tasks.items() if self.expired(row)]
        for task in living:
            self.reclaim(tasks, tasks[task], Call(task, "fail", "reaper", RETRYABLE))
        return living


@wrong("half-a-reaper", "lease/poison")
class HalfAReaper(Honest):
    """A row that can't be written loses its lease all the same."""

    def reclaim(self, tasks: Tasks, row: Row, call: Call) -> None:
        poisoned = call.task in self.poisoned
        try:
            super().reclaim(tasks, row, call)
        finally:
            if poisoned:
                self.release(row)
                self.save(tasks)


@wrong("reaper-names-too-many", "lease/reaper")
class ReaperNamesTooMany(Honest):
    """The reaper names every held task, reaped or not."""

    def reap(self) -> list[str]:
        held = [task for task, row in self.load().items() if row["state"] in HELD]
        super().reap()
        return held


@wrong("reaper-requeues", "lease/reaper", limits=(2,))
class ReaperRequeues(Honest):
    """The reaper puts an expired task straight back into the queue, bound or no bound."""

    def reclaim(self, tasks: Tasks, row: Row, call: Call) -> None:
        self.write(tasks, row, call, "queued")

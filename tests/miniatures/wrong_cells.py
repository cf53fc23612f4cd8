"""Wrong in a cell: moves, guards, counters, versions, no-ops, and what a call claims."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .honest import NOTHING, Honest, Illegal, StaleVersion
from .registry import wrong

if TYPE_CHECKING:
    from lawful.sut import Reading, Refused

    from .honest import Call, Row, Tasks

__all__: list[str] = []

TARGETS = {
    "enqueue": "queued",
    "start": "running",
    "succeed": "succeeded",
    "fail": "failed",
    "cancel": "cancelled",
    "retry_due": "queued",
    "cancel_ack": "cancelled",
}


@wrong(
    "refuses-everything",
    "cell/submitted/enqueue",
    "cell/running/fail?exhausted",
    "cell/cancelled/cancel",
)
class RefusesEverything(Honest):
    """Every event is refused as illegal."""

    def check_move(self, row: Row, call: Call) -> str:
        raise Illegal(call.event)


@wrong(
    "accepts-everything",
    "cell/submitted/start",
    "silence/refusal",
    "absorption/terminal",
    "absorption/no-restart",
    "order/illegal-before-lease",
    limits=(2,),
)
class AcceptsEverything(Honest):
    """Each event is accepted anywhere, and leads to its one target."""

    def target(self, row: Row, call: Call) -> str | None:
        return TARGETS[call.event]

    def holds(self, row: Row, call: Call) -> bool:
        return True


@wrong("constant-reading", "cell/submitted/enqueue", "contract/calls")
class ConstantReading(Honest):
    """Whatever happened, the task reads as it was submitted."""

    def read(self, task: str) -> Reading:
        return super().read(task)._replace(state="submitted", attempts=0, version=0)


@wrong("counts-the-same-worker", "cell/queued/start", "counter/attempts", limits=(2,))
class CountsTheSameWorker(Honest):
    """A start is counted only if the same worker started before."""

    def count(self, row: Row, call: Call) -> None:
        starters = [line[4] for line in row["history"] if line[1] == "start"]
        row["attempts"] += not starters or call.actor in starters


@wrong("counts-another-worker", "cell/queued/start", "counter/attempts", limits=(2,))
class CountsAnotherWorker(Honest):
    """A start is counted only if another worker started before."""

    def count(self, row: Row, call: Call) -> None:
        starters = [line[4] for line in row["history"] if line[1] == "start"]
        row["attempts"] += call.actor not in starters


# -- guards ----------------------------------------------------------------------------------------


@wrong(
    "retries-once-too-often",
    "cell/running/fail?exhausted",
    "counter/attempts-exhausted",
    limits=(2,),
)
class RetriesOnceTooOften(Honest):
    """A task is retried while attempts <= max_attempts."""

    def retries(self, row: Row, call: Call) -> bool:
        return bool(call.payload["retryable"]) and row["attempts"] <= row["limit"]


@wrong("retries-once-too-rarely", "cell/running/fail", "counter/attempts-exhausted", limits=(2,))
class RetriesOnceTooRarely(Honest):
    """A task is given up one attempt before the bound."""

    def retries(self, row: Row, call: Call) -> bool:
        return bool(call.payload["retryable"]) and row["attempts"] + 1 < row["limit"]


@wrong("hard-coded-limit", "cell/running/fail?exhausted@max_attempts=1", limits=(2, 1))
class HardCodedLimit(Honest):
    """The bound is two, whatever the task was submitted with."""

    def retries(self, row: Row, call: Call) -> bool:
        return bool(call.payload["retryable"]) and row["attempts"] < 2


@wrong("ignores-retryable", "cell/running/fail?permanent", limits=(2,))
class IgnoresRetryable(Honest):
    """A permanent failure is retried like any other."""

    def retries(self, row: Row, call: Call) -> bool:
        return bool(row["attempts"] < row["limit"])


@wrong("never-retries", "cell/running/fail", limits=(2,))
class NeverRetries(Honest):
    """Every failure is final."""

    def retries(self, row: Row, call: Call) -> bool:
        return False


# -- single moves ----------------------------------------------------------------------------------


@wrong("cancel-is-immediate", "cell/running/cancel")
class CancelIsImmediate(Honest):
    """A running task is cancelled at once, its worker still working."""

    def target(self, row: Row, call: Call) -> str | None:
        after = super().target(row, call)
        return "cancelled" if after == "cancelling" else after


@wrong("late-success-is-lost", "cell/cancelling/succeed")
class LateSuccessIsLost(Honest):
    """A success that arrives while the task is being cancelled is recorded as a cancel."""

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == ("cancelling", "succeed"):
            return "cancelled"
        return super().target(row, call)


@wrong("leaves-a-terminal-state", "cell/failed/retry_due", "absorption/terminal")
class LeavesATerminalState(Honest):
    """A failed task can be queued again."""

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == ("failed", "retry_due"):
            return "queued"
        return super().target(row, call)


@wrong("restarts-after-cancel", "cell/cancelled/start", "absorption/no-restart", limits=(2,))
class RestartsAfterCancel(Honest):
    """A task that was cancelled can still be started."""

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == ("cancelled", "start"):
            return "running"
        return super().target(row, call)


@wrong("starts-twice", "cell/running/start", "counter/attempts-bound", "silence/refusal")
class StartsTwice(Honest):
    """A running task can be started again, by anybody."""

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == ("running", "start"):
            return "running"
        return super().target(row, call)


@wrong("cancels-the-finished", "cell/succeeded/cancel", "silence/refusal", "absorption/terminal")
class CancelsTheFinished(Honest):
    """A finished task can be cancelled."""

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == ("succeeded", "cancel"):
            return "cancelled"
        return super().target(row, call)


# -- no-ops, refusals, versions --------------------------------------------------------------------


@wrong("no-op-writes", "cell/cancelling/cancel", "cell/cancelled/cancel", "silence/noop")
class NoopWrites(Honest):
    """A repeated cancel is a transition: one version, one history entry."""

    def check_move(self, row: Row, call: Call) -> str:
        after = super().check_move(row, call)
        return str(row["state"]) if after == NOTHING else after


@wrong("no-op-is-logged", "cell/cancelled/cancel", "silence/noop")
class NoopIsLogged(Honest):
    """A repeated cancel is logged, and changes nothing else."""

    def noop(self, tasks: Tasks, row: Row, call: Call) -> None:
        self.log(row, call, row["state"])
        self.save(tasks)


@wrong("no-op-is-refused", "cell/cancelling/cancel", "cell/cancelled/cancel", alone=True)
class NoopIsRefused(Honest):
    """A repeated cancel is refused."""

    def noop(self, tasks: Tasks, row: Row, call: Call) -> None:
        raise Illegal(call.event)


@wrong("refusal-bumps-version", "cell/submitted/start", "silence/refusal", "counter/version")
class RefusalBumpsVersion(Honest):
    """A refused event makes the version grow."""

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        row["version"] += 1
        self.save(tasks)


@wrong("refusal-is-kept", "cell/submitted/start", "silence/refusal")
class RefusalIsKept(Honest):
    """A refused event leaves a mark in the row that only the dump shows."""

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        row["refused"] = call.event
        self.save(tasks)


@wrong("refusal-marks-another-table", "silence/store", alone=True)
class RefusalMarksAnotherTable(Honest):
    """A refused event leaves a line in a table of its own, which only the whole dump shows."""

    def load(self) -> Tasks:
        return {task: row for task, row in super().load().items() if task != "refusals"}

    def save(self, tasks: Tasks) -> None:
        kept = {task: row for task, row in Honest.load(self).items() if task == "refusals"}
        super().save(kept | tasks)

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        super().save(Honest.load(self) | {"refusals": {"last": call.event}})

    def dump(self, task: str | None = None) -> object:
        return json.dumps(Honest.load(self)) if task is None else super().dump(task)


@wrong("version-stands-still", "cell/submitted/enqueue", "counter/version")
class VersionStandsStill(Honest):
    """An enqueue leaves the version as it was."""

    def move(self, row: Row, call: Call, after: str) -> None:
        super().move(row, call, after)
        row["version"] -= call.event == "enqueue"


@wrong("retry-counts-too", "counter/attempts", "replay/fold", limits=(2,))
class RetryCountsToo(Honest):
    """An attempt is counted when its retry falls due, and again when it starts."""

    def move(self, row: Row, call: Call, after: str) -> None:
        super().move(row, call, after)
        row["attempts"] += call.event == "retry_due"


@wrong("claimed-but-not-done", "cell/queued/cancel", alone=True)
class ClaimedButNotDone(Honest):
    """A cancel of a queued task is accepted, and does nothing."""

    def write(self, tasks: Tasks, row: Row, call: Call, after: str) -> None:
        if (row["state"], call.event) != ("queued", "cancel"):
            super().write(tasks, row, call, after)


@wrong("refused-but-done", "cell/queued/cancel", alone=True)
class RefusedButDone(Honest):
    """A cancel of a queued task is refused, and takes effect all the same."""

    def write(self, tasks: Tasks, row: Row, call: Call, after: str) -> None:
        unwilling = (row["state"], call.event) == ("queued", "cancel")
        super().write(tasks, row, call, after)
        if unwilling:
            raise Illegal(call.event)


@wrong("refused-but-written", "cell/succeeded/cancel", "silence/refusal", "absorption/terminal")
class RefusedButWritten(Honest):
    """A cancel of a finished task is refused, and takes effect all the same."""

    def refused(self, tasks: Tasks, row: Row, call: Call) -> None:
        if (row["state"], call.event) == ("succeeded", "cancel"):
            row["state"] = "cancelled"
            self.save(tasks)


# -- the order of the checks -----------------------------------------------------------------------


@wrong("no-op-before-version", "order/version-first", alone=True)
class NoopBeforeVersion(Honest):
    """A repeated cancel is granted without a look at the expected version."""

    def check_version(self, row: Row, call: Call) -> None:
        if self.target(row, call) != NOTHING:
            super().check_version(row, call)


@wrong("illegal-before-version", "order/version-first", alone=True)
class IllegalBeforeVersion(Honest):
    """An illegal event with a stale expected version is refused as illegal."""

    def check_version(self, row: Row, call: Call) -> None:
        self.check_move(row, call)
        super().check_version(row, call)


@wrong("lease-before-version", "order/version-first", alone=True)
class LeaseBeforeVersion(Honest):
    """A stranger's report with a stale expected version is refused for the lease."""

    def check_version(self, row: Row, call: Call) -> None:
        if self.target(row, call):
            self.check_lease(row, call)
        super().check_version(row, call)


@wrong("lease-before-illegal", "order/illegal-before-lease", "cell/queued/succeed")
class LeaseBeforeIllegal(Honest):
    """A report is refused for the lease where it is illegal anyway."""

    def check_move(self, row: Row, call: Call) -> str:
        self.check_lease(row, call)
        return super().check_move(row, call)


@wrong("version-not-compared", "order/version-first", alone=True)
class VersionNotCompared(Honest):
    """The expected version is taken, and not looked at."""

    def check_version(self, row: Row, call: Call) -> None:
        pass


@wrong("unknown-has-a-version", "order/unknown-first", alone=True)
class UnknownHasAVersion(Honest):
    """An unknown task is refused for its version, if one is expected."""

    def on(self, call: Call) -> Refused | None:
        if call.expected_version and call.task not in self.load():
            raise StaleVersion("at 0")
        return super().on(call)

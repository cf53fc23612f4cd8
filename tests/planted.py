"""Faults planted in the honest miniature, for what searches at random: each with its length.

The length is that of the shortest trace that shows the fault, counted by hand in steps, the
submissions included. Where several traces are shortest, any of them will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miniatures.honest import Honest
from miniatures.registry import WRONG

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miniatures.honest import Call, Row

__all__ = ["PLANTED", "Planted"]


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault, and how long the shortest trace is that shows it.

    Attributes:
        id: Its permanent id.
        adapter: The implementation.
        steps: The steps of a shortest trace.
        why: Why no shorter trace shows it.
    """

    id: str
    adapter: type[Honest]
    steps: int
    why: str


class HardCodedThree(Honest):
    """The bound is three, whatever the task was submitted with."""

    def retries(self, row: Row, call: Call) -> bool:
        return bool(call.payload["retryable"]) and row["attempts"] < 3


class CancelSurvivesARetry(Honest):
    """A task that is to be cancelled is retried if its worker fails, and cancelling once more."""

    def new(self, state: str, attempts: int, limit: int) -> Row:
        return super().new(state, attempts, limit) | {"cancel": False}

    def target(self, row: Row, call: Call) -> str | None:
        if (row["state"], call.event) == ("cancelling", "fail") and self.retries(row, call):
            return "retry_wait"
        after = super().target(row, call)
        return "cancelling" if after == "running" and row["cancel"] else after

    def move(self, row: Row, call: Call, after: str) -> None:
        row["cancel"] |= call.event == "cancel"
        super().move(row, call, after)


class OlderVersionAccepted(Honest):
    """An expected version is refused only if the task has not come so far yet."""

    def check_version(self, row: Row, call: Call) -> None:
        if call.expected_version is None or call.expected_version > row["version"]:
            super().check_version(row, call)


class ZombieSucceeds(Honest):
    """A success is taken from whoever has started the task at any time."""

    def holds(self, row: Row, call: Call) -> bool:
        starters = [line[4] for line in row["history"] if line[1] == "start"]
        return super().holds(row, call) or (call.event == "succeed" and call.actor in starters)


class ReapsTooSoon(Honest):
    """The reaper takes a lease that has less than 25 seconds left."""

    def expired(self, row: Row) -> bool:
        return row["owner"] is not None and bool(row["until"] < self.clock.now() + 25)


class SharedLimit(Honest):
    """The bound is kept once for the whole store: it is that of the last submission."""

    def submit(self, params: Mapping[str, int], *, task: str | None = None) -> str:
        (self.path / "limit").write_text(str(params["max_attempts"]))
        return super().submit(params, task=task)

    def retries(self, row: Row, call: Call) -> bool:
        limit = int((self.path / "limit").read_text())
        return super().retries(row | {"limit": limit}, call)


_MINIATURES = {each.id: each.adapter for each in WRONG}

PLANTED = (
    Planted(
        "retry-limit-one-too-high",
        _MINIATURES["retries-once-too-often"],
        4,
        "A bound of one is exhausted by the first failure, and a task fails where it was started: "
        "submitted, enqueued, started, failed.",
    ),
    Planted(
        "retry-limit-one-too-low",
        _MINIATURES["retries-once-too-rarely"],
        4,
        "With a bound of two the first failure must be retried: submitted, enqueued, started, "
        "failed.",
    ),
    Planted(
        "hard-coded-three",
        HardCodedThree,
        4,
        "With a bound of one the first failure is the last: submitted, enqueued, started, failed.",
    ),
    Planted(
        "cancel-survives-a-retry",
        CancelSurvivesARetry,
        5,
        "The worker must have started, been asked to stop, and failed: that is the first step "
        "that the request should have decided.",
    ),
    Planted(
        "second-cancel-writes",
        _MINIATURES["no-op-writes"],
        3,
        "A second cancel takes a first, and a first a task.",
    ),
    Planted(
        "any-version-accepted",
        _MINIATURES["version-not-compared"],
        2,
        "A task that was just submitted can be asked for a version that it has not reached.",
    ),
    Planted(
        "older-version-accepted",
        OlderVersionAccepted,
        3,
        "There is no older version before the first transition; the call after it can name one.",
    ),
    Planted(
        "zombie-succeeds",
        ZombieSucceeds,
        7,
        "Two workers must have started the task, and between the starts lie a failure and a "
        "retry: submitted, enqueued, started, failed, due, started, succeeded.",
    ),
    Planted(
        "stale-token-succeeds",
        _MINIATURES["lease-by-name"],
        7,
        "A token is stale from the second start on: the six steps to it, and a report.",
    ),
    Planted(
        "reaps-the-living",
        _MINIATURES["reaps-the-living"],
        4,
        "A lease begins with the start, the third step; the reaper comes at once.",
    ),
    Planted(
        "reaps-too-soon",
        ReapsTooSoon,
        5,
        "A fresh lease is left alone, so some time must pass between the start and the reaper.",
    ),
    Planted(
        "reaper-logs-nothing",
        _MINIATURES["reaper-logs-nothing"],
        5,
        "The reaper writes only where a lease has expired: three steps to a lease, the time, and "
        "the reaper.",
    ),
    Planted(
        "one-path-not-logged",
        _MINIATURES["logs-nothing"],
        4,
        "The path begins where a task runs, which takes three steps, and is one step long.",
    ),
    Planted(
        "shared-limit",
        SharedLimit,
        5,
        "It takes two tasks with bounds of their own, and one of them enqueued, started and "
        "failed.",
    ),
)
"""Every planted fault of the random layer."""

"""Who looks after tasks whose worker is gone, and what of them it takes."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import in_machine, in_store, in_storing

__all__ = ["FAULTS"]

_RECHECK: Final = """
if before.lease is None or before.lease.until >= now:
    continue
"""

FAULTS: Final = (
    Fault(
        id="planted/reaper/expiry-is-final",
        says="a task whose worker died is given up, whatever attempts are left",
        source="bullmq#892",
        patches=(in_machine("expire", '{"retryable": True}', '{"retryable": False}'),),
        claims=("lease/reaper", "crash/worker-killed"),
    ),
    Fault(
        id="planted/reaper/cancelling-forgotten",
        says="a worker that dies while its task is being cancelled leaves it cancelling for ever",
        source="state dropped from a query",
        patches=(
            in_store(
                "Store._expired",
                "state IN ('running', 'cancelling')",
                "state IN ('running')",
                text=True,
            ),
        ),
        claims=("lease/reaper", "recover/stranded"),
    ),
    Fault(
        id="planted/reaper/live-ones-too",
        says="the reaper takes tasks whose lease has still a while to go",
        source="solid_queue#589",
        patches=(
            in_store("Store._expired", "lease_until < ?", "lease_until < ? + 25", text=True),
            in_storing("TaskStore.reclaim_expired", _RECHECK, ""),
        ),
        claims=("lease/reaper",),
    ),
    Fault(
        id="planted/reaper/one-at-a-time",
        says="the reaper takes one task each time, and leaves the others",
        source="LIMIT added",
        patches=(in_store("Store._expired", "ORDER BY id", "ORDER BY id LIMIT 1", text=True),),
        claims=("lease/reaper",),
    ),
    Fault(
        id="planted/reaper/unlogged",
        says="the reaper writes the row alone: the history ends before it",
        source="pilot#4101",
        patches=(
            in_storing(
                "TaskStore.reclaim_expired",
                "self._move(before, Event.FAIL, expire(before), REAPER, payload, now)",
                "self._update(before, expire(before), None)",
            ),
        ),
        claims=("replay/reaper", "lease/reaper"),
    ),
    Fault(
        id="planted/reaper/stopped-by-one",
        says="one task that can't be written keeps all others from being reaped",
        source="error of one row let through",
        patches=(
            in_storing(
                "TaskStore.reclaim_expired", "left.append(Unprocessable(task, error))", "raise"
            ),
        ),
        claims=("lease/poison",),
    ),
    Fault(
        id="planted/reaper/retries-sent-on",
        says="the reaper sends on what waits for its retry, each time that it runs",
        source="recovery applied twice",
        patches=(
            in_storing(
                "TaskStore.reclaim_expired",
                "now = self._now()",
                """
                now = self._now()
                for task in self.due():
                    before = self._load(task)
                    if before.state is State.RETRY_WAIT:
                        after = step(before, Event.RETRY_DUE, actor=REAPER)
                        self._move(before, Event.RETRY_DUE, after, REAPER, NOTHING, now)
                """,
            ),
        ),
        claims=("recover/again", "lease/reaper"),
    ),
    Fault(
        id="planted/reaper/own-ones-alone",
        says="a service recovers what it has started itself, and nobody what it leaves behind",
        source="recovery in a process's memory",
        patches=(
            in_storing(
                "TaskStore._move",
                "names = (event.value, before.state.value, after.state.value)",
                """
                names = (event.value, before.state.value, after.state.value)
                self.__dict__.setdefault("_own", set()).add(before.id)
                """,
            ),
            in_storing(
                "TaskStore.reclaim_expired",
                "self._expired(now)",
                "[task for task in self._expired(now) if task in self.__dict__.get('_own', ())]",
            ),
        ),
        claims=("recover/stranded",),
    ),
    Fault(
        id="planted/reaper/without-transactions",
        says="the reaper writes row and history one after the other, in no transaction",
        source="BEGIN, COMMIT and SAVEPOINT dropped on one of several ways",
        patches=(
            in_storing(
                "TaskStore.reclaim_expired",
                "self._transaction()",
                "__import__('contextlib').nullcontext()",
            ),
            in_storing(
                "TaskStore.reclaim_expired",
                "self._part()",
                "__import__('contextlib').nullcontext()",
            ),
        ),
        claims=("crash/recovery", "crash/statement"),
    ),
    Fault(
        id="planted/reaper/not-looked-at-again",
        says="what was chosen to be reaped is reaped, though it was renewed in between",
        source="second check dropped",
        patches=(in_storing("TaskStore.reclaim_expired", _RECHECK, ""),),
        claims=("race/pairs", "race/versions", "race/triples", "race/submissions"),
        equivalent="BEGIN IMMEDIATE has locked the database when rows are chosen: nobody renews or "
        "reports in between. Each run shows it, with every schedule of two preemptions of every "
        "pair, from every position.",
    ),
    Fault(
        id="planted/reaper/redis-not-looked-at-again",
        says="what was chosen to be reaped is reaped, though it was renewed in between",
        source="second check dropped",
        store="redis-lua",
        patches=(in_storing("TaskStore.reclaim_expired", _RECHECK, ""),),
        claims=("race/pairs",),
    ),
)
"""Faults of the reaper."""

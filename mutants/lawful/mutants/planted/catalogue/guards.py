"""What may happen: cells that should be others, and guards that decide wrongly."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import in_machine, in_store

__all__ = ["FAULTS"]

_ENQUEUE: Final = "(State.SUBMITTED, Event.ENQUEUE): State.QUEUED"
_GUARD: Final = "payload['retryable'] and task.attempts < task.max_attempts"
_HELD_BY: Final = "held_by(task, actor, token)"


FAULTS: Final = (
    Fault(
        id="planted/guard/cancelled-enqueued",
        says="a task that was cancelled can be enqueued again",
        source="cell added",
        patches=(
            in_machine("", _ENQUEUE, f"{_ENQUEUE}, (State.CANCELLED, Event.ENQUEUE): State.QUEUED"),
        ),
        claims=("cell/cancelled/enqueue", "absorption/terminal"),
    ),
    Fault(
        id="planted/guard/cancelled-started",
        says="a worker that has popped a task starts it, though it was cancelled in between",
        source="rq#2160",
        patches=(
            in_machine("", _ENQUEUE, f"{_ENQUEUE}, (State.CANCELLED, Event.START): State.RUNNING"),
        ),
        claims=("cell/cancelled/start", "absorption/no-restart"),
    ),
    Fault(
        id="planted/guard/failed-started",
        says="a run that was given up comes up after all, and runs",
        source="prefect#16429",
        patches=(
            in_machine("", _ENQUEUE, f"{_ENQUEUE}, (State.FAILED, Event.START): State.RUNNING"),
        ),
        claims=("cell/failed/start", "absorption/terminal"),
    ),
    Fault(
        id="planted/guard/success-after-cancel",
        says="the success of a worker that nobody has stopped is written over the cancellation",
        source="dagster#34175",
        patches=(
            in_machine(
                "", _ENQUEUE, f"{_ENQUEUE}, (State.CANCELLED, Event.SUCCEED): State.SUCCEEDED"
            ),
            in_machine("step", "event in REPORTS", "event in REPORTS and task.lease is not None"),
        ),
        claims=("cell/cancelled/succeed", "absorption/terminal"),
    ),
    Fault(
        id="planted/guard/forced-failure",
        says="a run that is being cancelled fails by a way that no guard stands in",
        source="prefect#22717",
        patches=(
            in_machine(
                "",
                "(State.CANCELLING, Event.FAIL): State.CANCELLED",
                "(State.CANCELLING, Event.FAIL): State.FAILED",
            ),
        ),
        claims=("cell/cancelling/fail",),
    ),
    Fault(
        id="planted/guard/retry-after-cancel",
        says="a failure that a cancellation has brought about is retried",
        source="dagster#23409",
        patches=(
            in_machine(
                "",
                "(State.CANCELLING, Event.FAIL): State.CANCELLED",
                "(State.CANCELLING, Event.FAIL): retry_or_fail",
            ),
        ),
        claims=("cell/cancelling/fail",),
    ),
    Fault(
        id="planted/guard/success-lost",
        says="a success that comes while the task is being cancelled is thrown away",
        source="cell retargeted",
        patches=(
            in_machine(
                "",
                "(State.CANCELLING, Event.SUCCEED): State.SUCCEEDED",
                "(State.CANCELLING, Event.SUCCEED): State.CANCELLED",
            ),
        ),
        claims=("cell/cancelling/succeed",),
    ),
    Fault(
        id="planted/guard/cancelled-while-running",
        says="a cancel of a running task says that it is over, and the worker runs on",
        source="dagster#34175",
        patches=(
            in_machine(
                "",
                "(State.RUNNING, Event.CANCEL): State.CANCELLING",
                "(State.RUNNING, Event.CANCEL): State.CANCELLED",
            ),
        ),
        claims=("cell/running/cancel",),
    ),
    Fault(
        id="planted/guard/acknowledged-unasked",
        says="a worker can acknowledge a cancel that nobody has asked for",
        source="cell added",
        patches=(
            in_machine(
                "", _ENQUEUE, f"{_ENQUEUE}, (State.RUNNING, Event.CANCEL_ACK): State.CANCELLED"
            ),
        ),
        claims=("cell/running/cancel_ack",),
    ),
    Fault(
        id="planted/guard/started-twice",
        says="a task that runs is handed to a second worker",
        source="procrastinate#103",
        patches=(
            in_machine("", _ENQUEUE, f"{_ENQUEUE}, (State.RUNNING, Event.START): State.RUNNING"),
        ),
        claims=("cell/running/start",),
    ),
    Fault(
        id="planted/guard/retry-not-cancellable",
        says="a task that waits for its retry can't be cancelled",
        source="cell dropped",
        patches=(in_machine("", "(State.RETRY_WAIT, Event.CANCEL): State.CANCELLED", ""),),
        claims=("cell/retry_wait/cancel",),
    ),
    Fault(
        id="planted/guard/second-cancel-refused",
        says="a cancel of a task that is being cancelled is refused",
        source="no-op dropped",
        patches=(
            in_machine(
                "",
                "frozenset({(State.CANCELLING, Event.CANCEL), (State.CANCELLED, Event.CANCEL)})",
                "frozenset({(State.CANCELLED, Event.CANCEL)})",
            ),
        ),
        claims=("cell/cancelling/cancel",),
    ),
    Fault(
        id="planted/guard/second-cancel-written",
        says="a cancel of a task that is being cancelled is a transition once more, and is logged",
        source="no-op that writes",
        patches=(
            in_machine(
                "",
                "frozenset({(State.CANCELLING, Event.CANCEL), (State.CANCELLED, Event.CANCEL)})",
                "frozenset({(State.CANCELLED, Event.CANCEL)})",
            ),
            in_machine(
                "", _ENQUEUE, f"{_ENQUEUE}, (State.CANCELLING, Event.CANCEL): State.CANCELLING"
            ),
        ),
        claims=("silence/noop", "cell/cancelling/cancel"),
    ),
    Fault(
        id="planted/guard/attempts-at-most",
        says="a task is retried once more than it may be",
        source="< turned into <=",
        patches=(
            in_machine(
                "retry_or_fail",
                "task.attempts < task.max_attempts",
                "task.attempts <= task.max_attempts",
            ),
        ),
        claims=("cell/running/fail?exhausted", "counter/attempts-exhausted"),
    ),
    Fault(
        id="planted/guard/given-up-early",
        says="a task is given up one attempt before its limit",
        source="kubernetes#92245",
        patches=(
            in_machine(
                "retry_or_fail",
                "task.attempts < task.max_attempts",
                "task.attempts + 1 < task.max_attempts",
            ),
        ),
        claims=("cell/running/fail", "counter/attempts-exhausted"),
    ),
    Fault(
        id="planted/guard/limit-written-out",
        says="every task may be started three times, whatever it was submitted with",
        source="limit written out",
        patches=(
            in_machine("retry_or_fail", "task.attempts < task.max_attempts", "task.attempts < 3"),
        ),
        claims=("cell/running/fail?exhausted@max_attempts=1", "counter/attempts-exhausted"),
    ),
    Fault(
        id="planted/guard/permanent-retried",
        says="a failure that is not retryable is retried",
        source="clause dropped",
        patches=(in_machine("retry_or_fail", _GUARD, "task.attempts < task.max_attempts"),),
        claims=("cell/running/fail?permanent",),
    ),
    Fault(
        id="planted/guard/failed-by-an-error",
        says="an error while a success is written makes a failure of it, written or not",
        source="error path without a guard",
        patches=(
            in_store(
                "Store._update",
                "owner, token, until = after.lease or (None, None, None)",
                "owner, token, until = after.lease or (None, None, None)\nself._written = after",
            ),
            in_store(
                "Store._transaction",
                """
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                """,
                """
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                elif self._written.state.value == "succeeded":
                    self._db.execute(
                        "UPDATE tasks SET state = 'failed' WHERE id = ?", (self._written.id,)
                    )
                """,
            ),
        ),
        claims=("reply/error-path",),
    ),
    Fault(
        id="planted/guard/own-start-again",
        says="a worker that starts its task again is let through, and the attempt counts twice",
        source="start applied twice",
        patches=(
            in_machine(
                "step",
                "check_payload(event, payload)",
                """
                check_payload(event, payload)
                if event is Event.START and task.lease is not None and task.lease.owner == actor:
                    return _moved(task, event, State.RUNNING, actor, now)
                """,
            ),
        ),
        claims=("reply/repeated",),
    ),
)
"""Faults of what may happen."""

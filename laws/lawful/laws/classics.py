"""The three classic interleavings: what becomes of a task when two workers meet over it.

Each is a trace of the table ``task``: the workers' calls, in the order in which they reach the
store. What a worker had read before is the version that it expects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.strategies.driver import ClaimKind
from lawful.strategies.performing import perform
from lawful.strategies.session import Session
from lawful.strategies.trace import TASK, Fire, parse_trace

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.seen import View
    from lawful.strategies.watch import Watch

__all__ = ["CLASSICS", "WRITINGS", "Classic", "Outcome", "Report", "play"]


class Classic(NamedTuple):
    """An interleaving.

    Attributes:
        title: What happens, in words.
        trace: The calls, in the order in which they reach the store.
        reports: How many of the last calls are the workers' that meet.
    """

    title: str
    trace: str
    reports: int


CLASSICS: Final = (
    Classic(
        "Two workers have polled the same queued task.",
        "enqueue@client start@worker-A[version=1] start@worker-B[version=1]",
        2,
    ),
    Classic(
        "Cancelled while queued, and a worker with an older reading starts it.",
        "enqueue@client cancel@client start@worker-A[version=1]",
        1,
    ),
    Classic(
        "worker-A stalls 31 s, is reaped, worker-B takes over, A wakes and reports success.",
        "enqueue@client start@worker-A ADVANCE(31) REAP retry_due@client start@worker-B "
        "succeed@worker-A succeed@worker-B",
        2,
    ),
)
"""The interleavings, in the order in which they are played."""

WRITINGS: Final = ("naive", "unversioned", "unfenced", "reference")
"""The shipped systems they are played on: read and write by id; without either check; whole."""


class Report(NamedTuple):
    """What one of the workers that meet was told."""

    actor: str
    event: str
    written: bool
    why: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task.

    Attributes:
        reports: What the workers that meet were told.
        view: The reading and the history at the end.
        lawful: Whether every step was.
    """

    reports: tuple[Report, ...]
    view: View
    lawful: bool


def play(classic: Classic, adapter: Adapter, folder: Path, watch: Watch) -> Outcome:
    """Play an interleaving on a fresh store.

    Args:
        classic: Which.
        adapter: The implementation; its table has the trace's events.
        folder: An empty folder for the store.
        watch: What ends a call that hangs.

    Raises:
        TraceError: The table has no such events.
        Fault: The implementation can't do what the trace needs.
    """
    ops = parse_trace(classic.trace, adapter.table)
    reports, lawful = [], True
    with Session(adapter, folder, watch) as session:
        for op in ops:
            for seen in perform(session, op):
                lawful = lawful and not seen.problems
                if isinstance(op, Fire) and seen.claim is not None:
                    written = seen.claim.kind is ClaimKind.ACCEPTED
                    reports.append(Report(op.actor, op.letter.event, written, seen.claim.text))
        view = session.look(session.tasks[TASK])
    return Outcome(tuple(reports[-classic.reports :]), view, lawful)

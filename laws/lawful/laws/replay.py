"""The family ``replay``: the history tells the same story as the row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.strategies.folding import unfolded
from lawful.strategies.seen import Aspect
from lawful.strategies.trace import Submit

from .applying import with_leases
from .law import Finding, ScenarioLaw, TraceLaw
from .stage import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lawful.spec.table import Table
    from lawful.strategies.walk import Walk
    from lawful.sut.contract import Entry

    from .law import Tally
    from .stage import Stage

__all__ = ["CHAIN", "ENTRY", "FOLD", "REAPER"]


def _fold(table: Table, walk: Walk, tally: Tally) -> None:
    if not isinstance(walk.begin, Submit):
        return
    for length, seen in enumerate(walk.steps, 1):
        if seen.after is None or seen.after.history is None:
            continue
        tally.trigger(seen.before.history != seen.after.history)
        if seen.before[:2] == seen.after[:2]:
            continue
        if found := unfolded(table, seen.after, walk.offered, walk.indistinct):
            expected = ", ".join(f"{name} {folded}" for name, folded, _ in found)
            got = ", ".join(f"{name} {read}" for name, _, read in found)
            tally.told(walk, length, f"as the history says: {expected}", got)


def _chain(table: Table, walk: Walk, tally: Tally) -> None:
    if not isinstance(walk.begin, Submit):
        return
    for length, seen in enumerate(walk.steps, 1):
        if seen.after is None or not seen.after.history:
            continue
        if seen.before.history == seen.after.history:
            continue
        tally.trigger()
        if broken := _broken_link(table, seen.after.history):
            tally.told(walk, length, *broken)


def _broken_link(table: Table, history: Sequence[Entry]) -> tuple[str, str] | None:
    state, version = table.initial, None
    for number, entry in enumerate(history, 1):
        if entry.event is None and number > 1:
            return "one submission, and it comes first", f"entry {number} has no event"
        if entry.event is not None and entry.before not in (None, state):
            return f"entry {number} begins in {state}", f"it begins in {entry.before}"
        if None not in (version, entry.version) and entry.version != (version or 0) + 1:
            return f"entry {number} has version {(version or 0) + 1}", f"version {entry.version}"
        state, version = entry.after, entry.version
    return None


def _entry(_: Table, walk: Walk, tally: Tally) -> None:
    for length, seen in enumerate(walk.steps, 1):
        if seen.after is None or seen.after.history is None:
            continue
        tally.trigger(seen.before.history != seen.after.history)
        if problems := seen.wrong(frozenset({Aspect.ENTRY})):
            tally.step(walk, length, problems)


def _reaper(stage: Stage, tally: Tally) -> None:
    """Expire a held task in each way, reap it, restart, and replay its history each time."""
    table, lease, adapter = stage.table, stage.table.lease, stage.adapter
    row = rows(tally)
    for oracle in stage.oracles():
        held = [p for p in stage.positions(oracle.params) if lease and p.state in lease.held_in]
        for position in held:
            with row(), stage.session() as session:
                tracked = stage.reach(session, oracle.params, position)
                session.advance((lease.seconds if lease else 0) + 1)
                session.reap()
                for _ in ("as reaped", "after a restart"):
                    moved = tracked.view.history != ()
                    tally.trigger(moved)
                    view, alike = tracked.view, adapter.indistinct
                    if found := unfolded(table, view, adapter.offered, alike):
                        expected = ", ".join(f"{name} {folded}" for name, folded, _ in found)
                        got = ", ".join(f"{name} {read}" for name, _, read in found)
                        tally.find(
                            Finding(f"as the history says: {expected}", got, tuple(session.log))
                        )
                    if "restart" not in adapter.gaps:
                        session.reopen()


_WHY = (
    "An audit trail that disagrees with the row is worse than none: recovery code that updates "
    "rows and logs nothing is the usual offender (pilot 4101)."
)

FOLD = TraceLaw(
    id="replay/fold",
    says="folding the history gives the stored reading, after every write",
    why=_WHY,
    needs=("history",),
    controlled=False,
    read=_fold,
)

CHAIN = TraceLaw(
    id="replay/chain",
    says="the history is one unbroken chain: each entry begins where the one before ended, one "
    "version on",
    why=_WHY,
    needs=("history",),
    controlled=False,
    read=_chain,
)

ENTRY = TraceLaw(
    id="replay/entry",
    says="an entry says what happened: event, states, version, actor and payload",
    why="procrastinate logged 'cancelled' for a job that its row calls succeeded: a log that "
    "names the wrong event misleads whoever replays it.",
    needs=("history",),
    controlled=False,
    read=_entry,
)

REAPER = ScenarioLaw(
    id="replay/reaper",
    says="folding the history gives the stored reading after the reaper and after a restart too",
    why=_WHY,
    needs=("history", "lease_owner", "reap", "clock"),
    applies=with_leases,
    controlled=False,
    run=_reaper,
)

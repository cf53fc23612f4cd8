"""What the history says of what was done."""

from __future__ import annotations

from typing import Final

from lawful.mutants.planted.fault import Fault

from ._places import in_store, in_storing

__all__ = ["FAULTS"]

_CHANGE: Final = "Change(after.version, *names, actor, payload, now)"
_NAMES: Final = "(event.value, before.state.value, after.state.value)"

FAULTS: Final = (
    Fault(
        id="planted/history/wrong-event",
        says="a failure for good is logged as a cancel",
        source="event taken from the state",
        patches=(
            in_storing(
                "TaskStore._move",
                _NAMES,
                "('cancel' if after.state is State.FAILED else event.value,"
                " before.state.value, after.state.value)",
            ),
        ),
        claims=("replay/entry",),
    ),
    Fault(
        id="planted/history/swapped",
        says="a line says the states before and after the wrong way round",
        source="arguments swapped",
        patches=(
            in_storing(
                "TaskStore._move", _NAMES, "(event.value, after.state.value, before.state.value)"
            ),
        ),
        claims=("replay/chain", "replay/entry"),
    ),
    Fault(
        id="planted/history/cancel-unlogged",
        says="a cancel writes the row, and no line",
        source="statement dropped on one of several ways",
        patches=(
            in_storing(
                "TaskStore._move", _CHANGE, f"{_CHANGE} if event is not Event.CANCEL else None"
            ),
        ),
        claims=("replay/fold", "cell/queued/cancel"),
    ),
    Fault(
        id="planted/history/payload-dropped",
        says="a line does not say what was reported",
        source="argument replaced",
        patches=(
            in_storing("TaskStore._move", _CHANGE, "Change(after.version, *names, actor, {}, now)"),
        ),
        claims=("replay/entry",),
    ),
    Fault(
        id="planted/history/actor-replaced",
        says="a line says that the system did it, whoever did",
        source="argument replaced",
        patches=(
            in_storing(
                "TaskStore._move", _CHANGE, "Change(after.version, *names, 'system', payload, now)"
            ),
        ),
        claims=("replay/entry",),
    ),
    Fault(
        id="planted/history/overwritten",
        says="a line is written over the one before it",
        source="INSERT turned into INSERT OR REPLACE; off by one",
        patches=(
            in_store(
                "Store._log",
                "INSERT INTO task_events",
                "INSERT OR REPLACE INTO task_events",
                text=True,
            ),
            in_store("Store._log", "entry.version", "max(entry.version - 1, 0)"),
        ),
        claims=("cell/submitted/enqueue",),
    ),
    Fault(
        id="planted/history/newest-first",
        says="the history is read from its end",
        source="ORDER BY swapped",
        patches=(
            in_store("Store.history", "ORDER BY version", "ORDER BY version DESC", text=True),
        ),
        claims=("replay/chain",),
    ),
    Fault(
        id="planted/history/of-another-too",
        says="a history holds the lines of tasks whose id begins alike",
        source="= turned into LIKE",
        patches=(in_store("Store.history", "task = ?", "task LIKE ? || '%'", text=True),),
        claims=("identity/apart",),
    ),
)
"""Faults of the history."""

"""Every law there is, for a table: the one list that runs, explanations and reports go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.spec.oracle import Oracle

from . import (
    absorption,
    bisimulation,
    counters,
    crashes,
    durability,
    effects,
    identity,
    leases,
    order,
    processes,
    races,
    recovery,
    replay,
    silence,
)
from .cells import Cells
from .law import ScenarioLaw
from .sampled import LAWS as sampled_laws

if TYPE_CHECKING:
    from lawful.spec.table import Table

    from .law import Law, Tally
    from .stage import Stage

__all__ = ["CALLS", "check_ids", "laws_of"]


def _calls(stage: Stage, tally: Tally) -> None:
    """Count the stores that were opened; what failed there was kept for this law."""
    with stage.session() as session:
        tracked = session.submit({})
        tally.trigger()
        tally.control(session.driver.read(tracked.id) == tracked.view.reading)


CALLS = ScenarioLaw(
    id="contract/calls",
    says="opening, submitting, looking and closing never fail, whatever was done before",
    why="What can't be looked at can't be judged; a read that raises for a task that exists hides "
    "whatever happened to it.",
    run=_calls,
)


_LONG = (*races.LAWS, *crashes.LAWS, *recovery.LAWS, *processes.LAWS, *effects.LAWS, *sampled_laws)
"""What takes long: schedules, accidents, processes, and what is searched at random."""


def check_ids(table: Table, *, quick: bool = False) -> list[str]:
    """Return the id of every check there is for a table: the cells, then the laws."""
    cells = [name for params in table.valuations for name in Cells(Oracle(table, params)).says]
    return [*cells, *(law.id for law in laws_of(table, quick=quick))]


def laws_of(table: Table, *, quick: bool = False) -> list[Law]:
    """Return the laws that apply to a table, cells apart, in the order of the report.

    Args:
        table: The lifecycle.
        quick: Whether those that take long are left out.
    """
    every: list[Law] = [
        CALLS,
        silence.REFUSAL,
        silence.NOOP,
        silence.STORE,
        bisimulation.BISIMULATION,
        order.UNKNOWN_FIRST,
        order.VERSION_FIRST,
        order.ILLEGAL_FIRST,
        *counters.laws(table),
        absorption.TERMINAL,
        absorption.RESTART,
        replay.FOLD,
        replay.CHAIN,
        replay.ENTRY,
        replay.REAPER,
        identity.UNKNOWN,
        identity.APART,
        durability.RESTART,
        durability.BOOT,
        durability.SECOND,
        *leases.LAWS,
        *(() if quick else _LONG),
    ]
    return [law for law in every if law.applies(table)]

"""Scenario laws by themselves, as after walks: a whole run takes much longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.laws.law import Tally, conclude
from lawful.laws.smoke import smoke
from lawful.laws.stage import Stage
from lawful.laws.verdict import Evidence
from lawful.spec.words import cells
from lawful.strategies.adapter import describe_class
from lawful.strategies.walk import Cast
from lawful.strategies.watch import Watch
from miniatures.trial import task_table, workplace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lawful.laws import Check
    from lawful.laws.law import ScenarioLaw
    from lawful.strategies.adapter import Adapter

__all__ = ["fit", "in_delete", "judged", "of"]


def of(factory: type) -> Adapter:
    """Describe an implementation of the lifecycle ``task``."""
    name = f"{factory.__module__}:{factory.__name__}"
    return describe_class(factory, name, table=task_table())


def fit(factory: type) -> Adapter:
    """Return an implementation's description with what the smoke test has seen."""
    with workplace() as folder:
        return smoke(of(factory), folder, Watch()).adapter


def in_delete(factory: type) -> type:
    """Return a store of ``racers`` with a rollback journal in place of a write-ahead log."""
    named = {"journal": "DELETE", "__module__": factory.__module__, "__doc__": factory.__doc__}
    return type(f"{factory.__name__}InDelete", (factory,), named)


def judged(
    laws: Iterable[ScenarioLaw],
    adapter: Adapter,
    *,
    walked: bool = False,
    thorough: bool = False,
    limit: float = 60.0,
) -> dict[str, Check]:
    """Run laws on an implementation.

    Args:
        laws: The laws; those that don't apply to its table are left out.
        adapter: The implementation.
        walked: Whether its cells are walked before; they are taken to be right otherwise.
        thorough: Whether races and accidents begin everywhere.
        limit: How long one call may take, in seconds.
    """
    checks = {}
    with workplace() as folder:
        seen = smoke(adapter, folder, Watch()).adapter
        stage = Stage(seen, folder, Watch(limit), thorough=thorough)
        for params in seen.table.valuations:
            oracle = seen.oracle(params)
            evidence = stage.evidence[tuple(params.items())] = Evidence(oracle)
            words = cells(oracle) if walked else ()
            for walk in stage.walks(params, words, suite="cells", cast=Cast.ANOTHER):
                evidence.read(walk)
        for law in laws:
            if law.applies(seen.table):
                tally = Tally()
                law.run(stage, tally)
                checks[law.id] = conclude(law, tally)
    return checks

"""Accidents as tests write them down, by files and on servers alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from lawful.laws.replaying import replay_accident
from lawful.strategies.accidents import parse_accident
from lawful.strategies.performing import Unready
from miniatures.trial import task_table, workplace

if TYPE_CHECKING:
    from lawful.strategies.accidents import Accident, Statement
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.crashes import CrashSite

__all__ = ["CANCEL", "TABLE", "accident", "shown_again", "unready", "words"]

TABLE: Final = task_table()
CANCEL: Final = "SUBMIT || cancel@client"


def accident(line: str) -> Accident:
    """Read an accident."""
    return parse_accident(line, TABLE)


def words(statements: tuple[Statement, ...]) -> str:
    """Return the first word of each statement."""
    return " ".join(statement.text.split()[0] for statement in statements)


def unready(site: CrashSite) -> None:
    """Begin where a forgetful store does not come to."""
    each = accident("enqueue start@worker-1 || cancel || LOST(1)")
    with pytest.raises(Unready):
        site.film(each.before, each.call)
    with pytest.raises(Unready), site.hurt(each.before, each.call, each.mishaps[0]):
        pass


def shown_again(adapter: Adapter, line: str, times: int) -> list[bool]:
    """Stage an accident, and say each time whether it was unlawful."""
    staged = parse_accident(line, adapter.table)
    with workplace() as folder:
        return [not replay_accident(adapter, staged, folder).lawful for _ in range(times)]

"""A seeded walk takes the same steps again, goes everywhere, and finds what is planted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from lawful.laws.smoke import smoke
from lawful.spec import Oracle, shipped_table
from lawful.spec.words import reachable
from lawful.strategies import format_trace
from lawful.strategies.adapter import describe, describe_class
from lawful.strategies.wander import Slice, wander
from lawful.strategies.watch import Watch
from miniatures import Honest
from miniatures.trial import task_table
from planted import PLANTED

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from planted import Planted


def honest(folder: Path) -> Adapter:
    return smoke(describe_class(Honest, "Honest", table=task_table()), folder, Watch()).adapter


def test_the_same_seed_takes_the_same_steps_and_another_takes_others(folder: Path) -> None:
    flags = smoke(describe("flags"), folder, Watch()).adapter
    walks = [wander(flags, Slice(seed, 800), folder) for seed in (7, 7, 8)]
    told = [[format_trace(found.trace) for found in walk.found] for walk in walks]
    assert told[0] == told[1] != told[2]
    assert walks[0].hits == walks[1].hits != walks[2].hits


@pytest.mark.slow
def test_a_walk_comes_to_every_place_of_the_table(folder: Path) -> None:
    walk = wander(honest(folder), Slice(1, 60_000), folder)
    table = shipped_table("task")
    places = {
        (position, letter)
        for params in table.valuations
        for position in reachable(Oracle(table, params))
        for letter in table.letters
    }
    assert len(places) == 22 * 8
    assert places <= walk.hits.keys()
    assert walk.found == []


@pytest.mark.slow
@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: each.id)
def test_a_walk_finds_each_planted_fault(planted: Planted, folder: Path) -> None:
    described = describe_class(planted.adapter, planted.id, table=task_table())
    broken = smoke(described, folder, Watch()).adapter
    walk = wander(broken, Slice(1, 20_000), folder, most=1)
    assert walk.found


def test_a_walk_takes_the_steps_it_was_given_and_says_how_far_it_is(folder: Path) -> None:
    told: list[int] = []
    walk = wander(honest(folder), Slice(1, 701), folder, progress=told.append)
    assert walk.steps == 701
    assert told == sorted(told)
    assert told[-1] == 701


def test_a_walk_ends_when_its_time_is_over(folder: Path) -> None:
    assert wander(honest(folder), Slice(1, 10**9), folder, until=time.monotonic() - 1).steps == 0


def test_a_walk_ends_after_so_many_kinds_of_findings(folder: Path) -> None:
    flags = smoke(describe("flags"), folder, Watch()).adapter
    walk = wander(flags, Slice(1, 100_000), folder, most=3)
    assert len(walk.found) == 3
    assert walk.steps < 100_000

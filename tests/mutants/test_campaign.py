"""Campaigns: nothing is tested where a score could not be believed, and what is done is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.mutants import Fate, Mutant, Place, Result, Trust
from lawful.mutants.campaign import beginning_with, mutate
from lawful.mutants.errors import MutationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MUTANTS = [Mutant(f"table/one/{n}", "table", "one", "wrong", Place("t")) for n in range(3)]


class Engine:
    """Three mutants; the second is Ctrl-C where it is asked for."""

    name, target, checks = "table", "t", ("cell/a/b",)

    def __init__(self, *, green: bool = True, interrupts: bool = False) -> None:
        self.green, self.interrupts, self.asked = green, interrupts, 0

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def mutants(self) -> Sequence[Mutant]:
        return MUTANTS

    def sources(self) -> Mapping[str, str]:
        return {"t": "text"}

    def trust(self, some: Sequence[Mutant]) -> Iterator[Trust]:
        yield Trust("baseline", self.green, "looked at")

    def test(
        self, some: Sequence[Mutant], *, matrix: bool, killers: Mapping[str, Sequence[str]]
    ) -> Iterator[Result]:
        for mutant in some:
            self.asked += 1
            if self.interrupts and self.asked == 2:
                raise KeyboardInterrupt
            yield Result(mutant, Fate.KILLED, ("cell/a/b",))

    def depends(self, mutant: Mutant) -> Iterator[str]:
        yield "text"


def test_each_mutant_has_a_result_in_its_place() -> None:
    told: list[tuple[int, int]] = []
    found = mutate(Engine(), progress=lambda done, of, _: told.append((done, of)))
    assert [result.mutant for result in found.results] == MUTANTS
    assert {result.fate for result in found.results} == {Fate.KILLED}
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert not found.distrusted


def test_a_red_baseline_ends_it_before_anything_is_tested() -> None:
    engine = Engine(green=False)
    found = mutate(engine)
    assert engine.asked == 0
    assert {result.fate for result in found.results} == {Fate.PENDING}
    assert [trust.name for trust in found.distrusted] == ["baseline", "tested"]


def test_what_was_done_before_an_interruption_is_kept() -> None:
    found = mutate(Engine(interrupts=True))
    assert [result.fate for result in found.results] == [Fate.KILLED, Fate.PENDING, Fate.PENDING]
    assert found.interrupted


def test_those_alone_are_tested_whose_id_begins_with_what_is_asked_for() -> None:
    engine = Engine()
    found = mutate(engine, chosen=beginning_with(["table/one/1", "table/one/2"]))
    assert [result.mutant for result in found.results] == MUTANTS[1:]
    assert engine.asked == 2
    with pytest.raises(MutationError, match="no mutant's id begins with 'table/two'; there are"):
        mutate(engine, chosen=beginning_with(["table/one", "table/two"]))

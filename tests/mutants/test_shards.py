"""Parts of a campaign: disjoint, complete, and refused where they don't belong together."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lawful.mutants import Campaign, Fate, Mutant, Place, Result, Trust, score
from lawful.mutants.campaign import mutate
from lawful.mutants.errors import MutationError
from lawful.mutants.results import read_results, results_text
from lawful.mutants.shards import Shard, merge, parse_shard
from lawful.mutants.table import TableEngine
from lawful.spec.reader import parse_table, table_text

if TYPE_CHECKING:
    from pathlib import Path


def part(number: int, of: int, table: str = "gate") -> Campaign:
    text, file = table_text(table)
    with TableEngine(parse_table(text, file), text) as engine:
        return mutate(engine, shard=Shard(number, of))


THREE = [part(number, 3) for number in (1, 2, 3)]


def test_parts_are_disjoint_and_together_they_are_the_whole() -> None:
    whole = part(1, 1)
    (merged,) = merge(THREE)
    assert sorted(r.mutant.id for r in merged.results) == sorted(r.mutant.id for r in whole.results)
    assert score(merged.results) == score(whole.results)
    assert len({r.mutant.id for r in merged.results}) == len(merged.results) == 380
    assert all(each.results for each in THREE)


def test_the_order_of_the_parts_makes_no_difference() -> None:
    assert merge(THREE) == merge(THREE[::-1])


def test_a_merged_campaign_keeps_every_reason_not_to_believe_it() -> None:
    red = replace(THREE[1], trust=(Trust("baseline", False, "red"),), results=())
    (merged,) = merge([THREE[0], red, THREE[2]])
    assert [trust.told for trust in merged.distrusted] == ["part 2/3: red"]


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (THREE[:2], "part 3/3 is missing"),
        ([*THREE, THREE[0]], "part 1/3 is there more than once"),
        ([*THREE[:2], part(3, 4)], "part 3/4 is not of the same mutants as part 1/3"),
        ([*THREE[:2], replace(THREE[2], plan="other")], "is not of the same mutants"),
        ([*THREE[:2], replace(THREE[2], matrix=True)], "some parts were run with --matrix"),
    ],
)
def test_parts_that_are_no_whole_are_refused(parts: list[Campaign], told: str) -> None:
    with pytest.raises(MutationError, match=told):
        merge(parts)


def test_campaigns_of_two_targets_stay_two() -> None:
    assert [each.target for each in merge([*THREE, part(1, 1, "review")])] == ["gate", "review"]


@pytest.mark.parametrize("text", ["5/4", "0/4", "1/0", "1", "a/b", "-1/4", "1/4/2", "٣/٤"])
def test_a_part_that_is_none_is_told(text: str) -> None:
    with pytest.raises(MutationError, match="K/N with K from 1 to N is expected"):
        parse_shard(text)


def test_a_part_is_read() -> None:
    assert parse_shard("2/4") == Shard(2, 4)


# -- files -----------------------------------------------------------------------------------------

EVERYTHING = Campaign(
    "planted",
    "reference",
    (
        Result(
            Mutant(
                "planted/a/b",
                "planted",
                "a",
                "wrong",
                Place("lawful/x.py", 1, 2, 3, 4),
                "x",
                "y",
                ("race/pairs",),
                "rq#1",
            ),
            Fate.KILLED,
            ("race/pairs",),
            "seen",
            "enqueue@client",
            3,
            0.5,
        ),
        Result(Mutant("t", "table", "a", "wrong", Place("task", cell=("a", "b"))), Fate.SURVIVED),
    ),
    (Trust("baseline", True, "green"),),
    matrix=True,
    checks=("race/pairs",),
    sources={"lawful/x.py": "x = 1\n"},
    seconds=1.5,
    shard=(2, 3),
    plan="abc",
    interrupted=True,
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(results_text([EVERYTHING, *THREE]))
    assert read_results(file) == [EVERYTHING, *THREE]


GOOD = json.loads(results_text([EVERYTHING]))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "not a results file"),
        ("[]", "not a results file"),
        ("{}", "not a results file"),
        ("[" * 100_000, "not a results file"),
        (json.dumps({**GOOD, "format": "lawful-mutants/9"}), "this version reads"),
        (json.dumps({**GOOD, "campaigns": [{}]}), "not a results file"),
        (results_text([EVERYTHING]).replace('"killed"', '"eaten"'), "not a results file"),
        (results_text([EVERYTHING]).replace('"green"', "7"), "not a results file"),
    ],
)
def test_a_file_that_is_none_is_told_in_one_line(content: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(content)
    with pytest.raises(MutationError, match=told) as raised:
        read_results(file)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(MutationError, match="can't be read: No such file"):
        read_results(tmp_path / "none.json")

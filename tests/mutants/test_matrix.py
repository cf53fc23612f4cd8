"""The kill matrix, of a campaign that was made by hand."""

from __future__ import annotations

from lawful.mutants import Campaign, Fate, Mutant, Place, Result
from lawful.mutants.matrix import matrix_of


def killed(name: str, *killers: str) -> Result:
    return Result(Mutant(name, "table", "one", "wrong", Place("t")), Fate.KILLED, killers)


RESULTS = (
    killed("m1", "a", "b"),
    killed("m2", "a"),
    killed("m3", "b", "c"),
    killed("m4", "c", "b"),
    Result(Mutant("m5", "table", "one", "wrong", Place("t")), Fate.SURVIVED),
)
MATRIX = matrix_of(Campaign("table", "t", RESULTS, matrix=True, checks=("a", "b", "c", "d")))


def test_each_check_has_what_it_finds_most_first() -> None:
    assert [(check, sorted(some)) for check, some in MATRIX.found.items()] == [
        ("b", ["m1", "m3", "m4"]),
        ("a", ["m1", "m2"]),
        ("c", ["m3", "m4"]),
    ]


def test_what_nobody_else_finds_is_counted() -> None:
    assert MATRIX.sole == {"a": 1}


def test_what_finds_nothing_is_named() -> None:
    assert MATRIX.idle == ("d",)


def test_a_few_checks_find_all_that_is_found() -> None:
    assert MATRIX.enough == ("b", "a")  # b has three, a the one that is left


def test_of_nothing_there_is_nothing() -> None:
    empty = matrix_of(Campaign("table", "t", (), matrix=True, checks=("a",)))
    assert empty.found == {}
    assert empty.idle == ("a",)
    assert empty.enough == ()

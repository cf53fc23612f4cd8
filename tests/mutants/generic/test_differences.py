"""What a mutant changes: the smallest part that holds it, and its kind, each read by hand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from lawful.mutants.generic.differences import difference
from lawful.mutants.generic.rules import NO_CHANGE, SAME_SQL, WORDING, set_aside

if TYPE_CHECKING:
    from lawful.mutants.generic.differences import Difference


def found(before: str, after: str, head: str = "def f(a, b=3):") -> Difference:
    """Compare functions of one line; where a head is given, only that of the second."""
    one, other = (
        ast.parse(f"{top}\n    {line}\n").body[0]
        for top, line in (("def f(a, b=3):", before), (head, after))
    )
    assert isinstance(one, ast.FunctionDef)
    assert isinstance(other, ast.FunctionDef)
    return difference(one, other)


@pytest.mark.parametrize(
    ("before", "after", "part", "instead", "family"),
    [
        ("return a < b", "return a <= b", "a < b", "a <= b", "comparison"),
        ("return a and b", "return a or b", "a and b", "a or b", "logic"),
        ("return a + b * 2", "return a + b / 2", "b * 2", "b / 2", "arithmetic"),
        ("return not a", "return a", "not a", "a", "negation"),
        ("return a + 1", "return a + 2", "1", "2", "number"),
        ("return a + True", "return a + False", "True", "False", "constant"),
        ("return g('x')", "return g('XXxXX')", "'x'", "'XXxXX'", "text"),
        ("return g(a, b)", "return g(None, b)", "a", "None", "argument"),
        ("return g(a, b=b)", "return g(a, b=None)", "b", "None", "argument"),
        ("return g(a, b)", "return g(b)", "g(a, b)", "g(b)", "argument"),
        ("c = a + b", "c = None", "a + b", "None", "assignment"),
        ("a += b", "a = b", "a += b", "a = b", "assignment"),
        ("a += b", "a -= b", "a += b", "a -= b", "assignment"),
        ("return lambda: a", "return lambda: None", "a", "None", "name"),
        ("return a.lower()", "return a.upper()", "a.lower", "a.upper", "name"),
    ],
)
def test_the_smallest_part_that_differs_is_found_and_named(
    before: str, after: str, part: str, instead: str, family: str
) -> None:
    seen = found(before, after)
    assert (ast.unparse(seen.before), ast.unparse(seen.after)) == (part, instead)
    assert seen.family == family


def test_a_default_is_a_part_of_the_head() -> None:
    seen = found("return a", "return a", "def f(a, b=4):")
    assert (ast.unparse(seen.before), ast.unparse(seen.after)) == ("3", "4")


def test_what_differs_in_two_places_is_told_by_what_holds_both() -> None:
    seen = found("return a < b < 3", "return b < a < 3")
    assert ast.unparse(seen.before) == "a < b < 3"
    whole = found("return a", "pass; return b")
    assert isinstance(whole.before, ast.FunctionDef)
    assert whole.changes


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ("q('SELECT a FROM t')", "q('select a from t')", SAME_SQL),
        ("q(\"UPDATE t SET s = 'On'\")", "q(\"update t set s = 'On'\")", SAME_SQL),
        ("q(\"UPDATE t SET s = 'On'\")", "q(\"UPDATE T SET S = 'ON'\")", ""),
        ('q(" BEGIN SELECT 1; END")', 'q(" begin select 1; end")', SAME_SQL),
        ("q('SELECT a FROM t')", "q('XXSELECT a FROM tXX')", ""),
        ("q('Selected')", "q('selected')", ""),
        ("raise E('gone')", "raise E('XXgoneXX')", WORDING),
        ("raise E(a, 'gone')", "raise E(None, 'gone')", ""),
        ("return 'gone'", "return 'GONE'", ""),
        ("return a", "return a", NO_CHANGE),
    ],
)
def test_a_rule_takes_what_it_names_and_nothing_else(before: str, after: str, rule: str) -> None:
    assert set_aside(found(before, after)) == rule

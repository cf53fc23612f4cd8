"""A file with its mutants in place: every line once, in order, and what is missed unfolded."""

from __future__ import annotations

import re

from lawful.mutants import Fate, Mutant, Place, Result
from lawful.reports.mutation.listing import listing

SOURCE = "def f(a):\n    b = a < 1\n    c = '<b>'\n    return b\n"


def at(line: int, fate: Fate) -> Result:
    return Result(Mutant(f"x/{line}/{fate}", "mutmut", "x", "", Place("f.py", line)), fate)


def test_every_line_is_there_once_and_in_order() -> None:
    shown = listing(SOURCE, [at(2, Fate.KILLED), at(4, Fate.KILLED)], lambda _: "<i>m</i>")
    assert re.findall(r"^ *(\d) {2}|> +(\d) {2}", shown, re.MULTILINE) == [
        ("", "1"),
        ("", "2"),
        ("", "3"),
        ("", "4"),
    ]
    assert "&lt;b&gt;" in shown
    assert shown.count("<i>m</i>") == 2


def test_what_nobody_has_found_is_unfolded_and_counted() -> None:
    results = [at(2, Fate.KILLED), at(2, Fate.SURVIVED), at(3, Fate.TIMEOUT), at(4, Fate.SET_ASIDE)]
    lines = listing(SOURCE, results, lambda _: "").split("<details")[1:]
    assert ['class="source" open' in line for line in lines] == [True, False, False]
    assert [re.findall(r"\d of \d found", line) for line in lines] == [
        ["1 of 2 found"],
        ["1 of 1 found"],
        ["0 of 0 found"],
    ]

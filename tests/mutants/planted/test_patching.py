"""Patches: found by what they say, replaced in the source, and loud when they no longer fit."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from lawful.mutants.errors import MutationError
from lawful.mutants.planted import Patch, PatchError
from lawful.mutants.planted import patching as made_by

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = '''\
"""A module."""

LIMIT = 3
NAMES = {"a": 1, "b": 2}
TEXT = "begin immediate " "and go"


class Box:
    """A box."""

    size = 3

    def put(self, what):
        # a comment that stays
        if what > LIMIT:
            raise ValueError(what)
        self.held = what
        return self.held

    def take(self):
        return self.held


def free():
    größe, limit = "ä", LIMIT
    return größe, LIMIT
'''


@pytest.fixture
def boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "lawful_boxes.py").write_text(SOURCE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    made_by.source_of.cache_clear()
    return "lawful_boxes"


def patched(*given: object, **named: object) -> str:
    patch = Patch("lawful_boxes", *given, **named)  # type: ignore[arg-type]
    return made_by.patched([patch]).sources["lawful_boxes"]


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(
    ("where", "before", "after", "line"),
    [
        ("Box.put", "what > LIMIT", "what >= LIMIT", "        if what >= LIMIT:"),
        ("Box.put", "what>LIMIT", "what or LIMIT", "        if what or LIMIT:"),
        ("Box.put", "self.held = what", "self.held = -what", "        self.held = -what"),
        ("", '"a": 1', '"a": 1, "c": 3', 'NAMES = {"a": 1, "c": 3, "b": 2}'),
        ("", '"a": 1', "", 'NAMES = { "b": 2}'),
        ("free", "(größe, LIMIT)", "(LIMIT, größe)", "    return (LIMIT, größe)"),
        ("Box", "size = 3", "size = 4", "    size = 4"),
    ],
)
def test_what_is_found_is_replaced_and_nothing_else(
    where: str, before: str, after: str, line: str
) -> None:
    changed = patched(where, before, after).splitlines()
    differing = [b for a, b in zip(SOURCE.splitlines(), changed, strict=True) if a != b]
    assert differing == [line]


@pytest.mark.usefixtures("boxes")
def test_a_statement_is_deleted_with_all_its_lines() -> None:
    changed = patched("Box.put", "if what > LIMIT: raise ValueError(what)", "")
    assert "raise" not in changed
    assert "        self.held = what\n" in changed


@pytest.mark.usefixtures("boxes")
def test_a_body_that_is_deleted_whole_passes() -> None:
    body = ast.parse(patched("Box.take", "return self.held", "")).body[-2]
    assert ast.unparse(body).endswith("def take(self):\n        pass")


@pytest.mark.usefixtures("boxes")
def test_what_binds_more_weakly_than_its_place_is_put_in_brackets() -> None:
    assert "        if (yield):\n" in patched("Box.put", "what > LIMIT", "yield")


@pytest.mark.usefixtures("boxes")
def test_a_piece_of_a_text_is_replaced_over_several_literals() -> None:
    changed = patched("", "immediate and", "and", text=True)
    assert "TEXT = 'begin and go'" in changed


@pytest.mark.usefixtures("boxes")
def test_its_place_is_where_it_stands_in_the_original() -> None:
    place = made_by.patched([Patch("lawful_boxes", "Box.put", "what > LIMIT", "True")]).place
    assert place == ("lawful_boxes.py", 15, 12, 15, 24, None)


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("Box.put", "what < LIMIT", "True"), "found 0 times; 1 is expected"),
        (("free", "LIMIT", "4"), "found 2 times; 1 is expected"),
        (("Box.get", "what", "True"), "there are 0 of Box.get"),
        (("Box.put", "what > LIMIT", "what is ="), "'what is =' is no Python"),
        (("Box.put", "self.held = what", "self.held ="), "'self.held =' is no Python"),
        (("Box.put", "what > LIMIT", "what>LIMIT"), "the code is the same with the patch"),
        (("", "LIMIT = 3", "return 3"), "it can't be replaced by 'return 3'"),
        (("", '"a": 1', "3"), "'3' is no item of a dict"),
        (("Box", "what > LIMIT", "True"), "found 0 times"),
    ],
)
def test_what_does_not_fit_is_told_with_the_place_and_what_was_looked_for(
    given: tuple[str, str, str], told: str
) -> None:
    with pytest.raises(PatchError) as raised:
        patched(*given)
    text = str(raised.value)
    assert told in text
    assert text.startswith(f"lawful_boxes:{given[0]}" if given[0] else "lawful_boxes")
    assert text.endswith(f"looked for: {given[1]}")


@pytest.mark.parametrize("name", ["lawful.nowhere", "lawful.nowhere.at_all", "sys", "lawful"])
def test_a_module_without_source_is_told(name: str) -> None:
    with pytest.raises(MutationError, match=name):
        made_by.patched([Patch(name, "", "a", "b")])


def test_nothing_to_patch_is_no_fault() -> None:
    with pytest.raises(MutationError, match="there is no patch"):
        made_by.patched([])

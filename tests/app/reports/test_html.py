"""The HTML report, read back by a parser."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from lawful.laws.law import Check, Status
from lawful.reports.html import compare_html, html
from lawful.reports.report import Gap

if TYPE_CHECKING:
    from lawful.reports.report import Report

VOID = {"meta"}


class Page(HTMLParser):
    """Elements with their attributes, the text in them, and whether tags are balanced."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open:
            self.words.setdefault(tag, []).append(data)

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]


def squares(page: Page) -> dict[str, str]:
    return {each["data-id"]: each["aria-label"] for each in page.all("button") if "data-id" in each}


def test_each_cell_is_a_button_that_says_in_words_what_it_is(door: Report) -> None:
    assert squares(Page(html(door))) == {
        "cell/open/shut": "open shut: pass, legal",
        "cell/open/lock": "open lock: pass, refused",
        "cell/closed/shut": "closed shut: fail, expected no-op, got version 1 -> 2",
        "cell/closed/lock": "closed lock: error, expected locked, got raised KeyError",
        "cell/locked/shut": "locked shut: blocked by cell/closed/lock",
        "cell/locked/lock": "locked lock: unsupported: locked, closed: look alike",
    }


def test_rows_and_columns_have_heads(door: Report) -> None:
    page = Page(html(door))
    assert len(page.all("th", scope="col")) == 3
    assert len(page.all("th", scope="row")) == 3


def test_every_check_has_one_entry_under_its_address(door: Report) -> None:
    page = Page(html(door))
    ids = [each["id"] for each in page.all("details") if "id" in each]
    assert sorted(ids) == sorted(check.id for check in door.checks)
    assert set(squares(page)) <= set(ids)
    links = [each["href"] for each in page.all("a")]
    assert "#cell/closed/lock?rusty" in links
    assert all(link.startswith("#") for link in links)


def test_an_entry_shows_law_trace_replay_traceback_and_coverage(door: Report) -> None:
    words = "|".join(Page(html(door)).words["dl"])
    assert "'lock' on 'closed' leads to 'locked'" in words
    assert "|shut@client lock@client|" in words
    assert "|lawful replay door:Door 'shut@client lock@client'|" in words
    assert 'File "door.py", line 7' in words
    assert "|cells 3, packed 1|" in words


def test_verdict_gaps_and_reasons_are_shown(door: Report, undeclared_door: Report) -> None:
    words = " ".join(Page(html(door)).words["body"])
    assert "unlawful, 2 of 6 cells broken, 2 laws broken" in words
    assert "2 of 6 cells pass." in words
    assert "lease_owner: no leases" in words
    assert "identity/apart was not run" in words
    causes = "".join(Page(html(door)).words["li"])
    assert "replay/chain: pinned, and it passes now" in causes
    assert "replay/entry: expected one; got two" in causes
    words = " ".join(Page(html(undeclared_door)).words["pre"])
    assert '"heartbeat": Unsupported("..."),' in words


@pytest.mark.parametrize("nasty", ["<script>alert(1)</script>", "</details></main>", "\"'><b x='"])
def test_foreign_text_is_never_markup(door: Report, nasty: str) -> None:
    bad = Check(
        "law/" + nasty,
        Status.ERROR,
        nasty,
        expected=nasty,
        got=nasty,
        trace=nasty,
        note=nasty,
        trail=nasty + "\x1b",
    )
    gap = Check("law/gap", Status.UNSUPPORTED, nasty, cause=nasty)
    blocked = Check("cell/open/shut", Status.BLOCKED, nasty, cause=nasty)
    report = replace(
        door,
        name=nasty,
        target=nasty,
        system=nasty,
        profile=nasty,
        headline=nasty,
        spec_name=nasty,
        events=(nasty, "lock"),
        kinds={nasty: ("legal", nasty), "open": ("legal", "legal")},
        gaps=(Gap(nasty, "unsupported", nasty),),
        checks=(bad, gap, blocked),
        reasons=(nasty,),
        undeclared={nasty: (nasty,)},
        coverage={"law/" + nasty: {nasty: 1}},
    )
    for source in (html(report), compare_html([report, report])):
        page = Page(source)
        assert len(page.all("script")) == 1
        assert page.all("b") == []
        assert nasty not in re.sub(r"(?s)<script>\n.*</script>", "", source)
        assert "\x1b" not in source


def test_the_page_asks_nobody_for_anything_and_runs_its_own_script_alone(door: Report) -> None:
    for source in (html(door), compare_html([door])):
        page = Page(source)
        assert not re.search(r"https?:|//|url\(|@import", source.replace("  // ", ""))
        assert not any(
            name.startswith("on") or name in ("src", "style")
            for _, attributes in page.elements
            for name in attributes
        )
        (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
        assert policy["content"].startswith("default-src 'none';")
        for tag in ("script", "style"):
            (text,) = re.findall(rf"(?s)<{tag}>(.*?)</{tag}>", source)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy["content"]


def test_a_comparison_has_a_button_for_each_check_of_each_implementation(
    door: Report, lawful_door: Report
) -> None:
    page = Page(compare_html([door, replace(lawful_door, name="gate")]))
    said = squares(page)
    assert said["1:cell/closed/shut"] == (
        "door, closed shut: fail, expected no-op, got version 1 -> 2"
    )
    assert said["2:cell/closed/shut"] == "gate, closed shut: pass"
    assert "2:cell/closed/lock?rusty" not in said
    assert set(said) <= {each["id"] for each in page.all("details") if "id" in each}
    assert "show the 4 of 16 that pass everywhere" in page.words["button"]


def test_one_report_twice_has_addresses_of_its_own_and_tables_are_apart(door: Report) -> None:
    other = replace(door, spec_version=3)
    page = Page(compare_html([door, other, door]))
    ids = [each["id"] for each in page.all("details") if "id" in each]
    assert len(ids) == len(set(ids)) == 3 * 16
    assert page.words["h2"][:2] == ["Table door 2", "Table door 3"]

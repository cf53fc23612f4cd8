"""JUnit XML, read back by a parser."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree.ElementTree import fromstring

from lawful.laws.law import Check, Status
from lawful.reports.junit import junit

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from lawful.reports.report import Report


def suite(report: Report) -> Element:
    found = fromstring(junit(report)).find("testsuite")
    assert found is not None
    return found


def case(report: Report, name: str) -> Element:
    (found,) = suite(report).findall(f"testcase[@name='{name}']")
    return found


def test_every_check_is_a_case_and_the_counts_agree(door: Report) -> None:
    found = suite(door)
    assert [each.get("name") for each in found.findall("testcase")] == [
        *(check.id for check in door.checks),
        "verdict",
    ]
    assert found.attrib == {
        "name": "lawful.door:Door",
        "tests": "19",
        "failures": "5",
        "errors": "1",
        "skipped": "7",
        "time": "1.250",
    }


def test_each_status_is_what_a_ci_understands(door: Report) -> None:
    said = {
        each.get("name"): [child.tag for child in each] for each in suite(door).findall("testcase")
    }
    assert said["cell/open/shut"] == []
    assert said["cell/closed/shut"] == ["failure"]
    assert said["cell/closed/lock"] == ["error"]
    assert said["cell/locked/shut"] == ["skipped"]
    assert said["lease/holder"] == ["skipped"]
    assert said["lease/heartbeat"] == ["skipped"]
    assert said["replay/fold"] == ["skipped"]
    assert said["replay/chain"] == ["failure"]
    assert said["replay/entry"] == ["failure"]
    assert said["identity/apart"] == ["skipped"]
    assert said["verdict"] == []


def test_a_failure_says_expected_got_trace_and_replay(door: Report) -> None:
    found = case(door, "cell/closed/shut")
    assert found.get("classname") == "lawful.door:Door.cell"
    assert found[0].get("message") == "expected no-op, got version 1 -> 2"
    assert found[0].text == (
        "law: 'shut' on 'closed' is accepted and writes nothing\n"
        "expected: no-op\n"
        "got: version 1 -> 2\n"
        "trace: shut@client shut@client\n"
        "replay: lawful replay door:Door 'shut@client shut@client'"
    )


def test_an_error_carries_the_implementations_traceback(door: Report) -> None:
    assert (case(door, "cell/closed/lock")[0].text or "").endswith(
        "\n\nTraceback (most recent call last):\n  File \"door.py\", line 7\nKeyError: 'bolt'"
    )


def test_what_is_skipped_says_why(door: Report) -> None:
    messages = {
        "cell/locked/shut": "blocked by cell/closed/lock",
        "lease/holder": "unsupported: lease_owner: no leases",
        "lease/heartbeat": "not yet: heartbeat: planned (#7)",
        "replay/fold": "known: rows are trimmed",
        "identity/apart": "not run: its trigger never held",
    }
    assert {name: case(door, name)[0].get("message") for name in messages} == messages


def test_an_incomplete_run_fails_in_its_verdict(undeclared_door: Report) -> None:
    found = case(undeclared_door, "verdict")
    assert found[0].tag == "failure"
    assert found[0].get("message") == "incomplete"
    assert '"heartbeat": Unsupported("..."),' in (found[0].text or "")
    assert suite(undeclared_door).get("failures") == "1"


def test_characters_that_xml_cannot_hold_are_written_out(door: Report) -> None:
    bad = Check(
        'law/<&">', Status.ERROR, "x", expected="a", got="\x00\x1b\ufffe\ud800]]>", trail="\x01\n"
    )
    found = case(replace(door, checks=(bad,)), 'law/<&">')
    assert "got: \\x00\\x1b\\ufffe\\ud800]]>" in (found[0].text or "")

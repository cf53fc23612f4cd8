"""GitHub's step summary and the badge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lawful.laws.judgement import Verdict
from lawful.laws.law import Check, Status
from lawful.reports.badge import badge
from lawful.reports.summary import summary

if TYPE_CHECKING:
    from lawful.reports.report import Report


def test_the_summary_begins_with_the_verdict_and_the_grid(door: Report) -> None:
    assert summary(door).split("\n")[:9] == [
        "## door: unlawful, 2 of 6 cells broken, 2 laws broken",
        "",
        "2 of 6 cells pass; table door 2, profile quick, lawful 0&#46;1&#46;0",
        "",
        "| | shut | lock |",
        "|---|---|---|",
        "| **open** | ✓ legal | ✓ refused |",
        "| **closed** | ✗ FAIL | ! ERROR |",
        "| **locked** | ■ blocked | ○ unsupported |",
    ]


def test_a_root_cause_is_folded_with_its_replay_command(door: Report) -> None:
    text = summary(door)
    assert "### Root causes (5)\n" in text
    assert text.count("<details>") == text.count("</details>") == 6
    assert "```\nlawful replay door:Door 'shut@client lock@client'\n```" in text
    assert "<summary>⊘ replay/chain: pinned, and it passes now</summary>" in text
    assert "```\nTraceback (most recent call last):\n" in text


def test_groups_gaps_and_reasons_are_told(door: Report, undeclared_door: Report) -> None:
    text = summary(door)
    assert "| silence | 2 of 2 |  |\n" in text
    assert "| guard branches | 0 of 1 | ✗ 1 FAIL |\n" in text
    assert "- ○ unsupported: lease&#95;owner&#58; no leases (2 checks)\n" in text
    assert "Not judged (2)" in text
    assert '    "heartbeat": Unsupported("..."),' in summary(undeclared_door)


def test_foreign_text_is_no_markup(door: Report) -> None:
    bad = Check(
        "law/bad",
        Status.ERROR,
        "<script>alert(1)</script> [x](http://evil) @team `x` | **b**",
        expected="</details>",
        got="a|b\n\n# heading",
        trace="``` </details>",
        trail="~~~\n````\n<img>",
    )
    text = summary(replace(door, checks=(bad,)))
    outside, fenced = [], ""
    for line in text.split("\n"):
        if fenced:
            fenced = "" if line == fenced else fenced
        elif line.startswith("```"):
            fenced = line
        else:
            outside.append(line)
    assert not fenced
    shown = "\n".join(outside)
    assert not any(each in shown for each in ("<script", "[x]", "@team", "`x`", "a|b", "# head"))
    assert shown.count("</details>") == 2
    assert "`````\n~~~\n````\n<img>\n`````" in text


def test_the_summary_fits_into_githubs_limit(door: Report) -> None:
    checks = tuple(
        Check(f"law/{number}", Status.FAIL, "s", expected="e", got="g", trace="t" * 100_000)
        for number in range(15)
    )
    text = summary(replace(door, checks=checks))
    assert len(text.encode()) <= 1_000_000
    assert "\nand 11 more\n" in text
    reasons = tuple("✗" * 1000 for _ in range(1000))
    assert len(summary(replace(door, reasons=reasons)).encode()) <= 1_000_010


def message(report: Report) -> tuple[str, str, bool]:
    said = badge(report)
    assert set(said) == {"schemaVersion", "label", "message", "color", "isError"}
    assert said["schemaVersion"] == 1
    assert said["label"] == "lawful"
    return said["message"], said["color"], said["isError"]


def test_the_badge_counts_cells_and_is_green_only_if_lawful(
    door: Report, lawful_door: Report, undeclared_door: Report
) -> None:
    assert message(door) == ("2 of 6", "red", True)
    assert message(lawful_door) == ("6 of 6", "brightgreen", False)
    assert message(undeclared_door) == ("incomplete", "lightgrey", True)


def test_the_badge_says_what_is_broken_where_every_cell_passes(lawful_door: Report) -> None:
    broken = Check("silence/noop", Status.FAIL, "a no-op writes nothing")
    report = replace(lawful_door, checks=(*lawful_door.core, broken), verdict=Verdict.UNLAWFUL)
    assert message(report) == ("6 of 6, 1 other broken", "red", True)

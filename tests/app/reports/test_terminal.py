"""The report for a terminal, read without colour."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lawful.laws.law import Check, Status
from lawful.reports.comparison import compare_terminal
from lawful.reports.terminal import terminal

if TYPE_CHECKING:
    from lawful.reports.report import Report


def lines(report: Report, *, width: int = 100, ascii: bool = False) -> list[str]:
    return terminal(report, width=width, colour=False, ascii=ascii).split("\n")


def section(text: list[str], heading: str) -> list[str]:
    start = text.index(heading)
    end = next((i for i in range(start + 1, len(text)) if not text[i]), len(text))
    return text[start + 1 : end]


def test_the_grid_shows_a_sign_and_a_word_in_each_cell(door: Report) -> None:
    assert lines(door)[:6] == [
        "door  table door 2, profile quick, lawful 0.1.0, 1.2 s",
        "",
        "        shut       lock",
        "open    ✓ legal    ✓ refused",
        "closed  ✗ FAIL     ! ERROR",
        "locked  ■ blocked  ○ unsupported",
    ]


def test_the_legend_names_just_the_statuses_that_occur(door: Report, lawful_door: Report) -> None:
    assert lines(door)[7] == (
        "✓ pass   ✗ FAIL   ! ERROR   ■ blocked   ○ unsupported   ◌ not yet   ≈ known   ⊘ STALE   "
        "» MOVED   ? not run"
    )
    assert lines(lawful_door)[7] == "✓ pass"


def test_a_narrow_grid_has_signs_alone_and_a_very_narrow_one_numbers_its_columns(
    door: Report,
) -> None:
    assert lines(door, width=24)[2:6] == [
        "        shut  lock",
        "open    ✓     ✓",
        "closed  ✗     !",
        "locked  ■     ○",
    ]
    assert lines(door, width=16)[2:7] == [
        "        1  2",
        "open    ✓  ✓",
        "closed  ✗  !",
        "locked  ■  ○",
        "1 shut, 2 lock",
    ]


def test_ascii_output_is_ascii_and_its_signs_are_told_apart(door: Report) -> None:
    text = lines(replace(door, name="Tür"), ascii=True)
    assert "\n".join(text).isascii()
    assert text[0].startswith("T\\xfcr  ")
    assert text[7] == (
        ". pass   X FAIL   ! ERROR   # blocked   o unsupported   + not yet   ~ known   % STALE   "
        "> MOVED   ? not run"
    )


def test_without_colour_there_is_no_escape_and_with_it_the_same_words(door: Report) -> None:
    plain = terminal(door, colour=False, ascii=False)
    coloured = terminal(door, colour=True, ascii=False)
    assert "\x1b" not in plain
    assert "\x1b[1;31m✗ FAIL\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_branches_and_other_parameters_are_told_compactly(door: Report) -> None:
    assert section(lines(door), "Guard branches") == [
        "  closed+lock?rusty  ✗ FAIL",
        "Other parameters",
        "  turns=1: 1 of 2 pass, ✗ 1 fail",
    ]


def test_a_family_that_passes_is_one_line_and_another_names_its_laws(door: Report) -> None:
    assert section(lines(door), "Laws") == [
        "  ✓ silence 2 of 2",
        "  lease: 0 of 3 pass, ○ 2 unsupported, ◌ 1 not yet",
        "    ○ lease/holder     lease_owner",
        "    ○ lease/zombie     lease_owner",
        "    ◌ lease/heartbeat  heartbeat",
        "  replay: 0 of 3 pass, ≈ 1 known, ⊘ 1 stale, » 1 moved",
        "    ≈ replay/fold   0 triggers",
        "    ⊘ replay/chain  0 triggers",
        "    » replay/entry  0 triggers",
        "  identity: 0 of 1 pass, ? 1 not run",
        "    ? identity/apart  its trigger never held",
    ]


def test_a_root_cause_shows_law_expected_got_trace_replay_and_what_it_blocks(door: Report) -> None:
    text = lines(door)
    start = text.index("1. ! cell/closed/lock")
    assert text[start - 2] == "Root causes (5)"
    assert text[start + 1 : start + 11] == [
        "  law       'lock' on 'closed' leads to 'locked'",
        "  expected  locked",
        "  got       raised KeyError",
        "  trace     shut@client lock@client",
        "  replay    lawful replay door:Door 'shut@client lock@client'",
        "  blocks    1 other check",
        "  raised by the implementation:",
        "    Traceback (most recent call last):",
        '      File "door.py", line 7',
        "    KeyError: 'bolt'",
    ]


def test_a_task_that_was_put_into_its_state_is_said_to_have_been(door: Report) -> None:
    text = lines(door)
    start = text.index("3. ✗ cell/closed/lock?rusty")
    assert text[start + 6] == (
        "  way       the task was put straight into its state: no lawful way leads there"
    )


def test_ten_root_causes_are_shown_unless_all_are_wanted(door: Report) -> None:
    many = replace(
        door,
        checks=tuple(
            Check(f"law/{number}", Status.FAIL, "so", expected="a", got="b") for number in range(12)
        ),
    )
    few = terminal(many, colour=False, ascii=False)
    assert few.count("\n  expected  a") == 10
    assert "\n\nand 2 more: --all\n" in few
    every = terminal(many, colour=False, ascii=False, most=None)
    assert every.count("\n  expected  a") == 12
    assert "--all" not in every


def test_one_reason_that_covers_many_laws_is_one_line(door: Report) -> None:
    assert section(lines(door), "Gaps") == [
        "  ○ locked, closed: look alike: cell/locked/lock",
        "  ○ lease_owner: no leases: 2 checks",
        "  ◌ heartbeat: planned (#7): lease/heartbeat",
        "  declared, and nothing here needed them: claim",
    ]


def test_a_known_divergence_is_shown_with_its_reason(door: Report) -> None:
    assert section(lines(door), "Known divergences") == ["  ≈ replay/fold  rows are trimmed"]


def test_what_root_causes_block_is_not_told_twice(door: Report) -> None:
    assert section(lines(door), "Not judged") == [
        "  - identity/apart was not run: its trigger never held"
    ]


def test_an_undeclared_name_comes_with_the_lines_to_add(undeclared_door: Report) -> None:
    text = lines(undeclared_door)
    assert section(text, "Undeclared: write these methods, or add to the adapter") == [
        "    gaps = {",
        '        "heartbeat": Unsupported("..."),  # lease/heartbeat, lease/expiry',
        "    }",
    ]
    assert section(text, "Incomplete, because") == [
        "  - 'heartbeat' is neither offered nor declared in `gaps`"
    ]


def test_the_last_lines_are_the_count_and_the_verdict(door: Report, lawful_door: Report) -> None:
    assert lines(door)[-2:] == [
        "2 of 6 cells pass",
        "door: unlawful, 2 of 6 cells broken, 2 laws broken",
    ]
    assert lines(lawful_door)[-2:] == ["6 of 6 cells pass", "door: lawful"]
    assert "%" not in terminal(lawful_door, colour=False, ascii=False)


def test_what_an_implementation_says_never_acts_on_the_terminal(door: Report) -> None:
    nasty = Check(
        "law/nasty",
        Status.ERROR,
        "quiet",
        expected="x",
        got="\x1b[2J\rgone\u202e\ndoor: lawful",
        trail="one\ttab\n\x1b]0;title\x07",
    )
    text = terminal(replace(door, checks=(nasty,)), colour=False, ascii=False)
    assert "  got       \\x1b[2J\\x0dgone\\u202e\\x0adoor: lawful\n" in text
    assert "    one tab\n    \\x1b]0;title\\x07\n" in text
    assert not set(text) & {"\x1b", "\r", "\x07", "\t", "\u202e"}


def test_long_text_is_wrapped_and_what_is_to_be_copied_is_not(door: Report) -> None:
    trace = " ".join(["shut@client"] * 20)
    said = Check("law/long", Status.FAIL, "word " * 40, expected="a", got="b", trace=trace)
    text = lines(replace(door, checks=(said,)), width=80)
    cause = text[text.index("1. ✗ law/long") :]
    assert f"  trace     {trace}" in cause
    assert f"  replay    lawful replay door:Door '{trace}'" in cause
    assert all(len(line) <= 80 for line in cause if trace not in line)


def test_implementations_stand_side_by_side_and_what_passes_everywhere_is_counted(
    door: Report, lawful_door: Report
) -> None:
    text = compare_terminal(
        [door, replace(lawful_door, name="gate")], colour=False, ascii=False
    ).split("\n")
    assert text[:9] == [
        "table door 2",
        "",
        "                   door           gate",
        "closed+shut        ✗ FAIL         ✓ pass",
        "closed+lock        ! ERROR        ✓ pass",
        "locked+shut        ■ blocked      ✓ pass",
        "locked+lock        ○ unsupported  ✓ pass",
        "closed+lock?rusty  ✗ FAIL",
        "2 of 7 cells pass everywhere",
    ]
    assert "2 of 9 laws pass everywhere" in text
    assert "turns=1: door 1 of 2, gate none pass" in text
    assert text[-2:] == [
        "door: unlawful, 2 of 6 cells broken, 2 laws broken; 2 of 6 cells pass",
        "gate: lawful; 6 of 6 cells pass",
    ]


def test_reports_on_different_tables_are_not_mixed(lawful_door: Report) -> None:
    other = replace(lawful_door, spec_version=3)
    text = compare_terminal([lawful_door, other, lawful_door], colour=False, ascii=False)
    first, second = re.split(r"\n\n(?=table )", text)
    assert first.startswith("table door 2\n")
    assert "door: lawful; 6 of 6 cells pass\ndoor (2): lawful; 6 of 6 cells pass" in first
    assert second.startswith("table door 3\n")
    assert second.count("door: lawful") == 1


def test_a_check_that_one_implementation_lacks_does_not_pass_everywhere(
    lawful_door: Report,
) -> None:
    fewer = replace(lawful_door, name="gate", checks=lawful_door.checks[1:])
    text = compare_terminal([lawful_door, fewer], colour=False, ascii=False).split("\n")
    assert text[2:5] == [
        "           door    gate",
        "open+shut  ✓ pass",
        "5 of 6 cells pass everywhere",
    ]

"""An accident is one line of text, and the line is read back as the same accident, or refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.spec import Letter, shipped_table
from lawful.strategies import TraceError
from lawful.strategies.accidents import (
    Accident,
    Mishap,
    Sort,
    format_accident,
    is_accident,
    parse_accident,
)
from lawful.strategies.trace import (
    ABSENT,
    Advance,
    Fire,
    Heartbeat,
    Poison,
    Read,
    Reap,
    Reopen,
    Second,
    Submit,
)

if TYPE_CHECKING:
    from lawful.strategies.accidents import Hit
    from lawful.strategies.trace import Op

TASK = shipped_table("task")
GATE = shipped_table("gate")
ENQUEUE = Fire(Letter("enqueue"), "client")
START = Fire(Letter("start"), "worker-1")
BEGUN = (Submit(), ENQUEUE)

CRASH, INTERRUPT, LOST = Sort


# -- the line, both ways ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accident", "line"),
    [
        (
            Accident(BEGUN, START, (Mishap(CRASH, 3),)),
            "enqueue@client || start@worker-1 || CRASH(3)",
        ),
        (
            Accident(BEGUN, START, (Mishap(CRASH, 3), Mishap(CRASH, 5))),
            "enqueue@client || start@worker-1 || CRASH(3) CRASH(5)",
        ),
        (
            Accident(BEGUN, START, (Mishap(INTERRUPT, 9999),)),
            "enqueue@client || start@worker-1 || INTERRUPT(9999)",
        ),
        (
            Accident(BEGUN, START, (Mishap(LOST, 5),), (START, Reopen())),
            "enqueue@client || start@worker-1 || LOST(5) || start@worker-1 REOPEN",
        ),
        (
            Accident((Submit(),), ENQUEUE, (Mishap(CRASH, 1),), (Advance(31), Reap())),
            "SUBMIT || enqueue@client || CRASH(1) || ADVANCE(31) REAP",
        ),
        (
            Accident((*BEGUN, START), Heartbeat("worker-1", 1), (Mishap(LOST, 2),)),
            "enqueue@client start@worker-1 || HEARTBEAT@worker-1[token=1] || LOST(2)",
        ),
        (
            Accident((Submit(), Submit(task="t2"), Advance(31)), Reap(), (Mishap(CRASH, 4),)),
            "SUBMIT t2:SUBMIT ADVANCE(31) || REAP || CRASH(4)",
        ),
        (
            Accident((Submit(),), Reopen(), (Mishap(INTERRUPT, 1),)),
            "SUBMIT || REOPEN || INTERRUPT(1)",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_accident_is_written_so(accident: Accident, line: str) -> None:
    assert format_accident(accident) == line
    assert parse_accident(line, TASK) == accident
    assert is_accident(line)


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("- || enqueue || CRASH(1)", "SUBMIT || enqueue@client || CRASH(1)"),
        (" ||enqueue||  CRASH(1)  ||", "SUBMIT || enqueue@client || CRASH(1)"),
        ("t2:SUBMIT || t2:cancel || LOST(1)", "SUBMIT t2:SUBMIT || t2:cancel@client || LOST(1)"),
    ],
)
def test_what_goes_without_saying_may_be_left_out(line: str, same: str) -> None:
    assert format_accident(parse_accident(line, TASK)) == same
    assert is_accident(line)


@st.composite
def accidents(draw: st.DrawFn) -> Accident:
    """Accidents of one task or two, of every sort, with whatever may be done afterwards."""
    labels = draw(st.sampled_from([("t",), ("t", "t2")]))
    begins = tuple(Submit((("max_attempts", 2),), label) for label in labels)
    tasks, actors = st.sampled_from(labels), st.sampled_from(["client", "worker-1"])
    anywhere = st.sampled_from([*labels, ABSENT])
    maybe, letters = st.none() | st.integers(0, 99), st.sampled_from(TASK.letters)
    hits: st.SearchStrategy[Hit] = st.one_of(
        st.builds(Fire, letters, actors, maybe, maybe, tasks),
        st.builds(Heartbeat, actors, maybe, tasks),
        st.builds(Reap),
        st.builds(Reopen),
    )
    afterwards: st.SearchStrategy[Op] = st.one_of(
        st.builds(Fire, letters, actors, maybe, maybe, anywhere),
        st.builds(Heartbeat, actors, maybe, anywhere),
        st.builds(Read, anywhere),
        st.builds(Poison, tasks),
        st.builds(Advance, st.integers(0, 99).map(float)),
        st.builds(Reap),
        st.builds(Reopen),
        st.builds(Second),
    )
    points = st.integers(1, 9999)
    mishaps = st.one_of(
        st.tuples(st.builds(Mishap, st.sampled_from(Sort), points)),
        st.tuples(*[st.builds(Mishap, st.just(CRASH), points)] * 2),
    )
    before = (*begins, *draw(st.lists(afterwards, max_size=4)))
    then = tuple(draw(st.lists(afterwards, max_size=4)))
    return Accident(before, draw(hits), draw(mishaps), then)


@settings(derandomize=True, database=None, max_examples=100, deadline=None)
@given(accidents())
def test_what_is_written_is_read_back_as_it_was(accident: Accident) -> None:
    line = format_accident(accident)
    assert parse_accident(line, TASK) == accident
    assert is_accident(line)


# -- what is no accident ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "",
        "enqueue@client start@worker-1",
        "enqueue@client || start@worker-1 || start@worker-2",
        "enqueue@client || start@worker-1 || start@worker-2 || A | B",
        "enqueue@client || CRASH(3)",
        "CRASH(1) || CRASH(1) || start@worker-1",
    ],
)
def test_a_race_and_a_trace_are_no_accidents(line: str) -> None:
    assert not is_accident(line)


MISHAPS = "expected CRASH(N), CRASH(N) CRASH(N), INTERRUPT(N) or LOST(N), N counted from 1"
HITS = "what is hit is one event, HEARTBEAT, REAP or REOPEN, on a task that is there"
THEN = "what is done afterwards is done to tasks that are there"
PARTS = "an accident is BEFORE || CALL || CRASH(STATEMENT) || AFTERWARDS"


@pytest.mark.parametrize(
    "mishaps",
    [
        "CRASH",
        "CRASH()",
        "CRASH(0)",
        "CRASH(01)",
        "CRASH(-1)",
        "CRASH(10000)",
        "CRASH(99999999999999999999)",
        "CRASH(1.5)",
        "CRASH(\N{ARABIC-INDIC DIGIT THREE})",
        "CRASH(1) CRASH(2) CRASH(3)",
        "CRASH(1) LOST(2)",
        "INTERRUPT(1) CRASH(2)",
        "INTERRUPT(1) INTERRUPT(2)",
        "LOST(1) LOST(2)",
        "CRASH(1)CRASH(2)",
        "CRASH(1) then",
    ],
)
def test_a_mishap_that_cannot_be_is_refused_and_known_for_an_accident(mishaps: str) -> None:
    line = f"enqueue || start@worker-1 || {mishaps}"
    assert is_accident(line)
    with pytest.raises(TraceError, match=re.escape(f"trace: {mishaps!r}: {MISHAPS}")):
        parse_accident(line, TASK)


@pytest.mark.parametrize("mishaps", ["", "BOOM(3)", "crash(3)", "start@worker-2"])
def test_another_sort_is_refused(mishaps: str) -> None:
    with pytest.raises(TraceError, match=re.escape(MISHAPS)):
        parse_accident(f"enqueue || start@worker-1 || {mishaps}", TASK)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("enqueue || CRASH(1)", PARTS),
        ("enqueue || start || CRASH(1) || REAP || REAP", PARTS),
        ("enqueue || || CRASH(1)", HITS),
        ("enqueue || start cancel || CRASH(1)", HITS),
        ("enqueue || SUBMIT || CRASH(1)", HITS),
        ("enqueue || READ || CRASH(1)", HITS),
        ("enqueue || POISON || CRASH(1)", HITS),
        ("enqueue || SECOND || CRASH(1)", HITS),
        ("enqueue || ADVANCE(31) || CRASH(1)", HITS),
        ("enqueue || t2:start || CRASH(1)", HITS),
        ("enqueue || ?:start || CRASH(1)", HITS),
        ("enqueue || start || CRASH(1) || SUBMIT", THEN),
        ("enqueue || start || CRASH(1) || t2:SUBMIT", THEN),
        ("enqueue || start || CRASH(1) || PUT(running)@w", THEN),
        ("enqueue || start || CRASH(1) || REAP t2:cancel", THEN),
        ("enqueue || start || CRASH(1) || t2:READ", THEN),
        ("enqueue || start || CRASH(1) || dequeue", "'dequeue': no such event; there are enqueue"),
        ("dequeue || start || CRASH(1)", "'dequeue': no such event; there are enqueue"),
        ("enqueue || dequeue || CRASH(1)", "'dequeue': no such event; there are enqueue"),
        ("t2:enqueue || start || CRASH(1)", "this task is used before it is submitted"),
    ],
)
def test_a_line_that_cannot_be_is_refused_with_the_reason(line: str, told: str) -> None:
    with pytest.raises(TraceError, match=re.escape(told)):
        parse_accident(line, TASK)


def test_a_table_without_leases_has_no_reaper_to_be_hit() -> None:
    with pytest.raises(TraceError, match="gate has no leases"):
        parse_accident("SUBMIT || REAP || CRASH(1)", GATE)


@pytest.mark.parametrize(
    "line",
    [
        "SUBMIT || cancel || " + "CRASH(1) " * 8_000,
        "SUBMIT || cancel || CRASH(1)" + " ||" * 25_000,
        "SUBMIT " + "cancel " * 10_000 + "|| cancel || CRASH(1)",
        "SUBMIT || cancel || CRASH(1) || " + "READ " * 14_000,
    ],
)
def test_a_line_of_seventy_thousand_characters_is_refused_in_a_short_one(line: str) -> None:
    with pytest.raises(TraceError, match=f"{len(line)} characters; at most 65536") as raised:
        parse_accident(line, TASK)
    assert len(str(raised.value)) < 100

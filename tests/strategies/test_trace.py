"""A trace is one line of text, and the text is read back as the same trace, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.spec import Letter, shipped_table
from lawful.strategies import TraceError, format_trace, parse_trace
from lawful.strategies.trace import (
    ABSENT,
    LIMIT,
    Advance,
    Fire,
    Heartbeat,
    Poison,
    Put,
    Read,
    Reap,
    Reopen,
    Second,
    Submit,
)

if TYPE_CHECKING:
    from lawful.spec import Table
    from lawful.strategies.trace import (
        Op,
    )

TASK = shipped_table("task")
REVIEW = shipped_table("review")
GATE = shipped_table("gate")
FAIL = Letter("fail", (("retryable", True),))


# -- round trip ------------------------------------------------------------------------------------


@st.composite
def traces(draw: st.DrawFn, table: Table) -> tuple[Op, ...]:
    """Traces that begin with their tasks' submissions; any step may follow."""
    labels = draw(st.lists(st.from_regex(r"[a-z][\w.-]{0,5}", fullmatch=True), unique=True))
    labels = labels or ["t"]
    actors = st.from_regex(r"[\w.-]{1,12}", fullmatch=True)
    maybe = st.none() | st.integers(-(2**31), 2**31 - 1)
    limits = st.integers(-(2**31), 2**31 - 1)
    begins: list[Op] = []
    for label in labels:
        if draw(st.booleans()):
            params = tuple((name, draw(limits)) for name in table.defaults if draw(st.booleans()))
            begins.append(Submit(params, label))
        else:
            counters = tuple((name, draw(limits)) for name in table.counters)
            begins.append(Put(draw(st.sampled_from(table.states)), counters, draw(actors), label))
    tasks = st.sampled_from([*labels, ABSENT])
    letters = st.sampled_from(table.letters)
    steps: list[st.SearchStrategy[Op]] = [
        st.builds(Fire, letters, actors, maybe, maybe, tasks),
        st.builds(Read, tasks),
        st.builds(Reopen),
        st.builds(Advance, st.integers(0, 10**12).map(lambda micros: micros / 10**6)),
        st.builds(Advance, st.integers(0, 10**11).map(float)),
    ]
    if table.lease:
        steps += [st.builds(Heartbeat, actors, maybe, tasks), st.builds(Reap)]
    rest: list[Op] = draw(st.lists(st.one_of(steps), max_size=12))
    return (*begins, *rest)


@pytest.mark.parametrize("table", [TASK, REVIEW, GATE], ids=lambda table: table.name)
def test_what_is_written_is_read_back_as_it_was(table: Table) -> None:
    @settings(derandomize=True, database=None, max_examples=200, deadline=None)
    @given(traces(table))
    def holds(trace: tuple[Op, ...]) -> None:
        assert parse_trace(format_trace(trace), table) == trace

    holds()


@pytest.mark.parametrize(
    ("ops", "text"),
    [
        ((), ""),
        ((Submit(),), "SUBMIT"),
        ((Submit(), Fire(Letter("enqueue"), "client")), "enqueue@client"),
        (
            (Submit((("max_attempts", 1),)), Fire(FAIL, "worker-1", 2, 1)),
            "SUBMIT(max_attempts=1) fail(retryable=true)@worker-1[version=2,token=1]",
        ),
        (
            (Submit(task="t0"), Submit(task="t1"), Fire(Letter("cancel"), "c", task="t1")),
            "t0:SUBMIT t1:SUBMIT t1:cancel@c",
        ),
        ((Submit(), Advance(31), Reap(), Reopen()), "SUBMIT ADVANCE(31) REAP REOPEN"),
        ((Submit(), Heartbeat("w", 2), Read()), "HEARTBEAT@w[token=2] READ"),
        ((Submit(), Poison(), Second()), "POISON SECOND"),
        ((Put("running", (("attempts", 2),), "w"),), "PUT(running,attempts=2)@w"),
        ((Submit(), Fire(Letter("cancel"), "c", task=ABSENT)), "SUBMIT ?:cancel@c"),
        ((Submit(), Advance(2592001), Advance(0.25)), "SUBMIT ADVANCE(2592001) ADVANCE(0.25)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_trace_is_written_so(ops: tuple[Op, ...], text: str) -> None:
    assert format_trace(ops) == text
    assert parse_trace(text, TASK) == ops


def test_a_plain_submission_goes_without_saying() -> None:
    read = parse_trace("enqueue cancel@boss", TASK)
    assert read == (
        Submit(),
        Fire(Letter("enqueue"), "client"),
        Fire(Letter("cancel"), "boss"),
    )


def test_a_submission_that_goes_without_saying_comes_before_its_first_use() -> None:
    read = parse_trace("a:SUBMIT ADVANCE(1) cancel", TASK)
    assert read == (
        Submit(task="a"),
        Advance(1),
        Submit(),
        Fire(Letter("cancel"), "client"),
    )


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "token", "problem"),
    [
        ("jump", "jump", "no such event; there are enqueue, start, succeed, fail, cancel, "),
        ("REPA", "REPA", "SUBMIT, PUT, HEARTBEAT, READ, POISON, ADVANCE, REAP, REOPEN, SECOND"),
        ("a b:c:d", "a", "no such event"),
        ("enqueue@", "enqueue@", "expected [task:]event[(payload)][@actor][[version=N,token=N]]"),
        ("enqueue()x", "enqueue()x", "expected [task:]event"),
        ("fail", "fail", "retryable is needed: one of true, false"),
        ("fail(retryable=maybe)", "fail(retryable=maybe)", "retryable is needed: one of true,"),
        ("fail(retryable)", "fail(retryable)", "expected NAME=VALUE, got 'retryable'"),
        (
            "fail(retryable=true,retryable=false)",
            "fail(retryable=true,retryable=false)",
            "retryable stands twice",
        ),
        ("cancel(why=x)", "cancel(why=x)", "cancel has no payload field 'why'"),
        ("cancel[version=x]", "cancel[version=x]", "NAME=INTEGER with a name of version, token"),
        ("cancel[age=1]", "cancel[age=1]", "NAME=INTEGER with a name of version, token"),
        ("cancel[version=99999999999]", "cancel[version=99999999999]", "NAME=INTEGER"),
        ("SUBMIT(limit=1)", "SUBMIT(limit=1)", "NAME=INTEGER with a name of max_attempts"),
        ("SUBMIT@me", "SUBMIT@me", "SUBMIT takes no @actor"),
        ("SUBMIT[version=1]", "SUBMIT[version=1]", "NAME=INTEGER with a name of none"),
        ("SUBMIT SUBMIT", "t", "a task is submitted once, and '?' never is"),
        ("?:SUBMIT", "?", "a task is submitted once, and '?' never is"),
        ("PUT(waiting)", "PUT(waiting)", "no such state; there are submitted, queued, "),
        ("PUT(running,tries=1)", "PUT(running,tries=1)", "with a name of attempts"),
        ("t1:cancel", "t1", "this task is used before it is submitted"),
        ("ADVANCE", "ADVANCE", "expected seconds, as in ADVANCE(31)"),
        ("ADVANCE(-1)", "ADVANCE(-1)", "expected seconds"),
        ("ADVANCE(1e9)", "ADVANCE(1e9)", "expected seconds"),
        ("t:ADVANCE(1)", "t:ADVANCE(1)", "ADVANCE takes no task"),
        ("REAP(now)", "REAP(now)", "REAP takes no (...)"),
        ("REAP@me", "REAP@me", "REAP takes no @actor"),
        ("REOPEN(1)", "REOPEN(1)", "REOPEN takes no (...)"),
        ("READ@me", "READ@me", "READ takes no @actor"),
        ("HEARTBEAT(1)@w", "HEARTBEAT(1)@w", "HEARTBEAT takes no (...)"),
        ("HEARTBEAT@w[version=1]", "HEARTBEAT@w[version=1]", "with a name of token"),
    ],
    ids=lambda value: value,
)
def test_what_can_not_be_read_is_refused_with_what_is_allowed(
    text: str, token: str, problem: str
) -> None:
    with pytest.raises(TraceError) as caught:
        parse_trace(text, TASK)
    assert caught.value.token == token
    assert problem in caught.value.problem
    assert str(caught.value).startswith(f"trace: {token!r}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["HEARTBEAT@w", "REAP"])
def test_leases_are_refused_where_the_table_has_none(text: str) -> None:
    with pytest.raises(TraceError, match="gate has no leases"):
        parse_trace(text, GATE)


def test_a_longer_text_is_not_read() -> None:
    longest = "cancel ".ljust(LIMIT)
    assert len(parse_trace(longest, TASK)) == 2
    with pytest.raises(TraceError, match=f"{LIMIT + 1} characters; at most {LIMIT} are read"):
        parse_trace(longest + " ", TASK)


@settings(derandomize=True, database=None, max_examples=300, deadline=None)
@given(st.text(alphabet="abcetRSUBMIT?:@()[]=,. -1x\n\t'\"\\", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        ops = parse_trace(text, TASK)
    except TraceError:
        return
    assert parse_trace(format_trace(ops), TASK) == ops

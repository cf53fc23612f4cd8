"""The step of the oracle against outcomes written by hand: states, counters and branch words."""

from itertools import product

import pytest

from lawful.spec import (
    CellKind,
    Letter,
    Oracle,
    Outcome,
    Position,
    parse_table,
    shipped_table,
    step,
)

TASK = shipped_table("task")
REVIEW = shipped_table("review")


def fail(*, retryable: bool) -> Letter:
    return Letter("fail", (("retryable", retryable),))


# max_attempts, attempts, retryable: state, branch
FAILURES = [
    (1, 1, True, "failed", "exhausted"),
    (1, 1, False, "failed", "permanent+exhausted"),
    (2, 1, True, "retry_wait", ""),
    (2, 1, False, "failed", "permanent"),
    (2, 2, True, "failed", "exhausted"),
    (2, 2, False, "failed", "permanent+exhausted"),
    (3, 1, True, "retry_wait", ""),
    (3, 1, False, "failed", "permanent"),
    (3, 2, True, "retry_wait", ""),
    (3, 2, False, "failed", "permanent"),
    (3, 3, True, "failed", "exhausted"),
    (3, 3, False, "failed", "permanent+exhausted"),
]


@pytest.mark.parametrize(("limit", "attempts", "retryable", "state", "branch"), FAILURES)
def test_a_failure_is_retried_only_if_retryable_and_attempts_are_left(
    limit: int, attempts: int, retryable: bool, state: str, branch: str
) -> None:
    outcome = step(
        TASK, {"max_attempts": limit}, Position("running", (attempts,)), fail(retryable=retryable)
    )
    assert outcome == Outcome(CellKind.LEGAL, Position(state, (attempts,)), branch)


@pytest.mark.parametrize(
    ("attempts", "state", "branch"),
    [(0, "retry_wait", ""), (4, "failed", "exhausted"), (-1, "retry_wait", "")],
)
def test_the_guard_decides_off_the_map_too(attempts: int, state: str, branch: str) -> None:
    outcome = step(
        TASK, {"max_attempts": 3}, Position("running", (attempts,)), fail(retryable=True)
    )
    assert outcome == Outcome(CellKind.LEGAL, Position(state, (attempts,)), branch)


def test_only_start_counts_an_attempt() -> None:
    for state, letter in product(TASK.states, TASK.letters):
        outcome = step(TASK, {"max_attempts": 3}, Position(state, (1,)), letter)
        counted = (2,) if (state, letter.event) == ("queued", "start") else (1,)
        assert outcome.after.counters == counted


def test_a_no_op_and_a_refusal_stay_where_they_are() -> None:
    there = Position("cancelled", (1,))
    noop = step(TASK, {"max_attempts": 3}, there, Letter("cancel"))
    assert noop == Outcome(CellKind.NOOP, there, "")
    refused = step(TASK, {"max_attempts": 3}, there, Letter("start"))
    assert refused == Outcome(CellKind.REFUSED, there, "")


def test_a_failure_while_cancelling_is_no_guard_s_affair() -> None:
    for retryable in (True, False):
        outcome = step(
            TASK, {"max_attempts": 3}, Position("cancelling", (1,)), fail(retryable=retryable)
        )
        assert outcome == Outcome(CellKind.LEGAL, Position("cancelled", (1,)), "")


@pytest.mark.parametrize(
    ("limit", "rounds", "state", "after", "branch"),
    [
        (1, 0, "draft", 1, ""),
        (1, 1, "rejected", 1, "exhausted"),
        (2, 1, "draft", 2, ""),
        (2, 2, "rejected", 2, "exhausted"),
    ],
)
def test_a_rejection_counts_a_round_only_where_it_sends_back(
    limit: int, rounds: int, state: str, after: int, branch: str
) -> None:
    outcome = step(
        REVIEW, {"max_rounds": limit}, Position("in_review", (rounds,)), Letter("reject")
    )
    assert outcome == Outcome(CellKind.LEGAL, Position(state, (after,)), branch)


THREE_WAYS = """
format = "lawful-spec/1"
name = "triage"
initial = "new"
terminal = ["low", "high", "odd"]
events = ["sort"]
counts = { legal = 1, noop = 0, refused = 3 }
[table]
new = ["?by"]
low = ["-"]
high = ["-"]
odd = ["-"]
[event.sort]
payload = { kind = ["a", "b", "c"], sure = "bool" }
add = { sorted = 2 }
[guard.by]
when = [
  { if = [["kind", "==", "a", "other"], ["sure", "!=", false, "unsure"]], to = "low" },
  { if = [["kind", "!=", "c", "strange"], ["sorted", ">=", 4, "early"]], to = "high" },
  { to = "odd", add = { odds = 1 } },
]
"""


@pytest.mark.parametrize(
    ("kind", "sure", "count", "after", "branch"),
    [
        ("a", True, 0, Position("low", (2, 0)), ""),
        ("a", False, 4, Position("high", (6, 0)), "unsure"),
        ("b", True, 4, Position("high", (6, 0)), "other"),
        ("b", False, 3, Position("odd", (5, 1)), "other+unsure+early"),
        ("c", True, 4, Position("odd", (6, 1)), "other+strange"),
    ],
)
def test_branches_are_tried_in_order_and_failures_add_up(
    kind: str, sure: bool, count: int, after: Position, branch: str
) -> None:
    table = parse_table(THREE_WAYS, "triage.toml")
    assert table.counters == ("sorted", "odds")
    letter = Letter("sort", (("kind", kind), ("sure", sure)))
    outcome = step(table, {}, Position("new", (count, 0)), letter)
    assert outcome == Outcome(CellKind.LEGAL, after, branch)


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("==", [False, True, False]),
        ("!=", [True, False, True]),
        ("<", [True, False, False]),
        ("<=", [True, True, False]),
        (">", [False, False, True]),
        (">=", [False, True, True]),
    ],
)
def test_each_operator_compares_as_it_reads(operator: str, expected: list[bool]) -> None:
    text = THREE_WAYS.replace('"sorted", ">="', f'"sorted", "{operator}"')
    table = parse_table(text, "triage.toml")
    letter = Letter("sort", (("kind", "b"), ("sure", True)))
    states = [step(table, {}, Position("new", (n, 0)), letter).after.state for n in (3, 4, 5)]
    assert states == ["high" if holds else "odd" for holds in expected]


def test_an_oracle_remembers_and_starts_at_the_origin() -> None:
    oracle = Oracle(TASK, {"max_attempts": 3})
    assert oracle.origin == Position("submitted", (0,))
    first = oracle.step(oracle.origin, Letter("enqueue"))
    assert first == step(TASK, {"max_attempts": 3}, oracle.origin, Letter("enqueue"))
    assert oracle.step(oracle.origin, Letter("enqueue")) is first


def test_an_unknown_state_or_event_is_a_key_error() -> None:
    oracle = Oracle(TASK, {"max_attempts": 3})
    with pytest.raises(KeyError):
        oracle.step(Position("pending", (0,)), Letter("start"))
    with pytest.raises(KeyError):
        oracle.step(oracle.origin, Letter("begin"))

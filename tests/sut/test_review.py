"""The review: approved at once, sent back and reworked, stopped by its bound, and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from lawful.sut import Entry, Reading
from lawful.sut._ledger import UndeclaredField, VersionConflict
from lawful.sut.review import IllegalStep

if TYPE_CHECKING:
    from lawful.sut import Review

EVENTS: Final = ("submit", "approve", "reject", "withdraw")
# By hand; "-" is refused. A rejection with rounds left sends the document back.
CELLS: Final = {
    "draft": ("in_review", "-", "-", "withdrawn"),
    "in_review": ("-", "approved", "draft", "withdrawn"),
    "approved": ("-", "-", "-", "-"),
    "rejected": ("-", "-", "-", "-"),
    "withdrawn": ("-", "-", "-", "-"),
}


def fired(system: Review, task: str, *events: str) -> Reading:
    for event in events:
        system.fire(task, event, actor="a")
    return system.read(task)


def test_a_document_is_approved_at_once(review: Review) -> None:
    task = review.submit({})
    assert fired(review, task, "submit", "approve") == Reading(
        "approved", version=2, counters={"rounds": 0}
    )
    assert review.history(task)[1:] == [
        Entry(1, "submit", "draft", "in_review", "a", {}),
        Entry(2, "approve", "in_review", "approved", "a", {}),
    ]


def test_a_document_is_sent_back_reworked_and_approved(review: Review) -> None:
    task = review.submit({"max_rounds": 2})
    back = fired(review, task, "submit", "reject")
    assert back == Reading("draft", version=2, counters={"rounds": 1})
    done = fired(review, task, "submit", "approve")
    assert done == Reading("approved", version=4, counters={"rounds": 1})


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_bound_stops_the_loop(review: Review, limit: int) -> None:
    task = review.submit({"max_rounds": limit})
    for rounds in range(1, limit + 1):
        back = fired(review, task, "submit", "reject")
        assert (back.state, back.counters) == ("draft", {"rounds": rounds})
    last = fired(review, task, "submit", "reject")
    assert (last.state, last.counters) == ("rejected", {"rounds": limit})


@pytest.mark.parametrize(
    ("state", "event", "to"),
    [
        (state, event, to)
        for state, row in CELLS.items()
        for event, to in zip(EVENTS, row, strict=True)
    ],
)
def test_each_of_the_twenty_cells_is_as_written_by_hand(
    review: Review, state: str, event: str, to: str
) -> None:
    task = review.put(state, {"rounds": 1}, actor="a")
    stored = review.dump()
    if to == "-":
        with pytest.raises(IllegalStep) as refused:
            review.fire(task, event, actor="a")
        assert (refused.value.state, refused.value.event) == (state, event)
        assert review.dump() == stored
    else:
        assert fired(review, task, event).state == to


def test_an_illegal_move_says_what_is_allowed_or_that_there_is_nothing(review: Review) -> None:
    task = review.submit({})
    with pytest.raises(IllegalStep, match="draft refuses approve; allowed from here: submit, w"):
        review.fire(task, "approve", actor="a")
    fired(review, task, "withdraw")
    with pytest.raises(IllegalStep, match="withdrawn refuses submit; it is terminal"):
        review.fire(task, "submit", actor="a")


def test_an_undeclared_field_is_refused_and_leaves_no_mark(review: Review) -> None:
    task = review.submit({})
    stored = review.dump()
    with pytest.raises(UndeclaredField) as refused:
        review.fire(task, "submit", actor="a", payload={"comment": "x"})
    assert (refused.value.event, refused.value.field) == ("submit", "comment")
    assert review.dump() == stored


def test_a_stale_version_is_refused_before_an_illegal_move(review: Review) -> None:
    task = review.submit({})
    with pytest.raises(VersionConflict):
        review.fire(task, "approve", actor="a", expected_version=1)


def test_a_word_that_is_no_event_state_or_parameter_is_refused(review: Review) -> None:
    task = review.submit({})
    with pytest.raises(ValueError, match="unknown event 'accept'"):
        review.fire(task, "accept", actor="a")
    with pytest.raises(ValueError, match="unknown state 'open'"):
        review.put("open", {}, actor="a")
    for params in ({"max_rounds": 0}, {"rounds": 3}, {"max_round": 2}):
        with pytest.raises(ValueError, match="expected"):
            review.submit(params)
    with pytest.raises(KeyError):
        review.read(review.absent())

"""A trace loses every step that is not needed, and nothing that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.spec import Letter
from lawful.strategies.shrinking import shrink
from lawful.strategies.trace import Fire, Submit

if TYPE_CHECKING:
    from lawful.strategies.trace import Op


def fires(*events: str, task: str = "t") -> tuple[Op, ...]:
    return (Submit(task=task), *(Fire(Letter(event), "client", task=task) for event in events))


def names(ops: tuple[Op, ...]) -> list[str]:
    return [op.letter.event for op in ops if isinstance(op, Fire)]


def test_only_the_steps_that_matter_stay() -> None:
    long = fires(*"abcdefghijklmnopqrstuvwxyz")

    def shows(ops: tuple[Op, ...]) -> bool:
        return {"c", "q"} <= set(names(ops)) and names(ops)[-1] == "z"

    assert names(shrink(long, shows)) == ["c", "q", "z"]


def test_steps_that_matter_only_together_stay_together() -> None:
    long = fires(*"abcabcabcz")

    def shows(ops: tuple[Op, ...]) -> bool:
        return names(ops).count("a") == names(ops).count("b") >= 1 and names(ops)[-1] == "z"

    found = names(shrink(long, shows))
    assert found.count("a") == found.count("b") == 1


def test_a_task_that_is_not_needed_goes_with_all_its_steps() -> None:
    both = (*fires("a", "b", task="u"), *fires("a", "z"))
    assert shrink(both, lambda ops: names(ops)[-1] == "z") == fires("z")


def test_what_cannot_be_shown_again_stays_as_it_was() -> None:
    long = fires(*"abc")
    assert shrink(long, lambda ops: False) == long


def test_no_more_is_tried_than_may_be() -> None:
    tried = []

    def shows(ops: tuple[Op, ...]) -> bool:
        tried.append(ops)
        return ops == fires(*"abcdefgh")

    shrink(fires(*"abcdefgh"), shows, budget=30)
    assert len(tried) <= 8

"""Every schedule once, those with the fewest preemptions first; and one schedule, followed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from lawful.strategies.schedules import (
    Diverged,
    ScheduleError,
    explore,
    follow,
    format_schedule,
    parse_schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lawful.strategies.schedules import Chooser


def toy(**steps: int) -> Callable[[Callable[[Sequence[str], str | None], str]], str]:
    """Return a run of workers that take so many steps each, and never wait."""

    def run(choose: Callable[[Sequence[str], str | None], str]) -> str:
        left, line = dict(steps), ""
        while able := [name for name, count in left.items() if count]:
            turn = choose(able, line[-1] if line and line[-1] in able else None)
            left[turn] -= 1
            line += turn
        return line

    return run


def orders(**steps: int) -> set[str]:
    """Return every order of the steps: what is explored must be these."""
    each = "".join(name * count for name, count in steps.items())
    return {"".join(order) for order in itertools.permutations(each)}


def preempted(line: str) -> int:
    """Count how often the turn passes from a worker that has steps left."""
    pairs = enumerate(itertools.pairwise(line), 1)
    return sum(one != other and one in line[index:] for index, (one, other) in pairs)


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ({"A": 1, "B": 1}, 2),
        ({"A": 2, "B": 2}, 6),
        ({"A": 3, "B": 3}, 20),
        ({"A": 4, "B": 1}, 5),
        ({"A": 3}, 1),
        ({"A": 0, "B": 2}, 1),
        ({"A": 1, "B": 1, "C": 1}, 6),
        ({"A": 2, "B": 2, "C": 1}, 30),
        ({"A": 2, "B": 2, "C": 2}, 90),
    ],
)
def test_every_schedule_is_run_once(steps: dict[str, int], number: int) -> None:
    lines = list(itertools.islice(explore(toy(**steps)), number + 1))
    assert len(lines) == number
    assert set(lines) == orders(**steps)


def test_nobody_to_choose_from_is_one_schedule() -> None:
    assert list(explore(toy())) == [""]


def test_preemptions_are_counted_where_whoever_had_the_turn_could_go_on() -> None:
    counted = {line: preempted(line) for line in explore(toy(A=2, B=2))}
    assert counted == {"AABB": 0, "BBAA": 0, "ABBA": 1, "BAAB": 1, "ABAB": 2, "BABA": 2}


@pytest.mark.parametrize("steps", [{"A": 3, "B": 3}, {"A": 2, "B": 2, "C": 2}])
def test_the_fewest_preemptions_come_first_and_a_chooser_counts_its_own(
    steps: dict[str, int],
) -> None:
    run = toy(**steps)

    def counting(chooser: Chooser) -> tuple[str, int]:
        return run(chooser), chooser.preemptions

    found = list(explore(counting))
    assert [count for _, count in found] == [preempted(line) for line, _ in found]
    assert [count for _, count in found] == sorted(count for _, count in found)


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("steps", [{"A": 2, "B": 2}, {"A": 3, "B": 3}, {"A": 2, "B": 2, "C": 1}])
def test_at_most_so_many_preemptions_are_exactly_those(steps: dict[str, int], most: int) -> None:
    lines = list(explore(toy(**steps), most=most))
    assert len(lines) == len(set(lines))
    assert set(lines) == {line for line in orders(**steps) if preempted(line) <= most}


def test_the_first_schedule_lets_each_worker_do_all_it_has_to() -> None:
    assert next(explore(toy(A=2, B=1, C=2))) == "AABCC"


def test_it_is_told_at_which_step_others_can_go_on_than_before() -> None:
    others = iter("BC")

    def run(chooser: Chooser) -> None:
        other = next(others)
        chooser(["A"], None)
        chooser(["A", other], "A")

    with pytest.raises(Diverged) as raised:
        list(explore(run))
    assert (raised.value.step, raised.value.expected, raised.value.got) == (
        2, ("A", "B"), ("A", "C"),
    )  # fmt: skip
    assert str(raised.value).startswith("at step 2 it is A, B that should go on, and A, C can")


def test_a_turn_that_is_lost_in_a_repeated_beginning_is_another_run() -> None:
    turns = iter(("B", None))

    def run(chooser: Chooser) -> None:
        chooser(["A", "B"], next(turns))

    with pytest.raises(Diverged):
        list(explore(run))


def test_a_schedule_is_followed_step_by_step() -> None:
    for line in orders(A=2, B=2, C=1):
        assert toy(A=2, B=2, C=1)(follow(line)) == line


def test_behind_the_end_of_a_schedule_whoever_has_the_turn_goes_on() -> None:
    assert toy(A=2, B=3)(follow("B")) == "BBBAA"
    assert toy(A=3, B=2)(follow("BA")) == "BAAAB"
    assert toy(A=2, B=2)(follow("")) == "AABB"


def test_a_worker_that_cannot_go_on_is_told_with_its_step() -> None:
    with pytest.raises(Diverged, match="at step 3 it is A that should go on, and B can") as raised:
        toy(A=2, B=2)(follow("AAAB"))
    assert (raised.value.step, raised.value.expected, raised.value.got) == (3, ("A",), ("B",))


def test_a_schedule_is_written_with_a_bar_where_the_turn_passes() -> None:
    assert format_schedule("AABBA") == "A A | B B | A"
    assert format_schedule(["A", "C", "B"]) == "A | C | B"
    assert format_schedule("") == ""


def test_what_was_written_is_read_and_bars_may_be_left_out() -> None:
    for line in explore(toy(A=2, B=2, C=1)):
        assert parse_schedule(format_schedule(line), "ABC") == tuple(line)
    assert parse_schedule("A A B | | B A", "AB") == tuple("AABBA")
    assert parse_schedule("", "AB") == ()


@pytest.mark.parametrize(("line", "number"), [("A | C", 2), ("C", 1), ("A B | B C A", 4)])
def test_a_worker_that_there_is_not_is_refused_and_those_there_are_are_named(
    line: str, number: int
) -> None:
    told = f"step {number} of the schedule is 'C'; workers are A, B$"
    with pytest.raises(ScheduleError, match=told):
        parse_schedule(line, ("A", "B"))

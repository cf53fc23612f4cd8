"""The score and the verdict: how much was found, and when there is nothing to say."""

from __future__ import annotations

import pytest

from lawful.mutants import Campaign, Fate, Mutant, Place, Result, Trust, score
from lawful.mutants.errors import MutationError
from lawful.mutants.score import families
from lawful.mutants.verdict import Standing, judge, thresholds


def result(fate: Fate, number: int = 1, family: str = "transfer") -> Result:
    mutant = Mutant(f"table/{family}/{fate}/{number}", "table", family, "wrong", Place("task"))
    return Result(mutant, fate)


def campaign(*results: Result, trust: tuple[Trust, ...] = (), engine: str = "table") -> Campaign:
    return Campaign(engine, "task", results, trust)


EACH = tuple(result(fate) for fate in Fate)


def test_found_is_what_was_killed_or_never_came_to_an_end() -> None:
    found = score(EACH)
    assert (found.generated, found.detected, found.excluded) == (8, 2, 2)
    assert found.raw == 25.0  # 2 of 8
    assert found.adjusted == pytest.approx(100 * 2 / 6)  # what is equivalent or set aside is out


def test_what_was_not_reached_or_could_not_be_judged_counts_as_not_found() -> None:
    for fate in (Fate.UNREACHED, Fate.BROKEN, Fate.SURVIVED, Fate.PENDING):
        assert score([result(Fate.KILLED), result(fate)]).adjusted == 50.0


def test_of_nothing_there_is_no_score() -> None:
    assert score([]).raw is None
    assert score([result(Fate.EQUIVALENT)]).adjusted is None


def test_families_are_counted_apart() -> None:
    some = [result(Fate.KILLED), result(Fate.SURVIVED, family="guard")]
    assert {name: found.adjusted for name, found in families(some).items()} == {
        "transfer": 100.0,
        "guard": 0.0,
    }


LEAST = thresholds([])


def test_one_survivor_is_below_the_usual_threshold() -> None:
    judged = judge([campaign(result(Fate.KILLED), result(Fate.SURVIVED))], LEAST)
    assert judged.standing is Standing.BELOW
    assert judged.standing.exit_code == 1
    assert judged.reasons == ("table: 50.0 %, and 100 % is the threshold",)


def test_at_the_threshold_is_reached() -> None:
    some = campaign(result(Fate.KILLED), result(Fate.SURVIVED))
    assert judge([some], thresholds(["50"])).standing.exit_code == 0
    assert judge([some], thresholds(["table=50.1"])).standing.exit_code == 1
    assert judge([some], thresholds(["50", "mutmut=95"])).standing.exit_code == 0


def test_what_cannot_be_believed_has_no_score_however_good_it_is() -> None:
    red = Trust("baseline", False, "cell/queued/start is red")
    judged = judge([campaign(result(Fate.KILLED), trust=(red,))], LEAST)
    assert judged.standing.exit_code == 3
    assert judged.reasons == ("table: baseline: cell/queued/start is red",)


@pytest.mark.parametrize(
    "results", [(), (result(Fate.EQUIVALENT),), (result(Fate.SET_ASIDE), result(Fate.PENDING))]
)
def test_nothing_tested_is_never_success(results: tuple[Result, ...]) -> None:
    judged = judge([campaign(*results)], thresholds(["0"]))
    assert judged.standing.exit_code == 3
    assert "was tested" in judged.reasons[0]


def test_what_was_interrupted_has_no_score() -> None:
    judged = judge([campaign(result(Fate.KILLED), result(Fate.PENDING))], LEAST)
    assert judged.standing.exit_code == 3


def test_no_score_outweighs_one_below() -> None:
    below = campaign(result(Fate.SURVIVED))
    for order in ([below, campaign()], [campaign(), below]):
        judged = judge(order, LEAST)
        assert judged.standing is Standing.NOT_ESTABLISHED
        assert len(judged.reasons) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("101", "--threshold 101: a percentage from 0 to 100 is expected"),
        ("-1", "--threshold -1: a percentage from 0 to 100 is expected"),
        ("much", "--threshold much: a percentage from 0 to 100 is expected"),
        ("nan", "--threshold nan: a percentage from 0 to 100 is expected"),
        ("planets=90", "--threshold planets=90: the engines are table, planted, mutmut"),
    ],
)
def test_a_wrong_threshold_is_told(text: str, told: str) -> None:
    with pytest.raises(MutationError) as raised:
        thresholds([text])
    assert str(raised.value) == told

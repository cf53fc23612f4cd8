"""The ids of the cells: 56 for ``task``, one more for each branch, and a set for each bound."""

from __future__ import annotations

from typing import Final

import pytest

from lawful.laws.cells import Cells, cell_id, sentence
from lawful.spec import Letter, Oracle, Position, shipped_table

STATES: Final = (
    "submitted",
    "queued",
    "running",
    "retry_wait",
    "cancelling",
    "succeeded",
    "failed",
    "cancelled",
)
EVENTS: Final = ("enqueue", "start", "succeed", "fail", "cancel", "retry_due", "cancel_ack")
CORE: Final = {f"cell/{state}/{event}" for state in STATES for event in EVENTS}


def cells(limit: int) -> Cells:
    return Cells(Oracle(shipped_table("task"), {"max_attempts": limit}))


def test_the_default_bound_has_the_56_cells_and_three_branches() -> None:
    ids = set(cells(3).says)
    assert len(CORE) == 56
    assert ids - CORE == {
        "cell/running/fail?permanent",
        "cell/running/fail?exhausted",
        "cell/running/fail?permanent+exhausted",
    }
    assert ids >= CORE


def test_another_bound_has_ids_that_name_it() -> None:
    ids = set(cells(2).says)
    assert len(ids) == 59
    assert all(name.endswith("@max_attempts=2") for name in ids)


def test_what_a_bound_of_one_can_not_reach_has_no_id() -> None:
    ids = set(cells(1).says)
    # Without a second attempt nothing waits for a retry, and every failure is the last.
    assert len(ids) == 7 * 7 - 1 + 2
    assert not any("/retry_wait/" in name for name in ids)
    assert "cell/running/fail@max_attempts=1" not in ids
    assert "cell/running/fail?permanent@max_attempts=1" not in ids
    assert "cell/running/fail?exhausted@max_attempts=1" in ids
    assert "cell/running/fail?permanent+exhausted@max_attempts=1" in ids


def test_cells_stand_in_the_order_of_the_table() -> None:
    core = [name for name in cells(3).says if "?" not in name]
    assert core == [f"cell/{state}/{event}" for state in STATES for event in EVENTS]


def test_one_id_covers_every_count_of_attempts_nearest_first() -> None:
    positions = [key.position for key in cells(3).keys["cell/queued/start"]]
    assert positions == [Position("queued", (n,)) for n in (0, 1, 2)]


def test_one_id_covers_every_payload_where_no_guard_decides() -> None:
    letters = {key.letter for key in cells(3).keys["cell/cancelling/fail"]}
    assert letters == {
        Letter("fail", (("retryable", True),)),
        Letter("fail", (("retryable", False),)),
    }


@pytest.mark.parametrize(
    ("state", "attempts", "letter", "says"),
    [
        (
            "queued",
            0,
            Letter("start"),
            "'start' on a task that is 'queued' leads to 'running': one version, one history entry",
        ),
        (
            "cancelled",
            0,
            Letter("cancel"),
            "'cancel' on a task that is 'cancelled' is accepted and writes nothing",
        ),
        (
            "queued",
            0,
            Letter("succeed"),
            "'succeed' on a task that is 'queued' is refused as illegal and writes nothing",
        ),
        (
            "running",
            3,
            Letter("fail", (("retryable", False),)),
            (
                "'fail' on a task that is 'running' when permanent and exhausted leads to "
                "'failed': one version, one history entry"
            ),
        ),
    ],
)
def test_each_id_has_its_sentence(state: str, attempts: int, letter: Letter, says: str) -> None:
    oracle = Oracle(shipped_table("task"), {"max_attempts": 3})
    assert sentence(oracle, Position(state, (attempts,)), letter) == says


def test_a_table_without_parameters_has_plain_ids() -> None:
    oracle = Oracle(shipped_table("gate"), {})
    assert cell_id(oracle, Position("pending", ()), Letter("done")) == "cell/pending/done"
    assert len(Cells(oracle).says) == 25

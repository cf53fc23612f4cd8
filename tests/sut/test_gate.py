"""The gate in its two writings: the word check lets through what the table stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from lawful.sut import Entry, Gate, Reading
from lawful.sut._ledger import UndeclaredField, VersionConflict
from lawful.sut.gate import IllegalMove, UnknownStatus

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.clock import ManualClock
    from lawful.sut import GateWords

WORDS: Final = ("pending", "running", "done", "failed", "dropped")
# By hand: the seven moves there are.
MOVES: Final = {
    ("pending", "running"),
    ("pending", "dropped"),
    ("running", "done"),
    ("running", "failed"),
    ("running", "dropped"),
    ("failed", "running"),
    ("failed", "dropped"),
}
PAIRS: Final = [(before, wanted) for before in WORDS for wanted in WORDS]


@pytest.mark.parametrize(("before", "wanted"), PAIRS)
def test_the_table_lets_seven_moves_pass_and_refuses_eighteen(
    gate: Gate, before: str, wanted: str
) -> None:
    task = gate.put(before, {}, actor="a")
    stored = gate.dump()
    if (before, wanted) in MOVES:
        gate.fire(task, wanted, actor="a")
        assert gate.read(task) == Reading(wanted, version=1)
        assert gate.history(task)[1:] == [Entry(1, wanted, before, wanted, "a", {})]
    else:
        with pytest.raises(IllegalMove):
            gate.fire(task, wanted, actor="a")
        assert gate.dump() == stored


@pytest.mark.parametrize(("before", "wanted"), PAIRS)
def test_the_word_check_lets_every_known_word_pass_from_anywhere(
    gate_words: GateWords, before: str, wanted: str
) -> None:
    task = gate_words.put(before, {}, actor="a")
    gate_words.fire(task, wanted, actor="a")
    assert gate_words.read(task) == Reading(wanted, version=1)
    assert len(gate_words.history(task)) == 2


def test_a_word_that_is_no_status_is_refused_by_both(gate: Gate, gate_words: GateWords) -> None:
    for system in (gate, gate_words):
        task = system.submit({})
        with pytest.raises(UnknownStatus, match="unknown status 'finished': expected pending"):
            system.fire(task, "finished", actor="a")
        assert system.read(task) == Reading("pending", version=0)


def test_a_refusal_names_the_move_and_what_is_allowed(gate: Gate) -> None:
    task = gate.submit({})
    with pytest.raises(IllegalMove) as refused:
        gate.fire(task, "done", actor="a")
    assert (refused.value.before, refused.value.wanted) == ("pending", "done")
    assert refused.value.allowed == ("running", "dropped")
    assert (
        str(refused.value) == "pending -> done is refused; allowed from pending: running, dropped"
    )


def test_a_refusal_says_that_a_status_is_terminal(gate: Gate) -> None:
    task = gate.put("done", {}, actor="a")
    with pytest.raises(IllegalMove, match=r"^done -> running is refused; done is terminal$"):
        gate.fire(task, "running", actor="a")


def test_both_refuse_a_stale_version_before_anything_else(
    gate: Gate, gate_words: GateWords
) -> None:
    for system in (gate, gate_words):
        task = system.submit({})
        system.fire(task, "running", actor="a", expected_version=0)
        with pytest.raises(VersionConflict) as refused:
            system.fire(task, "pending", actor="a", expected_version=0)
        assert (refused.value.expected, refused.value.actual) == (0, 1)
        assert system.read(task) == Reading("running", version=1)


def test_state_version_and_history_are_written_together_or_not_at_all(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = gate.submit({})
    stored = gate.dump()

    def broken(*_: object) -> None:
        raise OSError("the history can't be written")

    monkeypatch.setattr(gate.ledger, "_log", broken)
    with pytest.raises(OSError, match="history"):
        gate.fire(task, "running", actor="a")
    assert gate.dump() == stored


def test_an_undeclared_field_an_unknown_task_and_a_taken_id_are_refused(gate: Gate) -> None:
    task = gate.submit({}, task="t1")
    stored = gate.dump()
    with pytest.raises(UndeclaredField, match="running declares no field 'why'"):
        gate.fire(task, "running", actor="a", payload={"why": "x"})
    with pytest.raises(KeyError, match="no task 't' was ever submitted"):
        gate.fire("t", "running", actor="a")
    with pytest.raises(ValueError, match="submitted before"):
        gate.submit({}, task="t1")
    with pytest.raises(ValueError, match="unknown parameter"):
        gate.submit({"max_attempts": 3})
    assert gate.dump() == stored


def test_the_gate_keeps_what_it_accepted_over_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    first = Gate()
    first.open(tmp_path, clock)
    task = first.submit({})
    first.fire(task, "running", actor="a")
    seen = (first.read(task), first.history(task), first.dump(task))
    first.close()
    second = Gate()
    second.open(tmp_path, clock)
    assert (second.read(task), second.history(task), second.dump(task)) == seen
    second.close()

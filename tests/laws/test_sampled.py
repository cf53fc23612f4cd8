"""What is found at random: beyond the words, and not what the words have found already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.laws import Profile, Status, run
from lawful.laws.stage import Search
from lawful.strategies.adapter import describe, describe_class
from miniatures.honest import Honest, StaleLease
from miniatures.trial import task_table, workplace

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.laws import Check, Run
    from lawful.sut import Clock
    from miniatures.honest import Row


class TheThirdReaperTakesTheLiving(Honest):
    """A store's third reaping takes the tasks whose lease has not expired too."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        self.counted = path / "reaped"

    def reap(self) -> list[str]:
        self.reaps = int(self.counted.read_text()) + 1 if self.counted.exists() else 1
        self.counted.write_text(str(self.reaps))
        return super().reap()

    def expired(self, row: Row) -> bool:
        return super().expired(row) or (row["owner"] is not None and self.reaps == 3)


class ARefusedHeartbeatMarksTheNextLease(Honest):
    """A refused heartbeat is remembered, in memory alone, and makes the next lease longer."""

    marked = False

    def heartbeat(self, task: str, *, actor: str, token: int | None = None) -> None:
        try:
            super().heartbeat(task, actor=actor, token=token)
        except StaleLease:
            self.marked = True
            raise

    def grant(self, row: Row, actor: str) -> None:
        super().grant(row, actor)
        row["until"] += 5 * self.marked


def ran(adapter_class: type, *, search: Search | None = None) -> Run:
    adapter = describe_class(adapter_class, adapter_class.__name__, table=task_table(2, 1))
    with workplace() as folder:
        return run(adapter, folder, search=search)


def checks(result: Run) -> dict[str, Check]:
    return {check.id: check for check in result.checks}


@pytest.fixture(scope="module")
def reference() -> Run:
    with workplace() as folder:
        return run(describe("reference"), folder)


pytestmark = pytest.mark.slow

RANDOM = ("random/programs", "random/machine", "random/bisimulation")


@pytest.mark.parametrize("name", RANDOM)
def test_nothing_is_found_on_the_reference_and_much_was_tried(reference: Run, name: str) -> None:
    check = checks(reference)[name]
    assert check.status is Status.PASS
    assert check.triggers > 20
    assert check.controls > 20


def test_how_much_was_tried_is_said(reference: Run) -> None:
    note = checks(reference)["random/programs"].note
    assert note.startswith("100 examples of ")
    assert "fire " in note


def test_the_words_reach_everything_and_what_was_drawn_is_counted_apart(reference: Run) -> None:
    assert len(reference.places) == 360  # (22 + 15 + 8) positions x 8 letters
    layers = set().union(*reference.places.values())
    assert layers == {"cells", "packed", "deep", "programs", "machine"}
    assert all({"cells", "packed", "deep"} <= set(hits) for hits in reference.places.values())
    assert reference.places["running(attempts=1) cancel"]["cells"] >= 1
    assert reference.coverage["cell/running/cancel"]["cells"] >= 3


def test_a_fault_of_the_third_reaping_is_found_by_chance_alone() -> None:
    found = checks(ran(TheThirdReaperTakesTheLiving))
    words = [name for name, check in found.items() if check.status is Status.FAIL]
    assert set(words) <= set(RANDOM)
    machine = found["random/machine"]
    assert machine.status is Status.FAIL
    # Five steps after the submission, in whatever order: none of them can be left out.
    assert sorted(machine.trace.replace("SUBMIT ", "").split()) == [
        "REAP",
        "REAP",
        "REAP",
        "enqueue@client",
        "start@worker-1",
    ]


def test_what_a_refused_heartbeat_leaves_behind_is_found_by_chance_alone() -> None:
    found = checks(ran(ARefusedHeartbeatMarksTheNextLease))
    broken = {name for name, check in found.items() if check.status is Status.FAIL}
    assert broken <= set(RANDOM)
    assert "random/bisimulation" in broken
    assert "random/programs" in broken
    assert "HEARTBEAT" in found["random/bisimulation"].trace


def test_what_the_words_have_found_is_not_found_again() -> None:
    with workplace() as folder:
        found = checks(run(describe("flags"), folder))
    assert found["random/programs"].status is Status.PASS
    assert found["random/machine"].status is Status.PASS
    assert found["random/bisimulation"].status in {Status.BLOCKED, Status.PASS}


def test_the_same_seed_finds_the_same() -> None:
    first, second = (
        checks(ran(TheThirdReaperTakesTheLiving, search=Search("dev", seed=7))) for _ in range(2)
    )
    for name in RANDOM:
        assert first[name] == second[name]


def test_the_quick_profile_leaves_chance_out() -> None:
    with workplace() as folder:
        quick = run(describe("gate"), folder, profile=Profile.QUICK)
    assert not set(RANDOM) & set(checks(quick))

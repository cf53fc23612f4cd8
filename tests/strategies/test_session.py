"""A session: each step done, seen and judged; the table follows what was observed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lawful.spec import Letter, Position
from lawful.strategies import Session, format_trace, parse_trace
from lawful.strategies.adapter import describe, describe_class
from lawful.strategies.driver import Fault
from lawful.strategies.performing import perform
from lawful.strategies.seen import Aspect, How, Hung
from lawful.strategies.watch import Watch
from lawful.sut import Reading
from miniatures import (
    WRONG,
    Honest,
    variants,
    wrong_adapters,
    wrong_cells,
    wrong_leases,
    wrong_memory,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.seen import Seen

ENQUEUE, START, SUCCEED = Letter("enqueue"), Letter("start"), Letter("succeed")
CANCEL, DUE = Letter("cancel"), Letter("retry_due")
FAIL = Letter("fail", (("retryable", True),))
NOW = 1_000_000.0


SHOWN = frozenset({"attempts", "version", "lease_owner", "lease_until", "lease_token"})


def session(folder: Path, adapter: type = Honest, watch: Watch | None = None) -> Session:
    """Open a session on an adapter that is known to fill every field of a reading."""
    described = describe_class(adapter, "mine")
    shown = replace(described, offered=described.offered | SHOWN)
    return Session(shown, folder, watch or Watch())


def wrong(seen: Seen) -> dict[Aspect, tuple[str, str]]:
    return {problem.aspect: (problem.expected, problem.got) for problem in seen.problems}


def started(opened: Session, label: str = "t", worker: str = "w") -> None:
    opened.submit({}, label)
    opened.fire(ENQUEUE, "client", task=label)
    opened.fire(START, worker, task=label)


# -- lawful steps ----------------------------------------------------------------------------------


def test_a_lawful_step_has_no_problem_and_moves_the_table(folder: Path) -> None:
    with session(folder) as opened:
        tracked = opened.submit({})
        seen = opened.fire(ENQUEUE, "client")
        assert seen.problems == ()
        assert tracked.model.position == Position("queued", (0,))
        assert tracked.view.reading == Reading("queued", 0, 1)
        assert tracked.how is How.CLEAN
        assert not tracked.lost()


def test_parameters_that_are_not_the_defaults_stand_in_the_log(folder: Path) -> None:
    with session(folder) as opened:
        opened.submit({"max_attempts": 1})
        opened.submit({"max_attempts": 3}, "other", "own-id")
        assert format_trace(opened.log) == "SUBMIT(max_attempts=1) other:SUBMIT"
        assert opened.tasks["other"].id == "own-id"


def test_an_expected_version_counts_from_the_tasks_first(folder: Path) -> None:
    with session(folder, variants.VersionsFromSeven) as opened:
        opened.submit({})
        assert opened.fire(ENQUEUE, "client", version=0).problems == ()
        stale = opened.fire(START, "w", version=0)
        assert stale.problems == ()
        assert stale.answer.reason == "stale_version"
        assert opened.fire(START, "w", version=1).problems == ()


def test_a_grants_token_is_the_one_that_was_shown_for_it(folder: Path) -> None:
    with session(folder, variants.TokensForAll) as opened:
        tracked = opened.submit({})
        for letter, actor in ((ENQUEUE, "c"), (START, "w"), (FAIL, "w"), (DUE, "c"), (START, "w")):
            opened.fire(letter, actor)
        first, second = tracked.tokens
        assert 1000 <= first < second
        assert opened.fire(SUCCEED, "w", grant=1).answer.reason == "stale_lease"
        last = opened.fire(SUCCEED, "w", grant=2)
        assert last.problems == ()
        assert tracked.view.reading.state == "succeeded"


# -- resynchronising -------------------------------------------------------------------------------


def test_the_table_follows_what_was_observed(folder: Path) -> None:
    with session(folder, wrong_cells.CancelIsImmediate) as opened:
        started(opened)
        seen = opened.fire(CANCEL, "client")
        assert wrong(seen)[Aspect.STATE] == ("cancelling", "cancelled")
        tracked = opened.tasks["t"]
        assert tracked.model.position == Position("cancelled", (1,))
        assert tracked.model.holding is None
        assert tracked.how is How.RESYNCHRONISED
        assert tracked.lost()
        after = opened.fire(START, "w")
        assert after.problems == ()
        assert after.how is How.RESYNCHRONISED


def test_attempts_off_the_map_are_followed(folder: Path) -> None:
    with session(folder, wrong_cells.RetryCountsToo) as opened:
        started(opened)
        opened.fire(FAIL, "w")
        seen = opened.fire(DUE, "client")
        assert wrong(seen)[Aspect.COUNTER] == ("attempts 1", "attempts 2")
        assert opened.fire(START, "w").problems == ()
        assert opened.tasks["t"].model.position == Position("running", (3,))


def test_a_lease_that_was_not_granted_is_followed(folder: Path) -> None:
    with session(folder, wrong_leases.StrangerTakesOver) as opened:
        started(opened)
        assert Aspect.WROTE in wrong(opened.heartbeat("stranger"))
        holding = opened.tasks["t"].model.holding
        assert holding is not None
        assert holding.owner == "stranger"


def test_an_unknown_state_ends_its_task_and_no_other(folder: Path) -> None:
    with session(folder, wrong_adapters.NamesAnUnknownState) as opened:
        started(opened)
        opened.submit({}, "other")
        opened.fire(CANCEL, "client")
        seen = opened.fire(SUCCEED, "w")
        assert wrong(seen)[Aspect.STATE][1] == "unknown state 'done'"
        assert opened.tasks["t"].ended
        assert [step.task for step in opened.reopen()] == ["other"]


def test_a_task_that_can_not_be_read_is_ended(folder: Path) -> None:
    with session(folder, wrong_adapters.ReadRaises) as opened:
        started(opened)
        seen = opened.fire(CANCEL, "client")
        assert wrong(seen)[Aspect.ERROR] == (
            "accepted -> cancelling",
            "read raised RuntimeError: unreadable",
        )
        assert seen.after is None
        assert opened.tasks["t"].ended


def test_a_new_task_in_another_state_is_a_fault(folder: Path) -> None:
    class BeginsQueued(Honest):
        def new(self, state: str, attempts: int, limit: int) -> dict[str, object]:
            return super().new("queued", attempts, limit)

    with (
        session(folder, BeginsQueued) as opened,
        pytest.raises(Fault, match=r"shows a new task as 'queued'; the table says 'submitted'"),
    ):
        opened.submit({})


# -- put -------------------------------------------------------------------------------------------


def test_a_task_is_put_where_it_is_wanted_with_its_lease(folder: Path) -> None:
    with session(folder) as opened:
        tracked = opened.put(Position("cancelling", (2,)), "w")
        assert tracked.how is How.PUT
        assert tracked.model.position == Position("cancelling", (2,))
        assert tracked.model.holding is not None
        assert tracked.model.holding.until == NOW + 30
        assert format_trace(opened.log) == "PUT(cancelling,attempts=2)@w"
        seen = opened.fire(SUCCEED, "w", grant=1)
        assert seen.problems == ()
        assert seen.how is How.PUT


def test_a_task_that_was_put_somewhere_else_is_a_fault(folder: Path) -> None:
    class PutsAside(Honest):
        def new(self, state: str, attempts: int, limit: int) -> dict[str, object]:
            return super().new("submitted", attempts, limit)

    with (
        session(folder, PutsAside) as opened,
        pytest.raises(Fault, match=r"put: the task is 'submitted'; 'failed' was asked for"),
    ):
        opened.put(Position("failed", (1,)), "w")


# -- reopening -------------------------------------------------------------------------------------


def test_a_restart_that_keeps_everything_has_no_problem(folder: Path) -> None:
    with session(folder) as opened:
        started(opened)
        opened.submit({}, "other")
        assert [(seen.task, seen.problems) for seen in opened.reopen()] == [
            ("t", ()),
            ("other", ()),
        ]
        assert opened.fire(SUCCEED, "w").problems == ()


def test_a_restart_that_forgets_is_a_problem_of_the_task_alone(folder: Path) -> None:
    with session(folder, wrong_memory.RestartForgetsTheCancel) as opened:
        started(opened)
        opened.submit({}, "other")
        opened.fire(CANCEL, "client")
        forgotten, kept = opened.reopen()
        assert wrong(forgotten)[Aspect.WROTE][1].startswith("state 'cancelling' -> 'running'")
        assert kept.problems == ()


def test_a_restart_may_recover_what_has_expired(folder: Path) -> None:
    class RecoversAtBoot(wrong_memory.BootRecoversTheLiving):
        def recovers(self, row: dict[str, object]) -> bool:
            return self.expired(row)

    with session(folder, RecoversAtBoot) as opened:
        started(opened)
        assert opened.reopen()[0].problems == ()
        opened.advance(31)
        assert opened.reopen()[0].problems == ()
        assert opened.tasks["t"].model.position == Position("retry_wait", (1,))


def test_a_second_instance_is_closed_with_the_session(folder: Path) -> None:
    closed: list[object] = []

    class Tells(Honest):
        def close(self) -> None:
            closed.append(self)
            super().close()

    with session(folder, Tells) as opened:
        opened.second()
    assert len(closed) == 2
    assert not folder.exists()


def test_every_instance_is_closed_although_one_can_not_be(folder: Path) -> None:
    closed: list[object] = []

    class Fails(Honest):
        def close(self) -> None:
            closed.append(self)
            super().close()
            if len(closed) == 1:
                raise RuntimeError("busy")

    with (
        pytest.raises(Fault, match="close: raised RuntimeError: busy"),
        session(folder, Fails) as opened,
    ):
        opened.second()
    assert len(closed) == 2
    assert not folder.exists()


# -- the reaper ------------------------------------------------------------------------------------


def test_the_reaper_takes_the_expired_and_no_other(folder: Path) -> None:
    with session(folder) as opened:
        for label in ("old", "older"):
            started(opened, label)
        opened.advance(20)
        started(opened, "young")
        opened.submit({}, "new")
        opened.advance(11)
        seen = opened.reap()
        assert [(step.task, step.answer.kind, step.problems) for step in seen] == [
            ("old", "legal", ()),
            ("older", "legal", ()),
            ("young", "no-op", ()),
            ("new", "no-op", ()),
        ]
        states = [tracked.model.position.state for tracked in opened.tasks.values()]
        assert states == ["retry_wait", "retry_wait", "running", "submitted"]


def test_a_task_that_is_left_out_is_found(folder: Path) -> None:
    with session(folder, wrong_leases.ReapsOne) as opened:
        started(opened, "one")
        started(opened, "other")
        opened.advance(31)
        reaped, left = opened.reap()
        assert reaped.problems == ()
        assert wrong(left)[Aspect.STATE] == ("retry_wait", "running")
        assert wrong(left)[Aspect.CLAIM] == (
            "the reaper names the task",
            "the reaper does not name it",
        )


def test_a_poisoned_task_stays_as_it_was(folder: Path) -> None:
    with session(folder) as opened:
        started(opened, "sick")
        started(opened, "sound")
        opened.poison("sick")
        opened.advance(31)
        sick, sound = opened.reap()
        assert (sick.answer.kind, sick.problems) == ("no-op", ())
        assert (sound.answer.kind, sound.problems) == ("legal", ())


def test_a_reaper_that_raises_is_an_error_of_every_task(folder: Path) -> None:
    with session(folder, wrong_leases.RaisesAtPoison) as opened:
        started(opened, "sick")
        started(opened, "sound")
        opened.poison("sick")
        opened.advance(31)
        assert all(
            "reap raised Poisoned: job/0" in wrong(seen)[Aspect.ERROR][1] for seen in opened.reap()
        )


def test_leases_are_not_asked_for_where_the_table_has_none(folder: Path) -> None:
    with Session(describe("gate"), folder, Watch()) as opened:
        opened.submit({})
        with pytest.raises(ValueError, match="gate has no leases"):
            opened.reap()
        with pytest.raises(ValueError, match="gate has no leases"):
            opened.heartbeat("w")


# -- unknown tasks, neighbours, hanging ------------------------------------------------------------


def test_an_unknown_task_is_refused_as_such(folder: Path) -> None:
    with session(folder) as opened:
        assert opened.fire_absent(CANCEL, "client").problems == ()
        assert opened.heartbeat_absent("w").problems == ()
        assert opened.read_absent().problems == ()
        assert format_trace(opened.log) == "?:cancel@client ?:HEARTBEAT@w ?:READ"


def test_a_default_reading_of_an_unknown_task_is_found(folder: Path) -> None:
    with session(folder, wrong_memory.UnknownReadsAsNew) as opened:
        assert wrong(opened.read_absent())[Aspect.CLAIM] == ("refused (unknown_task)", "accepted")


def test_what_a_step_does_to_another_task_is_found(folder: Path) -> None:
    with session(folder, wrong_memory.CancelMarksANeighbour) as opened:
        one, other = opened.submit({}, "one"), opened.submit({}, "other")
        opened.remember(one)
        seen = opened.fire(CANCEL, "client", task="other")
        opened.neighbours(seen)
        assert wrong(seen)[Aspect.NEIGHBOUR] == ("task one stays as it was", "the dump changed")
        assert opened.untouched(other) == ()


def test_a_call_that_hangs_ends_the_session_with_the_steps_of_its_task(folder: Path) -> None:
    watch = Watch(0.05)
    with watch.running(), session(folder, wrong_adapters.HangsInACancel, watch) as opened:
        opened.submit({}, "other")
        opened.submit({}, "task")
        opened.fire(ENQUEUE, "client", task="task")
        with pytest.raises(Hung) as caught:
            opened.fire(CANCEL, "client", task="task")
    assert str(caught.value) == "fire did not return within 0.05 s"
    assert format_trace(caught.value.log) == "enqueue@client cancel@client"


# -- replay ----------------------------------------------------------------------------------------


def replayed(folder: Path, text: str, adapter: type = Honest) -> list[Seen]:
    with session(folder, adapter) as opened:
        return [seen for op in parse_trace(text, opened.table) for seen in perform(opened, op)]


def test_every_kind_of_step_can_be_replayed(folder: Path) -> None:
    text = (
        "SUBMIT(max_attempts=2) enqueue start@w HEARTBEAT@w[token=1] READ ADVANCE(31) REAP "
        "REOPEN retry_due start@w fail(retryable=true)@w[version=4,token=2] ?:cancel ?:READ "
        "?:HEARTBEAT@w p:PUT(running,attempts=1)@v p:succeed@v"
    )
    assert [seen.problems for seen in replayed(folder, text)] == [()] * 13


def test_a_token_that_was_never_granted_is_not_shown(folder: Path) -> None:
    *_, last = replayed(folder, "enqueue start@w succeed@w[token=9]")
    assert last.problems == ()
    assert last.after is not None
    assert last.after.reading.state == "succeeded"


def test_steps_on_a_task_that_has_ended_are_passed_over(folder: Path) -> None:
    text = "enqueue start@w cancel succeed@w cancel READ"
    assert len(replayed(folder, text, wrong_adapters.NamesAnUnknownState)) == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lease-by-name", "enqueue start@w ADVANCE(31) REAP retry_due start@w succeed@w[token=1]"),
        ("restart-forgets-the-cancel", "enqueue start@w cancel REOPEN"),
        ("strands-every-task", "enqueue start@w ADVANCE(31) REAP"),
        ("stranger-beats", "enqueue start@w HEARTBEAT@v"),
        ("unknown-can-be-cancelled", "?:cancel"),
    ],
)
def test_a_fault_shows_when_its_trace_is_replayed(name: str, text: str, folder: Path) -> None:
    adapter = next(mini.adapter for mini in WRONG if mini.id == name)
    *before, last = replayed(folder, text, adapter)
    assert not any(seen.problems for seen in before)
    assert last.problems

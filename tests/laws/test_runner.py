"""Whole runs: what the shipped systems come to, and what a run does when it can't go on."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from lawful.laws import Profile, Status, judgement, run
from lawful.laws.catalogue import laws_of
from lawful.strategies import describe
from lawful.strategies.adapter import describe_class
from miniatures import checks, failed, judged, shipped, workplace, wrong_adapters

if TYPE_CHECKING:
    from lawful.laws import Check

# -- the shipped systems ---------------------------------------------------------------------------


def test_the_reference_passes_every_check_and_leaves_nothing_undeclared() -> None:
    found = shipped("reference")
    assert {check.status for check in found.checks} == {Status.PASS}
    assert found.undeclared == {}
    assert judgement(found).verdict.exit_code == 0


def test_every_law_was_triggered_on_the_reference_and_had_its_control() -> None:
    every = checks(shipped("reference"))
    for law in laws_of(shipped("reference").adapter.table, quick=True):
        assert every[law.id].triggers > 0, law.id
        assert every[law.id].controls > 0 or not law.controlled, law.id


def test_every_cell_of_the_reference_was_hit_by_both_suites() -> None:
    found = shipped("reference")
    cells = [check.id for check in found.checks if check.id.startswith("cell/")]
    assert len(cells) == 59 + 59 + 50  # by hand: max_attempts 3, 2 and 1
    assert set(found.coverage) == set(cells)
    for hits in found.coverage.values():
        assert hits["cells"] > 0
        assert hits["packed"] > 0


def test_the_suites_fire_as_many_steps_as_the_table_asks_for() -> None:
    found = shipped("reference")
    by_default = [hits for name, hits in found.coverage.items() if "@" not in name]
    assert sum(hits["cells"] for hits in by_default) == 960
    assert sum(hits["packed"] for hits in by_default) == 2200


def test_the_naive_flags_are_unlawful_in_46_cells() -> None:
    found = judgement(shipped("flags"))
    assert found.verdict.exit_code == 1
    assert found.headline.startswith("unlawful, 46 of 56 cells broken")


@pytest.mark.parametrize("name", ["gate", "review"])
def test_a_lawful_system_is_found_lawful(name: str) -> None:
    found = shipped(name)
    assert {check.status for check in found.checks} == {Status.PASS}
    assert judgement(found).headline == "lawful"


def test_the_gate_that_checks_words_lets_pending_jump_to_done() -> None:
    found = shipped("gate-words")
    jump = checks(found)["cell/pending/done"]
    assert judgement(found).verdict.exit_code == 1
    assert jump.status is Status.FAIL
    assert jump.trace == "done@client"
    assert "state 'pending' -> 'done'" in jump.got


@pytest.mark.skipif(not importlib.util.find_spec("litequeue"), reason="an extra")
def test_litequeue_runs_what_is_done_again_and_finishes_what_never_was() -> None:
    found = checks(shipped("litequeue"))
    again = found["cell/done/retry"]
    assert again.status is Status.FAIL
    assert again.trace == "pop@client done@client retry@client"
    assert "state 'done' -> 'ready'" in again.got
    ghost = found["identity/unknown"]
    assert ghost.status is Status.FAIL
    assert ghost.trace == "?:done@client"
    assert (ghost.expected, ghost.got) == ("refused (unknown_task)", "accepted")


def test_laws_about_what_a_table_lacks_are_not_among_its_checks() -> None:
    families = {check.id.split("/")[0] for check in shipped("gate").checks}
    assert families == {
        "absorption",
        "cell",
        "contract",
        "counter",
        "durability",
        "identity",
        "order",
        "replay",
        "silence",
    }


# -- profiles and progress -------------------------------------------------------------------------


def test_the_default_profile_walks_the_deep_suite_too() -> None:
    with workplace() as folder:
        found = run(describe("gate"), folder)
    assert all(hits["deep"] > 0 for hits in found.coverage.values())
    assert all("deep" not in hits for hits in shipped("gate").coverage.values())


def test_each_check_is_told_once_in_the_order_of_the_report() -> None:
    told: list[Check] = []
    steps: list[tuple[int, int, str]] = []
    with workplace() as folder:
        found = run(
            describe("gate"),
            folder,
            profile=Profile.QUICK,
            checked=told.append,
            progress=lambda done, of, what: steps.append((done, of, what)),
        )
    assert told == found.checks
    assert [check.id for check in told[:25]] == list(found.coverage)
    done, of, what = steps[-1]
    assert (done, what) == (of, "done")
    assert [step[0] for step in steps] == list(range(of + 1))


def test_a_run_leaves_no_store_behind() -> None:
    with workplace() as folder:
        run(describe("gate"), folder, profile=Profile.QUICK)
        assert list(folder.iterdir()) == []


def test_two_runs_agree_in_every_check() -> None:
    adapter = describe("gate-words")
    with workplace() as one, workplace() as two:
        first = run(adapter, one, profile=Profile.QUICK)
        second = run(adapter, two, profile=Profile.QUICK)
    assert first.checks == second.checks


# -- what can't go on ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "adapter", [wrong_adapters.ExitsInOneCell, wrong_adapters.CancelsInOneCell]
)
def test_what_would_end_a_process_is_an_error_of_its_cell(adapter: type) -> None:
    found = judged(adapter, 1)
    assert failed(found) == {"cell/cancelling/succeed"}
    assert checks(found)["cell/cancelling/succeed"].status is Status.ERROR


def test_a_refusal_in_a_new_word_is_an_error_that_names_the_words_there_are() -> None:
    found = checks(judged(wrong_adapters.RefusesWithANewWord, 1))["cell/cancelling/succeed"]
    assert found.status is Status.ERROR
    assert found.got == (
        "fire gave Refused('forbidden'); allowed are illegal, already, stale_version, "
        "stale_lease, unknown_task"
    )


def test_an_unknown_state_ends_its_task_as_a_finding() -> None:
    found = judged(wrong_adapters.NamesAnUnknownState, 1)
    wrong = checks(found)["cell/cancelling/succeed"]
    assert failed(found) == {"cell/cancelling/succeed"}
    assert wrong.status is Status.FAIL
    assert wrong.got == "unknown state 'done'"
    assert wrong.expected == (
        "one of submitted, queued, running, retry_wait, cancelling, succeeded, failed, cancelled"
    )


def test_names_that_change_between_calls_are_findings() -> None:
    found = judged(wrong_adapters.ChangesItsNames, 1)
    assert judgement(found).verdict.exit_code == 1
    assert any(check.got.startswith("unknown state") for check in found.checks)


def test_a_put_that_raises_stops_no_law_that_can_do_without_it() -> None:
    found = judged(wrong_adapters.PutIsMissing, 1)
    every = checks(found)
    assert every["cell/queued/start"].status is Status.FAIL
    assert every["cell/running/cancel"].status is Status.BLOCKED
    assert every["contract/calls"].status is Status.ERROR
    assert every["contract/calls"].got == "put: raised NotImplementedError: not yet"
    assert every["identity/unknown"].status is Status.PASS
    assert every["durability/second-connection"].status is Status.PASS


def test_a_dump_that_raises_is_an_error_of_the_steps_that_need_it() -> None:
    found = judged(wrong_adapters.DumpRaises, 1)
    every = checks(found)
    assert every["cell/cancelled/start"].status is Status.ERROR
    assert every["cell/cancelled/start"].got == "dump raised RuntimeError: gone"
    assert every["cell/succeeded/start"].status is Status.PASS
    assert every["silence/bisimulation"].status is Status.PASS


def test_a_read_that_raises_is_an_error_of_the_step_that_led_there() -> None:
    every = checks(judged(wrong_adapters.ReadRaises, 1))
    assert every["cell/running/cancel"].status is Status.ERROR
    assert every["cell/running/cancel"].got == "read raised RuntimeError: unreadable"
    assert every["cell/cancelling/succeed"].status is Status.BLOCKED
    assert every["cell/cancelling/succeed"].cause == "cell/running/cancel"
    assert every["cell/running/succeed"].status is Status.PASS


def test_a_submission_that_fails_at_times_loses_no_cell() -> None:
    every = checks(judged(wrong_adapters.SubmitRaisesAtTimes, 1))
    assert every["contract/calls"].status is Status.ERROR
    assert every["contract/calls"].got == "submit: raised OSError: no space left"
    assert every["cell/running/cancel"].status is Status.PASS


def test_a_reaper_that_counts_instead_of_naming_is_an_error() -> None:
    reaper = checks(judged(wrong_adapters.ReapsInNumbers, 1))["lease/reaper"]
    assert reaper.status is Status.ERROR
    assert reaper.got == "reap gave 2; a list of task ids is expected"


@pytest.mark.parametrize(
    "adapter", [wrong_adapters.HangsInACancel, wrong_adapters.HangsInACoroutine]
)
def test_a_call_that_hangs_is_named_and_ends_the_run(adapter: type) -> None:
    found = judged(adapter, 1, limit=0.1)
    errors = [check for check in found.checks if check.status is Status.ERROR]
    assert [check.got for check in errors] == ["fire did not return within 0.1 s"]
    assert errors[0].id.endswith("/cancel")
    assert errors[0].trace.endswith("cancel@client")
    assert checks(found)["lease/reaper"].status is Status.NOT_RUN
    assert judgement(found).verdict.exit_code == 1


def test_a_reaper_that_hangs_ends_the_run_where_it_is() -> None:
    found = judged(wrong_adapters.HangsInTheReaper, 1, limit=0.1)
    errors = [check for check in found.checks if check.status is Status.ERROR]
    assert [check.got for check in errors] == ["reap did not return within 0.1 s"]
    assert checks(found)["cell/running/cancel"].status is Status.PASS
    assert judgement(found).verdict.exit_code == 1


def test_a_table_in_a_file_can_take_the_place_of_the_adapters_own() -> None:
    from miniatures import Honest, task_table

    adapter = describe_class(Honest, "honest", table=task_table(2, strict=True))
    assert adapter.table.lease is not None
    assert adapter.table.lease.expiry == "strict"


def test_a_run_of_some_laws_walks_the_cells_and_runs_no_other_law() -> None:
    with workplace() as folder:
        only = {"silence/refusal", "lease/zombie"}
        found = run(describe("review"), folder, profile=Profile.QUICK, only=only)
    laws = [check.id for check in found.checks if not check.id.startswith("cell/")]
    assert laws == ["contract/calls", "silence/refusal"]  # a review has no leases

"""The honest miniatures pass every law; each wrong one is caught by the law made for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lawful.laws import Status, Verdict, judgement
from lawful.laws.catalogue import laws_of
from miniatures import (
    WRONG,
    Honest,
    checks,
    failed,
    judged,
    task_table,
    variants,
    wrong_leases,
    wrong_memory,
)

if TYPE_CHECKING:
    from lawful.laws import Run
    from miniatures import Wrong


def statuses(found: Run) -> Counter[Status]:
    return Counter(check.status for check in found.checks)


# -- no false alarm --------------------------------------------------------------------------------


def test_the_honest_miniature_passes_every_check_and_declares_everything() -> None:
    found = judged(Honest)
    assert failed(found) == set()
    assert set(statuses(found)) == {Status.PASS}
    assert found.undeclared == {}
    assert judgement(found).headline == "lawful"
    assert judgement(found).verdict.exit_code == 0


def test_a_task_that_was_retried_with_its_history_observed_is_lawful() -> None:
    every = checks(judged(Honest))
    retried = every["cell/retry_wait/retry_due"]
    assert retried.status is Status.PASS
    assert retried.triggers > 0
    assert every["replay/chain"].status is Status.PASS
    assert every["silence/bisimulation"].status is Status.PASS


@pytest.mark.parametrize(
    "adapter",
    [
        variants.Asynchronous,
        variants.Quiet,
        variants.Already,
        variants.OneMethodPerEvent,
        variants.OwnNames,
        variants.TokensForAll,
        variants.VersionsFromSeven,
        variants.IndistinctWithHistory,
    ],
    ids=lambda adapter: adapter.__name__,
)
def test_what_the_contract_leaves_open_may_be_done_either_way(adapter: type) -> None:
    found = judged(adapter, 2)
    assert statuses(found) == {Status.PASS: len(found.checks)}
    assert judgement(found).verdict is Verdict.LAWFUL


def test_a_system_written_in_c_is_seen_to_be_reached() -> None:
    found = judged(variants.OnSqlite, 2)
    assert "sqlite3.Connection.execute" in found.smoke.reached
    assert judgement(found).verdict is Verdict.LAWFUL


# -- every fault by its law ------------------------------------------------------------------------


@pytest.mark.parametrize("mini", WRONG, ids=lambda mini: mini.id)
def test_each_wrong_miniature_is_caught_by_the_law_that_must_catch_it(mini: Wrong) -> None:
    found = failed(judged(mini.adapter, *mini.limits))
    assert set(mini.caught_by) <= found
    if mini.alone:
        assert found == set(mini.caught_by)


def test_each_wrong_miniature_has_an_id_of_its_own_and_one_sentence() -> None:
    assert len({mini.id for mini in WRONG}) == len(WRONG)
    for mini in WRONG:
        assert "\n" not in mini.fault
        assert mini.fault.endswith(".")


def test_every_law_has_a_fault_that_it_must_catch() -> None:
    needed = {check for mini in WRONG for check in mini.caught_by}
    # The laws that search at random have theirs in test_sampled.
    laws = {law.id for law in laws_of(task_table(), quick=True)}
    assert laws - needed == set()


# -- verdicts that are neither ---------------------------------------------------------------------


def test_a_queue_in_a_dict_that_claims_a_package_is_incomplete() -> None:
    found = judged(variants.InPlaceOfAPackage, 2)
    verdict = judgement(found)
    assert statuses(found) == {Status.PASS: len(found.checks)}
    assert verdict.verdict.exit_code == 3
    assert verdict.reasons == (
        "no code of 'sched' was reached: the adapter does not drive the system that it names",
    )


def test_declared_gaps_are_lawful_and_shown_with_their_reasons() -> None:
    found = judged(variants.Bare, 2)
    every = checks(found)
    assert judgement(found).headline == "lawful"
    assert judgement(found).verdict.exit_code == 0
    assert every["lease/reaper"].status is Status.UNSUPPORTED
    assert every["lease/reaper"].cause == "reap: no reaper"
    assert every["replay/fold"].status is Status.NOT_YET
    assert every["replay/fold"].cause == "history: planned (https://example.org/1)"
    assert every["lease/expiry"].status is Status.PASS  # it needs no reaper


def test_undeclared_gaps_are_incomplete_and_named() -> None:
    found = judged(variants.Undeclared, 2)
    verdict = judgement(found)
    assert verdict.verdict.exit_code == 3
    assert sorted(found.undeclared) == [
        "absent",
        "dump",
        "heartbeat",
        "history",
        "poison",
        "reap",
    ]
    assert (
        "'dump' is neither offered nor declared in `gaps` (silence/store ask for it)"
        in verdict.reasons
    )


def test_states_that_show_as_one_leave_only_the_cell_between_them_unjudged() -> None:
    found = judged(variants.Indistinct, 2)
    assert judgement(found).headline == "lawful, 1 cell not observable"
    assert judgement(found).verdict.exit_code == 0
    core = [check for check in found.checks if check.id.startswith("cell/")]
    hidden = [check.id for check in core if check.status is not Status.PASS]
    assert hidden == ["cell/retry_wait/retry_due"]


def test_one_exception_for_two_refusals_passes_where_the_difference_does_not_matter() -> None:
    found = judged(variants.Merged, 2)
    every = checks(found)
    unjudged = {check.id for check in found.checks if check.status is not Status.PASS}
    assert unjudged == {"order/illegal-before-lease", "lease/zombie"}
    assert every["order/illegal-before-lease"].status is Status.UNSUPPORTED
    assert judgement(found).verdict is Verdict.LAWFUL


def test_an_exception_that_can_not_mean_a_stale_version_is_wrong_for_one() -> None:
    assert failed(judged(variants.MergedOutOfOrder, 2)) == {"order/version-first"}


def test_already_is_refused_where_the_last_entry_is_another_report() -> None:
    found = failed(judged(variants.AlreadyForAnything, 2))
    assert "cell/succeeded/fail" in found
    assert "cell/succeeded/succeed" not in found


def test_a_lease_without_a_token_is_judged_by_what_it_shows() -> None:
    class TooLong(wrong_leases.LeaseIsTooLong, variants.WithoutTokens):
        """A lease without a token lasts twice as long as the table says."""

    honest = judged(variants.WithoutTokens, 2)
    assert judgement(honest).verdict is Verdict.LAWFUL
    assert checks(honest)["lease/held"].status is Status.PASS
    assert checks(honest)["lease/held"].note == "lease_token is not shown, and not judged"
    assert "lease/held" in failed(judged(TooLong, 1))


def test_a_boot_that_takes_live_work_is_found_where_leases_are_never_renewed() -> None:
    class Boot(wrong_memory.BootRecoversTheLiving, variants.WithoutHeartbeat):
        """Opening the store fails every running task, in a system without heartbeats."""

    assert "durability/boot" in failed(judged(Boot, 1))


def test_a_limit_that_is_hard_coded_survives_where_one_value_is_checked() -> None:
    hard_coded = next(mini.adapter for mini in WRONG if mini.id == "hard-coded-limit")
    assert failed(judged(hard_coded, 2)) == set()


# -- strict and lazy -------------------------------------------------------------------------------


def test_a_strict_store_keeps_a_strict_table() -> None:
    assert failed(judged(variants.Strict, table=task_table(2, strict=True))) == set()


def test_a_strict_store_breaks_a_lazy_table() -> None:
    assert failed(judged(variants.Strict, 2)) == {"lease/expiry", "lease/heartbeat-expired"}


def test_a_lazy_store_breaks_a_strict_table() -> None:
    found = failed(judged(Honest, table=task_table(2, strict=True)))
    assert found == {"lease/expiry", "lease/heartbeat-expired"}

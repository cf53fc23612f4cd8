"""What the table says of a whole task: the order of the checks, the lease, and the reaper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lawful.spec import CellKind, Letter, Oracle, Position, shipped_table
from lawful.spec.model import Answer, Call, Holding, Model, Reason, fire, heartbeat, reap, submitted
from lawful.spec.table import Expiry

if TYPE_CHECKING:
    from lawful.spec.table import Lease

NOW = 100.0
FAIL = Letter("fail", (("retryable", True),))
RUNNING = Model(Position("running", (1,)), 2, 1, Holding("w1", 1, NOW + 30))
CANCELLING = Model(Position("cancelling", (1,)), 3, 1, Holding("w1", 1, NOW + 30))
CANCELLED = Model(Position("cancelled", (1,)), 4, 1)


@pytest.fixture
def oracle() -> Oracle:
    return Oracle(shipped_table("task"), {"max_attempts": 3})


@pytest.fixture
def lease(oracle: Oracle) -> Lease:
    assert oracle.table.lease is not None
    return oracle.table.lease


def asked(oracle: Oracle, task: Model, call: Call, now: float = NOW) -> Answer:
    return fire(oracle, task, call, now)


def test_a_submitted_task_has_made_no_transition_and_holds_nothing(oracle: Oracle) -> None:
    assert submitted(oracle) == Model(Position("submitted", (0,)), 0, 0, None)


def test_a_start_grants_the_lease_to_its_actor_for_thirty_seconds(oracle: Oracle) -> None:
    queued = Model(Position("queued", (0,)), 1)
    answer = asked(oracle, queued, Call(Letter("start"), "w1"))
    assert answer == Answer(CellKind.LEGAL, None, RUNNING)


def test_a_second_start_has_a_token_of_its_own(oracle: Oracle) -> None:
    queued = Model(Position("queued", (1,)), 4, 1)
    after = asked(oracle, queued, Call(Letter("start"), "w1")).after
    assert (after.grants, after.holding) == (2, Holding("w1", 2, NOW + 30))


def test_a_cancel_keeps_the_workers_lease_and_an_end_releases_it(oracle: Oracle) -> None:
    cancelling = asked(oracle, RUNNING, Call(Letter("cancel"), "client")).after
    assert cancelling == CANCELLING
    assert asked(oracle, cancelling, Call(Letter("cancel_ack"), "w1")).after == CANCELLED


@pytest.mark.parametrize(
    ("task", "event", "actor"),
    [
        (RUNNING, "cancel", "client"),  # legal otherwise
        (CANCELLED, "cancel", "client"),  # a no-op otherwise
        (RUNNING, "enqueue", "client"),  # illegal otherwise
        (RUNNING, "succeed", "w2"),  # a stale lease otherwise
    ],
)
def test_a_stale_version_comes_before_everything_else(
    oracle: Oracle, task: Model, event: str, actor: str
) -> None:
    for version in (task.version - 1, task.version + 1):
        answer = asked(oracle, task, Call(Letter(event), actor, version))
        assert answer == Answer(CellKind.REFUSED, Reason.STALE_VERSION, task)


def test_the_right_version_lets_a_call_through(oracle: Oracle) -> None:
    assert asked(oracle, RUNNING, Call(Letter("succeed"), "w1", 2)).kind is CellKind.LEGAL


def test_a_strangers_illegal_report_is_illegal_and_its_legal_one_a_stale_lease(
    oracle: Oracle,
) -> None:
    waiting = Model(Position("retry_wait", (1,)), 3, 1)
    assert asked(oracle, waiting, Call(Letter("succeed"), "w2")).reason is Reason.ILLEGAL
    assert asked(oracle, RUNNING, Call(Letter("succeed"), "w2")).reason is Reason.STALE_LEASE


def test_the_token_of_an_older_start_is_refused_by_the_same_worker_too(oracle: Oracle) -> None:
    again = Model(Position("running", (2,)), 5, 2, Holding("w1", 2, NOW + 30))
    assert asked(oracle, again, Call(FAIL, "w1", None, 1)).reason is Reason.STALE_LEASE
    assert asked(oracle, again, Call(FAIL, "w1", None, 2)).kind is CellKind.LEGAL


def test_nobody_holds_a_task_whose_lease_was_lost(oracle: Oracle) -> None:
    nobodys = replace(RUNNING, holding=None)
    assert asked(oracle, nobodys, Call(FAIL, "w1")).reason is Reason.STALE_LEASE


def test_a_no_op_returns_the_very_same_task(oracle: Oracle) -> None:
    answer = asked(oracle, CANCELLING, Call(Letter("cancel"), "client"))
    assert answer.kind is CellKind.NOOP
    assert answer.after is CANCELLING


def test_a_guards_branch_is_told(oracle: Oracle) -> None:
    last = Model(Position("running", (3,)), 8, 3, Holding("w3", 3, NOW + 30))
    assert asked(oracle, last, Call(FAIL, "w3")).branch == "exhausted"


def test_an_expired_holder_still_reports_where_expiry_is_lazy_and_not_where_it_is_strict(
    oracle: Oracle, lease: Lease
) -> None:
    late = NOW + 31
    assert asked(oracle, RUNNING, Call(FAIL, "w1"), late).kind is CellKind.LEGAL
    strict = replace(oracle.table, lease=replace(lease, expiry=Expiry.STRICT))
    answer = asked(Oracle(strict, oracle.params), RUNNING, Call(FAIL, "w1"), late)
    assert answer.reason is Reason.STALE_LEASE
    at_once = asked(Oracle(strict, oracle.params), RUNNING, Call(FAIL, "w1"), NOW + 29)
    assert at_once.kind is CellKind.LEGAL


def test_the_holders_heartbeat_renews_the_lease_and_nothing_else(lease: Lease) -> None:
    answer = heartbeat(lease, RUNNING, Call(Letter("heartbeat"), "w1"), NOW + 20)
    assert answer.kind is CellKind.LEGAL
    assert answer.after == replace(RUNNING, holding=Holding("w1", 1, NOW + 50))


@pytest.mark.parametrize("task", [RUNNING, CANCELLED])
def test_anybody_elses_heartbeat_is_a_stale_lease(lease: Lease, task: Model) -> None:
    answer = heartbeat(lease, task, Call(Letter("heartbeat"), "w2"), NOW)
    assert answer == Answer(CellKind.REFUSED, Reason.STALE_LEASE, task)


def test_the_reaper_fails_an_expired_task_retryably(oracle: Oracle, lease: Lease) -> None:
    assert reap(oracle, lease, RUNNING, NOW + 31) == Answer(
        CellKind.LEGAL, None, Model(Position("retry_wait", (1,)), 3, 1)
    )
    assert reap(oracle, lease, CANCELLING, NOW + 31).after.position.state == "cancelled"


@pytest.mark.parametrize("now", [NOW, NOW + 30])
def test_the_reaper_leaves_a_live_lease_alone(oracle: Oracle, lease: Lease, now: float) -> None:
    answer = reap(oracle, lease, RUNNING, now)
    assert answer.kind is CellKind.NOOP
    assert answer.after is RUNNING


def test_the_reaper_leaves_alone_what_nobody_holds(oracle: Oracle, lease: Lease) -> None:
    assert reap(oracle, lease, CANCELLED, NOW + 99).kind is CellKind.NOOP


def test_a_table_without_leases_lets_anybody_report() -> None:
    gate = Oracle(shipped_table("gate"), {})
    answer = fire(gate, submitted(gate), Call(Letter("running"), "anybody"), NOW)
    assert answer == Answer(CellKind.LEGAL, None, Model(Position("running", ()), 1))

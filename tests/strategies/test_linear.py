"""What several workers do at once is compared with every order of their calls, by the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lawful.spec import Letter, Oracle, Position, shipped_table
from lawful.spec.model import Holding, Model, Reason
from lawful.spec.table import CellKind
from lawful.strategies.adapter import describe_class
from lawful.strategies.calls import Came
from lawful.strategies.driver import Claim, ClaimKind, Fault
from lawful.strategies.linear import Written, explained, gave_up, orders, outcome
from lawful.strategies.seen import View
from lawful.strategies.trace import Fire, Heartbeat, Reap
from lawful.strategies.tracked import Tracked
from lawful.sut.contract import Entry, Reading, Refusal
from miniatures import Honest
from miniatures.trial import task_table

if TYPE_CHECKING:
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.linear import Order

TABLE = shipped_table("task")
ORACLE = Oracle(TABLE, TABLE.defaults)
NOW = 100.0

SUBMITTED = Model(Position("submitted", (0,)))
QUEUED = Model(Position("queued", (0,)), 1)
RUNNING = Model(Position("running", (1,)), 2, 1, Holding("worker-1", 1, NOW + 30))
EXPIRED = Model(Position("running", (1,)), 2, 1, Holding("worker-1", 1, NOW - 1))

ENQUEUE = Fire(Letter("enqueue"), "client")
CANCEL = Fire(Letter("cancel"), "client")
SUCCEED = Fire(Letter("succeed"), "worker-1")


def start(number: int, version: int | None = None) -> Fire:
    return Fire(Letter("start"), f"worker-{number}", version)


def answers(order: Order) -> list[str]:
    """Write each call of an order with its answer."""
    return [f"{name}{number} {reason or kind}" for name, number, (kind, reason, *_) in order.calls]


def test_two_starts_of_a_queued_task_are_two_orders() -> None:
    first, second = orders(ORACLE, QUEUED, NOW, {"A": [start(1)], "B": [start(2)]})
    assert answers(first) == ["A0 legal", "B0 illegal"]
    assert first.model == Model(Position("running", (1,)), 2, 1, Holding("worker-1", 1, NOW + 30))
    assert first.entries == (Written("start", "queued", "running", "worker-1"),)
    assert outcome(first) == "A accepted, B refused (illegal) -> running by worker-1"
    assert answers(second) == ["B0 legal", "A0 illegal"]
    assert second.model == Model(Position("running", (1,)), 2, 1, Holding("worker-2", 1, NOW + 30))
    assert second.entries == (Written("start", "queued", "running", "worker-2"),)
    assert outcome(second) == "B accepted, A refused (illegal) -> running by worker-2"


def test_each_worker_does_its_own_calls_in_their_order() -> None:
    found = list(orders(ORACLE, SUBMITTED, NOW, {"A": [ENQUEUE, start(1)], "B": [CANCEL]}))
    assert [answers(order) for order in found] == [
        ["A0 legal", "A1 legal", "B0 legal"],
        ["A0 legal", "B0 legal", "A1 illegal"],
        ["B0 legal", "A0 illegal", "A1 illegal"],
    ]
    assert [order.model.position.state for order in found] == [
        "cancelling", "cancelled", "cancelled",
    ]  # fmt: skip
    assert [[entry.event for entry in order.entries] for order in found] == [
        ["enqueue", "start", "cancel"], ["enqueue", "cancel"], ["cancel"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "number"),
    [((1, 1), 2), ((2, 1), 3), ((2, 2), 6), ((3, 1), 4), ((1, 1, 1), 6), ((2, 1, 1), 12)],
)
def test_there_are_as_many_orders_as_ways_to_merge(counts: tuple[int, ...], number: int) -> None:
    does = {name: [CANCEL] * count for name, count in zip("ABC", counts, strict=False)}
    assert len(set(_merged(does))) == number
    assert len(_merged(does)) == number


def _merged(does: dict[str, list[Fire]]) -> list[tuple[str, ...]]:
    return [
        tuple(f"{name}{index}" for name, index, _ in order.calls)
        for order in orders(ORACLE, SUBMITTED, NOW, does)
    ]


def test_a_no_op_and_a_heartbeat_write_no_entry() -> None:
    beat = Heartbeat("worker-1")
    first, *_ = orders(ORACLE, RUNNING, NOW + 5, {"A": [CANCEL, CANCEL], "B": [beat]})
    assert answers(first) == ["A0 legal", "A1 no-op", "B0 legal"]
    assert first.entries == (Written("cancel", "running", "cancelling", "client"),)
    assert first.model.holding == Holding("worker-1", 1, NOW + 35)


def test_the_reaper_writes_as_an_event_of_anybody() -> None:
    first, second = orders(ORACLE, EXPIRED, NOW, {"A": [Reap()], "B": [SUCCEED]})
    assert answers(first) == ["A0 legal", "B0 illegal"]
    assert first.entries == (Written("fail", "running", "retry_wait", None),)
    assert outcome(first) == "A accepted, B refused (illegal) -> retry_wait"
    assert answers(second) == ["B0 legal", "A0 no-op"]
    assert second.entries == (Written("succeed", "running", "succeeded", "worker-1"),)


def test_a_reaper_that_comes_before_the_deadline_does_nothing() -> None:
    (only,) = orders(ORACLE, RUNNING, NOW, {"A": [Reap()]})
    assert (answers(only), only.model, only.entries) == (["A0 no-op"], RUNNING, ())


def test_a_table_without_leases_has_no_reaper_to_race_with() -> None:
    gate = Oracle(shipped_table("gate"), {})
    model = Model(gate.origin)
    for op in (Reap(), Heartbeat("worker-1")):
        with pytest.raises(ValueError, match="gate has no leases"):
            list(orders(gate, model, NOW, {"A": [op]}))


def test_a_call_that_gave_up_may_have_been_without_effect_if_another_wrote() -> None:
    found = orders(ORACLE, QUEUED, NOW, {"A": [start(1)], "B": [start(2)]}, {("B", 0)})
    assert sorted(map(answers, found)) == [
        ["A0 legal", "B0 illegal"],
        ["A0 legal", "B0 stale_version"],
        ["B0 legal", "A0 illegal"],
        ["B0 stale_version", "A0 legal"],
    ]


def test_nobody_may_give_up_where_nobody_wrote() -> None:
    found = orders(ORACLE, SUBMITTED, NOW, {"A": [start(1)], "B": [CANCEL]}, {("B", 0)})
    assert sorted(map(answers, found)) == [["A0 illegal", "B0 legal"], ["B0 legal", "A0 illegal"]]
    both = {("A", 0), ("B", 0)}
    found = orders(ORACLE, QUEUED, NOW, {"A": [start(1)], "B": [start(2)]}, both)
    assert ["A0 stale_version", "B0 stale_version"] not in list(map(answers, found))


def test_what_a_worker_wrote_itself_is_no_reason_for_it_to_give_up() -> None:
    does = {"A": [ENQUEUE, start(1)], "B": [SUCCEED]}
    found = list(map(answers, orders(ORACLE, SUBMITTED, NOW, does, {("A", 1)})))
    assert len(found) == 3
    assert not [each for each in found if "A1 stale_version" in each]


def test_a_call_that_gave_up_leaves_the_task_as_it_was() -> None:
    does = {"A": [start(1)], "B": [CANCEL]}
    (nothing,) = (
        order
        for order in orders(ORACLE, QUEUED, NOW, does, {("B", 0)})
        if answers(order) == ["A0 legal", "B0 stale_version"]
    )
    assert nothing.model.position.state == "running"
    assert [entry.event for entry in nothing.entries] == ["start"]
    assert nothing.calls[1][2] == (CellKind.REFUSED, Reason.STALE_VERSION, nothing.model, "")


def refused(*reasons: Refusal) -> Came:
    return Came(Claim(ClaimKind.REFUSED, frozenset(reasons), "no"))


@pytest.mark.parametrize(
    ("op", "came", "lost"),
    [
        (start(1), refused(Refusal.STALE_VERSION), True),
        (start(1), refused(Refusal.ILLEGAL, Refusal.STALE_VERSION), True),
        (Heartbeat("worker-1"), refused(Refusal.STALE_VERSION), True),
        (start(1), refused(Refusal.ILLEGAL), False),
        (start(1, version=0), refused(Refusal.STALE_VERSION), False),
        (start(1), Came(Claim(ClaimKind.ACCEPTED)), False),
        (start(1), Came(fault=Fault("fire", "raised OperationalError")), False),
        (Reap(), Came(handled=False), True),
        (Reap(), Came(handled=True), False),
    ],
)
def test_who_says_that_it_lost_to_another(
    op: Fire | Heartbeat | Reap, came: Came, lost: bool
) -> None:
    accepted = Came(Claim(ClaimKind.ACCEPTED))
    found = gave_up({"A": [CANCEL], "B": [CANCEL, op]}, {"A": [accepted], "B": [accepted, came]})
    assert found == ({("B", 1)} if lost else set())


# -- what explains what came of the calls ----------------------------------------------------------

ACCEPTED = Came(Claim(ClaimKind.ACCEPTED))
WAS = (Entry(1, None, None, "submitted"), Entry(2, "enqueue", "submitted", "queued", "client"))
STARTED = Entry(3, "start", "queued", "running", "worker-1")
HELD = Reading("running", 1, 3, "worker-1", NOW + 30, 1)


def showing(*fields: str) -> Adapter:
    """Describe an implementation that shows some fields of a task."""
    adapter = describe_class(Honest, "miniatures:Honest", table=task_table())
    return replace(adapter, offered=frozenset(fields))


def lawful(came: dict[str, list[Came]], reading: Reading, *history: Entry) -> list[str]:
    """Write the orders of two starts that explain what came of them."""
    adapter = showing("version", "lease_owner", "lease_until")
    before = View(Reading("queued", 0, 2), WAS, None)
    task = Tracked("t", "job/0", ORACLE, QUEUED, base=1, view=before)
    after = View(reading, history, None)
    every = orders(ORACLE, QUEUED, NOW, {"A": [start(1)], "B": [start(2)]})
    return [outcome(order) for order in every if explained(adapter, task, order, came, after)]


def test_the_order_that_explains_both_answers_and_the_task_is_the_only_one() -> None:
    came = {"A": [ACCEPTED], "B": [refused(Refusal.ILLEGAL)]}
    assert lawful(came, HELD, *WAS, STARTED) == [
        "A accepted, B refused (illegal) -> running by worker-1"
    ]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (ACCEPTED, ACCEPTED),
        (ACCEPTED, refused(Refusal.STALE_LEASE)),
        (ACCEPTED, Came(fault=Fault("fire", "raised OperationalError"))),
        (ACCEPTED, Came()),
        (refused(Refusal.ILLEGAL), refused(Refusal.ILLEGAL)),
        (refused(Refusal.ILLEGAL), ACCEPTED),
    ],
)
def test_answers_that_no_order_gives_are_explained_by_none(a: Came, b: Came) -> None:
    assert lawful({"A": [a], "B": [b]}, HELD, *WAS, STARTED) == []


@pytest.mark.parametrize(
    "reading",
    [
        HELD._replace(state="queued"),
        HELD._replace(attempts=2),
        HELD._replace(version=4),
        HELD._replace(lease_owner="worker-2"),
        HELD._replace(lease_owner=None),
        HELD._replace(lease_until=NOW + 29),
    ],
)
def test_a_task_that_no_order_leaves_is_explained_by_none(reading: Reading) -> None:
    came = {"A": [ACCEPTED], "B": [refused(Refusal.ILLEGAL)]}
    assert lawful(came, reading, *WAS, STARTED) == []


@pytest.mark.parametrize(
    "history",
    [
        WAS,
        (*WAS, STARTED, STARTED),
        (STARTED, *WAS),
        (WAS[0], STARTED._replace(actor="worker-2"), STARTED),
        (*WAS, STARTED._replace(event="cancel")),
        (*WAS, STARTED._replace(before="submitted")),
        (*WAS, STARTED._replace(after="queued")),
        (*WAS, STARTED._replace(actor="worker-2")),
    ],
)
def test_a_history_that_no_order_writes_is_explained_by_none(history: tuple[Entry, ...]) -> None:
    came = {"A": [ACCEPTED], "B": [refused(Refusal.ILLEGAL)]}
    assert lawful(came, HELD, *history) == []


def test_what_a_history_does_not_show_is_not_asked_of_it() -> None:
    came = {"A": [ACCEPTED], "B": [refused(Refusal.ILLEGAL, Refusal.STALE_LEASE)]}
    assert lawful(came, HELD, *WAS, Entry(None, None, None, "running")) == [
        "A accepted, B refused (illegal) -> running by worker-1"
    ]


@pytest.mark.parametrize("handled", [True, False])
def test_a_reaper_says_whether_it_has_taken_the_task(handled: bool) -> None:
    adapter = showing()
    task = Tracked("t", "job/0", ORACLE, EXPIRED, base=1, view=View(HELD, None, None))
    after = View(Reading("retry_wait", 1, 4), None, None)
    (order,) = orders(ORACLE, EXPIRED, NOW, {"A": [Reap()]})
    came = {"A": [Came(handled=handled)]}
    assert explained(adapter, task, order, came, after) is handled

"""The driver: what a call says becomes a claim, what may not be becomes a fault."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from lawful.spec import Letter
from lawful.strategies import ManualClock
from lawful.strategies.adapter import describe_class
from lawful.strategies.driver import Claim, ClaimKind, Driver, Fault
from lawful.strategies.session import Session
from lawful.strategies.watch import Watch
from lawful.sut import Entry, Reading, Refusal
from miniatures import Honest, variants, wrong_adapters
from miniatures.honest import Illegal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lawful.sut import Clock, Payload

ENQUEUE, START = Letter("enqueue"), Letter("start")
FAIL = Letter("fail", (("retryable", True),))
LIMITS = {"max_attempts": 3}


@pytest.fixture
def opened(folder: Path) -> Iterator[Callable[[type], Driver]]:
    """Opens an adapter class; whatever was opened is closed at the end."""
    drivers: list[Driver] = []

    def opens(adapter: type) -> Driver:
        driver = Driver(describe_class(adapter, "mine"), Watch())
        driver.open(folder, ManualClock(1000.0))
        drivers.append(driver)
        return driver

    yield opens
    for driver in drivers:
        driver.close()


def fault(call: Callable[[], object]) -> Fault:
    with pytest.raises(Fault) as caught:
        call()
    return caught.value


# -- claims ----------------------------------------------------------------------------------------


def test_an_event_that_returns_is_accepted(opened: Callable[[type], Driver]) -> None:
    driver = opened(Honest)
    task = driver.submit(LIMITS, None)
    assert driver.fire(task, ENQUEUE, "client") == Claim(ClaimKind.ACCEPTED)
    assert driver.read(task) == Reading("queued", 0, 1)


def test_a_mapped_exception_is_a_refusal_in_the_tables_words(
    opened: Callable[[type], Driver],
) -> None:
    driver = opened(Honest)
    task = driver.submit(LIMITS, None)
    assert driver.fire(task, START, "w") == Claim(
        ClaimKind.REFUSED, frozenset({Refusal.ILLEGAL}), "Illegal: start in submitted"
    )


def test_a_refusal_that_is_returned_is_a_refusal(opened: Callable[[type], Driver]) -> None:
    driver = opened(variants.Quiet)
    task = driver.submit(LIMITS, None)
    claim = driver.fire(task, START, "w")
    assert (claim.kind, claim.reasons) == (ClaimKind.REFUSED, frozenset({Refusal.ILLEGAL}))


def test_an_exception_is_mapped_by_its_nearest_base(opened: Callable[[type], Driver]) -> None:
    class Worse(Illegal):
        pass

    class Mine(Honest):
        def target(self, row: object, call: object) -> str | None:
            raise Worse("no")

    driver = opened(Mine)
    claim = driver.fire(driver.submit(LIMITS, None), START, "w")
    assert claim.reasons == {Refusal.ILLEGAL}
    assert claim.text == "Worse: no"


def test_an_event_is_given_what_its_method_takes(opened: Callable[[type], Driver]) -> None:
    given: list[dict[str, Any]] = []

    class Mine(variants.OneMethodPerEvent):
        def start(self, task: str, *, actor: str) -> None:  # type: ignore[override]
            given.append({"actor": actor})

        def fail(self, task: str, **rest: Any) -> None:
            given.append(rest)

    driver = opened(Mine)
    task = driver.submit(LIMITS, None)
    driver.fire(task, START, "w", expected_version=1, token=2)
    driver.fire(task, FAIL, "w", expected_version=1, token=2)
    driver.fire(task, FAIL, "w")
    assert given == [
        {"actor": "w"},
        {"actor": "w", "payload": {"retryable": True}, "expected_version": 1, "token": 2},
        {"actor": "w", "payload": {"retryable": True}},
    ]


def test_an_id_is_chosen_where_it_may_be(opened: Callable[[type], Driver]) -> None:
    assert opened(Honest).submit(LIMITS, "mine") == "mine"


def test_finding_what_is_not_there_is_a_refusal(opened: Callable[[type], Driver]) -> None:
    driver = opened(Honest)
    assert driver.find("nowhere").reasons == {Refusal.UNKNOWN_TASK}
    assert driver.find(driver.submit(LIMITS, None)).kind is ClaimKind.ACCEPTED


class Claims(variants.OneMethodPerEvent):
    """Workers take what comes."""

    start = None  # type: ignore[assignment]

    def claim(self, actor: str) -> str | None:
        from miniatures.honest import Call

        for task, row in self.load().items():
            if row["state"] == "queued":
                self.on(Call(task, "start", actor, {}))
                return task
        return None


def test_a_claim_that_hands_out_the_task_starts_it(opened: Callable[[type], Driver]) -> None:
    driver = opened(Claims)
    task = driver.submit(LIMITS, None)
    driver.fire(task, ENQUEUE, "client")
    assert driver.fire(task, START, "w").kind is ClaimKind.ACCEPTED
    assert driver.read(task).lease_owner == "w"


def test_a_claim_that_hands_out_nothing_refuses(opened: Callable[[type], Driver]) -> None:
    driver = opened(Claims)
    claim = driver.fire(driver.submit(LIMITS, None), START, "w")
    assert claim.kind is ClaimKind.REFUSED
    assert claim.text == "claim gave None: there is nothing to take"


def test_a_claim_that_hands_out_another_task_is_a_fault(opened: Callable[[type], Driver]) -> None:
    driver = opened(Claims)
    one, other = driver.submit(LIMITS, "one"), driver.submit(LIMITS, "other")
    driver.fire(one, ENQUEUE, "client")
    assert fault(lambda: driver.fire(other, START, "w")).problem == (
        "handed out 'one', where only 'other' may be waiting"
    )


# -- faults ----------------------------------------------------------------------------------------


def test_an_exception_that_is_not_mapped_is_a_fault_with_its_own_traceback(
    opened: Callable[[type], Driver],
) -> None:
    class Mine(Honest):
        def target(self, row: object, call: object) -> str | None:
            raise LookupError("no column")

    driver = opened(Mine)
    task = driver.submit(LIMITS, None)
    raised = fault(lambda: driver.fire(task, START, "w"))
    assert (raised.method, raised.problem) == ("fire", "raised LookupError: no column")
    assert raised.trail.endswith("LookupError: no column")
    assert "in target" in raised.trail
    assert "/strategies/driver.py" not in raised.trail.replace("tests/strategies", "")
    assert not raised.hung


def test_an_exception_without_a_text_is_told_by_its_type(opened: Callable[[type], Driver]) -> None:
    class Mine(Honest):
        def reap(self) -> list[str]:
            raise RuntimeError

    assert fault(opened(Mine).reap).problem == "raised RuntimeError"


@pytest.mark.parametrize("method", ["reap", "due"])
@pytest.mark.parametrize("given", [None, 3, "job/1"])
def test_a_list_of_tasks_is_a_list(
    method: str, given: object, opened: Callable[[type], Driver]
) -> None:
    driver = opened(type("Mine", (Honest,), {method: lambda self: given}))
    assert fault(getattr(driver, method)).problem == (
        f"gave {given!r}; a list of task ids is expected"
    )


def test_a_refusal_where_none_may_be_is_a_fault(opened: Callable[[type], Driver]) -> None:
    class Mine(Honest):
        def reap(self) -> list[str]:
            raise Illegal("not today")

    assert fault(opened(Mine).reap).problem == "raised Illegal: not today"


def test_a_history_that_holds_something_else_is_a_fault(opened: Callable[[type], Driver]) -> None:
    driver = opened(wrong_adapters.LogsPlainTuples)
    task = driver.submit(LIMITS, None)
    driver.fire(task, ENQUEUE, "client")
    assert fault(lambda: driver.history(task)).problem.endswith("; an Entry is expected")


def test_a_long_value_is_told_in_short(opened: Callable[[type], Driver]) -> None:
    driver = opened(type("Mine", (Honest,), {"read": lambda self, task: "x" * 1000}))
    told = fault(lambda: driver.read("any")).problem
    assert told == f"gave '{'x' * 76}...; a Reading(state, ...) is expected"


# -- looking ---------------------------------------------------------------------------------------


def test_states_are_told_in_the_tables_words(opened: Callable[[type], Driver]) -> None:
    driver = opened(variants.OwnNames)
    task = driver.submit(LIMITS, None)
    driver.fire(task, ENQUEUE, "client")
    assert driver.read(task).state == "queued"
    assert driver.history(task) == (Entry(1, "enqueue", "submitted", "queued", "client", {}),)


def test_a_name_that_is_not_mapped_is_told_as_it_is(opened: Callable[[type], Driver]) -> None:
    driver = opened(wrong_adapters.ReadsAnotherName)
    assert driver.read(driver.submit(LIMITS, None)).state == "NEW"


def test_a_dump_does_not_change_with_the_store(opened: Callable[[type], Driver]) -> None:
    class Mine(Honest):
        rows: dict[str, list[int]] = {"one": [1]}  # noqa: RUF012

        def dump(self, task: str | None = None) -> object:
            return self.rows

    kept = opened(Mine).dump()
    Mine.rows["one"].append(2)
    assert kept == {"one": [1]}


# -- coroutines ------------------------------------------------------------------------------------


def test_all_coroutines_of_an_instance_run_in_one_loop_and_each_instance_has_its_own(
    opened: Callable[[type], Driver],
) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    class Mine(variants.Asynchronous):
        async def read(self, task: str) -> Reading:
            loops.append(asyncio.get_running_loop())
            return await super().read(task)

    one, other = opened(Mine), opened(Mine)
    task = one.submit(LIMITS, None)
    for driver in (one, one, other):
        driver.read(task)
    assert loops[0] is loops[1]
    assert loops[0] is not loops[2]


def test_the_loop_ends_with_its_instance(folder: Path) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    class Mine(variants.Asynchronous):
        async def close(self) -> None:
            loops.append(asyncio.get_running_loop())
            await super().close()

    driver = Driver(describe_class(Mine, "mine"), Watch())
    driver.open(folder, ManualClock())
    driver.close()
    assert loops[0].is_closed()


def test_a_coroutine_that_raises_is_a_fault_like_any_other(
    opened: Callable[[type], Driver],
) -> None:
    class Mine(variants.Asynchronous):
        async def fire(self, task: str, event: str, *, actor: str, payload: Payload) -> None:  # type: ignore[override]
            raise LookupError("no column")

    driver = opened(Mine)
    task = driver.submit(LIMITS, None)
    assert fault(lambda: driver.fire(task, START, "w")).problem == "raised LookupError: no column"


# -- time ------------------------------------------------------------------------------------------


def test_a_call_that_hangs_is_a_fault_that_says_so(folder: Path) -> None:
    watch = Watch(0.05)
    driver = Driver(describe_class(wrong_adapters.HangsInOpen, "mine"), watch)
    with watch.running():
        hung = fault(lambda: driver.open(folder, ManualClock()))
    assert hung.hung
    assert (hung.method, hung.problem) == ("open", "did not return within 0.05 s")


def test_a_coroutine_that_hangs_leaves_no_loop_behind(folder: Path) -> None:
    watch = Watch(0.05)
    driver = Driver(describe_class(wrong_adapters.HangsInACoroutine, "mine"), watch)
    driver.open(folder, ManualClock())
    with watch.running():
        task = driver.submit(LIMITS, None)
        hung = fault(lambda: driver.fire(task, Letter("cancel"), "client"))
        driver.close()
    assert hung.hung


# -- servers ---------------------------------------------------------------------------------------


class Served(Honest):
    """Keeps where its server was when it was opened."""

    server = "redis"

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        OPENED.append(self.url)


class Unserved(Served):
    """The same, without a need."""

    server = ""


OPENED: list[str] = []


def test_an_adapter_is_told_where_its_server_is_before_it_is_opened(folder: Path) -> None:
    OPENED.clear()
    driver = Driver(describe_class(Served, "mine"), Watch())
    driver.open(folder, ManualClock(), "redis://here")
    driver.close()
    assert OPENED == ["redis://here"]


def test_an_adapter_that_needs_no_server_is_told_of_none(folder: Path) -> None:
    OPENED.clear()
    driver = Driver(describe_class(Unserved, "mine"), Watch())
    driver.open(folder, ManualClock(), "redis://here")
    driver.close()
    assert OPENED == [""]


def test_a_session_hands_on_the_processs_server_unless_it_is_given_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAWFUL_REDIS_URL", "redis://everybodys")
    OPENED.clear()
    with Session(describe_class(Served, "mine"), folder / "store", Watch()) as session:
        session.opened("redis://a-door").close()
        session.opened().close()
        session.reopen()
    first, given, *later = OPENED
    assert given == "redis://a-door"
    assert [first, *later] == ["redis://everybodys"] * 3

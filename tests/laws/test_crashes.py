"""What crashes and failing statements show, in stores of which every call is right by itself."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, ClassVar

import pytest

import fragile
import racers
from fragile import FRAGILE
from lawful.laws import Profile, Status, crashes, recovery, run
from lawful.laws.stage import Search
from lawful.strategies.adapter import describe, describe_class
from lawful.sut import NotYet, Unsupported
from lawful.sut.gate import Gate
from miniatures import Honest
from miniatures.trial import workplace
from scenes import fit, in_delete, judged, of
from stagings import shown_again

if TYPE_CHECKING:
    from fragile import Fragile
    from lawful.strategies.adapter import Adapter
    from lawful.sut import Refused
    from miniatures.honest import Call, Row

LAWS = (*crashes.LAWS, *recovery.LAWS)
BY_ID = {law.id: law for law in LAWS}
EACH = pytest.mark.parametrize("planted", FRAGILE, ids=lambda planted: planted.id)


class Retrying(racers.Whole):
    """A call whose statement fails is made once more, from the beginning: it is right."""

    def on(self, call: Call) -> Refused | None:
        try:
            return super().on(call)
        except sqlite3.OperationalError:
            return super().on(call)


RIGHT = [
    of(racers.Whole),
    of(in_delete(racers.DefaultMode)),
    describe("gate"),
    describe("review"),
]
ALSO_RIGHT = [
    describe("reference"),
    of(in_delete(racers.Whole)),
    of(racers.DefaultMode),
    of(racers.Compared),
    of(in_delete(racers.Compared)),
    of(racers.ReadBefore),
    of(fragile.RedoLog),
    of(in_delete(fragile.RedoLog)),
    of(Retrying),
]


class LooksFirst(racers.Whole):
    """A call looks in a transaction that it takes back, and then does its work: it is right."""

    def on(self, call: Call) -> Refused | None:
        self.db.execute("BEGIN")
        try:
            self.load()
        finally:
            self.db.execute("ROLLBACK")
        return super().on(call)


def test_an_error_while_taking_back_is_more_than_can_be_asked_for() -> None:
    (check,) = judged([BY_ID["crash/interrupted"]], of(LooksFirst)).values()
    assert check.status is Status.PASS, check


def never_accused(adapter: Adapter, *, thorough: bool = False) -> None:
    checks = judged(LAWS, adapter, thorough=thorough)
    assert checks.keys() == {law.id for law in LAWS if law.applies(adapter.table)}
    for check in checks.values():
        assert check.status is Status.PASS, check
        assert check.triggers
        assert check.controls


@pytest.mark.parametrize("adapter", RIGHT, ids=lambda adapter: adapter.target)
def test_a_store_that_is_right_is_never_accused(adapter: Adapter) -> None:
    never_accused(adapter)


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ALSO_RIGHT, ids=lambda adapter: adapter.target)
def test_other_stores_that_are_right_are_never_accused_either(adapter: Adapter) -> None:
    never_accused(adapter)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["reference", "gate", "review"])
def test_what_comes_with_lawful_is_right_from_every_position(target: str) -> None:
    never_accused(describe(target), thorough=True)


# -- planted faults --------------------------------------------------------------------------------


@EACH
def test_a_planted_fault_is_found_by_its_law_and_shown_again_by_the_line(planted: Fragile) -> None:
    (check,) = judged([BY_ID[planted.law]], of(planted.adapter)).values()
    assert check.status in (Status.FAIL, Status.ERROR)
    assert check.expected
    assert check.got
    assert shown_again(fit(planted.adapter), check.trace, 10) == [True] * 10


@EACH
@pytest.mark.slow
def test_a_planted_fault_is_found_by_these_laws_and_no_other(planted: Fragile) -> None:
    checks = judged(LAWS, of(planted.adapter))
    found = {name: each for name, each in checks.items() if each.findings}
    assert found.keys() == {planted.law, *planted.besides}
    for check in found.values():
        assert shown_again(fit(planted.adapter), check.trace, 2) == [True] * 2


@EACH
@pytest.mark.slow
def test_every_call_of_these_stores_is_right_by_itself(planted: Fragile) -> None:
    with workplace() as folder:
        found = run(of(planted.adapter), folder, profile=Profile.QUICK)
    assert (
        sum(check.id.count("/") > 1 and check.status is Status.PASS for check in found.checks) > 56
    )
    gaps = {Status.UNSUPPORTED} if planted.adapter.gaps else set()
    assert {check.status for check in found.checks} - gaps == {Status.PASS}


# -- where each is found ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "factory", "trace", "expected", "got"),
    [
        (
            "crash/statement",
            racers.HistoryAfter,
            "SUBMIT || cancel@client || CRASH(3)",
            "submitted at version 0, history of 0 or cancelled at version 1, history of 1",
            "a crash before INSERT INTO events",
        ),
        (
            "crash/statement",
            fragile.CommitsAtClose,
            "SUBMIT || cancel@client || CRASH(5)",
            "cancelled at version 1, history of 1",
            "a crash at its end: submitted at version 0, history of 0",
        ),
        (
            # Note: BEGIN, INSERT, COMMIT; 5 is the BEGIN behind it. Opening: four to make sure of
            # the tables and one to read what is noted, then BEGIN, UPDATE, INSERT, COMMIT, DELETE.
            "crash/recovery",
            fragile.BootStrikesLater,
            "SUBMIT || cancel@client || CRASH(5) CRASH(10)",
            "cancelled at version 1, history of 1",
            (
                "recovering from a crash, a crash before DELETE FROM notes WHERE task = 'job/0': "
                "cancelled at version 1, history of 2"
            ),
        ),
        (
            "crash/interrupted",
            fragile.CommitsOutside,
            "SUBMIT || cancel@client || INTERRUPT(5) || cancel@client",
            "accepted, nothing written",
            (
                "COMMIT failed, then cancel@client: fire raised OperationalError: cannot start a "
                "transaction within a transaction"
            ),
        ),
    ],
)
def test_the_finding_says_what_was_hit_and_what_was_left(
    law: str, factory: type, trace: str, expected: str, got: str
) -> None:
    (check,) = judged([BY_ID[law]], of(factory)).values()
    assert (check.trace, check.expected) == (trace, expected)
    assert check.got.startswith(got)


# -- what can't be judged --------------------------------------------------------------------------


def test_what_goes_through_no_sqlite_is_unsupported_and_never_passed() -> None:
    checks = judged(LAWS, of(Honest))
    assert len(checks) == 7
    for check in checks.values():
        assert check.status is Status.UNSUPPORTED
        assert check.cause == "no statement of its own goes through this Python's sqlite3"


@pytest.mark.parametrize(
    ("name", "gap", "status"),
    [
        ("crash", Unsupported("it lives in memory"), Status.UNSUPPORTED),
        pytest.param("restart", NotYet("it will be kept"), Status.NOT_YET, marks=pytest.mark.slow),
    ],
)
def test_a_gap_is_reported_with_its_reason(name: str, gap: Unsupported, status: Status) -> None:
    factory = type("Gapped", (Gate,), {"gaps": {**Gate.gaps, name: gap}})
    adapter = describe_class(factory, "gapped")
    with workplace() as folder:
        checks = run(adapter, folder, search=Search("dev")).checks
    found = {check.id: check for check in checks if check.id in BY_ID}
    assert found.keys() == {
        "crash/statement",
        "crash/recovery",
        "crash/interrupted",
        "reply/repeated",
    }
    for check in found.values():
        assert (check.status, check.cause) == (status, f"{name}: {gap.reason}")


class CountsTwice(racers.Whole):
    """Every transition adds 2 to the version: every cell that writes is broken."""

    def move(self, row: Row, call: Call, after: str) -> None:
        row["version"] += 1
        super().move(row, call, after)


def test_behind_broken_cells_everything_is_blocked_by_one_of_them() -> None:
    for check in judged(LAWS, of(CountsTwice), walked=True).values():
        assert check.status is Status.BLOCKED
        assert check.cause in ("cell/submitted/enqueue", "cell/submitted/cancel")
        assert not check.triggers


class HangsInTheMiddle(racers.Whole):
    """A worker's cancel never returns."""

    woken: ClassVar = threading.Event()

    def on(self, call: Call) -> Refused | None:
        if threading.current_thread() is not threading.main_thread() and call.event == "cancel":
            self.woken.wait()
            self.close()  # nobody else will
        return super().on(call)


class HangsInRecovery(fragile.RedoLog):
    """It never opens again when there is something to recover."""

    woken: ClassVar = threading.Event()

    def recover(self, task: str, written: bytes, history: bytes) -> None:
        self.woken.wait()
        self.close()  # nobody else will


@pytest.mark.parametrize("factory", [HangsInTheMiddle, HangsInRecovery])
def test_what_hangs_ends_the_law_as_an_error(
    factory: type[HangsInTheMiddle | HangsInRecovery],
) -> None:
    factory.woken.clear()
    before = set(threading.enumerate())
    try:
        (check,) = judged(crashes.LAWS[:1], of(factory), limit=0.2).values()
    finally:
        factory.woken.set()
    assert check.status is Status.ERROR
    assert "came to no next step within 0.2 s" in check.got
    assert "||" not in check.trace  # no statement can be named: it came to none
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()

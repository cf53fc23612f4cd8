"""Accidents of stores of which every call is right by itself: what each statement leaves behind."""

from __future__ import annotations

import functools
import gc
import sqlite3
import sys
import threading
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import pytest

import fragile
import racers
from lawful.spec.errors import LawfulError
from lawful.strategies.accidents import Mishap, Sort
from lawful.strategies.crashes import CrashSite
from lawful.strategies.driver import ClaimKind, Fault
from lawful.strategies.hub import Stuck
from lawful.strategies.trace import Reopen
from leftovers import descriptors, needs_descriptors
from miniatures.honest import Illegal
from miniatures.trial import workplace
from scenes import fit, in_delete, of
from stagings import CANCEL, accident, unready, words

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.strategies.adapter import Adapter
    from lawful.strategies.aftermath import Found
    from lawful.strategies.crashes import Film
    from lawful.sut import Clock, Refused
    from miniatures.honest import Call, Row

TWO = "enqueue@client start@worker-1 t2:SUBMIT t2:enqueue@client t2:start@worker-2 ADVANCE(31)"

BEFORE = "submitted, version 0, 0 entries"
AFTER = "cancelled, version 1, 1 entries"

fitted = functools.cache(fit)


def seen(found: Found) -> str:
    """Tell what is stored of each task; what is there instead, if that is unlawful."""
    views = [task.view for task in found.tasks]
    return found.got or "; ".join(
        f"{view.reading.state}, version {view.reading.version}, {len(view.history or ())} entries"
        for view in views
    )


class Developed(NamedTuple):
    """A film, and what each of its images is found to hold."""

    film: Film
    found: list[Found]

    @property
    def distinct(self) -> int:
        return len(set(self.film.images))


def crashed(factory: type, line: str) -> Developed:
    """Crash before each statement of a call, and behind the last."""
    each = accident(f"{line} || CRASH(1)")
    with workplace() as folder, CrashSite(fitted(factory), folder) as site:
        film = site.film(each.before, each.call)
        return Developed(film, [site.after(film, number) for number in range(len(film.images))])


# -- what a crash leaves ---------------------------------------------------------------------------

HALF = "cancelled at version 1, history of 0"
EARLY = "submitted at version 0, history of 1"
WHOLE_CALL = "BEGIN SELECT UPDATE INSERT COMMIT"
READ_FIRST = "SELECT BEGIN UPDATE INSERT COMMIT"


@pytest.mark.parametrize(
    ("factory", "statements", "left"),
    [
        (racers.Whole, WHOLE_CALL, [BEFORE] * 5 + [AFTER]),
        (racers.Compared, READ_FIRST, [BEFORE] * 5 + [AFTER]),
        (racers.DefaultMode, READ_FIRST, [BEFORE] * 5 + [AFTER]),
        (racers.OneByOne, "SELECT UPDATE INSERT", [BEFORE, BEFORE, HALF, AFTER]),
        (racers.HistoryAfter, "SELECT UPDATE INSERT", [BEFORE, BEFORE, HALF, AFTER]),
        (racers.HistoryBefore, "SELECT INSERT UPDATE", [BEFORE, BEFORE, EARLY, AFTER]),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_what_is_stored_after_a_crash_before_each_statement(
    factory: type, statements: str, left: list[str]
) -> None:
    for each in (factory, in_delete(factory)):
        film, found = crashed(each, CANCEL)
        assert words(film.statements) == statements
        assert [seen(one) for one in found] == left
        assert [one.lawful for one in found] == [one in (BEFORE, AFTER) for one in left]
        expected = "submitted at version 0, history of 0 or cancelled at version 1, history of 1"
        assert {one.expected for one in found if not one.lawful} <= {expected}


@pytest.mark.parametrize(
    ("factory", "wal", "delete"),
    [
        # A log grows when a transaction ends. A rollback journal takes in a page before it is
        # written: a page of the tasks, then one of the events; at the end it is gone.
        (racers.Whole, 2, 4),
        (racers.Compared, 2, 4),
        (racers.DefaultMode, 2, 4),
        # Each write is a transaction.
        (racers.OneByOne, 3, 3),
        (racers.HistoryAfter, 3, 3),
        (racers.HistoryBefore, 3, 3),
    ],
)
def test_how_many_images_differ(factory: type, wal: int, delete: int) -> None:
    assert crashed(factory, CANCEL).distinct == wal
    assert crashed(in_delete(factory), CANCEL).distinct == delete


def test_what_was_acknowledged_must_be_there_and_not_before() -> None:
    film, found = crashed(fragile.CommitsAtClose, CANCEL)
    assert words(film.statements) == "SELECT BEGIN UPDATE INSERT"
    assert [seen(one) for one in found[:-1]] == [BEFORE] * 4
    assert film.came.claim is not None
    assert film.came.claim.kind is ClaimKind.ACCEPTED
    assert found[-1].expected == "cancelled at version 1, history of 1"
    assert found[-1].got == "submitted at version 0, history of 0"


def test_what_was_refused_must_be_as_it_was() -> None:
    film, found = crashed(racers.Whole, "SUBMIT || start@worker-1")
    assert words(film.statements) == "BEGIN SELECT ROLLBACK"
    assert [seen(one) for one in found] == [BEFORE] * 4
    assert [statement.undoes for statement in film.statements] == [False, False, True]


class Marks(racers.Whole):
    """What it refuses it writes down as a start."""

    def refused(self, tasks: dict[str, Row], row: Row, call: Call) -> None:
        self.move(row, call, "running")
        self.save(tasks)
        self.db.execute("COMMIT")


def test_a_refusal_that_writes_is_found() -> None:
    _, found = crashed(Marks, "SUBMIT || start@worker-1")
    assert found[-1].expected == "submitted at version 0, history of 0"
    assert found[-1].got == "running by worker-1 at version 1, history of 1"


class DoesAndRefuses(racers.Whole):
    """A cancel is written, and then refused."""

    def on(self, call: Call) -> Refused | None:
        super().on(call)
        raise Illegal


def test_what_is_said_to_be_refused_must_not_be_done() -> None:
    _, found = crashed(DoesAndRefuses, CANCEL)
    assert found[-1].expected == "submitted at version 0, history of 0"
    assert found[-1].got == "cancelled at version 1, history of 1"
    came = hurt(DoesAndRefuses, CANCEL, Mishap(Sort.LOST, 5))
    assert (came.found, came.lawful) == (AFTER, True)  # its answer never came


def test_other_tasks_are_as_they_were() -> None:
    _, found = crashed(racers.Whole, "SUBMIT t2:SUBMIT t2:enqueue || t2:cancel")
    queued, cancelled = "queued, version 1, 1 entries", "cancelled, version 2, 2 entries"
    assert [seen(one) for one in found] == [
        *[f"{BEFORE}; {queued}"] * 5,
        f"{BEFORE}; {cancelled}",
    ]


def test_a_reaper_is_hit_between_its_two_tasks() -> None:
    running, waiting = "running, version 2, 2 entries", "retry_wait, version 3, 3 entries"
    film, found = crashed(racers.ReapByIds, f"{TWO} || REAP")
    assert words(film.statements) == f"SELECT {'BEGIN UPDATE INSERT COMMIT ' * 2}".strip()
    assert [seen(one) for one in found] == [
        *[f"{running}; {running}"] * 5,
        *[f"{waiting}; {running}"] * 4,
        f"{waiting}; {waiting}",
    ]
    assert all(one.lawful for one in found)


def test_a_restart_is_hit_at_each_statement_of_the_opening() -> None:
    film, found = crashed(racers.Whole, "SUBMIT || REOPEN")
    assert words(film.statements) == "PRAGMA CREATE CREATE"
    assert [seen(one) for one in found] == [BEFORE] * 4


class NeverAgain(racers.Whole):
    """A store that has a cancelled task in it does not open."""

    def open(self, path: Path, clock: Clock) -> None:
        super().open(path, clock)
        if any(row["state"] == "cancelled" for row in self.load().values()):
            self.close()
            raise ValueError("what is this?")


def test_a_store_that_does_not_open_again_is_unlawful() -> None:
    _, found = crashed(NeverAgain, CANCEL)
    assert [seen(one) for one in found[:-1]] == [BEFORE] * 5
    assert found[-1].expected == "the store can be opened, read and closed"
    assert found[-1].got == "open: raised ValueError: what is this?"


class Torn(racers.Whole):
    """A second file, which begins like a database and is none, while a call is under way."""

    def write_history(self, task: str, row: Row) -> None:
        aside = self.path / "aside.db"
        aside.write_bytes(b"SQLite format 3\x00" + b"x" * 5000)
        super().write_history(task, row)
        aside.unlink()

    def open(self, path: Path, clock: Clock) -> None:
        self.path = path
        super().open(path, clock)


def test_a_database_that_is_torn_is_unlawful() -> None:
    _, found = crashed(Torn, CANCEL)
    assert [one.got for one in found] == [""] * 3 + ["aside.db: file is not a database"] + [""] * 2
    assert found[3].expected == "a database without a fault"


# -- the second crash ------------------------------------------------------------------------------


def test_a_second_crash_meets_each_statement_of_the_opening_and_the_reaper() -> None:
    start = accident("enqueue@client || start@worker-1 || CRASH(1)")
    with workplace() as folder, CrashSite(fitted(racers.Whole), folder) as site:
        film = site.film(start.before, start.call)
        last = len(film.statements)
        recovery = site.film_recovery(film, last, site.after(film, last).tasks)
        found = [site.after(recovery, number) for number in range(len(recovery.images))]
    assert words(recovery.statements) == f"PRAGMA CREATE CREATE {WHOLE_CALL}"
    running, waiting = "running, version 2, 2 entries", "retry_wait, version 3, 3 entries"
    assert [seen(one) for one in found] == [running] * 8 + [waiting]
    assert recovery.now > film.now + 30  # every lease has expired


def test_a_recovery_that_is_cut_short_is_done_twice_and_found() -> None:
    cancel = accident(f"{CANCEL} || CRASH(1)")
    with workplace() as folder, CrashSite(fitted(fragile.BootStrikesLater), folder) as site:
        film = site.film(cancel.before, cancel.call)
        # SELECT; BEGIN, INSERT, COMMIT note it; what is noted is written from the fifth on.
        first = site.after(film, 4)
        assert seen(first) == AFTER
        recovery = site.film_recovery(film, 4, first.tasks)
        found = [site.after(recovery, number) for number in range(len(recovery.images))]
    assert words(recovery.statements).startswith(
        "PRAGMA CREATE CREATE CREATE SELECT BEGIN UPDATE INSERT COMMIT DELETE"
    )
    assert [number for number, one in enumerate(found, 1) if not one.lawful] == [10]
    assert found[9].got == "cancelled at version 1, history of 2"


# -- statements that fail, and replies that are lost -----------------------------------------------


class Stored(NamedTuple):
    """What an error has left: what is stored, how the call failed, and what its repetition gave."""

    found: str
    lawful: bool
    fault: str
    again: list[str]


def hurt(factory: type, line: str, mishap: Mishap) -> Stored:
    """Have a call's statement go wrong; then make the call again and open the store again."""
    each = accident(f"{line} || {mishap}")
    with (
        workplace() as folder,
        CrashSite(fitted(factory), folder) as site,
        site.hurt(each.before, each.call, mishap) as came,
    ):
        steps = [step for op in (each.call, Reopen()) for step in site.perform(came.session, op)]
        again = [problem.got for step in steps for problem in step.problems]
        return Stored(seen(came.found), came.found.lawful, str(came.came.fault or ""), again)


INTERRUPTED = "fire: raised OperationalError: interrupted"
DENIED = "fire: raised OperationalError: attempt to write a readonly database"
LOST = "fire: raised OperationalError: disk I/O error"


@pytest.mark.parametrize(
    "factory",
    [
        racers.Whole,
        racers.Compared,
        racers.DefaultMode,
        in_delete(racers.Whole),
        in_delete(racers.Compared),
        in_delete(racers.DefaultMode),
    ],
    ids=lambda factory: factory.__name__,
)
def test_whatever_fails_or_is_lost_is_whole_and_can_be_done_again(factory: type) -> None:
    for number in range(1, 6):
        failed = hurt(factory, CANCEL, Mishap(Sort.INTERRUPT, number))
        fault = DENIED if number in (3, 4) else INTERRUPTED  # what writes in the transaction
        assert failed == Stored(BEFORE, True, fault, [])
    assert hurt(factory, CANCEL, Mishap(Sort.LOST, 5)) == Stored(AFTER, True, LOST, [])


@pytest.mark.parametrize(
    ("factory", "failed", "lost"),
    [
        (racers.OneByOne, [BEFORE, BEFORE, HALF], {2: HALF, 3: AFTER}),
        (racers.HistoryBefore, [BEFORE, BEFORE, EARLY], {2: EARLY, 3: AFTER}),
    ],
)
def test_what_is_left_by_a_statement_of_a_call_without_a_transaction(
    factory: type, failed: list[str], lost: dict[int, str]
) -> None:
    for number, left in enumerate(failed, 1):
        came = hurt(factory, CANCEL, Mishap(Sort.INTERRUPT, number))
        assert (came.found, came.lawful, came.fault) == (left, left == BEFORE, INTERRUPTED)
    for number, left in lost.items():
        came = hurt(factory, CANCEL, Mishap(Sort.LOST, number))
        assert (came.found, came.lawful, came.fault) == (left, left == AFTER, LOST)


def test_a_commit_that_fails_outside_of_what_is_tried_leaves_its_transaction_open() -> None:
    for number in range(1, 5):
        assert hurt(fragile.CommitsOutside, CANCEL, Mishap(Sort.INTERRUPT, number)).again == []
    came = hurt(fragile.CommitsOutside, CANCEL, Mishap(Sort.INTERRUPT, 5))
    assert came.lawful
    assert came.again[0] == (
        "fire raised OperationalError: cannot start a transaction within a transaction"
    )


def test_a_restart_that_fails_is_begun_again() -> None:
    for number in range(1, 4):
        came = hurt(racers.Whole, "SUBMIT || REOPEN", Mishap(Sort.INTERRUPT, number))
        assert (came.found, came.lawful, came.again) == (BEFORE, True, [])
        assert came.fault == "open: raised OperationalError: interrupted"


class Leaves(racers.Whole):
    """An opening that fails leaves its connection as it is, in the midst of a transaction."""

    def open(self, path: Path, clock: Clock) -> None:
        self.clock, self.poisoned = clock, set()
        db = sqlite3.connect(path / "racer.db", isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        db.execute("CREATE TABLE IF NOT EXISTS tasks (id PRIMARY KEY, row)")
        db.execute("CREATE TABLE IF NOT EXISTS events (task, line)")
        db.execute("COMMIT")
        self.db = db


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_service_that_is_started_again_finds_no_lock_of_the_one_that_failed() -> None:
    """The process that could not open the store is gone, and its connections with it."""
    for number in range(1, 5):
        came = hurt(Leaves, "SUBMIT || REOPEN", Mishap(Sort.INTERRUPT, number))
        assert (came.found, came.lawful, came.again) == (BEFORE, True, [])


@pytest.mark.parametrize("enabled", [True, False])
def test_when_garbage_is_collected_is_not_left_to_chance(enabled: bool) -> None:
    gc.enable()
    try:
        if not enabled:
            gc.disable()
        with workplace() as folder, CrashSite(fitted(racers.Whole), folder):
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


class Blind(racers.Whole):
    """After an error nothing can be read any more."""

    blind = False

    def on(self, call: Call) -> Refused | None:
        try:
            return super().on(call)
        except sqlite3.OperationalError:
            self.blind = True
            raise

    def load(self) -> dict[str, Row]:
        if self.blind:
            raise ValueError("it is dark")
        return super().load()


def test_what_cannot_be_read_after_an_error_is_unlawful() -> None:
    each = accident(f"{CANCEL} || INTERRUPT(3)")
    with (
        workplace() as folder,
        CrashSite(fitted(Blind), folder) as site,
        site.hurt(each.before, each.call, each.mishaps[0]) as came,
    ):
        assert came.found.expected == "the store can be read"
        assert came.found.got == "read: raised ValueError: it is dark"


@pytest.mark.parametrize("sort", [Sort.INTERRUPT, Sort.LOST])
def test_a_mishap_behind_the_last_statement_is_an_error(sort: Sort) -> None:
    with pytest.raises(LawfulError, match=rf"^{sort}\(6\): there are 5 statements$"):
        hurt(racers.Whole, CANCEL, Mishap(sort, 6))


# -- what is left behind ---------------------------------------------------------------------------


class Forgetful(racers.Whole):
    """A start is accepted, and not written."""

    def update(self, task: str, row: Row, written: bytes) -> None:
        if row["state"] != "running":
            super().update(task, row, written)


class Locked(racers.Whole):
    """It can't be opened."""

    def open(self, path: Path, clock: Clock) -> None:
        (path / "lock").write_text("")
        raise ValueError("locked")


class DoesNotClose(racers.Whole):
    """Closing it fails, once it is closed."""

    def close(self) -> None:
        super().close()
        raise ValueError("not yet")


def every_accident(site: CrashSite) -> None:
    crash = accident(f"{CANCEL} || CRASH(1)")
    film = site.film(crash.before, crash.call)
    for number in range(len(film.images)):
        site.film_recovery(film, number, site.after(film, number).tasks)
    for sort in (Sort.INTERRUPT, Sort.LOST):
        each = accident(f"{CANCEL} || {sort}(5)")
        with site.hurt(each.before, each.call, each.mishaps[0]):
            pass


def behind_the_last(site: CrashSite) -> None:
    each = accident(f"{CANCEL} || LOST(9)")
    with pytest.raises(LawfulError), site.hurt(each.before, each.call, each.mishaps[0]):
        pass


def does_not_open(site: CrashSite) -> None:
    each = accident(f"{CANCEL} || CRASH(1)")
    with pytest.raises(Fault, match="locked"):
        site.film(each.before, each.call)


def does_not_close(site: CrashSite) -> None:
    each = accident(f"{CANCEL} || CRASH(1)")
    with pytest.raises(Fault, match="not yet"):
        site.film(each.before, each.call)


def something_else(site: CrashSite) -> None:
    """What was on its way is told, and not that closing fails too."""
    each = accident(f"{CANCEL} || LOST(1)")
    with (
        pytest.raises(ZeroDivisionError),
        site.hurt(each.before, each.call, each.mishaps[0]),
    ):
        raise ZeroDivisionError


@needs_descriptors
@pytest.mark.parametrize(
    ("factory", "stage"),
    [
        (racers.Whole, every_accident),
        (in_delete(racers.DefaultMode), every_accident),
        (racers.Whole, behind_the_last),
        (Forgetful, unready),
        (Locked, does_not_open),
        (DoesNotClose, does_not_close),
        (DoesNotClose, something_else),
    ],
)
def test_no_thread_no_folder_and_no_open_file_is_left(
    factory: type, stage: object, folder: Path
) -> None:
    assert callable(stage)
    adapter: Adapter = of(factory) if factory in (Locked, DoesNotClose) else fitted(factory)
    gc.collect()
    threads, files, profiler = set(threading.enumerate()), descriptors(), sys.getprofile()
    with CrashSite(adapter, folder) as site:
        stage(site)
        assert list(folder.iterdir()) == []
    assert set(threading.enumerate()) == threads
    gc.collect()
    assert descriptors() == files
    assert sys.getprofile() is profiler


# -- what hangs ------------------------------------------------------------------------------------


class Hangs(racers.Whole):
    """A cancel never returns until it is woken."""

    woken: ClassVar = threading.Event()

    def on(self, call: Call) -> Refused | None:
        if call.event == "cancel":
            self.woken.wait()
            self.close()  # nobody else will
        return super().on(call)


class HangsWhenOpened(racers.Whole):
    """An opening never returns where something is cancelled, until it is woken."""

    woken: ClassVar = threading.Event()

    def prepare(self) -> None:
        super().prepare()
        if any(row["state"] == "cancelled" for row in self.load().values()):
            self.woken.wait()
            raise ValueError("too late")  # which closes it: nobody else will


@pytest.mark.parametrize("factory", [Hangs, HangsWhenOpened])
def test_what_hangs_is_told_in_time_wherever_it_hangs(
    factory: type[Hangs | HangsWhenOpened], folder: Path
) -> None:
    each = accident(f"{CANCEL} || LOST(1)")

    def crash_at_its_end(site: CrashSite) -> None:
        film = site.film(each.before, each.call)
        site.after(film, len(film.statements))

    factory.woken.clear()
    before = set(threading.enumerate())
    try:
        with (
            CrashSite(fit(factory), folder, limit=0.2) as site,
            pytest.raises(Stuck, match=r"worker A came to no next step within 0\.2 s"),
        ):
            crash_at_its_end(site)
        assert list(folder.iterdir()) == []
    finally:
        factory.woken.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()

"""Each statement of a worker is seen before it runs, however ``sqlite3`` is opened and used."""

from __future__ import annotations

import functools
import gc
import os
import sqlite3
import sqlite3.dbapi2
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from sqlite3 import connect
from typing import TYPE_CHECKING, Any

import pytest

from lawful.strategies.hub import Deadlock, Hub
from lawful.strategies.schedules import follow
from lawful.strategies.sqlite_tap import SqliteTap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

INSERT = "INSERT INTO rows VALUES (1)"
LIMIT = 2.0  # seconds: less than a busy timeout of the jobs', so that one that sleeps is found out


@pytest.fixture
def path(folder: Path) -> Path:
    """A database with an empty table ``rows``."""
    path = folder / "rows.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE rows (value)")
    return path


def rows(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as db:
        return [value for (value,) in db.execute("SELECT value FROM rows ORDER BY rowid")]


class Seen:
    """What was seen of some jobs."""

    def __init__(self) -> None:
        self.able: list[str] = []
        self.steps: list[str] = []
        self.passed: list[str] = []
        self.statements = 0


def seen(line: str = "", *, reduced: bool = True, **jobs: Callable[[], Any]) -> Seen:
    """Run jobs by a schedule, and return who could go on and what was done.

    Args:
        line: The schedule.
        reduced: Whether what the others can't see is no choice.
        jobs: What the workers do.
    """
    found, plan = Seen(), follow(line)

    def choose(able: Sequence[str], turn: str | None) -> str:
        found.able.append("".join(able))
        return plan(able, turn)

    with Hub(list(jobs), LIMIT) as hub, SqliteTap(hub, reduced=reduced) as tap:
        for step in hub.run(jobs, choose):
            found.steps.append(f"{step.worker} {step.text}")
            if not step.chosen:
                found.passed.append(step.text)
        found.statements = tap.statements
    return found


# -- ways to open a connection ---------------------------------------------------------------------


class Own(sqlite3.Connection):
    """A connection of a class of the implementation's."""

    def __init__(self, *args: Any, **keywords: Any) -> None:  # sqlite3's
        super().__init__(*args, **keywords)
        self.execute("PRAGMA synchronous = OFF")


bound = functools.partial(sqlite3.connect, isolation_level=None)

OPENINGS: dict[str, tuple[Callable[[Path], sqlite3.Connection], list[str]]] = {
    "sqlite3.connect": (lambda path: sqlite3.connect(path, isolation_level=None), []),
    "a function bound before": (lambda path: connect(path, isolation_level=None), []),
    "functools.partial": (bound, []),
    "sqlite3.dbapi2.connect": (lambda path: sqlite3.dbapi2.connect(path, isolation_level=None), []),
    "sqlite3.Connection": (lambda path: sqlite3.Connection(path, isolation_level=None), []),
    "a factory": (
        lambda path: sqlite3.connect(path, isolation_level=None, factory=Own),
        ["PRAGMA synchronous = OFF"],
    ),
    "a subclass": (lambda path: Own(path, isolation_level=None), ["PRAGMA synchronous = OFF"]),
    "a URI": (lambda path: sqlite3.connect(f"{path.as_uri()}?mode=rw", 5, 0, None, uri=True), []),
}


@pytest.mark.parametrize(("opening", "first"), OPENINGS.values(), ids=list(OPENINGS))
def test_statements_are_seen_however_the_connection_is_opened(
    opening: Callable[[Path], sqlite3.Connection], first: list[str], path: Path
) -> None:
    def job() -> None:
        with closing(opening(path)) as db:
            db.execute(INSERT)

    found = seen(A=job)
    assert found.steps == [f"A {text}" for text in (*first, INSERT)]
    assert found.statements == len(found.steps)
    assert rows(path) == [1]


# -- ways to use it --------------------------------------------------------------------------------


def by_connection(db: sqlite3.Connection) -> None:
    db.isolation_level = None
    db.execute(INSERT)


def by_cursor(db: sqlite3.Connection) -> None:
    db.isolation_level = None
    db.cursor().execute(INSERT)


def by_a_cursor_made_by_hand(db: sqlite3.Connection) -> None:
    db.isolation_level = None
    sqlite3.Cursor(db).execute("INSERT INTO rows VALUES (?)", (1,))


def by_default(db: sqlite3.Connection) -> None:
    db.execute(INSERT)
    db.commit()


def by_with(db: sqlite3.Connection) -> None:
    with db:
        db.execute(INSERT)


def by_a_with_that_fails(db: sqlite3.Connection) -> None:
    with suppress(LookupError), db:
        db.execute(INSERT)
        raise LookupError


def by_rollback(db: sqlite3.Connection) -> None:
    db.execute(INSERT)
    db.rollback()


def by_many(db: sqlite3.Connection) -> None:
    db.executemany("INSERT INTO rows VALUES (?)", [(1,), (2,), (3,)])
    db.commit()


def by_script(db: sqlite3.Connection) -> None:
    db.executescript("BEGIN IMMEDIATE;\nINSERT INTO rows\n  VALUES (1); COMMIT")


def with_a_busy_timeout(db: sqlite3.Connection) -> None:
    db.isolation_level = None
    db.execute("PRAGMA busy_timeout = 1")
    db.execute(INSERT)


USES: list[tuple[Callable[[sqlite3.Connection], None], list[str], list[str], list[int]]] = [
    (by_connection, [INSERT], [], [1]),
    (by_cursor, [INSERT], [], [1]),
    (by_a_cursor_made_by_hand, [INSERT], [], [1]),
    (by_default, ["BEGIN", INSERT, "COMMIT"], ["BEGIN"], [1]),
    (by_with, ["BEGIN", INSERT, "COMMIT"], ["BEGIN"], [1]),
    (by_a_with_that_fails, ["BEGIN", INSERT, "ROLLBACK"], ["BEGIN"], []),
    (by_rollback, ["BEGIN", INSERT, "ROLLBACK"], ["BEGIN"], []),
    (
        by_many,
        ["BEGIN", *(f"INSERT INTO rows VALUES ({value})" for value in (1, 2, 3)), "COMMIT"],
        ["BEGIN", "INSERT INTO rows VALUES (2)", "INSERT INTO rows VALUES (3)"],
        [1, 2, 3],
    ),
    (by_script, ["BEGIN IMMEDIATE;", f"{INSERT};", "COMMIT"], [f"{INSERT};"], [1]),
    (with_a_busy_timeout, ["PRAGMA busy_timeout = 1", INSERT], [], [1]),
]


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(
    ("use", "texts", "unseen", "stored"), USES, ids=[u.__name__ for u, *_ in USES]
)
def test_each_statement_is_a_step_and_reduced_only_what_others_can_see(
    use: Callable[[sqlite3.Connection], None],
    texts: list[str],
    unseen: list[str],
    stored: list[int],
    reduced: bool,
    path: Path,
) -> None:
    def job() -> None:
        with closing(sqlite3.connect(path)) as db:
            use(db)

    found = seen(A=job, reduced=reduced)
    assert found.steps == [f"A {text}" for text in texts]
    assert found.passed == (unseen if reduced else [])
    assert len(found.able) == len(texts) - len(found.passed)
    assert rows(path) == stored


def test_a_second_reading_in_a_transaction_is_seen_by_nobody(path: Path) -> None:
    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for text in (
                "/* it begins */ begin",
                "SELECT 1 FROM rows",
                "select 2 FROM rows",
                INSERT,
            ):
                db.execute(text).fetchall()
            db.execute("-- and ends\ncommit")
            db.execute("SELECT 3 FROM rows").fetchall()

    assert seen(A=job).passed == ["/* it begins */ begin", "select 2 FROM rows"]


# -- locks -----------------------------------------------------------------------------------------


def writing(path: Path, begin: str, value: int) -> Callable[[], None]:
    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(begin)
            db.execute(f"INSERT INTO rows VALUES ({value})")
            db.execute("COMMIT")

    return job


def test_a_write_is_not_begun_while_another_worker_writes(path: Path) -> None:
    one, other = (writing(path, "BEGIN IMMEDIATE", value) for value in (1, 2))
    found = seen("BBAA", A=one, B=other)
    assert found.able == ["AB", "B", "A", "A"]  # "B": A is at its BEGIN IMMEDIATE
    assert found.steps == [
        "B BEGIN IMMEDIATE", "B INSERT INTO rows VALUES (2)", "B COMMIT",
        "A BEGIN IMMEDIATE", "A INSERT INTO rows VALUES (1)", "A COMMIT",
    ]  # fmt: skip
    assert rows(path) == [2, 1]


@pytest.mark.parametrize("text", [INSERT, "UPDATE rows SET value = 1", "DELETE FROM rows"])
def test_a_statement_by_itself_is_not_begun_either(text: str, path: Path) -> None:
    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(text)

    assert seen("AAB", A=writing(path, "BEGIN IMMEDIATE", 1), B=job).able == ["AB", "A", "B"]


@pytest.mark.parametrize("timeout", [None, 5000])
def test_a_worker_that_meets_a_lock_waits_without_sleeping_and_then_succeeds(
    timeout: int | None, path: Path
) -> None:
    counted: list[int] = []

    def reading() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            if timeout is not None:
                db.execute(f"PRAGMA busy_timeout = {timeout}")
            counted.extend(db.execute("SELECT count(*) FROM rows").fetchone())

    first = [] if timeout is None else [f"B PRAGMA busy_timeout = {timeout}"]
    line = ["B"] * len(first) + ["A", "B", "A", "B"]
    found = seen("".join(line), A=writing(path, "BEGIN EXCLUSIVE", 1), B=reading)
    assert found.able == ["AB"] * len(first) + ["AB", "AB", "A", "B"]
    assert found.steps == [
        *first, "A BEGIN EXCLUSIVE", "A INSERT INTO rows VALUES (1)", "B SELECT count(*) FROM rows",
        "A COMMIT", "B SELECT count(*) FROM rows",
    ]  # fmt: skip
    assert counted == [1]


def test_one_that_reads_before_it_writes_can_go_on_and_is_turned_away(path: Path) -> None:
    def upgrading() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN")
            db.execute("SELECT * FROM rows").fetchall()
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                db.execute(INSERT)

    found = seen("BABA", A=writing(path, "BEGIN IMMEDIATE", 2), B=upgrading)
    assert found.able == ["AB", "AB", "AB", "A"]
    assert rows(path) == [2]


def test_whoever_waits_is_told_of_a_lock_that_is_let_go_by_the_next_statement(path: Path) -> None:
    counted: list[int] = []

    def holding() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN EXCLUSIVE")
            db.execute("ROLLBACK")
            db.execute("SELECT 1")
            db.execute("SELECT 2")

    def reading() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            counted.extend(db.execute("SELECT count(*) FROM rows").fetchone())

    found = seen("ABABA", A=holding, B=reading)
    assert found.able == ["AB", "AB", "A", "AB", "A", "A"]
    assert counted == [0]


def test_a_lock_that_is_kept_for_ever_is_a_deadlock(path: Path) -> None:
    kept = []

    def keeping() -> None:
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        kept.append(db)
        db.execute("BEGIN EXCLUSIVE")

    def reading() -> None:
        with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.OperationalError):
            db.execute("SELECT * FROM rows")

    with pytest.raises(Deadlock, match=r"^deadlock: B waits at SELECT \* FROM rows$"):
        seen("AB", A=keeping, B=reading)
    kept[0].close()


@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
def test_what_is_dropped_without_being_closed_is_gone_when_it_is_collected(path: Path) -> None:
    def dropping() -> None:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        db.execute(INSERT)
        del db
        gc.collect()

    found = seen("AB", A=dropping, B=writing(path, "BEGIN IMMEDIATE", 2))
    assert found.able == ["AB", "B", "B"]
    assert rows(path) == [2]


def test_a_transaction_that_was_closed_in_its_midst_holds_nothing(path: Path) -> None:
    def leaving() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")

    found = seen("AB", A=leaving, B=writing(path, "BEGIN IMMEDIATE", 2))
    assert found.able == ["AB", "B", "B"]


# -- what is not traced ----------------------------------------------------------------------------


def test_what_no_worker_has_opened_is_not_traced(path: Path) -> None:
    with Hub("A") as hub, SqliteTap(hub) as tap:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(INSERT)
        assert tap.statements == 0
        hub.call("A", lambda: rows(path))
        assert tap.statements == 1


def test_what_is_opened_when_the_tap_was_left_is_not_traced(path: Path) -> None:
    with Hub("A") as hub:
        with SqliteTap(hub) as tap:
            hub.call("A", lambda: rows(path))
        assert hub.call("A", lambda: rows(path)) == []
        assert hub.run({"A": lambda: rows(path)}, follow("")) == []
        assert tap.statements == 1
        with SqliteTap(hub) as another:
            hub.call("A", lambda: rows(path))
        assert (tap.statements, another.statements) == (1, 1)


def test_outside_a_schedule_statements_are_counted_and_nobody_stops(path: Path) -> None:
    with Hub("A") as hub, SqliteTap(hub) as tap:
        hub.call("A", writing(path, "BEGIN IMMEDIATE", 1))
        assert tap.statements == 3


def profiler(frame: FrameType, event: str, argument: object) -> None:
    """Another's profiler: it must be there again when a connection is made."""


@pytest.mark.parametrize("before", [None, profiler])
def test_the_profiler_is_as_before(before: Any, path: Path) -> None:
    came: list[object] = []

    def opening() -> None:
        sys.setprofile(before)
        try:
            with closing(sqlite3.connect(path)), closing(sqlite3.connect(path)):
                came.append(sys.getprofile())
            came.append(sys.getprofile())
        finally:
            sys.setprofile(None)

    here = sys.getprofile()
    seen(A=opening)
    assert came == [before, before]
    assert sys.getprofile() is here


def test_a_connection_that_cannot_be_opened_leaves_no_profiler(folder: Path) -> None:
    came: list[object] = []

    def opening() -> None:
        with pytest.raises(sqlite3.OperationalError, match="unable to open"):
            sqlite3.connect(folder / "nowhere" / "rows.db")
        came.append(sys.getprofile())

    assert seen(A=opening).statements == 0
    assert came == [None]


# -- Pythons with SQLite built in ------------------------------------------------------------------

BUILT_IN = """
import sys, _sqlite3
del _sqlite3.__file__
from lawful.strategies.canary import distrust
sys.stdout.write(distrust())
"""


def _library_of_sqlite3() -> str | None:
    """Return the file of the SQLite that this process has loaded, if it is one of its own."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    return next((line.split()[-1] for line in lines if "libsqlite3" in line), None)


def built_in(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BUILT_IN],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_python_that_has_sqlite_in_itself_is_seen_through() -> None:
    library = _library_of_sqlite3()
    if library is None:
        pytest.skip("this Python's SQLite is no library of its own")
    assert built_in(LD_PRELOAD=library) == ""


def test_a_python_whose_sqlite_cannot_be_reached_says_so() -> None:
    if _library_of_sqlite3() is None:
        pytest.skip("this Python's SQLite is no library of its own")
    assert built_in() == "this Python's SQLite has no functions that can be reached"

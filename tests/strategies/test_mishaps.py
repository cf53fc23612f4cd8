"""A statement that fails, and one whose answer is lost, however it is sent."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from lawful.strategies.hub import Hub
from lawful.strategies.sqlite_tap import SqliteTap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import FrameType

    from lawful.strategies.accidents import Statement

INSERT = "INSERT INTO rows VALUES (1)"


@pytest.fixture
def path(folder: Path) -> Path:
    """A database with an empty table ``rows``."""
    path = folder / "rows.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE rows (value UNIQUE)")
    return path


def rows(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as db:
        return [value for (value,) in db.execute("SELECT value FROM rows ORDER BY rowid")]


class Came(NamedTuple):
    """What came of a job.

    Attributes:
        statements: Its statements.
        error: What it raised, as text; empty if nothing.
    """

    statements: list[Statement]
    error: str

    @property
    def lands(self) -> list[int]:
        """The numbers of the statements that land."""
        return [number for number, each in enumerate(self.statements, 1) if each.lands]


def done(job: Callable[[], Any], *, lost: int = 0, interrupted: int = 0) -> Came:
    """Do a job, one statement of which goes wrong."""
    with Hub("A", 5.0) as hub, SqliteTap(hub, reduced=False) as tap:
        return did(hub, tap, job, lost=lost, interrupted=interrupted)


def did(
    hub: Hub, tap: SqliteTap, job: Callable[[], Any], *, lost: int = 0, interrupted: int = 0
) -> Came:
    statements: list[Statement] = []
    errors: list[str] = []

    def choose(able: Sequence[str], _: str | None) -> str:
        statements.append(tap.statement("A"))
        if len(statements) == lost:
            tap.lose("A")
        if len(statements) == interrupted:
            tap.interrupt("A")
        return able[0]

    def caught() -> None:
        try:
            job()
        except sqlite3.Error as error:
            errors.append(f"{type(error).__name__}: {error}")

    hub.run({"A": tap.endangered("A", caught)}, choose)
    return Came(statements, "".join(errors))


# -- ways to write ---------------------------------------------------------------------------------


def alone(db: sqlite3.Connection) -> None:
    db.execute(INSERT)


def by_a_cursor(db: sqlite3.Connection) -> None:
    with closing(db.cursor()) as cursor:
        cursor.execute(INSERT)


class Cursor(sqlite3.Cursor):
    """A cursor of a class of the implementation's."""

    def execute(self, *args: Any) -> Any:  # sqlite3's
        return super().execute(*args)


def by_a_cursor_of_its_own(db: sqlite3.Connection) -> None:
    with closing(db.cursor(Cursor)) as cursor:
        cursor.execute(INSERT)


def unbound(db: sqlite3.Connection) -> None:
    sqlite3.Connection.execute(db, INSERT)


def many(db: sqlite3.Connection) -> None:
    db.executemany("INSERT INTO rows VALUES (?)", [(1,), (2,)])


def in_a_script(db: sqlite3.Connection) -> None:
    db.executescript(f"BEGIN; {INSERT}; COMMIT")


def begun_and_committed(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    db.execute(INSERT)
    db.execute("COMMIT")


def begun_deferred_and_ended(db: sqlite3.Connection) -> None:
    db.execute("begin")
    db.execute(INSERT)
    db.execute(" /* as it used to be called */ end")


def in_a_with_block(db: sqlite3.Connection) -> None:
    with db:
        db.execute(INSERT)


def by_the_method(db: sqlite3.Connection) -> None:
    db.execute(INSERT)
    db.commit()


class Way(NamedTuple):
    """A way to write.

    Attributes:
        write: Writes.
        isolation: The connection's mode.
        lands: Which of the statements land.
        statements: How many there are; a transaction that sqlite3 begins by itself is one.
        rows: What is stored in the end.
    """

    write: Callable[[sqlite3.Connection], None]
    isolation: Any  # a literal of sqlite3's
    lands: list[int]
    statements: int
    rows: list[int]


WAYS = [
    Way(alone, None, [1], 1, [1]),
    Way(by_a_cursor, None, [1], 1, [1]),
    Way(by_a_cursor_of_its_own, None, [1], 1, [1]),
    Way(unbound, None, [1], 1, [1]),
    Way(many, None, [1, 2], 2, [1, 2]),
    Way(in_a_script, None, [3], 3, [1]),
    Way(begun_and_committed, None, [3], 3, [1]),
    Way(begun_deferred_and_ended, None, [3], 3, [1]),
    Way(in_a_with_block, "", [3], 3, [1]),
    Way(by_the_method, "", [3], 3, [1]),
    Way(by_the_method, "IMMEDIATE", [3], 3, [1]),
]
EACH = pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.write.__name__}{way.isolation}")


def writing(path: Path, way: Way, returned: list[bool] | None = None) -> Callable[[], None]:
    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=way.isolation)) as db:
            way.write(db)
            if returned is not None:
                returned.append(True)

    return job


@EACH
def test_it_is_known_which_statement_lands(way: Way, path: Path) -> None:
    came = done(writing(path, way))
    assert (came.lands, len(came.statements), came.error) == (way.lands, way.statements, "")
    assert rows(path) == way.rows


@EACH
def test_what_lands_is_there_though_its_call_raises_an_error(way: Way, path: Path) -> None:
    for number in way.lands:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM rows")
        returned: list[bool] = []
        came = done(writing(path, way, returned), lost=number)
        assert came.error == "OperationalError: disk I/O error"
        assert not returned  # it is the write that raises, and nothing later
        assert rows(path) == way.rows


DENIED = "attempt to write a readonly database"


@EACH
def test_what_fails_takes_no_effect_and_nothing_after_it_is_done(way: Way, path: Path) -> None:
    for number in range(1, way.statements + 1):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM rows")
        came = done(writing(path, way), interrupted=number)
        writes = way.statements == 3 and number == 2  # in a transaction, which must be left to it
        assert came.error == f"OperationalError: {DENIED if writes else 'interrupted'}"
        undone = number > 1 and way.write is in_a_with_block
        assert [each.undoes for each in came.statements[number:]] == [True] * undone
        assert rows(path) == [
            row for row, at in zip((1, 2), way.lands, strict=False) if at < number
        ]


def test_a_commit_that_fails_leaves_its_transaction_open(path: Path) -> None:
    found: list[bool] = []

    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            try:
                begun_and_committed(db)
            except sqlite3.OperationalError:
                found.append(db.in_transaction)
                db.execute("ROLLBACK")
            alone(db)

    came = done(job, interrupted=3)
    assert found == [True]
    assert [each.undoes for each in came.statements] == [False] * 3 + [True, False]
    assert rows(path) == [1]


def test_a_write_that_fails_in_a_transaction_leaves_what_was_written_before_it(path: Path) -> None:
    """What SQLite takes back by itself says nothing about who was to take it back."""
    found: list[tuple[bool, str]] = []

    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO rows VALUES (1)")
            try:
                db.execute("INSERT INTO rows VALUES (2)")
            except sqlite3.OperationalError as error:
                found.append((db.in_transaction, str(error)))
            db.execute("INSERT INTO rows VALUES (3)")
            db.execute("COMMIT")

    assert done(job, interrupted=3).error == ""
    assert found == [(True, DENIED)]
    assert rows(path) == [1, 3]


def test_a_connection_may_write_again_when_the_job_that_failed_is_done(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as db:
        with Hub("A", 5.0) as hub, SqliteTap(hub, reduced=False) as tap:
            tap.attach(db, "A")
            came = did(hub, tap, lambda: begun_and_committed(db), interrupted=2)
            assert came.error == f"OperationalError: {DENIED}"
        assert db.execute("PRAGMA query_only").fetchone() == (0,)


# -- what is left of a lost answer -----------------------------------------------------------------


def test_one_answer_is_lost_and_no_other(path: Path) -> None:
    caught: list[str] = []

    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for value in (1, 2, 3):
                try:
                    db.execute("INSERT INTO rows VALUES (?)", (value,))
                except sqlite3.OperationalError:
                    caught.append(f"{value} is lost")

    assert done(job, lost=2).error == ""
    assert caught == ["2 is lost"]
    assert rows(path) == [1, 2, 3]


def test_a_statement_that_fails_by_itself_takes_no_other_answer_with_it(path: Path) -> None:
    def job() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            alone(db)
            with pytest.raises(sqlite3.IntegrityError):
                alone(db)
            db.execute("INSERT INTO rows VALUES (2)")

    assert done(job, lost=2).error == ""
    assert rows(path) == [1, 2]


def test_an_answer_that_nobody_waited_for_is_not_lost_later(path: Path) -> None:
    """What a profiler of the implementation's own is in the way of is lost in this job or never."""

    def unprofiled() -> None:
        sys.setprofile(None)
        writing(path, WAYS[0])()

    with Hub("A", 5.0) as hub, SqliteTap(hub, reduced=False) as tap:
        assert did(hub, tap, unprofiled, lost=1).error == ""
        assert did(hub, tap, lambda: None).error == ""
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM rows")
        assert did(hub, tap, writing(path, WAYS[0])).error == ""


def profiler(frame: FrameType, event: str, argument: object) -> None:
    """Another's profiler."""


@pytest.mark.parametrize("before", [None, profiler])
def test_the_profiler_is_as_before_when_an_answer_was_lost(before: Any, path: Path) -> None:
    came: list[object] = []

    with Hub("A", 5.0) as hub, SqliteTap(hub, reduced=False) as tap:
        endangered = tap.endangered("A", writing(path, WAYS[0]))

        def job() -> None:
            sys.setprofile(before)
            try:
                with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                    endangered()
                came.append(sys.getprofile())
            finally:
                sys.setprofile(None)

        def choose(able: Sequence[str], _: str | None) -> str:
            tap.lose("A")
            return able[0]

        hub.run({"A": job}, choose)
    assert came == [before]

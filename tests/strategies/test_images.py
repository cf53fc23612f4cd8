"""What is in a store's files at one instant, and that looking costs the store nothing."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lawful.strategies.images import Camera, Image, unsound
from leftovers import descriptors, needs_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRITE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    db.execute("INSERT INTO rows VALUES ('theirs')")
    print("written")
except sqlite3.OperationalError as error:
    print(error)
finally:
    db.close()
"""


def another_process_writes(path: Path) -> str:
    """Have another process write to a database, and return what came of it."""
    done = subprocess.run(
        [sys.executable, "-c", WRITE, path], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def database(path: Path, journal: str = "DELETE") -> sqlite3.Connection:
    """Make a database with an empty table ``rows``, and return a connection to it."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute("CREATE TABLE rows (value)")
    return db


def rows(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [value for (value,) in db.execute("SELECT value FROM rows ORDER BY rowid")]


# -- an image --------------------------------------------------------------------------------------


def test_what_is_restored_is_what_was_there_in_its_folders(folder: Path) -> None:
    store, there = folder / "store", folder / "there"
    (store / "a" / "b").mkdir(parents=True)
    (store / "empty").mkdir()
    (store / "top").write_bytes(b"1")
    (store / "a" / "b" / "deep").write_bytes(b"\x00\xff")
    (store / "none").write_bytes(b"")
    with Camera(store) as camera:
        image = camera.take()
    assert image == Image(
        (("a/b/deep", b"\x00\xff"), ("none", b""), ("top", b"1")), ("a", "a/b", "empty")
    )
    image.restore(there)
    with Camera(there) as camera:
        assert camera.take() == image
    assert (there / "empty").is_dir()


def test_the_index_of_a_log_is_left_out_and_the_log_is_not(folder: Path) -> None:
    store = folder / "store"
    store.mkdir()
    with Camera(store) as camera, closing(database(store / "rows.db", "WAL")) as db:
        db.execute("INSERT INTO rows VALUES ('mine')")
        assert (store / "rows.db-shm").exists()
        image = camera.take()
    assert [name for name, _ in image.files] == ["rows.db", "rows.db-wal"]
    image.restore(folder / "there")
    assert rows(folder / "there" / "rows.db") == ["mine"]


def test_journals_come_and_go_from_one_image_to_the_next(folder: Path) -> None:
    store = folder / "store"
    store.mkdir()
    path, images = store / "rows.db", []
    with Camera(store) as camera, closing(database(path)) as db:
        for value in ("first", "second"):
            db.execute("BEGIN")
            db.execute("INSERT INTO rows VALUES (?)", (value,))
            images.append(camera.take())
            db.execute("COMMIT")
            images.append(camera.take())
    names = [[name for name, _ in image.files] for image in images]
    assert names == [["rows.db", "rows.db-journal"], ["rows.db"]] * 2
    for number, image in enumerate(images):
        image.restore(folder / f"there-{number}")
    there = [rows(folder / f"there-{number}" / "rows.db") for number in range(4)]
    assert there == [[], ["first"], ["first"], ["first", "second"]]


def test_a_file_that_has_taken_the_place_of_another_is_the_one_that_is_taken(folder: Path) -> None:
    store = folder / "store"
    store.mkdir()
    (store / "kept").write_bytes(b"old")
    with Camera(store) as camera:
        assert camera.take().files == (("kept", b"old"),)
        (folder / "new").write_bytes(b"newer")
        (folder / "new").replace(store / "kept")
        assert camera.take().files == (("kept", b"newer"),)
        with (store / "kept").open("r+b") as file:
            file.truncate(1)
        assert camera.take().files == (("kept", b"n"),)
        (store / "kept").unlink()
        assert camera.take().files == ()


@needs_descriptors
def test_every_file_that_was_opened_is_closed_at_the_end(folder: Path) -> None:
    store = folder / "store"
    store.mkdir()
    for name in ("one", "two"):
        (store / name).write_bytes(b"")
    before = descriptors()
    with Camera(store) as camera:
        camera.take()
        camera.take()
        assert descriptors() == sorted([*before, str(store / "one"), str(store / "two")])
    assert descriptors() == before


# -- what looking costs ----------------------------------------------------------------------------


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_transaction_keeps_its_lock_while_images_are_taken(journal: str, folder: Path) -> None:
    path = folder / "rows.db"
    with Camera(folder) as camera, closing(database(path, journal)) as db:
        db.execute("BEGIN IMMEDIATE")
        camera.take()
        camera.take()
        assert another_process_writes(path) == "database is locked"
        db.execute("INSERT INTO rows VALUES ('mine')")
        camera.take()
        assert another_process_writes(path) == "database is locked"
        db.execute("COMMIT")
        assert another_process_writes(path) == "written"
    assert rows(path) == ["mine", "theirs"]


def copied(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".copy"))


def read(path: Path) -> None:
    path.read_bytes()


@pytest.mark.parametrize("look", [copied, read])
def test_why_a_plain_copy_will_not_do(look: Callable[[Path], None], folder: Path) -> None:
    """Closing any descriptor of a file lets go of all locks that the process has on it."""
    path = folder / "rows.db"
    with closing(database(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        look(path)
        assert another_process_writes(path) == "written"
    assert rows(path) == ["theirs"]


# -- what is wrong with a database -----------------------------------------------------------------


def filled(path: Path) -> bytes:
    """Make a database of several pages, and return what is in its file."""
    with closing(database(path)) as db:
        db.execute("INSERT INTO rows SELECT hex(randomblob(2000)) FROM (VALUES (1), (2), (3))")
    return path.read_bytes()


def test_nothing_is_wrong_with_a_whole_database_or_with_what_is_none(folder: Path) -> None:
    (folder / "within").mkdir()
    filled(folder / "within" / "rows.db")
    (folder / "notes.db").write_text("no database")
    (folder / "empty.db").write_bytes(b"")
    assert unsound(folder) == ""


def test_a_transaction_that_is_under_way_is_undone_and_nothing_is_wrong(folder: Path) -> None:
    store = folder / "store"
    store.mkdir()
    with Camera(store) as camera, closing(database(store / "rows.db")) as db:
        db.execute("BEGIN")
        db.execute("INSERT INTO rows VALUES ('mine')")
        image = camera.take()
    image.restore(folder / "there")
    assert unsound(folder / "there") == ""
    assert rows(folder / "there" / "rows.db") == []


def test_half_a_database_and_what_only_begins_like_one_are_named(folder: Path) -> None:
    torn = folder / "torn.db"
    torn.write_bytes(filled(torn)[:5000])
    assert unsound(folder) == "torn.db: database disk image is malformed"
    torn.write_bytes(b"SQLite format 3\x00" + b"x" * 5000)
    assert unsound(folder) == "torn.db: file is not a database"


def test_a_function_of_the_stores_own_is_no_damage(folder: Path) -> None:
    with closing(database(folder / "rows.db")) as db:
        db.create_function("own", 1, lambda value: value, deterministic=True)
        db.execute("CREATE TABLE checked (value CHECK (own(value) = value))")
        db.execute("INSERT INTO checked VALUES ('mine')")
    assert unsound(folder) == ""

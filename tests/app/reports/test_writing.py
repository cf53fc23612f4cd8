"""Files written whole or not at all."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from lawful.reports.writing import WriteError, write
from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from pathlib import Path


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


def test_a_file_is_written_as_utf_8_with_nothing_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "out.txt", "✓\n\ud800")
    assert (tmp_path / "out.txt").read_bytes() == b"\xe2\x9c\x93\n\\ud800"
    assert names(tmp_path) == ["out.txt"]


def test_a_new_file_is_as_readable_as_the_umask_says(tmp_path: Path) -> None:
    write(tmp_path / "ours.txt", "x")
    (tmp_path / "theirs.txt").write_text("x")
    modes = {(tmp_path / name).stat().st_mode for name in ("ours.txt", "theirs.txt")}
    assert len(modes) == 1


@pytest.mark.parametrize("step", ["fsync", "rename"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(type(path), "replace", fail)
    with pytest.raises(WriteError, match="No space left on device") as caught:
        write(path, "new")
    assert isinstance(caught.value, LawfulError)
    assert caught.value.path == path
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


def test_the_file_is_whole_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    seen: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(path.read_text()))
    write(path, "new")
    assert seen == ["old"]
    assert path.read_text() == "new"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "out.txt"
    with pytest.raises(WriteError, match=r"there is no folder '.*nowhere'; create it first"):
        write(path, "x")
    assert not path.parent.exists()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="it is a folder; name a file in it"):
        write(tmp_path, "x")


def test_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WriteError, match="cannot write"):
        write(tmp_path / "file" / "out.txt", "x")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_pipe_is_written_straight(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write(pipe, "through")
    reader.join(5)
    assert got == ["through"]
    assert pipe.is_fifo()

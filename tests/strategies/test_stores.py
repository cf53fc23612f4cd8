"""Stores live in a folder of their own, which is gone afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.spec import LawfulError
from lawful.strategies.stores import store_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_is_made_where_it_is_wanted_and_removed_afterwards(tmp_path: Path) -> None:
    with store_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
        (folder / "tasks.db").write_text("rows")
    assert list(tmp_path.iterdir()) == []


def test_it_is_removed_when_the_run_is_interrupted(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), store_folder(tmp_path):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_by_default_it_is_empty_and_gone_afterwards() -> None:
    with store_folder() as folder:
        assert list(folder.iterdir()) == []
    assert not folder.exists()


def test_a_place_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(LawfulError, match="no store can be made in"), store_folder(tmp_path / "no"):
        pass

"""Known divergences: pinned with a reason, and never more than is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.laws.known import KnownError, Pin, apply, pins_of, read_known, write_known
from lawful.laws.law import Check, Status

if TYPE_CHECKING:
    from pathlib import Path

FAILING = Check("cell/done/retry", Status.FAIL, "refused", got="accepted")
PASSING = Check("cell/done/done", Status.PASS, "refused")
IDS = ["cell/done/retry", "cell/done/done"]


def pin(got: str = "accepted", name: str = "cell/done/retry") -> dict[str, Pin]:
    return {name: Pin(name, got, "documented")}


def test_a_pinned_outcome_that_stays_is_known_with_its_reason() -> None:
    (check,) = apply([FAILING], pin())
    assert (check.status, check.cause) == (Status.KNOWN, "documented")


def test_one_that_has_turned_into_another_has_moved() -> None:
    (check,) = apply([FAILING], pin("refused for the wrong reason"))
    assert check.status is Status.MOVED
    assert check.note == "pinned as: refused for the wrong reason"


def test_one_that_is_gone_is_stale() -> None:
    (check,) = apply([PASSING], pin(name="cell/done/done"))
    assert check.status is Status.STALE
    assert "remove its entry" in check.note


def test_what_is_not_pinned_stays_as_it_is() -> None:
    assert apply([FAILING, PASSING], {}) == [FAILING, PASSING]


def test_only_what_is_broken_is_recorded_and_an_old_reason_is_kept() -> None:
    before = pin()
    other = Check("cell/done/done", Status.ERROR, "refused", got="raised")
    assert pins_of([FAILING, PASSING], "new", before) == [before["cell/done/retry"]]
    assert pins_of([other], "new", before) == [Pin("cell/done/done", "raised", "new")]


@pytest.mark.parametrize("got", ['"quoted"\n', "tab\t, bell\a, delete\x7f", "✗ 取消", "\\"])
def test_what_is_written_is_read_back(tmp_path: Path, got: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(write_known([Pin("cell/done/retry", got, "why")]), encoding="utf-8")
    assert read_known(path, IDS) == {"cell/done/retry": Pin("cell/done/retry", got, "why")}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "format is None; expected 'lawful-known/1'"),
        ("format = 'lawful-known/2'", "format is 'lawful-known/2'"),
        ("format = ", "is not TOML"),
        ("format = 'lawful-known/1'\nmore = 1", "nothing else"),
        ("format = 'lawful-known/1'\nknown = 1", "nothing else"),
        ("format = 'lawful-known/1'\nknown = [1]", "known 1: expected exactly id, got, reason"),
        ("format = 'lawful-known/1'\n[[known]]\nid = 'x'", "expected exactly id, got, reason"),
        (
            "format = 'lawful-known/1'\n[[known]]\nid = 'cell/done/retri'\ngot = 'x'\nreason = 'y'",
            "there is no check 'cell/done/retri'; did you mean 'cell/done/retry'?",
        ),
        (
            "format = 'lawful-known/1'\n[[known]]\nid = 'cell/done/retry'\ngot = 'x'\nreason = ' '",
            "known 1: reason is ' '; text is expected",
        ),
        (
            "format = 'lawful-known/1'\n"
            + "[[known]]\nid = 'cell/done/retry'\ngot = 'x'\nreason = 'y'\n" * 2,
            "known 2: 'cell/done/retry' stands twice",
        ),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(KnownError) as refused:
        read_known(path, IDS)
    assert says in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_too_large_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="can't be read"):
        read_known(tmp_path / "none.toml", IDS)
    path = tmp_path / "known.toml"
    path.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(KnownError, match="at most 1048576 are read"):
        read_known(path, IDS)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(KnownError, match="is not TOML"):
        read_known(path, IDS)

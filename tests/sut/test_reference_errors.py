"""What the reference's refusals say: whom they are about, why, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.sut.reference import (
    DuplicateTask,
    IllegalTransition,
    StaleLease,
    UnknownTask,
    VersionConflict,
)

if TYPE_CHECKING:
    from lawful.sut.reference import (
        TaskError,
    )


@pytest.mark.parametrize(
    ("kind", "about", "said"),
    [
        (
            IllegalTransition,
            ("t", "queued", "fail", ["start", "cancel"]),
            "task 't' is queued and refuses fail; allowed from here: start, cancel",
        ),
        (
            IllegalTransition,
            ("t", "failed", "start", []),
            "task 't' is failed and refuses start; it is terminal",
        ),
        (
            VersionConflict,
            ("t", 2, 0),
            "task 't' was expected at version 2, but it is at 0; read it again",
        ),
        (
            VersionConflict,
            ("t", 2, None),
            "task 't' was expected at version 2, but another write came between; read it again",
        ),
        (
            StaleLease,
            ("t", "w", None, None, None),
            "'w' (no token) does not hold task 't'; nobody holds it; stop working on it",
        ),
        (
            StaleLease,
            ("t", "w", 0, "v", 5),
            "'w' (token 0) does not hold task 't'; 'v' holds it, token 5; stop working on it",
        ),
        (UnknownTask, ("t",), "no task 't' was ever submitted"),
        (DuplicateTask, ("t",), "task 't' was submitted before; choose another id"),
    ],
)
def test_a_refusal_says_whom_it_is_about_and_what_to_do(
    kind: type[TaskError], about: tuple[object, ...], said: str
) -> None:
    error = kind(*about)  # type: ignore[arg-type] # each has its own
    assert str(error) == said
    assert error.task == "t"

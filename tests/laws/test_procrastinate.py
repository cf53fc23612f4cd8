"""procrastinate on PostgreSQL and its double in memory: where each leaves its own words.

What is expected here was found by hand, against the comments of its schema, before any adapter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.laws import Profile, Status, run
from lawful.strategies import describe
from miniatures import checks, shipped, workplace

if TYPE_CHECKING:
    from collections.abc import Callable

    from lawful.laws import Check

pytest.importorskip("procrastinate", reason="the extra `procrastinate` is not installed")

TERMINAL = ("succeeded", "cancelled", "aborted")
FINISHES = ("finish_succeeded", "finish_failed", "finish_aborted")


def broken(found: dict[str, Check]) -> set[str]:
    """Return the cells that are red."""
    return {
        name.removeprefix("cell/")
        for name, check in found.items()
        if name.startswith("cell/") and check.status in {Status.FAIL, Status.ERROR}
    }


def test_the_double_leaves_every_terminal_state_and_retries_what_is_to_be_aborted() -> None:
    found = checks(shipped("procrastinate-memory"))
    # By hand: whatever the status is, a finish, a retry and a cancel are written; a cancel is not
    # logged, and one of a job that is being aborted is the only one that changes nothing.
    ended = (*TERMINAL, "failed")
    expected = {f"{state}/{call}" for state in ended for call in (*FINISHES, "cancel", "retry")}
    expected -= {"failed/retry"}
    expected |= {f"todo/{call}" for call in (*FINISHES, "cancel", "retry")}
    expected |= {"doing/finish_aborted", "doing/cancel", "aborting/retry"}
    assert broken(found) == expected
    again = found["cell/aborting/retry"]
    assert again.trace == "fetch@client cancel@client retry@client"
    assert (again.expected, again.got) == ("failed", "todo")
    left = found["cell/succeeded/retry"]
    assert left.trace == "fetch@client finish_succeeded@client retry@client"
    assert "state 'succeeded' -> 'todo'" in left.got


@pytest.mark.slow
def test_the_database_lets_a_job_still_to_do_be_finished_and_logs_it_as_cancelled(
    server: Callable[[str], str],
) -> None:
    server("postgresql")
    with workplace() as folder:
        found = checks(run(describe("procrastinate"), folder, profile=Profile.QUICK))
    # By hand: finish_job takes `todo` too, and asks for no abort_requested; a second request to
    # abort is logged once more. No terminal state can be left.
    expected = {f"todo/{call}" for call in FINISHES} | {"doing/finish_aborted", "aborting/cancel"}
    assert broken(found) == expected
    assert found["absorption/terminal"].status is Status.PASS
    log = found["replay/fold"]
    assert log.trace == "finish_succeeded@client"
    assert (log.expected, log.got) == ("as the history says: state cancelled", "state succeeded")

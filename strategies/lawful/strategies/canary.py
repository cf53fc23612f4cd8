"""A race of our own making, run before any verdict: the naive one is caught, the right one passes.

An error in a callback of SQLite's is swallowed there. Were statements no longer seen, every
implementation would pass; so a program of which the answer is known is asked first.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from .hub import Hub
from .schedules import explore
from .sqlite_tap import SqliteTap, unfit
from .stores import store_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .schedules import Chooser

__all__ = ["distrust"]

_NAIVE: Final = "UPDATE job SET owner = ?"
_RIGHT: Final = "UPDATE job SET owner = ? WHERE owner IS NULL"


@lru_cache(maxsize=1)
def distrust() -> str:
    """Say why schedules can't be believed here; empty if they can."""
    if reason := unfit():
        return reason
    with store_folder() as folder:
        if not _both_win(folder / "naive", _NAIVE):
            return "its canary was not caught: two workers took one job, and no schedule showed it"
        if _both_win(folder / "right", _RIGHT):
            return "its canary was accused: of two workers that compare and set, both seemed to win"
    return ""


def _both_win(folder: Path, claim: str) -> bool:
    """Say whether some schedule of one preemption lets two workers take one job."""
    folder.mkdir()
    file = folder / "canary.db"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(file, isolation_level=None)

    with Hub("AB") as hub, SqliteTap(hub):

        def once(chooser: Chooser) -> bool:
            file.unlink(missing_ok=True)
            setup = connect()
            setup.execute("CREATE TABLE job (owner)")
            setup.execute("INSERT INTO job VALUES (NULL)")
            setup.close()
            won: list[str] = []
            opened = {name: hub.call(name, connect) for name in "AB"}
            jobs = {name: _worker(name, opened[name], claim, won) for name in "AB"}
            hub.run(jobs, chooser)
            for name in "AB":
                hub.call(name, opened[name].close)
            return len(won) == 2

        return any(list(explore(once, most=1)))


def _worker(name: str, db: sqlite3.Connection, claim: str, won: list[str]) -> Callable[[], None]:
    def job() -> None:
        (owner,) = db.execute("SELECT owner FROM job").fetchone()
        if owner is None and db.execute(claim, (name,) * claim.count("?")).rowcount:
            won.append(name)

    return job

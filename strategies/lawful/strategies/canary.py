"""A race of our own making, run before any verdict: the naive one is caught, the right one passes.

An error in a callback of SQLite's is swallowed there, and what goes past a door is not seen. Were
steps no longer seen, every implementation would pass; so a program of which the answer is known is
asked first.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from .hub import Hub
from .schedules import explore
from .servers import server_url
from .sqlite_tap import SqliteTap, unfit
from .stores import store_folder
from .turns import WireError
from .wire_canary import JOBS, both_win

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .schedules import Chooser

__all__ = ["distrust"]

_NAIVE: Final = "UPDATE job SET owner = ?"
_RIGHT: Final = "UPDATE job SET owner = ? WHERE owner IS NULL"


@lru_cache
def distrust(server: str = "") -> str:
    """Say why schedules can't be believed here; empty if they can.

    Args:
        server: The kind of server that they are about; empty for SQLite.

    Raises:
        ServerError: There is no such server.
    """
    if server:
        return _distrust_server(server)
    if reason := unfit():
        return reason
    with store_folder() as folder:
        naive, right = folder / "naive", folder / "right"
        return _told(
            caught=lambda: _both_win(naive, _NAIVE), accused=lambda: _both_win(right, _RIGHT)
        )


def _distrust_server(kind: str) -> str:
    url = server_url(kind)
    try:
        with JOBS[kind](url) as jobs:
            return _told(
                caught=lambda: both_win(jobs, url, naive=True),
                accused=lambda: both_win(jobs, url, naive=False),
            )
    except WireError as error:
        return str(error)


def _told(*, caught: Callable[[], bool], accused: Callable[[], bool]) -> str:
    if not caught():
        return "its canary was not caught: two workers took one job, and no schedule showed it"
    if accused():
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

"""The canary's race on a server: two workers and one job, through doors of their own.

Each kind of server has its client's usual way: a transaction over psycopg, commands over redis-py.
Both are imported when they are needed.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from .hub import Hub
from .schedules import explore
from .turns import WireError
from .wire import WireTap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .schedules import Chooser

__all__ = ["JOBS", "Jobs", "both_win"]


class Jobs(Protocol):
    """One job on a server that two workers take. Whoever enters it has it dropped at the end."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def reset(self) -> None:
        """Leave the job to nobody."""
        ...

    def taken(self, url: str, worker: str, *, naive: bool) -> bool:
        """Connect, take the job if nobody has it, and say whether that was so.

        Args:
            url: Where to connect.
            worker: Who takes it.
            naive: Whether to write without a second look.
        """
        ...


def both_win(jobs: Jobs, url: str, *, naive: bool) -> bool:
    """Say whether some schedule of one preemption lets two workers take one job.

    Raises:
        WireError: The server can't be reached through doors.
    """
    with Hub("AB") as hub, WireTap(hub, url) as tap:

        def once(chooser: Chooser) -> bool:
            jobs.reset()
            won: list[str] = []

            def job(name: str) -> Callable[[], None]:
                def take() -> None:
                    if jobs.taken(tap.address(name), name, naive=naive):
                        won.append(name)

                return take

            hub.run({name: job(name) for name in "AB"}, chooser)
            return len(won) == 2

        return any(list(explore(once, most=1)))


class _Table:
    """A table of a name of its own, with one row."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
            from psycopg import sql
        except ImportError as error:
            raise _missing("postgresql", "psycopg") from error
        self._connect = psycopg.connect
        table = sql.Identifier(f"lawful_canary_{secrets.token_hex(8)}")
        self._make = sql.SQL("CREATE TABLE {} (owner text)").format(table)
        self._drop = sql.SQL("DROP TABLE {}").format(table)
        self._reset = sql.SQL("TRUNCATE {0}; INSERT INTO {0} VALUES (NULL)").format(table)
        self._look = sql.SQL("SELECT owner FROM {}").format(table)
        self._naive = sql.SQL("UPDATE {} SET owner = %s").format(table)
        self._right = sql.SQL("UPDATE {} SET owner = %s WHERE owner IS NULL").format(table)
        try:
            self._db = psycopg.connect(url, autocommit=True)
        except psycopg.Error as error:
            raise WireError(f"its canary can't be run: {error}") from error
        try:
            self._db.execute(self._make)
        except psycopg.Error as error:
            self._db.close()
            raise WireError(f"its canary needs a table of its own: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._db.execute(self._drop)
        finally:
            self._db.close()

    def reset(self) -> None:
        self._db.execute(self._reset)

    def taken(self, url: str, worker: str, *, naive: bool) -> bool:
        won = False
        with self._connect(url) as db:
            row = db.execute(self._look).fetchone()
            if row == (None,):
                won = db.execute(self._naive if naive else self._right, (worker,)).rowcount == 1
        return won


class _Key:
    """A key of a name of its own."""

    def __init__(self, url: str) -> None:
        try:
            import redis
        except ImportError as error:
            raise _missing("redis", "redis") from error
        self._connect: Any = redis.Redis.from_url  # its types say less than it does
        self._key = f"lawful:canary:{secrets.token_hex(8)}"
        self._db = self._connect(url)
        try:
            self._db.ping()
        except redis.RedisError as error:
            self._db.close()
            raise WireError(f"its canary can't be run: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._db.delete(self._key)
        finally:
            self._db.close()

    def reset(self) -> None:
        self._db.delete(self._key)

    def taken(self, url: str, worker: str, *, naive: bool) -> bool:
        with self._connect(url) as db:
            return db.get(self._key) is None and bool(db.set(self._key, worker, nx=not naive))


def _missing(extra: str, package: str) -> WireError:
    return WireError(f"a schedule over it needs {package}: pip install 'lawful[{extra}]'")


JOBS: Final[Mapping[str, Callable[[str], Jobs]]] = {"postgresql": _Table, "redis": _Key}
"""The job, by the kind of server."""

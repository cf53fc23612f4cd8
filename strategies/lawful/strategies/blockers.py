"""PostgreSQL's own word on its sessions: who waits for whom, and who is still there.

It is asked on a connection of our own, that no worker's schedule concerns. psycopg is needed, and
loaded when the first question is to be asked.
"""

from __future__ import annotations

from typing import LiteralString

from .turns import WireError

__all__ = ["Blockers"]


class Blockers:
    """A connection to ask on.

    Args:
        url: Where the server is.

    Raises:
        WireError: psycopg is not installed, or the server lets nobody in.
    """

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise WireError(
                "a schedule over PostgreSQL needs psycopg, to ask the server who waits: "
                "pip install 'lawful[postgresql]'"
            ) from error
        try:
            self._db = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        except psycopg.Error as error:
            raise WireError(f"PostgreSQL can't be asked who waits: {error}") from error

    def __enter__(self) -> Blockers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def of(self, session: int) -> tuple[int, ...]:
        """Return the sessions that one waits for now; none, if it is at work or idle."""
        return tuple(self._asked("SELECT pg_blocking_pids(%s)", session))

    def has(self, session: int) -> bool:
        """Say whether a session is still there, and may hold something."""
        found = self._asked("SELECT array_agg(pid) FROM pg_stat_activity WHERE pid = %s", session)
        return bool(found)

    def end(self, session: int) -> None:
        """End a session, whatever it waits for."""
        self._db.execute("SELECT pg_terminate_backend(%s)", (session,))

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def _asked(self, question: LiteralString, session: int) -> list[int]:
        row = self._db.execute(question, (session,)).fetchone()
        found: list[int] | None = row[0] if row else None
        return found or []

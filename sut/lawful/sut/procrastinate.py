"""Adapters for the PyPI package ``procrastinate`` (3.10): on PostgreSQL, and its double in memory.

They pass every call through as it is and repair nothing. The package is imported when a store is
opened. Its connector in memory is what it ships for its users' tests.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lawful.sut.contract import Entry, Implementation, Reading, Refusal, Unsupported
from lawful.sut.namespaces import Namespaces

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from lawful.sut.contract import Clock

__all__ = ["NothingDone", "Procrastinate", "ProcrastinateMemory", "Raised", "UnknownJob"]

LOG: Final[Mapping[str, tuple[str | None, str | None, str]]] = {
    "deferred": (None, None, "todo"),
    "started": ("fetch", "todo", "doing"),
    "deferred_for_retry": ("retry", "doing", "todo"),
    "failed": ("finish_failed", "doing", "failed"),
    "succeeded": ("finish_succeeded", "doing", "succeeded"),
    "cancelled": ("cancel", "todo", "cancelled"),
    "abort_requested": ("cancel", "doing", "aborting"),
    "aborted": ("finish_aborted", "aborting", "aborted"),
    "retried": ("retry", "failed", "todo"),
}
"""What each line of the log stands for, by the comments of the schema."""

NO_LEASE: Final = Unsupported("a job is not leased: its worker beats, and nobody takes it away")


class UnknownJob(KeyError):
    """``list_jobs`` has returned no job of this id."""


class NothingDone(Exception):
    """``cancel_job_by_id`` has returned False: nothing was done, for either of two reasons."""


class Raised(Exception):
    """A function of procrastinate's in the database has raised; for which reason, its text says."""


class _Jobs(Implementation):
    """What both connectors share: the calls of a job manager."""

    lifecycle = "procrastinate"
    system = "procrastinate"
    gaps: ClassVar = {
        "actor": Unsupported("no call but the fetch names its worker"),
        "attempts": Unsupported("they are counted when they end, and not when they start"),
        "clock": Unsupported("it reads the wall clock"),
        "due": Unsupported("a job for later is in todo like any other"),
        "expected_version": Unsupported("a job has no version"),
        "heartbeat": Unsupported("a worker beats, and not a job"),
        "lease_owner": NO_LEASE,
        "lease_token": NO_LEASE,
        "lease_until": NO_LEASE,
        "poison": Unsupported("there is no reaper for a bad row to stop"),
        "put": Unsupported("a job always begins in todo"),
        "reap": Unsupported("stalled jobs are listed; what becomes of them is the user's to write"),
        "token": NO_LEASE,
        "version": Unsupported("a job has no version"),
    }

    app: Any
    """The app in use, once opened."""
    workers: dict[str, int]
    """The number of each worker that has fetched."""

    async def _open(self, connector: Any) -> None:
        from procrastinate import App

        self.app = App(connector=connector)
        self.workers = {}
        await self.app.open_async()

    async def close(self) -> None:
        """Close the app."""
        await self.app.close_async()

    @property
    def manager(self) -> Any:
        """The job manager."""
        return self.app.job_manager

    async def submit(self, params: Mapping[str, int], *, task: str | None = None) -> int:
        """Defer a job. Its id is the queue's; ``task`` becomes an argument of its."""
        for name in sorted(params):
            raise ValueError(f"unknown parameter {name!r}: the queue has none")
        made: int = await self.app.configure_task("lawful").defer_async(task=task)
        return made

    async def read(self, task: int) -> Reading:
        """List a job."""
        jobs = list(await self.manager.list_jobs_async(id=task))
        if not jobs:
            raise UnknownJob(task)
        (job,) = jobs
        asked = job.status == "doing" and job.abort_requested
        return Reading("aborting" if asked else job.status)

    async def claim(self, actor: str) -> int | None:
        """Fetch the first job in the queue, if any, for a worker that has registered."""
        if actor not in self.workers:
            self.workers[actor] = await self.manager.register_worker()
        job = await self.manager.fetch_job(queues=None, worker_id=self.workers[actor])
        return None if job is None else job.id

    async def finish_succeeded(self, task: int) -> None:
        """Finish a job as succeeded."""
        await self._finish(task, "succeeded")

    async def finish_failed(self, task: int) -> None:
        """Finish a job as failed."""
        await self._finish(task, "failed")

    async def finish_aborted(self, task: int) -> None:
        """Finish a job as aborted."""
        await self._finish(task, "aborted")

    async def _finish(self, task: int, status: str) -> None:
        from procrastinate.jobs import Status

        await self.manager.finish_job_by_id_async(task, Status(status), delete_job=False)

    async def cancel(self, task: int) -> None:
        """Cancel a job, or ask that it be aborted."""
        if not await self.manager.cancel_job_by_id_async(task, abort=True):
            raise NothingDone

    async def retry(self, task: int) -> None:
        """Have a job tried again, at once."""
        from procrastinate.utils import utcnow

        await self.manager.retry_job_by_id_async(task, utcnow())

    async def history(self, task: int) -> list[Entry]:
        """Return the log of a job, as far as it tells of transitions."""
        lines: list[Entry] = []
        for kind in await self._log(task):
            if kind not in LOG:
                continue
            event, before, after = LOG[kind]
            state = lines[-1].after if lines else None
            if kind == "abort_requested" and state != "doing":
                continue  # a field that was set, and no transition
            if before == "doing" and state == "aborting":
                before = state  # `doing` in the words of the schema, with the field set
            lines.append(Entry(None, event, before, after))
        if not lines:
            raise UnknownJob(task)
        return lines

    async def _log(self, task: int) -> Sequence[str]:
        """Return the kinds of a job's log lines, oldest first."""
        raise NotImplementedError

    def absent(self) -> int:
        """Return an id that was never given out: they are counted from 1."""
        return 2**62


class ProcrastinateMemory(_Jobs):
    """The connector in memory that procrastinate ships for its users' tests."""

    refusals: ClassVar = {
        UnknownJob: Refusal.UNKNOWN_TASK,
        KeyError: Refusal.UNKNOWN_TASK,  # what the double raises for an id that it hasn't
        NothingDone: {Refusal.ILLEGAL, Refusal.UNKNOWN_TASK},
    }
    gaps: ClassVar = {
        **_Jobs.gaps,
        "crash": Unsupported("it keeps nothing: it is for tests alone"),
        "restart": Unsupported("it keeps nothing: it is for tests alone"),
        "second_connection": Unsupported("it is in one process's memory"),
    }

    async def open(self, path: Path, clock: Clock) -> None:
        """Open an app on a new connector."""
        from procrastinate.testing import InMemoryConnector

        self.connector = InMemoryConnector()
        await self._open(self.connector)

    async def _log(self, task: int) -> Sequence[str]:
        return [line["type"] for line in self.connector.events.get(task, ())]

    def dump(self, task: int | None = None) -> object:
        """Return the rows of jobs and their log lines, of one job or of all."""
        jobs, events = self.connector.jobs, self.connector.events
        return tuple(
            (number, tuple(sorted((k, repr(v)) for k, v in row.items())), repr(events.get(number)))
            for number, row in sorted(jobs.items())
            if task in (None, number)
        )


class Procrastinate(_Jobs):
    """procrastinate on PostgreSQL, each store in a schema of its own."""

    server = "postgresql"
    refusals: ClassVar = {
        UnknownJob: Refusal.UNKNOWN_TASK,
        NothingDone: {Refusal.ILLEGAL, Refusal.UNKNOWN_TASK},
        Raised: {Refusal.ILLEGAL, Refusal.UNKNOWN_TASK},
    }

    async def open(self, path: Path, clock: Clock) -> None:
        """Open an app, and apply the schema of procrastinate where it is not yet."""
        from procrastinate import PsycopgConnector
        from psycopg.conninfo import make_conninfo

        schema, gone = STORES.enter(self.url, path)
        _drop(self.url, gone)
        is_new = _create(self.url, schema)
        there = make_conninfo(self.url, options=f"-c search_path={schema}")
        await self._open(PsycopgConnector(conninfo=there, min_size=1, max_size=1))
        if is_new:
            await self.app.schema_manager.apply_schema_async()

    async def _finish(self, task: int, status: str) -> None:
        with _told():
            await super()._finish(task, status)

    async def retry(self, task: int) -> None:
        """Have a job tried again, at once."""
        with _told():
            await super().retry(task)

    async def _log(self, task: int) -> Sequence[str]:
        rows = await self.app.connector.execute_query_all_async(
            "SELECT type FROM procrastinate_events WHERE job_id = %(task)s ORDER BY id", task=task
        )
        return [row["type"] for row in rows]

    async def dump(self, task: int | None = None) -> object:
        """Return the rows of jobs and their log lines, of one job or of all."""
        queries = (
            "SELECT * FROM procrastinate_jobs WHERE %(task)s::bigint IN (id, 0) ORDER BY id",
            "SELECT * FROM procrastinate_events WHERE %(task)s::bigint IN (job_id, 0) ORDER BY id",
        )
        found = [
            await self.app.connector.execute_query_all_async(query, task=task or 0)
            for query in queries
        ]
        return tuple(
            tuple(tuple((key, repr(value)) for key, value in row.items()) for row in rows)
            for rows in found
        )


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Tell what a function of procrastinate's in the database has raised from any other error."""
    import psycopg.errors
    from procrastinate.exceptions import ConnectorException

    try:
        yield
    except ConnectorException as error:
        if isinstance(error.__cause__, psycopg.errors.RaiseException):
            raise Raised(str(error.__cause__)) from error
        raise


def _create(url: str, schema: str) -> bool:
    """Make a schema; say whether it is new."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    with psycopg.connect(url, autocommit=True) as db:
        found = db.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone()
        if found is None:
            db.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
    return found is None


def _drop(url: str, schemas: Collection[str]) -> None:
    import psycopg
    from psycopg.sql import SQL, Identifier

    if schemas:
        with psycopg.connect(url, autocommit=True) as db:
            for schema in schemas:
                db.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(schema)))


STORES: Final = Namespaces(_drop)

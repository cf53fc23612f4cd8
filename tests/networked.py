"""The lifecycle ``task`` on PostgreSQL and Redis, with other ways to meet another's write.

Each obeys the table, call by call: how it differs shows only when two calls meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from psycopg.errors import SerializationFailure

from lawful.sut import Refusal
from lawful.sut.postgresql import Postgresql, PostgresqlStore
from lawful.sut.redis_store import Redis, RedisStore

if TYPE_CHECKING:
    from typing import LiteralString

__all__ = ["Blind", "Comparing", "Repeatable", "Unwatched"]


class ComparingStore(PostgresqlStore):
    """No lock. A heartbeat changes no version, so the lease is compared as well."""

    lock = ""
    predicate = (
        " AND version = %(read_version)s AND lease_until IS NOT DISTINCT FROM %(read_until)s"
    )


class BlindStore(PostgresqlStore):
    """No lock and no comparison, and the last line of a version's history stays."""

    lock = ""
    predicate = ""

    def _change(self, query: LiteralString, **values: object) -> int:
        if query.startswith("INSERT INTO lawful.task_events"):
            query += (
                " ON CONFLICT (store, task, version) DO UPDATE SET event = EXCLUDED.event,"
                " before = EXCLUDED.before, after = EXCLUDED.after, actor = EXCLUDED.actor,"
                " payload = EXCLUDED.payload, at = EXCLUDED.at"
            )
        return super()._change(query, **values)


class RepeatableStore(BlindStore):
    """The same at an isolation level at which the server compares."""

    isolation = "REPEATABLE_READ"


class UnwatchedStore(RedisStore):
    """MULTI without WATCH: what is written is whole, and may be out of date."""

    watches = False


class Comparing(Postgresql):
    """Whoever comes too late is told so: it is right."""

    keeps = ComparingStore


class Blind(Postgresql):
    """Every update is written; the last one stays."""

    keeps = BlindStore


class Repeatable(Postgresql):
    """Whoever comes too late is told so by the server: it is right."""

    keeps = RepeatableStore
    refusals: ClassVar = {**Postgresql.refusals, SerializationFailure: Refusal.STALE_VERSION}


class Unwatched(Redis):
    """Every update is written; the last one stays."""

    keeps = UnwatchedStore

"""The lifecycle ``task`` on Redis, through redis-py: WATCH and MULTI, or a script that compares.

A task is a hash, its history a list; beside them stand all ids, the leases by their end, and what
is due. Redis undoes nothing: a change is compared first, and then written whole. redis-py is
imported when a store is opened.
"""

from __future__ import annotations

import contextlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from lawful.sut.namespaces import Namespaces
from lawful.sut.reference.errors import DuplicateTask, UnknownTask, VersionConflict
from lawful.sut.reference.machine import State, step
from lawful.sut.reference.records import Change, Row
from lawful.sut.reference.storing import TaskStore, task_of
from lawful.sut.reference.system import TaskSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from lawful.sut.contract import Clock
    from lawful.sut.reference.machine import Task
    from lawful.sut.reference.records import Dump

__all__ = ["LuaStore", "Redis", "RedisLua", "RedisStore"]

# redis-py's types say text or bytes, whatever was asked for, and change from version to version.
Client: TypeAlias = Any

OWED: Final = frozenset({State.SUBMITTED, State.RETRY_WAIT})

SCRIPT: Final = """
local task, history, ids, leases, due = unpack(KEYS)
local id, version, until_, line, lease, owed = unpack(ARGV)
local read = redis.call('HMGET', task, 'version', 'until')
if (read[1] or '') ~= version or (read[2] or '') ~= until_ then return 0 end
for n = 7, #ARGV, 2 do redis.call('HSET', task, ARGV[n], ARGV[n + 1]) end
if line ~= '' then redis.call('RPUSH', history, line) end
redis.call('SADD', ids, id)
if lease ~= '' then redis.call('ZADD', leases, lease, id) else redis.call('ZREM', leases, id) end
redis.call(owed == '1' and 'SADD' or 'SREM', due, id)
return 1
"""
"""Writes a task if its version and its lease's end are still what was read."""


class Poisoned(Exception):
    """The write of a poisoned task failed.

    Attributes:
        task: Its id.
    """

    def __init__(self, task: str) -> None:
        self.task = task
        super().__init__(f"task {task!r} is poisoned")


class Write(NamedTuple):
    """One change of one task.

    Attributes:
        before: The task as it was read, None for a new one.
        after: The task as it is to be.
        change: Its line in the history; None if there is none.
    """

    before: Task | None
    after: Task
    change: Change | None

    @property
    def fields(self) -> dict[str, str]:
        """The task's hash. What is not there is an empty text: a hash has no other word for it."""
        task = self.after
        owner, token, until = task.lease or ("", "", "")
        values = (task.state, task.attempts, task.max_attempts, task.version, owner, token, until)
        return {name: _text(value) for name, value in zip(FIELDS, values, strict=True)}

    @property
    def line(self) -> str:
        """Its line in the history, as text."""
        if self.change is None:
            return ""
        return json.dumps(self.change._replace(payload=dict(self.change.payload)), sort_keys=True)


FIELDS: Final = ("state", "attempts", "max_attempts", "version", "owner", "token", "until")


class RedisStore(TaskStore):
    """Tasks under keys that share a prefix. One instance is one client; several may share them.

    Args:
        url: Where the server is.
        folder: Whose store it is.
        now: Returns the time in seconds.
        rule: Says what an event makes of a task, or raises.
    """

    watches: ClassVar[bool] = True
    """Whether what is read before a write is watched until then."""

    def __init__(
        self, url: str, folder: Path, *, now: Callable[[], float], rule: Callable[..., Task] = step
    ) -> None:
        from redis import Redis

        super().__init__(now=now, rule=rule)
        self._pipe: Client = None
        self._poisoned = False
        self._redis: Client = Redis.from_url(url, decode_responses=True)
        try:
            self._redis.ping()
            name, gone = _NAMESPACES.enter(url, folder)
            _delete(self._redis, gone)
        except BaseException:
            self._redis.close()
            raise
        self._prefix = _prefix(name)
        self._ids = self._prefix + "ids"
        self._leases = self._prefix + "leases"
        self._due = self._prefix + "due"

    @property
    def client(self) -> Client:
        """The client, for whoever looks at the keys themselves."""
        return self._redis

    def close(self) -> None:
        """Close the client's connections."""
        self._redis.close()

    def due(self) -> list[str]:
        """Return the ids of what is owed: retries, and tasks submitted but never enqueued."""
        return sorted(self._redis.smembers(self._due))

    def read(self, task: str) -> Row:
        """Return what is stored of one task."""
        found = _task(task, self._redis.hgetall(self._task(task)))
        owner, token, until = found.lease or (None, None, None)
        return Row(found.state.value, found.attempts, found.version, owner, until, token)

    def history(self, task: str) -> list[Change]:
        """Return one task's history, oldest first."""
        lines = self._redis.lrange(self._history(task), 0, -1)
        if not lines:
            raise UnknownTask(task)
        return [Change(*json.loads(line)) for line in lines]

    def dump(self, task: str | None = None) -> Dump:
        """Return what every key holds, of one task (nothing, if unknown) or of all."""
        ids = sorted(self._redis.smembers(self._ids)) if task is None else [task]
        with self._redis.pipeline() as pipe:
            for one in ids:
                pipe.hgetall(self._task(one))
                pipe.zscore(self._leases, one)
                pipe.sismember(self._due, one)
                pipe.lrange(self._history(one), 0, -1)
            told = pipe.execute()
        rows = zip(ids, *(told[n::4] for n in range(4)), strict=True)
        kept = [(one, _kept(row), *marks, tuple(lines)) for one, row, *marks, lines in rows if row]
        return (
            tuple(row[:-1] for row in kept),
            tuple((one, line) for one, *_, lines in kept for line in lines),
        )

    def knows(self, task: str) -> bool:
        """Say whether a task of this id was ever submitted."""
        return bool(self._redis.sismember(self._ids, task))

    def poison(self, task: str) -> None:
        """Make the task's next write fail, as if the server had refused it."""
        if not self.knows(task):
            raise UnknownTask(task)
        self._redis.hset(self._task(task), "poisoned", "1")

    def cure(self, task: str) -> None:
        """Let this task be written again."""
        self._redis.hdel(self._task(task), "poisoned")

    def is_poison(self, error: Exception) -> bool:
        """Say whether a write failed because its task is poisoned."""
        return isinstance(error, Poisoned)

    def _task(self, task: str) -> str:
        return f"{self._prefix}task:{task}"

    def _history(self, task: str) -> str:
        return f"{self._prefix}history:{task}"

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        outer = self._pipe
        with self._redis.pipeline() as pipe:
            self._pipe = pipe
            try:
                yield
            finally:
                self._pipe = outer

    # There is nothing to be undone, and a transaction writes one task: each has its own.
    _part = _transaction

    def _number(self) -> int:
        return int(self._redis.incr(self._prefix + "number"))

    def _expired(self, now: float) -> list[str]:
        return sorted(self._redis.zrangebyscore(self._leases, "-inf", f"({now!r}"))

    def _load(self, task: str) -> Task:
        row = self._read(self._task(task))
        self._poisoned = "poisoned" in row
        return _task(task, row)

    def _read(self, key: str) -> Mapping[str, str]:
        """Read a task's hash, watched from here on."""
        asked = self._redis
        if self.watches:
            self._pipe.watch(key)
            asked = self._pipe  # a pipeline that watches asks at once
        row: Mapping[str, str] = asked.hgetall(key)
        return row

    def _insert(self, new: Task, change: Change) -> None:
        if self._read(self._task(new.id)):
            raise DuplicateTask(new.id)
        self._write(Write(None, new, change))

    def _update(self, before: Task, after: Task, change: Change | None) -> None:
        if self._poisoned:
            raise Poisoned(before.id)
        self._write(Write(before, after, change))

    def _write(self, write: Write) -> None:
        """Write one change; VersionConflict if the task is not what it was."""
        from redis import WatchError

        pipe, task = self._pipe, write.after.id
        pipe.multi()
        pipe.hset(self._task(task), mapping=write.fields)
        if write.line:
            pipe.rpush(self._history(task), write.line)
        pipe.sadd(self._ids, task)
        if write.after.lease:
            pipe.zadd(self._leases, {task: write.after.lease.until})
        else:
            pipe.zrem(self._leases, task)
        (pipe.sadd if write.after.state in OWED else pipe.srem)(self._due, task)
        try:
            pipe.execute()
        except WatchError:
            raise _conflict(write) from None


class LuaStore(RedisStore):
    """The same keys, written by a script that compares what was read and writes, at once."""

    watches = False

    def _write(self, write: Write) -> None:
        task = write.after.id
        keys = (self._task(task), self._history(task), self._ids, self._leases, self._due)
        read = ("", "")
        if write.before is not None:
            read = (str(write.before.version), _until(write.before))
        values = (
            *(task, *read, write.line, _until(write.after)),
            "1" if write.after.state in OWED else "0",
            *(part for field in write.fields.items() for part in field),
        )
        if not self._redis.eval(SCRIPT, len(keys), *keys, *values):
            raise _conflict(write)


def _until(task: Task) -> str:
    return _text(task.lease.until) if task.lease else ""


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else repr(value)


def _conflict(write: Write) -> Exception:
    if write.before is None:
        return DuplicateTask(write.after.id)
    return VersionConflict(write.before.id, write.before.version, None)


def _task(task: str, row: Mapping[str, str]) -> Task:
    if not row:
        raise UnknownTask(task)
    state, attempts, max_attempts, version, owner, token, until = (row[name] for name in FIELDS)
    lease = (owner, int(token), float(until)) if token else (None, None, None)
    return task_of(task, state, int(attempts), int(max_attempts), int(version), *lease)


def _kept(row: Mapping[str, str]) -> tuple[str, ...]:
    """Return a task's fields. Whether it is poisoned is no part of what is kept of it."""
    return tuple(row[name] for name in FIELDS)


def _prefix(name: str) -> str:
    return f"lawful:{name}:"


def _delete(client: Client, stores: Collection[str]) -> None:
    for prefix in map(_prefix, stores):
        parts = ["ids", "leases", "due", "number"]
        for task in client.smembers(prefix + "ids"):
            parts += [f"task:{task}", f"history:{task}"]
        client.delete(*(prefix + part for part in parts))


def _drop(url: str, stores: Collection[str]) -> None:
    """Drop some stores."""
    from redis import ConnectionError as NoConnection
    from redis import Redis

    # The server may have gone before us, and its stores with it.
    with contextlib.suppress(NoConnection), Redis.from_url(url, decode_responses=True) as client:
        _delete(client, stores)


_NAMESPACES: Final = Namespaces(_drop)


class Redis(TaskSystem[RedisStore]):
    """The lifecycle ``task`` on Redis, watched."""

    system = "lawful.sut.redis_store"
    server = "redis"
    keeps: ClassVar[type[RedisStore]] = RedisStore

    def open(self, path: Path, clock: Clock) -> None:
        """Open the store of the folder ``path``."""
        self.store = self.keeps(self.url, path, now=clock.now)


class RedisLua(Redis):
    """The lifecycle ``task`` on Redis, compared and written by a script."""

    keeps = LuaStore

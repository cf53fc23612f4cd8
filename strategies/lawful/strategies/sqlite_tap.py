"""Every SQL statement of an unmodified implementation, before it runs: through ``sqlite3`` alone.

An audit hook sees each connection that is opened, however it is; its trace callback is called
before each statement; a busy handler of our own is called where SQLite would sleep, so that a
worker that must wait is waiting and not failed. What the others can't see is no choice: SQLite's
own transaction state decides that, and not the text.
"""

from __future__ import annotations

import ctypes
import re
import sqlite3
import sys
import threading
import weakref
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .accidents import Statement

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from .hub import Hub

__all__ = ["SqliteTap", "unfit"]

T = TypeVar("T")

_WORD: Final = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*([a-z]+)(?:\s+([a-z]+))?", re.I | re.S)
_ENDS: Final = frozenset({"COMMIT", "END", "ROLLBACK", "RELEASE"})
_WRITES: Final = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE"})
_Busy: Final = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


class State(IntEnum):
    """A connection's transaction, as SQLite numbers it."""

    NONE = 0
    READ = 1
    WRITE = 2


def _library() -> ctypes.CDLL | None:
    """Return SQLite as this Python has it; None if its functions can't be reached.

    A Python with SQLite built in has them itself, if they are exported at all. What is found must
    be the very SQLite that ``sqlite3`` uses: another copy knows nothing of its connections.
    """
    import _sqlite3

    for name in (getattr(_sqlite3, "__file__", None), None):
        try:
            library = ctypes.CDLL(name)
            library.sqlite3_libversion.restype = ctypes.c_char_p
            library.sqlite3_busy_handler.argtypes = [ctypes.c_void_p, _Busy, ctypes.c_void_p]
            library.sqlite3_txn_state.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
            library.sqlite3_interrupt.argtypes = [ctypes.c_void_p]
            library.sqlite3_get_autocommit.argtypes = [ctypes.c_void_p]
            library.sqlite3_exec.argtypes = [
                ctypes.c_void_p,
                ctypes.c_char_p,
                *[ctypes.c_void_p] * 3,
            ]
        except (AttributeError, OSError):
            continue
        if library.sqlite3_libversion().decode() == sqlite3.sqlite_version:
            return library
    return None


_SQLITE: Final = _library()


def unfit() -> str:
    """Say why statements can't be seen with this Python; empty if they can."""
    return "" if _SQLITE else "this Python's SQLite has no functions that can be reached"


def _handle(connection: sqlite3.Connection) -> int:
    """Return the address of SQLite's own connection: the first field of Python's."""
    pointer = ctypes.c_void_p.from_address(id(connection) + object.__basicsize__).value
    return pointer or 0


class _Link:
    """One connection of a worker's."""

    def __init__(self, handle: int, worker: str) -> None:
        self.handle = handle
        self.worker = worker
        self.state = State.NONE
        self.next = Statement("", lands=False, undoes=False)
        self.busy: Any = None  # ctypes' function, kept alive as long as the connection is open
        self.ours = False  # a statement of the tap's own runs
        self.failing = False  # the statement that comes next is to be denied
        self.denied = False

    def deny(self, *, denied: bool) -> None:
        """Let the connection write nothing from here on, or whatever it likes again."""
        if denied is self.denied:
            return
        assert _SQLITE is not None  # noqa: S101 - unfit() was asked
        self.denied, self.ours = denied, True
        pragma = b"PRAGMA query_only = ON" if denied else b"PRAGMA query_only = OFF"
        _SQLITE.sqlite3_exec(self.handle, pragma, None, None, None)
        self.ours = False


class SqliteTap:
    """Parks the workers of a hub before each SQL statement, as long as it is entered.

    Args:
        hub: The workers.
        reduced: Whether statements that the other workers can't see are no choice.

    Attributes:
        reduced: The same, for the next schedule.
        statements: How many statements of workers were seen.
    """

    def __init__(self, hub: Hub, *, reduced: bool = True) -> None:
        self.statements = 0
        self._hub = hub
        self.reduced = reduced
        self._links: dict[int, _Link] = {}
        self._at: dict[str, _Link] = {}
        self._losing: set[str] = set()
        self._lost: set[str] = set()

    @property
    def unseen(self) -> str:
        """Why nothing was seen of what the workers do; empty if something was."""
        seen = self.statements > 0
        return "" if seen else "no statement of its own goes through this Python's sqlite3"

    def __enter__(self) -> SqliteTap:
        _install()
        _Switch.tap = self
        return self

    def __exit__(self, *_: object) -> None:
        _Switch.tap = None

    # -- connections -----------------------------------------------------------------------------

    def opened(self, connection: sqlite3.Connection) -> None:
        """Take in a connection that is being opened: it can't be traced yet."""
        worker = self._hub.running
        if worker is not None:
            _soon(self, connection, worker)

    def attach(self, connection: sqlite3.Connection, worker: str) -> None:
        """Trace a connection."""
        sqlite = _SQLITE
        assert sqlite is not None  # noqa: S101 - unfit() was asked
        link = _Link(_handle(connection), worker)

        def busy(_: object, __: int) -> int:
            try:
                self.note(worker)
                return int(self._hub.wait(worker))
            except BaseException as error:
                self._hub.fail(error)
                return 0

        def traced(statement: str) -> None:
            if link.ours:
                return
            try:
                # A PRAGMA busy_timeout takes the one place there is for a handler.
                sqlite.sqlite3_busy_handler(link.handle, link.busy, None)
                self._before(link, statement)
                if link.failing:
                    link.failing = False
                    link.deny(denied=True)
                self._lost |= self._losing & {worker}
            except BaseException as error:
                self._hub.fail(error)

        link.busy = _Busy(busy)
        self._links[link.handle] = link
        weakref.finalize(traced, self._gone, link)
        connection.set_trace_callback(traced)
        sqlite.sqlite3_busy_handler(link.handle, link.busy, None)

    def _gone(self, link: _Link) -> None:
        """Take in that a connection was closed: what it held is free."""
        if self._links.get(link.handle) is link:
            del self._links[link.handle]
        if link.state is not State.NONE:
            link.state = State.NONE
            self._hub.wake()

    # -- statements ------------------------------------------------------------------------------

    def statement(self, worker: str) -> Statement:
        """Return the statement before which a worker is parked."""
        return self._at[worker].next

    def interrupt(self, worker: str) -> None:
        """Have the statement before which a worker is parked fail, and do nothing.

        An interrupt makes SQLite itself take a whole transaction back. Where there is one, what
        writes in it is denied instead, as it would be by a constraint: what becomes of the
        transaction is for the implementation to say. The worker must be doing a job that may go
        wrong (:meth:`endangered`), which lets it write again.
        """
        assert _SQLITE is not None  # noqa: S101 - unfit() was asked
        link = self._at[worker]
        if _words(link.next.text)[0] in _WRITES and not link.next.lands:
            link.failing = True
        else:
            _SQLITE.sqlite3_interrupt(link.handle)

    def lose(self, worker: str) -> None:
        """Have the statement before which a worker is parked run, and its call raise an error.

        The worker must be doing a job that may go wrong (:meth:`endangered`).
        """
        self._losing.add(worker)

    def endangered(self, worker: str, job: Callable[[], T]) -> Callable[[], T]:
        """Return a job of a worker's in which a statement may fail, or its answer be lost.

        What a profiler raises when a call of C returns is raised to the caller of that call.
        """

        def profile(_: FrameType, event: str, argument: Any) -> None:  # C functions
            owner = getattr(argument, "__self__", None)
            is_sqlite = isinstance(owner, sqlite3.Connection | sqlite3.Cursor)
            if not is_sqlite or event not in ("c_return", "c_exception"):
                return
            self._allow(worker)
            if worker in self._lost:
                self._lost.discard(worker)
                self._losing.discard(worker)
                if event == "c_return":  # else an error of its own is raised already
                    raise sqlite3.OperationalError("disk I/O error")

        def run() -> T:
            before = sys.getprofile()
            sys.setprofile(profile)
            try:
                return job()
            finally:
                sys.setprofile(before)
                self._allow(worker)
                self._losing.discard(worker)
                self._lost.discard(worker)

        return run

    def _allow(self, worker: str) -> None:
        """Let a worker's connections write again: not within a statement, which would be lost."""
        for link in list(self._links.values()):
            if link.worker == worker:
                link.deny(denied=False)

    def _before(self, link: _Link, statement: str) -> None:
        """Park before a statement, if the others can see it."""
        self.statements += 1
        self.note(link.worker)
        first, second = _words(statement)
        text = " ".join(statement.split())
        link.next = Statement(text, _lands(link.handle, first), first == "ROLLBACK")
        self._at[link.worker] = link
        if self.reduced and _unseen(link.state, first, second):
            self._hub.pass_by(link.worker, text)
            return
        wants = link.state is State.NONE and (
            first in _WRITES or (first == "BEGIN" and second in ("IMMEDIATE", "EXCLUSIVE"))
        )
        self._hub.park(link.worker, text, lambda: not (wants and self._writing(link.worker)))

    def _writing(self, worker: str) -> bool:
        """Say whether another worker holds the lock that a write needs."""
        return any(
            link.state is State.WRITE and link.worker != worker
            for link in list(self._links.values())
        )

    def note(self, worker: str) -> None:
        """Look at the transactions of whoever runs; wake those that wait if one has ended.

        Called by that worker: before a statement, where it must wait, and when it is done.
        """
        assert _SQLITE is not None  # noqa: S101 - unfit() was asked
        fell = False
        for link in list(self._links.values()):  # one may be collected meanwhile
            if link.worker == worker:
                state = State(max(_SQLITE.sqlite3_txn_state(link.handle, None), 0))
                fell = fell or state < link.state
                link.state = state
        if fell:
            self._hub.wake()


def _words(statement: str) -> tuple[str, str]:
    found = _WORD.match(statement)
    return (found[1].upper(), (found[2] or "").upper()) if found else ("", "")


def _unseen(state: State, first: str, second: str) -> bool:
    """Say whether no other worker can tell when a statement runs."""
    if first == "BEGIN":
        return second not in ("IMMEDIATE", "EXCLUSIVE")
    ends = first in _ENDS
    if state is State.NONE:
        return ends
    if state is State.WRITE:
        return not ends
    return first == "SELECT"


def _lands(handle: int, first: str) -> bool:
    """Say whether what was written is there for everybody once a statement has run.

    A deferred transaction that has done nothing yet has no state, and is a transaction all the
    same.
    """
    assert _SQLITE is not None  # noqa: S101 - unfit() was asked
    alone = first in _WRITES and bool(_SQLITE.sqlite3_get_autocommit(handle))
    return alone or first in ("COMMIT", "END")


# -- connections, as they are opened ---------------------------------------------------------------


class _Switch:
    """The tap that is told of connections; an audit hook can't be taken away again."""

    tap: SqliteTap | None = None
    installed = False


class _Opening(threading.local):
    """Connections that this thread is opening, and its profiler before that."""

    def __init__(self) -> None:
        self.left: list[tuple[SqliteTap, sqlite3.Connection, str]] = []
        self.profiler: Any = None  # what sys.getprofile gives


_opening = _Opening()


def _install() -> None:
    if not _Switch.installed:
        _Switch.installed = True
        sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "sqlite3.connect/handle" and _Switch.tap is not None:
        _Switch.tap.opened(arguments[0])


def _soon(tap: SqliteTap, connection: sqlite3.Connection, worker: str) -> None:
    """Attach at this thread's next event: in the hook itself the connection is not made yet."""
    if not _opening.left:
        _opening.profiler = sys.getprofile()
    _opening.left.append((tap, connection, worker))
    sys.setprofile(_profile)


def _profile(frame: FrameType, event: str, argument: object) -> None:
    left = []
    for tap, connection, worker in _opening.left:
        try:
            tap.attach(connection, worker)
        except sqlite3.ProgrammingError as error:
            if "closed" not in str(error):
                left.append((tap, connection, worker))
    _opening.left = left
    if not left:
        sys.setprofile(_opening.profiler)

"""The only place that touches an implementation: its exceptions, state names, time and async.

What comes out is a claim (what the call said), a reading in the table's words, or a
:class:`Fault`: the adapter gave what the contract does not allow.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import time
import traceback
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lawful.sut.contract import Entry, Reading, Refusal, Refused

from .watch import Overrun

if TYPE_CHECKING:
    from collections.abc import Callable

    from lawful.spec.table import Letter
    from lawful.sut.contract import Clock, TaskId

    from .adapter import Adapter
    from .watch import Watch

__all__ = ["Claim", "ClaimKind", "Driver", "Fault"]

# The kinds of _READING and _ENTRY below: asked of tuples, it takes a quarter of the time.
_NUMBER: Final = (int, NoneType)
_TIME: Final = (float, int, NoneType)
_WORD: Final = (str, NoneType)
_MAPPED: Final = (dict, NoneType, Mapping)

_OUR_CODE = str(Path(__file__).parent)


class ClaimKind(StrEnum):
    """What a call said of itself."""

    ACCEPTED = "accepted"
    REFUSED = "refused"


class Claim(NamedTuple):
    """What a call said: not yet what happened.

    Attributes:
        kind: Accepted or refused.
        reasons: What the refusal may stand for, in the table's words.
        text: The refusal in the system's own words.
    """

    kind: ClaimKind
    reasons: frozenset[Refusal] = frozenset()
    text: str = ""


_ACCEPTED = Claim(ClaimKind.ACCEPTED)


class Fault(Exception):
    """The adapter did what the contract does not allow.

    Attributes:
        method: The method that was called.
        problem: What it did or gave, and what is allowed.
        trail: The implementation's own traceback, if it raised.
        hung: Whether the call did not return in time: nothing more should be asked.
    """

    def __init__(self, method: str, problem: str, trail: str = "", *, hung: bool = False) -> None:
        self.method = method
        self.problem = problem
        self.trail = trail
        self.hung = hung
        super().__init__(f"{method}: {problem}")

    def __reduce__(self) -> tuple[Callable[..., Fault], tuple[str, str, str], dict[str, bool]]:
        """Return how it is made again in another process."""
        return type(self), (self.method, self.problem, self.trail), {"hung": self.hung}


class Driver:
    """One opened instance of an adapter.

    Args:
        adapter: The adapter's description.
        watch: What ends a call that hangs.
    """

    def __init__(self, adapter: Adapter, watch: Watch) -> None:
        self.adapter = adapter
        self._watch = watch
        self._states = adapter.states
        self._refusals = tuple(adapter.refusals)
        self._loop: asyncio.Runner | None = None
        self._open = False
        self._instance = self._never("__init__", adapter.factory)
        self._methods = {
            event: (getattr(self._instance, call.method), call)
            for event, call in adapter.calls.items()
        }
        self._read = self._instance.read
        self._history = getattr(self._instance, "history", None)
        self._dump = getattr(self._instance, "dump", None)

    def _call(self, name: str, method: Any, *args: Any, **keywords: Any) -> Any:  # their types
        self._watch.since = time.monotonic()
        try:
            result = method(*args, **keywords)
            if inspect.iscoroutine(result):
                if self._loop is None:
                    self._loop = asyncio.Runner()
                result = self._loop.get_loop().run_until_complete(result)
        except self._refusals:
            raise
        except Overrun:
            limit = f"{self._watch.limit:g} s"
            raise Fault(name, f"did not return within {limit}", hung=True) from None
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            raise _raised(name, error) from error
        finally:
            self._watch.since = None
        return result

    # -- life ----------------------------------------------------------------------------------

    def open(self, folder: Path, clock: Clock, url: str = "") -> None:
        """Open the store in ``folder``; a :class:`Fault` if that fails.

        Args:
            folder: A folder that exists.
            clock: Where the store reads the time.
            url: Where the server is, for an adapter that needs one.
        """
        if self.adapter.server:
            self._instance.url = url
        self._plain("open", folder, clock)
        self._open = True

    def close(self) -> None:
        """Close the store, if it is open, and the event loop, if there was one."""
        try:
            if self._open:
                self._open = False
                self._plain("close")
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the event loop, if there was one, and leave the store as it is."""
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def _plain(self, name: str, *args: Any, **keywords: Any) -> Any:  # their types
        """Call a method that may not refuse."""
        if not hasattr(self._instance, name):
            raise Fault(name, "the adapter does not offer it")
        return self._never(name, getattr(self._instance, name), *args, **keywords)

    def _never(self, name: str, method: Any, *args: Any, **keywords: Any) -> Any:  # their types
        try:
            return self._call(name, method, *args, **keywords)
        except self._refusals as error:
            raise _raised(name, error) from error

    def _listed(self, name: str) -> list[TaskId]:
        given = self._plain(name)
        if isinstance(given, list | tuple | set | frozenset):
            return list(given)
        raise Fault(name, f"gave {_shown(given)}; a list of task ids is expected")

    # -- writing -------------------------------------------------------------------------------

    def submit(self, params: Mapping[str, int], own: str | None) -> TaskId:
        """Submit a task, under the id ``own`` if the system lets one choose."""
        if own is not None and self.adapter.chooses_id:
            task = self._plain("submit", params, task=own)
        else:
            task = self._plain("submit", params)
        if task is None:
            raise Fault("submit", "gave None; a task id is expected")
        return task

    def fire(
        self,
        task: TaskId,
        letter: Letter,
        actor: str,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> Claim:
        """Fire an event, and say what the call claims."""
        method, (name, takes) = self._methods[letter.event]
        if name == "claim":
            return self._claim(task, actor, method)
        keywords: dict[str, Any] = {}
        if "actor" in takes:
            keywords["actor"] = actor
        if "payload" in takes:
            keywords["payload"] = dict(letter.payload)
        if expected_version is not None and "expected_version" in takes:
            keywords["expected_version"] = expected_version
        if token is not None and "token" in takes:
            keywords["token"] = token
        args = (task, letter.event) if name == "fire" else (task,)
        return self._claimed(name, method, *args, **keywords)

    def _claim(self, task: TaskId, actor: str, method: Any) -> Claim:  # a bound method
        handed = self._call("claim", method, actor)
        if handed is None:
            every = frozenset({Refusal.ILLEGAL, Refusal.UNKNOWN_TASK})
            return Claim(ClaimKind.REFUSED, every, "claim gave None: there is nothing to take")
        if handed != task:
            raise Fault("claim", f"handed out {handed!r}, where only {task!r} may be waiting")
        return _ACCEPTED

    def heartbeat(self, task: TaskId, actor: str, token: int | None) -> Claim:
        """Send a heartbeat, and say what the call claims."""
        method = self._instance.heartbeat
        keywords: dict[str, Any] = {"actor": actor}
        if token is not None and "token" in inspect.signature(method).parameters:
            keywords["token"] = token
        return self._claimed("heartbeat", method, task, **keywords)

    def _claimed(self, name: str, method: Any, *args: Any, **keywords: Any) -> Claim:  # theirs
        try:
            result = self._call(name, method, *args, **keywords)
        except self._refusals as error:
            return Claim(ClaimKind.REFUSED, self._reasons(error), _in_words(error))
        if isinstance(result, Refused):
            if result.reason not in set(Refusal):
                allowed = ", ".join(Refusal)
                raise Fault(name, f"gave Refused({result.reason!r}); allowed are {allowed}")
            return Claim(ClaimKind.REFUSED, frozenset({Refusal(result.reason)}), repr(result))
        return _ACCEPTED

    def _reasons(self, error: BaseException) -> frozenset[Refusal]:
        for kind in type(error).__mro__:
            if kind in self.adapter.refusals:
                return self.adapter.refusals[kind]
        return frozenset()

    def put(self, state: str, counters: Mapping[str, int], actor: str) -> TaskId:
        """Put a new task straight into a state."""
        return self._plain("put", state, counters, actor=actor)

    def reap(self) -> list[TaskId]:
        """Run the reaper, and return the ids that it says it handled."""
        return self._listed("reap")

    def poison(self, task: TaskId) -> None:
        """Make the next write to ``task`` fail."""
        self._plain("poison", task)

    # -- looking -------------------------------------------------------------------------------

    def read(self, task: TaskId) -> Reading:
        """Read a task, its state in the table's words (as given, if the table has no such)."""
        return self._reading(self._plain_read(task))

    def _plain_read(self, task: TaskId) -> Any:  # whatever the adapter gives
        try:
            return self._call("read", self._read, task)
        except self._refusals as error:
            raise _raised("read", error) from error

    def _reading(self, given: object) -> Reading:
        if not isinstance(given, Reading):
            shown = _shown(given)
            raise Fault("read", f"gave {shown}; a Reading(state, ...) is expected")
        fields: Any = given  # whatever a stranger's code put into them
        state, attempts, version, owner, until, token, counters = fields
        if isinstance(state, str) and state in self._states:
            given = given._replace(state=self._states[state])
        if not (
            isinstance(state, str)
            and isinstance(attempts, _NUMBER)
            and isinstance(version, _NUMBER)
            and isinstance(owner, _WORD)
            and isinstance(until, _TIME)
            and isinstance(token, _NUMBER)
            and isinstance(counters, _MAPPED)
        ):
            raise Fault("read", f"gave {_misfit(given, _READING)} is expected")
        return given

    def find(self, task: TaskId) -> Claim:
        """Read a task that may not exist: accepted if it gave a reading."""
        return self._claimed("read", self._read, task)

    def history(self, task: TaskId) -> tuple[Entry, ...]:
        """Return a task's history, its states in the table's words."""
        given = self._plain("history", task)
        if not isinstance(given, list | tuple):
            raise Fault("history", f"gave {_shown(given)}; a list of Entry is expected")
        entries = []
        for entry in given:
            if not isinstance(entry, Entry):
                raise Fault("history", f"holds {_shown(entry)}; an Entry is expected")
            fields: Any = entry  # whatever a stranger's code put into them
            version, event, _, after, _, payload = fields
            if not (
                isinstance(version, _NUMBER)
                and isinstance(event, _WORD)
                and isinstance(after, str)
                and isinstance(payload, _MAPPED)
            ):
                raise Fault("history", f"holds {_misfit(entry, _ENTRY)} is expected")
            if self._states:
                before = entry.before and self._states.get(entry.before, entry.before)
                after = self._states.get(entry.after, entry.after)
                entry = entry._replace(before=before, after=after)
            entries.append(entry)
        return tuple(entries)

    def dump(self, task: TaskId | None = None) -> object:
        """Return all that is stored, of one task or of the store, as it is now."""
        given = self._plain("dump") if task is None else self._plain("dump", task)
        # A tuple of rows is taken as it is; anything that could change later is copied.
        if isinstance(given, tuple | str | bytes):
            return given
        try:
            return copy.deepcopy(given)
        except Exception as error:
            problem = f"gave {_shown(given)}, which can't be copied; plain values are expected"
            raise Fault("dump", problem) from error

    def due(self) -> list[TaskId]:
        """Return what the system says is owed by now."""
        return self._listed("due")

    def absent(self) -> TaskId:
        """Return an id that was never given out."""
        return self._plain("absent")


# What the fields of a reading and of an entry must be: the laws calculate with them.
_READING: Final = {
    "state": str,
    "attempts": int | None,
    "version": int | None,
    "lease_owner": str | None,
    "lease_until": float | int | None,
    "lease_token": int | None,
    "counters": Mapping | None,
}
_ENTRY: Final = {
    "version": int | None,
    "event": str | None,
    "after": str,
    "payload": Mapping | None,
}


def _misfit(given: Reading | Entry, kinds: Mapping[str, Any]) -> str:  # types and unions
    """Tell which field is of no type that it may have, and what it may be."""
    for name, kind in kinds.items():
        value = getattr(given, name)
        if not isinstance(value, kind):
            allowed = kind.__name__ if isinstance(kind, type) else str(kind)
            return f"{name}={_shown(value)}; {allowed.replace('collections.abc.', '')}"
    raise AssertionError(given)


def _raised(name: str, error: BaseException) -> Fault:
    return Fault(name, f"raised {_in_words(error)}", _trail(error))


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _trail(error: BaseException) -> str:
    """Return the implementation's own traceback, without our frames."""
    report = traceback.TracebackException.from_exception(error)
    kept = [f for f in report.stack if not f.filename.startswith(_OUR_CODE)]
    report.stack = traceback.StackSummary.from_list(kept)
    return "".join(report.format(chain=False)).rstrip()

"""Is the adapter fit to be judged? A few calls, in well under a second.

What fails here says nothing about the system: the adapter is wrong, in one line that names the
method, what it gave, and what is allowed.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lawful.spec.words import shortest_paths
from lawful.strategies.adapter import AdapterError
from lawful.strategies.driver import Fault
from lawful.strategies.seen import Hung, counter
from lawful.strategies.session import Session
from lawful.strategies.walk import Cast, actor_for

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from lawful.spec.oracle import Oracle
    from lawful.spec.words import Word
    from lawful.strategies.adapter import Adapter
    from lawful.strategies.watch import Watch
    from lawful.sut.contract import Reading

__all__ = ["Smoke", "smoke"]

_FIELDS = ("attempts", "version", "lease_owner", "lease_until", "lease_token")


@dataclass(frozen=True, slots=True)
class Smoke:
    """What the first calls have shown.

    Attributes:
        adapter: The adapter, with the fields that its readings show.
        reached: Functions of ``system`` that ran, by qualified name, sorted.
        visible: Whether ``system`` is a module here, so that reaching it can be seen.
        calls: How many calls were made.
    """

    adapter: Adapter
    reached: tuple[str, ...]
    visible: bool
    calls: int


def smoke(adapter: Adapter, folder: Path, watch: Watch) -> Smoke:
    """Open two stores, submit, walk to a held state, look, close and open again.

    Args:
        adapter: The adapter.
        folder: An empty folder for the stores.
        watch: What ends a call that hangs.

    Raises:
        AdapterError: The adapter is not fit to be judged.
    """
    reached = _Reached(adapter.system)
    try:
        with reached:
            shown, calls = _walk(adapter, folder, watch)
    except Fault as fault:
        problem = " ".join(fault.problem.split())  # one line, whatever the system has to say
        raise AdapterError(adapter.target, f"{fault.method} {problem}") from fault
    except Hung as hung:
        raise AdapterError(adapter.target, str(hung)) from hung
    missing = {name for name in _FIELDS if name not in adapter.gaps} & shown
    return Smoke(
        replace(adapter, offered=adapter.offered | missing),
        tuple(sorted(reached.names)),
        reached.able and _is_module(adapter.system),
        calls,
    )


def _walk(adapter: Adapter, folder: Path, watch: Watch) -> tuple[set[str], int]:
    with (
        Session(adapter, folder / "smoke-1", watch) as first,
        Session(adapter, folder / "smoke-2", watch) as second,
    ):
        tracked = first.submit({})
        second.submit({})
        other = second.submit({}, "t2")
        _named(adapter, first.tasks["t"].view.reading)
        if second.tasks["t"].id == other.id:
            raise Fault("submit", f"gave {other.id!r} twice; each task needs an id of its own")
        if "history" in adapter.offered:
            first.driver.history(tracked.id)
        if "dump" in adapter.offered:
            for one in ((), (tracked.id,)):
                if first.driver.dump(*one) != first.driver.dump(*one):
                    raise Fault(
                        "dump", "gave two values in a row that differ; plain values are expected"
                    )
        shown = _shown(tracked.view.reading)
        for letter in _to_held(tracked.oracle):
            seen = first.fire(letter, actor_for(tracked, letter, Cast.ANOTHER))
            reading = first.driver.read(tracked.id)
            _named(adapter, reading)
            shown |= _shown(reading)
            if reading.state != seen.answer.after.position.state:
                # That is for the laws to judge; what a held task shows is not known yet.
                shown |= {f for f in _FIELDS if f.startswith("lease")}
                break
        if "history" in adapter.offered:
            first.driver.history(tracked.id)
        if "restart" not in adapter.gaps:
            first.reopen()
            _named(adapter, first.driver.read(tracked.id))
        if adapter.table.counters and "attempts" not in adapter.table.counters:
            for name in adapter.table.counters:
                if counter(tracked.view.reading, name) is None:
                    raise Fault("read", f"shows no counter {name!r}; counters={{...}} is expected")
        return shown, len(first.log) * 2 + 8


def _to_held(oracle: Oracle) -> Word:
    """Return the shortest way to a held state; without leases, to anywhere the table moves."""
    lease = oracle.table.lease
    for position, word in shortest_paths(oracle).items():
        if word and (lease is None or position.state in lease.held_in):
            return word
    return ()


def _named(adapter: Adapter, reading: Reading) -> None:
    if reading.state not in adapter.table.states:
        allowed = ", ".join(adapter.table.states)
        raise Fault(
            "read", f"gave the state {reading.state!r}; allowed are {allowed}; map it in `states`"
        )


def _shown(reading: Reading) -> set[str]:
    return {name for name in _FIELDS if getattr(reading, name) is not None}


def _is_module(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


class _Reached:
    """Records which functions of a package ran, while it is entered.

    Args:
        system: The package's or module's name.
    """

    def __init__(self, system: str) -> None:
        self.names: set[str] = set()
        self.able = False
        self._system = system
        self._inside = system + "."
        self._codes: dict[object, bool] = {}

    def __enter__(self) -> None:
        # A profiler that is already running keeps its place: it could not be put back.
        self.able = sys.getprofile() is None
        if self.able:
            threading.setprofile(self._profile)
            sys.setprofile(self._profile)

    def __exit__(self, *_: object) -> None:
        if self.able:
            sys.setprofile(None)
            threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:  # C functions
        if event == "call":
            code = frame.f_code
            if code not in self._codes:
                module = frame.f_globals.get("__name__", "")
                self._codes[code] = inside = self._ours(module)
                if inside and not code.co_name.startswith("<"):
                    self.names.add(f"{module}.{code.co_qualname}")
        elif event == "c_call":
            # A method written in C names no module; the class of its object does.
            owner = getattr(argument, "__self__", None)
            kind = owner if isinstance(owner, type) else type(owner)
            module = getattr(argument, "__module__", None) or kind.__module__
            if self._ours(module):
                self.names.add(f"{module}.{argument.__qualname__}")

    def _ours(self, module: str) -> bool:
        return module == self._system or module.startswith(self._inside)

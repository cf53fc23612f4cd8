"""How an implementation is driven: the driver, sessions, walks, traces and the moved clock.

Nothing is loaded before it is touched: each name is imported from its module on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .adapter import Adapter, AdapterError, describe
    from .clock import ManualClock
    from .drawing import (
        StrategyError,
        clock_steps,
        events,
        params,
        programs,
        stale_tokens,
        starts,
    )
    from .machine import LifecycleMachine
    from .moves import Start
    from .performing import perform
    from .profiles import Effort, profile
    from .session import Session
    from .tables import specs
    from .trace import TraceError, format_trace, parse_trace

__all__ = [
    "Adapter",
    "AdapterError",
    "Effort",
    "LifecycleMachine",
    "ManualClock",
    "Session",
    "Start",
    "StrategyError",
    "TraceError",
    "clock_steps",
    "describe",
    "events",
    "format_trace",
    "params",
    "parse_trace",
    "perform",
    "profile",
    "programs",
    "specs",
    "stale_tokens",
    "starts",
]

_HOMES = {
    "Adapter": "adapter",
    "AdapterError": "adapter",
    "Effort": "profiles",
    "LifecycleMachine": "machine",
    "ManualClock": "clock",
    "Session": "session",
    "Start": "moves",
    "StrategyError": "drawing",
    "TraceError": "trace",
    "clock_steps": "drawing",
    "describe": "adapter",
    "events": "drawing",
    "format_trace": "trace",
    "params": "drawing",
    "parse_trace": "trace",
    "perform": "performing",
    "profile": "profiles",
    "programs": "drawing",
    "specs": "tables",
    "stale_tokens": "drawing",
    "starts": "drawing",
}


def __getattr__(name: str) -> Any:  # whatever the module holds by that name
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)

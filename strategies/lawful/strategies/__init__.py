"""How an implementation is driven: the driver, sessions, walks, traces and the moved clock.

Nothing is loaded before it is touched: each name is imported from its module on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .adapter import Adapter, AdapterError, describe
    from .clock import ManualClock
    from .session import Session
    from .trace import TraceError, format_trace, parse_trace

__all__ = [
    "Adapter",
    "AdapterError",
    "ManualClock",
    "Session",
    "TraceError",
    "describe",
    "format_trace",
    "parse_trace",
]

_HOMES = {
    "Adapter": "adapter",
    "AdapterError": "adapter",
    "ManualClock": "clock",
    "Session": "session",
    "TraceError": "trace",
    "describe": "adapter",
    "format_trace": "trace",
    "parse_trace": "trace",
}


def __getattr__(name: str) -> Any:  # whatever the module holds by that name
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)

"""What is judged: the contract that an implementation shows, and the systems that come with it.

The contract is imported at once; a system, and what it needs, only when its name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.sut.contract import (
    GAP_NAMES,
    OPTIONAL_METHODS,
    SERVERS,
    Clock,
    Entry,
    Implementation,
    NotYet,
    Payload,
    Reading,
    Refusal,
    Refused,
    TaskId,
    Unsupported,
)
from lawful.sut.shipped import SHIPPED, load_shipped

if TYPE_CHECKING:
    from lawful.sut.flags import Flags
    from lawful.sut.gate import Gate, GateWords
    from lawful.sut.litequeue import LiteQueue
    from lawful.sut.naive import Naive
    from lawful.sut.postgresql import Postgresql
    from lawful.sut.procrastinate import Procrastinate, ProcrastinateMemory
    from lawful.sut.redis_store import Redis, RedisLua
    from lawful.sut.reference import Reference
    from lawful.sut.review import Review
    from lawful.sut.weakened import Unfenced, Unversioned

__all__ = [
    "GAP_NAMES",
    "OPTIONAL_METHODS",
    "SERVERS",
    "SHIPPED",
    "Clock",
    "Entry",
    "Flags",
    "Gate",
    "GateWords",
    "Implementation",
    "LiteQueue",
    "Naive",
    "NotYet",
    "Payload",
    "Postgresql",
    "Procrastinate",
    "ProcrastinateMemory",
    "Reading",
    "Redis",
    "RedisLua",
    "Reference",
    "Refusal",
    "Refused",
    "Review",
    "TaskId",
    "Unfenced",
    "Unsupported",
    "Unversioned",
    "load_shipped",
]

_SYSTEMS: Final = {target.partition(":")[2]: name for name, target in SHIPPED.items()}


def __getattr__(name: str) -> type[Implementation]:
    if name not in _SYSTEMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_shipped(_SYSTEMS[name])

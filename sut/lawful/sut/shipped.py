"""The systems that come with the package, by the name a command takes. Loading one imports it."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lawful.sut.contract import Implementation

__all__ = ["SHIPPED", "load_shipped"]

SHIPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "flags": "lawful.sut.flags:Flags",
        "gate": "lawful.sut.gate:Gate",
        "gate-words": "lawful.sut.gate:GateWords",
        "litequeue": "lawful.sut.litequeue:LiteQueue",
        "naive": "lawful.sut.naive:Naive",
        "postgresql": "lawful.sut.postgresql:Postgresql",
        "procrastinate": "lawful.sut.procrastinate:Procrastinate",
        "procrastinate-memory": "lawful.sut.procrastinate:ProcrastinateMemory",
        "redis": "lawful.sut.redis_store:Redis",
        "redis-lua": "lawful.sut.redis_store:RedisLua",
        "reference": "lawful.sut.reference:Reference",
        "review": "lawful.sut.review:Review",
        "unfenced": "lawful.sut.weakened:Unfenced",
        "unversioned": "lawful.sut.weakened:Unversioned",
    }
)
"""The shipped systems' names, each with its ``module:Class``."""


def load_shipped(name: str) -> type[Implementation]:
    """Import the shipped system called ``name``.

    Raises:
        ValueError: There is none.
    """
    if name not in SHIPPED:
        near = get_close_matches(name, SHIPPED, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown system {name!r}: expected {', '.join(SHIPPED)}{hint}")
    module, _, member = SHIPPED[name].partition(":")
    loaded: type[Implementation] = getattr(import_module(module), member)
    return loaded

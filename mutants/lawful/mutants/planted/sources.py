"""What a planted fault's fate depends on: every file of the store, and of what judges it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .patching import source_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["judging"]

_PARTS: Final = ("lawful.spec", "lawful.strategies", "lawful.laws", "lawful.mutants.planted")
_STORES: Final = {
    "postgresql": ("postgresql.py", "namespaces.py"),
    "redis": ("redis_store.py", "namespaces.py"),
    "redis-lua": ("redis_store.py", "namespaces.py"),
}


def judging(store: str) -> Iterator[str]:
    """Yield the text of every file that has to do with a trial of a store."""
    sut = source_of("lawful.sut").parent
    own = [sut / name for name in ("contract.py", "shipped.py", *_STORES.get(store, ()))]
    places = [source_of(part).parent for part in _PARTS]
    for file in (*own, *_below(sut / "reference"), *(f for place in places for f in _below(place))):
        yield f"{file.name}\n{file.read_text('utf-8')}"


def _below(folder: Path) -> list[Path]:
    return sorted(file for kind in ("*.py", "*.toml") for file in folder.rglob(kind))

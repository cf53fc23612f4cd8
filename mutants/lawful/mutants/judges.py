"""Digests of all that judges mutants: a fate is remembered as long as that is the same."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["digest_of", "laws_digest", "part"]

_PARTS: Final = ("lawful.spec", "lawful.strategies", "lawful.laws", "lawful.mutants")
_KINDS: Final = ("*.py", "*.toml")


@cache
def laws_digest() -> str:
    """Return a digest of the tables, the strategies, the laws and the engines."""
    return digest_of(part(name) for name in _PARTS)


def part(package: str) -> Path:
    """Return the folder of a package of ours, without importing it."""
    found = PathFinder.find_spec("lawful")
    assert found is not None  # noqa: S101 - this file is in it
    path = list(found.submodule_search_locations or ())
    spec = PathFinder.find_spec(package, path)
    assert spec is not None  # noqa: S101 - it comes with this one
    assert spec.origin is not None  # noqa: S101
    return Path(spec.origin).parent


def digest_of(places: Iterable[Path]) -> str:
    """Return a digest of files, and of the code and settings below folders, with their names."""
    digest = hashlib.sha256()
    for place in places:
        files = sorted(
            {f for kind in _KINDS for f in place.rglob(kind)} if place.is_dir() else {place}
        )
        for file in files:
            name = file.relative_to(place) if place.is_dir() else file.name
            digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()

"""What the faults of the catalogue are in."""

from __future__ import annotations

from functools import partial
from typing import Final

from lawful.mutants.planted.patching import Patch

__all__ = [
    "in_machine",
    "in_postgresql",
    "in_redis",
    "in_schema",
    "in_store",
    "in_storing",
]

_REFERENCE: Final = "lawful.sut.reference"

in_machine = partial(Patch, f"{_REFERENCE}.machine")
in_schema = partial(Patch, f"{_REFERENCE}.schema", "", text=True)
in_store = partial(Patch, f"{_REFERENCE}.store")
in_storing = partial(Patch, f"{_REFERENCE}.storing")
in_postgresql = partial(Patch, "lawful.sut.postgresql")
in_redis = partial(Patch, "lawful.sut.redis_store")

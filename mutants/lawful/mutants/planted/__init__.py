"""The engine ``planted``: named faults in the code of the shipped stores, as real ones have had.

Each is a patch of the source, found by what it says and not by where it stands, and tried in a
process of its own. Nothing that is patched is ever written down. The engine is imported when it is
first used: a trial's processes come by here without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fault import Fault
from .patching import Patch, PatchError

if TYPE_CHECKING:
    from .engine import PlantedEngine

__all__ = ["Fault", "Patch", "PatchError", "PlantedEngine"]


def __getattr__(name: str) -> object:
    if name != "PlantedEngine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .engine import PlantedEngine

    return PlantedEngine

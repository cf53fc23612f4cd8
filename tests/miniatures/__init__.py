"""Tiny implementations of the lifecycle ``task``: honest ones, and one for each way to be wrong.

The honest ones must pass every law; each wrong one must be found out by the law that is there
for it, under that law's own id.
"""

from __future__ import annotations

from . import variants, wrong_cells, wrong_histories, wrong_leases, wrong_memory
from .honest import Honest
from .registry import WRONG, Wrong
from .trial import checks, failed, judged, shipped, task_table, workplace

__all__ = [
    "WRONG",
    "Honest",
    "Wrong",
    "checks",
    "failed",
    "judged",
    "shipped",
    "task_table",
    "variants",
    "workplace",
    "wrong_cells",
    "wrong_histories",
    "wrong_leases",
    "wrong_memory",
]

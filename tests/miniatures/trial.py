"""Runs of miniatures and shipped systems: in memory where there is one, and each run once."""

from __future__ import annotations

import functools
import os
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lawful import spec
from lawful.laws import Profile, run
from lawful.spec import Expiry, Param, find_table, shipped_table
from lawful.strategies import describe
from lawful.strategies.adapter import describe_class
from lawful.strategies.watch import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lawful.laws import Check, Run
    from lawful.spec import Table

__all__ = ["checks", "failed", "judged", "shipped", "task_table", "workplace"]

_MEMORY: Final = "/dev/shm"
_RUNS: dict[tuple[object, ...], Run] = {}


@contextmanager
def workplace() -> Iterator[Path]:
    """Give an empty folder, memory-backed where that can be had, and remove it."""
    where = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where, prefix="lawful-") as name:
        yield Path(name)


@functools.cache
def task_table(*limits: int, strict: bool = False) -> Table:
    """Return the table ``task``, or a variant of it.

    Args:
        limits: The values of ``max_attempts``, the default first. Runs take much less time with
            a small bound; what needs a larger one says so.
        strict: Whether a lease ends at its deadline, not when the reaper has come.
    """
    table = shipped_table("task")
    if strict:
        with workplace() as folder:
            lazy = Path(spec.__file__).parent / "tables" / "task.toml"
            text = lazy.read_text("utf-8").replace('expiry = "lazy"', 'expiry = "strict"')
            (folder / "strict.toml").write_text(text, "utf-8")
            table = find_table(folder / "strict.toml")
        assert table.lease is not None
        assert table.lease.expiry is Expiry.STRICT
    if not limits:
        return table
    return replace(table, params=(Param("max_attempts", limits[0], limits),))


def judged(
    adapter: Callable[[], Any], *limits: int, table: Table | None = None, limit: float = LIMIT
) -> Run:
    """Judge an adapter class, once.

    Args:
        adapter: The class.
        limits: The values of ``max_attempts``; the table's own if there are none.
        table: The table to judge by, in place of ``task``.
        limit: How long one call may take, in seconds.
    """
    judge_by = table or task_table(*limits)
    key = (adapter, judge_by, limit)
    if key not in _RUNS:
        described = describe_class(adapter, getattr(adapter, "__name__", "?"), table=judge_by)
        with workplace() as folder:
            _RUNS[key] = run(described, folder, profile=Profile.QUICK, limit=limit)
    return _RUNS[key]


@functools.cache
def shipped(name: str) -> Run:
    """Judge a shipped system by its own table, once."""
    with workplace() as folder:
        return run(describe(name), folder, profile=Profile.QUICK)


def checks(found: Run) -> dict[str, Check]:
    """Return a run's checks by id."""
    return {check.id: check for check in found.checks}


def failed(found: Run) -> set[str]:
    """Return the ids of what is broken."""
    return {check.id for check in found.checks if check.status in ("FAIL", "ERROR")}

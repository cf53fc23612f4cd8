"""One target, judged and reported: what the command line and the plugin share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lawful.laws import known
from lawful.laws.catalogue import check_ids
from lawful.laws.runner import Profile, run
from lawful.reports.report import events, fold
from lawful.reports.writing import write
from lawful.spec.reader import find_table
from lawful.strategies.adapter import describe
from lawful.strategies.stores import store_folder
from lawful.strategies.watch import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from lawful.laws.known import Pin
    from lawful.laws.stage import Search
    from lawful.reports.report import Report

__all__ = ["Options", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a target is judged.

    Attributes:
        profile: How much is run.
        limit: How long one call may take, in seconds.
        store: Where stores are made; a memory-backed folder by default.
        table: A table to judge by in place of the adapter's own: a shipped name or a file.
        search: How the random laws search.
        known: A file of known divergences.
        record: A file to write them to.
        reason: The reason of what is recorded anew.
        progress: Told how far the run is.
    """

    profile: Profile = Profile.DEFAULT
    limit: float = LIMIT
    store: Path | None = None
    table: str | None = None
    search: Search | None = None
    known: Path | None = None
    record: Path | None = None
    reason: str = ""
    progress: Callable[[int, int, str], None] = field(default=lambda done, of, what: None)


def judge(target: str, options: Options) -> tuple[Report, list[dict[str, Any]]]:
    """Judge a target.

    Args:
        target: A shipped name, or ``module:Class``.
        options: How.

    Returns:
        The report, and the stream of events that it is a fold of.

    Raises:
        LawfulError: The target, its table, the store's place or the known file is wrong.
    """
    table = None if options.table is None else find_table(options.table)
    adapter = describe(target, table=table)
    ids = check_ids(adapter.table, quick=options.profile is Profile.QUICK)
    pins: dict[str, Pin] = {}
    if options.known is not None:
        pins = known.read_known(options.known, ids)
    before: dict[str, Pin] = {}
    if options.record is not None and options.record.exists():
        before = known.read_known(options.record, ids)
    with store_folder(options.store) as folder:
        found = run(
            adapter,
            folder,
            profile=options.profile,
            limit=options.limit,
            search=options.search,
            progress=options.progress,
        )
    if options.record is not None:
        new = known.pins_of(found.checks, options.reason, before)
        write(options.record, known.write_known(new))
        pins = {pin.id: pin for pin in new}
    found.checks = known.apply(found.checks, pins)
    stream = list(events(found, name=target, profile=options.profile))
    return fold(stream), stream

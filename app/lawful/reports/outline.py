"""What every face shows besides the grid, arranged for people.

Branches, parameters, families of laws, gaps by reason, the facts of a broken check. No markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.laws.judgement import is_core
from lawful.laws.law import UNLAWFUL, Status
from lawful.laws.sampled import DRAWN
from lawful.strategies.seen import How

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lawful.laws.law import Check

    from .report import Report

__all__ = [
    "FLOOR",
    "Fact",
    "GapGroup",
    "Group",
    "Reach",
    "branches",
    "facts",
    "families",
    "gap_groups",
    "hits",
    "label",
    "lines_to_add",
    "parameter_sets",
    "reach",
    "tally",
    "unasked",
]


class Group(NamedTuple):
    """Checks under one name.

    Attributes:
        name: A family, or parameters such as ``max_attempts=1``.
        checks: Its checks, in the report's order.
    """

    name: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> str:
        """How many passed, as ``10 of 12``."""
        return f"{sum(check.status is Status.PASS for check in self.checks)} of {len(self.checks)}"


class GapGroup(NamedTuple):
    """Checks that are not judged for one and the same reason.

    Attributes:
        status: UNSUPPORTED or NOT_YET.
        reason: What the implementation says.
        ids: The checks.
    """

    status: Status
    reason: str
    ids: tuple[str, ...]


class Fact(NamedTuple):
    """One line about a check.

    Attributes:
        name: ``law``, ``expected``, ``got``, ``trace``, ``replay``, ``cause``, ``way`` or ``note``.
        text: What it is.
    """

    name: str
    text: str

    @property
    def verbatim(self) -> bool:
        """Whether it is there to be copied: not to be wrapped or decorated."""
        return self.name in ("trace", "replay")


def label(check_id: str) -> str:
    """Return an id as people say it: a cell as ``running+fail?permanent``, a law as it is."""
    if not check_id.startswith("cell/"):
        return check_id
    return check_id.removeprefix("cell/").replace("/", "+", 1)


def branches(report: Report) -> tuple[Check, ...]:
    """Return the further branches of guarded cells, with the default parameters."""
    return tuple(
        check
        for check in report.checks
        if check.id.startswith("cell/") and not is_core(check.id) and "@" not in check.id
    )


def parameter_sets(report: Report) -> tuple[Group, ...]:
    """Return the cells for each set of parameters that are not the defaults."""
    cells = (check for check in report.checks if check.id.startswith("cell/") and "@" in check.id)
    return _groups((check.id.partition("@")[2], check) for check in cells)


def families(report: Report) -> tuple[Group, ...]:
    """Return the laws by family, cells left out."""
    laws = (check for check in report.checks if not check.id.startswith("cell/"))
    return _groups((check.id.partition("/")[0], check) for check in laws)


def _groups(named: Iterable[tuple[str, Check]]) -> tuple[Group, ...]:
    found: dict[str, list[Check]] = {}
    for name, check in named:
        found.setdefault(name, []).append(check)
    return tuple(Group(name, tuple(checks)) for name, checks in found.items())


def tally(checks: Iterable[Check]) -> tuple[tuple[Status, int], ...]:
    """Return how many checks ended how, in the order of the statuses, zeros left out."""
    ended = [check.status for check in checks]
    return tuple((status, ended.count(status)) for status in Status if status in ended)


def gap_groups(report: Report) -> tuple[GapGroup, ...]:
    """Return what is not judged because of a gap, one group a reason."""
    found: dict[tuple[Status, str], list[str]] = {}
    for check in report.checks:
        if check.status in (Status.UNSUPPORTED, Status.NOT_YET):
            found.setdefault((check.status, check.cause), []).append(check.id)
    return tuple(GapGroup(status, reason, tuple(ids)) for (status, reason), ids in found.items())


def unasked(report: Report) -> tuple[str, ...]:
    """Return the declared gaps that no check of this run stumbled over."""
    reasons = [group.reason for group in gap_groups(report)]
    return tuple(
        gap.name
        for gap in report.gaps
        if not any(reason.startswith(f"{gap.name}: ") for reason in reasons)
    )


def lines_to_add(report: Report) -> tuple[str, ...]:
    """Return the lines to add to the adapter, for what it neither offers nor declares."""
    if not report.undeclared:
        return ()
    entries = (
        f'    "{name}": Unsupported("..."),  # {", ".join(laws)}'
        for name, laws in report.undeclared.items()
    )
    return ("gaps = {", *entries, "}")


def facts(report: Report, check: Check) -> tuple[Fact, ...]:
    """Return what there is to say of a check, in the order in which it is read."""
    ways = {
        How.CLEAN: "",
        How.PUT: "the task was put straight into its state: no lawful way leads there",
        How.RESYNCHRONISED: "a step before it was unlawful; judged on from what was observed",
    }
    blocks = sum(
        other.status is Status.BLOCKED and other.cause == check.id for other in report.checks
    )
    every = (
        Fact("law", check.says),
        Fact("expected", check.expected),
        Fact("got", check.got),
        Fact("trace", check.trace),
        Fact("replay", report.replay(check)),
        Fact("cause", check.cause),
        Fact("way", ways[check.how] if check.status in UNLAWFUL else ""),
        Fact("blocks", _checks(blocks) if blocks else ""),
        Fact("note", check.note),
    )
    return tuple(fact for fact in every if fact.text)


def _checks(count: int) -> str:
    return "1 other check" if count == 1 else f"{count} other checks"


def hits(report: Report, check_id: str) -> str:
    """Say how often each layer fired a cell: ``cells 26, packed 4``; empty if none did."""
    layers = report.coverage.get(check_id, {})
    return ", ".join(f"{layer} {count}" for layer, count in layers.items())


class Reach(NamedTuple):
    """How far the layers of one sort have come.

    Attributes:
        sort: ``words`` for what is exhaustive, ``random`` for what is drawn.
        cells: The table's cells that were fired.
        missed: Ids of the cells that were not.
        places: How many positions x letters were fired.
        all_places: How many there are, for all parameters.
    """

    sort: str
    cells: int
    missed: tuple[str, ...]
    places: int
    all_places: int


FLOOR: Final = 0.9
"""What part of the cells a random layer should come to."""


def reach(report: Report) -> list[Reach]:
    """Say how far each sort of layers has come; nothing of a sort that was not run."""
    core = [check.id for check in report.core]
    found = []
    for sort, is_random in (("words", False), ("random", True)):

        def fired(layers: Mapping[str, int], *, is_random: bool = is_random) -> bool:
            return any((layer in DRAWN) is is_random for layer in layers)

        missed = tuple(name for name in core if not fired(report.coverage.get(name, {})))
        places = sum(fired(layers) for layers in report.places.values())
        if places:
            found.append(Reach(sort, len(core) - len(missed), missed, places, len(report.places)))
    return found

"""Implementations side by side: cells x implementations, each table by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.laws.law import Status

from . import outline
from ._ink import Ink, Square
from .marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lawful.laws.law import Check

    from .report import Report

__all__ = ["Comparison", "Line", "compare_terminal", "comparisons"]


class Line(NamedTuple):
    """One check of every implementation.

    Attributes:
        id: The check's id.
        checks: The check of each implementation; None where it has none.
    """

    id: str
    checks: tuple[Check | None, ...]

    @property
    def even(self) -> bool:
        """Whether it passes everywhere."""
        return all(check is not None and check.status is Status.PASS for check in self.checks)


class Comparison(NamedTuple):
    """Implementations of one table.

    Attributes:
        spec: The table and its version.
        reports: A report of each.
        numbers: Its place among all reports, counted from 1.
        names: A name for each, no two alike.
        cells: The table's cells and the branches of its guards.
        laws: The laws.
        parameters: For each set of other parameters, how many cells passed in each.
    """

    spec: str
    reports: tuple[Report, ...]
    numbers: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[Line, ...]
    laws: tuple[Line, ...]
    parameters: tuple[tuple[str, tuple[str, ...]], ...]


def comparisons(reports: Sequence[Report]) -> tuple[Comparison, ...]:
    """Return the reports side by side, those of one table and version in one comparison."""
    found: dict[tuple[str, int], dict[int, Report]] = {}
    for number, report in enumerate(reports, 1):
        found.setdefault((report.spec_name, report.spec_version), {})[number] = report
    return tuple(
        _comparison(f"{name} {version}", tuple(every), tuple(every.values()))
        for (name, version), every in found.items()
    )


def _comparison(spec: str, numbers: tuple[int, ...], reports: tuple[Report, ...]) -> Comparison:
    names: list[str] = []
    for report in reports:
        name, number = report.name, 1
        while name in names:
            number += 1
            name = f"{report.name} ({number})"
        names.append(name)
    by_id = [{check.id: check for check in report.checks} for report in reports]
    ids = dict.fromkeys(check_id for checks in by_id for check_id in checks)
    lines = [Line(each, tuple(checks.get(each) for checks in by_id)) for each in ids]
    sets = [dict(outline.parameter_sets(report)) for report in reports]
    return Comparison(
        spec,
        reports,
        numbers,
        tuple(names),
        tuple(line for line in lines if line.id.startswith("cell/") and "@" not in line.id),
        tuple(line for line in lines if not line.id.startswith("cell/")),
        tuple(
            (name, tuple(_passed(name, groups) for groups in sets))
            for name in dict.fromkeys(name for groups in sets for name in groups)
        ),
    )


def _passed(name: str, groups: dict[str, tuple[Check, ...]]) -> str:
    return outline.Group(name, groups[name]).passed if name in groups else "none"


def compare_terminal(
    reports: Sequence[Report], *, width: int = 100, colour: bool, ascii: bool
) -> str:
    """Return implementations side by side for a terminal, without a line feed at its end.

    Args:
        reports: A report of each.
        width: Columns.
        colour: Whether to write ANSI colours.
        ascii: Whether to write ASCII alone.
    """
    ink = Ink(width, colour, ascii)
    return "\n\n".join("\n".join(_table(ink, each)) for each in comparisons(reports))


def _table(ink: Ink, comparison: Comparison) -> Iterator[str]:
    yield ink.bold(f"table {comparison.spec}")
    yield ""
    yield from _lines(ink, comparison, comparison.cells, "cell")
    yield ""
    yield from _lines(ink, comparison, comparison.laws, "law")
    for name, passed in comparison.parameters:
        each = zip(comparison.names, passed, strict=True)
        said = ", ".join(f"{who} {count}" for who, count in each)
        yield from ink.wrapped(f"{name}: {said} pass", first="", rest="  ")
    yield ""
    ended = [
        check.status
        for line in (*comparison.cells, *comparison.laws)
        for check in line.checks
        if check is not None
    ]
    yield "   ".join(ink.marked(status) for status in MARKS if status in ended)
    yield ""
    for name, report in zip(comparison.names, comparison.reports, strict=True):
        said = f"{name}: {report.headline}; {report.passed} cells pass"
        yield from ink.wrapped(said, first="", rest="  ")


def _lines(ink: Ink, comparison: Comparison, lines: Sequence[Line], noun: str) -> Iterator[str]:
    uneven = [line for line in lines if not line.even]
    if uneven:
        yield from ink.grid(
            comparison.names,
            [
                (
                    outline.label(line.id),
                    [Square(check.status if check else None) for check in line.checks],
                )
                for line in uneven
            ],
        )
    even = len(lines) - len(uneven)
    if even:
        plural = "s pass" if even != 1 else " passes"
        yield f"{even} of {len(lines)} {noun}{plural} everywhere"

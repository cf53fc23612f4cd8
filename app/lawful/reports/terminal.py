"""The report for a terminal: the grid, the laws, root causes, gaps, and the verdict last.

Signs and words say everything; colour only repeats it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.laws.judgement import Verdict
from lawful.laws.law import Status

from . import outline
from ._ink import Ink, Square

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.laws.law import Check

    from .report import Report

__all__ = ["terminal"]

MOST: Final = 10
"""How many root causes, and other lists of one line each, are shown unless all are wanted."""
_INDENT: Final = "  "
_LABEL: Final = 10
"""The column where a fact begins, counted from its label."""


def terminal(
    report: Report,
    *,
    width: int = 100,
    colour: bool,
    ascii: bool,
    most: int | None = MOST,
) -> str:
    """Return a report for a terminal, without a line feed at its end.

    Args:
        report: The report.
        width: Columns. Traces and commands are never broken: they are there to be copied.
        colour: Whether to write ANSI colours.
        ascii: Whether to write ASCII alone.
        most: How many root causes are shown in full; None shows all.
    """
    page = _Page(report, Ink(width, colour, ascii), most)
    parts = (
        [page.header()],
        [*page.cells(), *page.legend()],
        page.parameters(),
        page.laws(),
        page.causes(),
        page.known(),
        page.gaps(),
        page.undeclared(),
        page.reasons(),
        page.reach(),
        page.verdict(),
    )
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part)))


class _Page:
    def __init__(self, report: Report, ink: Ink, most: int | None) -> None:
        self._report = report
        self._ink = ink
        self._most = most

    def header(self) -> str:
        report = self._report
        beside = (
            f"table {report.spec_name} {report.spec_version}, profile {report.profile}, "
            f"lawful {report.lawful}, {report.seconds:.1f} s"
        )
        return f"{self._ink.bold(report.name)}  {self._ink.dim(beside)}"

    def cells(self) -> list[str]:
        rows = [
            (row.state, [Square(check.status, _word(kind, check)) for kind, check in row.cells])
            for row in self._report.grid()
        ]
        return self._ink.grid(self._report.events, rows)

    def legend(self) -> list[str]:
        occurring = outline.tally(self._report.checks)
        return ["", "   ".join(self._ink.marked(status) for status, _ in occurring)]

    def parameters(self) -> Iterator[str]:
        branches = outline.branches(self._report)
        if branches:
            yield self._ink.bold("Guard branches")
            wide = max(len(outline.label(check.id)) for check in branches)
            for check in branches:
                name = self._ink.plain(outline.label(check.id)).ljust(wide)
                yield f"{_INDENT}{name}  {self._ink.marked(check.status)}"
        groups = outline.parameter_sets(self._report)
        if groups:
            yield self._ink.bold("Other parameters")
        for group in groups:
            yield f"{_INDENT}{self._ink.plain(group.name)}: {self._counted(group)}"

    def _counted(self, group: outline.Group) -> str:
        others = [
            self._ink.marked(status, f"{count} {str(status).lower().replace('_', ' ')}")
            for status, count in outline.tally(group.checks)
            if status is not Status.PASS
        ]
        return ", ".join([f"{group.passed} pass", *others])

    def laws(self) -> Iterator[str]:
        groups = outline.families(self._report)
        if groups:
            yield self._ink.bold("Laws")
        for group in groups:
            statuses = {check.status for check in group.checks}
            if len(statuses) == 1 and not statuses & _TELLING:
                (status,) = statuses
                yield self._family(group, status)
                continue
            yield f"{_INDENT}{self._ink.plain(group.name)}: {self._counted(group)}"
            wide = max(len(self._ink.plain(check.id)) for check in group.checks)
            for check in group.checks:
                yield f"{_INDENT * 2}{self._law(check, wide)}".rstrip()

    def reach(self) -> Iterator[str]:
        every = outline.reach(self._report)
        if every:
            yield self._ink.bold("Reached")
        for one in every:
            cells = f"{one.cells} of {one.cells + len(one.missed)} cells"
            places = f"{one.places} of {one.all_places} positions x letters"
            yield f"{_INDENT}{one.sort}: {cells}, {places}"
            low = one.cells < outline.FLOOR * (one.cells + len(one.missed))
            if low or (one.missed and one.sort != "random"):
                shown = ", ".join(one.missed[:MOST])
                more = len(one.missed) - MOST
                rest = f" and {more} more" if more > 0 else ""
                indent = _INDENT * 2
                yield from self._ink.wrapped(f"never: {shown}{rest}", first=indent, rest=indent)

    def _family(self, group: outline.Group, status: Status) -> str:
        size = len(group.checks)
        if status is Status.PASS:
            said = f"{group.name} {group.passed}"
        else:
            said = f"{group.name}: {size} of {size} {str(status).lower().replace('_', ' ')}"
        return _INDENT + self._ink.marked(status, said)

    def _law(self, check: Check, wide: int) -> str:
        space = " " * (wide - len(self._ink.plain(check.id)) + len(_INDENT))
        return f"{self._ink.marked(check.status, check.id)}{space}{self._ink.dim(_beside(check))}"

    def causes(self) -> Iterator[str]:
        every = self._report.causes()
        if not every:
            return
        shown = every if self._most is None else every[: self._most]
        yield self._ink.bold(f"Root causes ({len(every)})")
        for number, check in enumerate(shown, 1):
            yield ""
            yield f"{number}. {self._ink.marked(check.status, check.id)}"
            for fact in outline.facts(self._report, check):
                yield from self._fact(fact)
            if check.trail:
                yield f"{_INDENT}raised by the implementation:"
                for line in self._ink.plain(check.trail, lines=True).rstrip("\n").split("\n"):
                    yield f"{_INDENT * 2}{line}"
        if len(shown) < len(every):
            yield ""
            yield f"and {len(every) - len(shown)} more: --all"

    def _fact(self, fact: outline.Fact) -> list[str]:
        first = _INDENT + fact.name.ljust(_LABEL)
        if fact.verbatim:
            return [first + self._ink.plain(fact.text)]
        return self._ink.wrapped(fact.text, first=first, rest=" " * len(first))

    def known(self) -> Iterator[str]:
        known = [check for check in self._report.checks if check.status is Status.KNOWN]
        if known:
            yield self._ink.bold("Known divergences")
        for check in known:
            line = _INDENT + self._ink.marked(check.status, check.id)
            yield f"{line}  {self._ink.plain(check.cause or check.note)}".rstrip()

    def gaps(self) -> Iterator[str]:
        groups = outline.gap_groups(self._report)
        if groups:
            yield self._ink.bold("Gaps")
        for group in groups:
            size = len(group.ids)
            what = group.ids[0] if size == 1 else f"{size} checks"
            text = f"{group.reason}: {what}"
            lines = self._ink.wrapped(text, first="", rest=_INDENT * 2)
            yield _INDENT + self._ink.marked(group.status, lines[0])
            yield from lines[1:]
        names = outline.unasked(self._report)
        if names and groups:
            text = f"declared, and nothing here needed them: {', '.join(names)}"
            yield from self._ink.wrapped(text, first=_INDENT, rest=_INDENT * 2)

    def undeclared(self) -> Iterator[str]:
        lines = outline.lines_to_add(self._report)
        if lines:
            yield self._ink.bold("Undeclared: write these methods, or add to the adapter")
        for line in lines:
            yield _INDENT * 2 + self._ink.plain(line)

    def reasons(self) -> Iterator[str]:
        incomplete = self._report.verdict is Verdict.INCOMPLETE
        # Beside root causes, what they block has been said already, by its number.
        blocked = tuple(
            f"{check.id} is blocked by "
            for check in self._report.checks
            if check.status is Status.BLOCKED and not incomplete
        )
        every = [each for each in self._report.reasons if not each.startswith(blocked)]
        if not every:
            return
        yield self._ink.bold("Incomplete, because" if incomplete else "Not judged")
        shown = every if self._most is None else every[: self._most]
        for reason in shown:
            yield from self._ink.wrapped(reason, first=f"{_INDENT}- ", rest=_INDENT * 2)
        if len(shown) < len(every):
            yield f"{_INDENT}and {len(every) - len(shown)} more: --all"

    def verdict(self) -> list[str]:
        report = self._report
        colour = {Verdict.LAWFUL: "1;32", Verdict.UNLAWFUL: "1;31", Verdict.INCOMPLETE: "1;33"}
        line = self._ink.plain(f"{report.name}: {report.headline}")
        return [
            self._ink.plain(f"{report.passed} cells pass"),
            self._ink.paint(line, colour[report.verdict]),
        ]


_TELLING: Final = frozenset(Status) - {Status.PASS, Status.UNSUPPORTED, Status.NOT_YET}
"""What is said law by law. Laws that can't be judged are named with their reasons, as gaps."""


def _word(kind: str, check: Check) -> str:
    return kind if check.status is Status.PASS else ""


def _beside(check: Check) -> str:
    if check.status is Status.BLOCKED:
        return f"blocked by {check.cause}"
    if check.status in (Status.UNSUPPORTED, Status.NOT_YET):
        return check.cause.partition(":")[0]  # the whole reason stands among the gaps
    if check.status is Status.NOT_RUN:
        return check.note
    return "1 trigger" if check.triggers == 1 else f"{check.triggers} triggers"

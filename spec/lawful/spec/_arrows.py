"""What every diagram draws: one arrow for each way a cell can go, with its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .table import CellKind, Name

if TYPE_CHECKING:
    from .table import Condition, Table, Value

__all__ = ["Arrow", "arrows", "facts"]


class Arrow(NamedTuple):
    """One way from a state: a legal cell, a branch of a guarded one, or a no-op.

    Attributes:
        state: Where it starts.
        event: What it takes.
        to: Where it ends; the same state for a no-op.
        branch: Which branch of a guard, from 0; None where no guard decides.
        kind: Legal or no-op.
        conditions: What must hold, in words: ``attempts < max_attempts``, or ``else``.
        additions: What is counted, in words: ``attempts + 1``.
    """

    state: str
    event: str
    to: str
    branch: int | None
    kind: CellKind
    conditions: tuple[str, ...]
    additions: tuple[str, ...]

    @property
    def id(self) -> str:
        """The arrow's id in a drawing: ``edge-running-fail-0``."""
        branch = "" if self.branch is None else f"-{self.branch}"
        return f"edge-{self.state}-{self.event}{branch}"

    @property
    def text(self) -> str:
        """The whole label in one line: ``fail [retryable == true, attempts < max_attempts]``."""
        if self.kind is CellKind.NOOP:
            return f"{self.event} (no-op)"
        conditions = f" [{', '.join(self.conditions)}]" if self.conditions else ""
        additions = f" / {', '.join(self.additions)}" if self.additions else ""
        return f"{self.event}{conditions}{additions}"


def arrows(table: Table) -> tuple[Arrow, ...]:
    """Return every arrow of a table, by row and column, branches in order."""
    found: list[Arrow] = []
    for state, row in zip(table.states, table.cells, strict=True):
        for event, cell in zip(table.events, row, strict=True):
            if cell.kind is CellKind.REFUSED:
                continue
            if cell.guard is None:
                add = _additions(event.add) if cell.kind is CellKind.LEGAL else ()
                found.append(Arrow(state, event.name, cell.to or state, None, cell.kind, (), add))
                continue
            for index, branch in enumerate(table.guard(cell.guard).branches):
                conditions = tuple(_words(one) for one in branch.conditions) or ("else",)
                add = _additions((*event.add, *branch.add))
                found.append(Arrow(state, event.name, branch.to, index, cell.kind, conditions, add))
    return tuple(found)


def facts(table: Table) -> str:
    """Say in sentences what a drawing of the table shows."""
    counts = table.count()
    every = arrows(table)
    sentences = [
        f"{len(table.states)} states and {len(table.events)} events.",
        f"{counts.legal} legal cells, {counts.noop} no-ops, {counts.refused} refused.",
        f"A task starts in {table.initial}.",
    ]
    for state in table.states:
        end = " is terminal" if state in table.terminal else ""
        ways = "; ".join(
            f"{arrow.text} changes nothing"
            if arrow.kind is CellKind.NOOP
            else f"{arrow.text} leads to {arrow.to}"
            for arrow in every
            if arrow.state == state
        )
        sentences.append(f"{state}{end}{': ' if ways else ''}{ways}.")
    return " ".join(sentences)


def _additions(add: tuple[tuple[str, int], ...]) -> tuple[str, ...]:
    return tuple(f"{counter} + {amount}" for counter, amount in add)


def _words(condition: Condition) -> str:
    right = condition.right
    value = right.name if isinstance(right, Name) else _literal(right)
    return f"{condition.left.name} {condition.operator} {value}"


def _literal(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""``lawful spec``: show, check or draw a table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lawful.spec.table import Cell, Table

__all__ = ["arguments", "run"]

_FORMATS: Final = ("mermaid", "dot", "svg")


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("action", choices=("show", "check", "diagram"))
    parser.add_argument(
        "table", nargs="?", default="task", metavar="TABLE", help="a shipped name or a file"
    )
    parser.add_argument("--format", choices=_FORMATS, default="mermaid", help="for diagram")
    parser.add_argument("--json", action="store_true", help="for show: the parsed form")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="for diagram")


def run(given: Namespace) -> int:
    """Do what was asked; a wrong table ends in exit code 2 and one line."""
    from lawful.spec.diagrams import dot, mermaid, svg
    from lawful.spec.export import to_json
    from lawful.spec.reader import find_table

    table = find_table(given.table)
    if given.action == "diagram":
        text = {"mermaid": mermaid, "dot": dot, "svg": svg}[given.format](table)
        if given.output:
            from lawful.reports.writing import write

            write(given.output, text)
        else:
            sys.stdout.write(text)
    elif given.action == "check":
        sys.stdout.write(_counted(table) + "\n")
    elif given.json:
        sys.stdout.write(json.dumps(to_json(table), indent=1) + "\n")
    else:
        sys.stdout.write(_shown(table))
    return 0


def _counted(table: Table) -> str:
    states, events, counts = len(table.states), len(table.events), table.count()
    return (
        f"{table.name} {table.version}: {states} states x {events} events = {states * events} "
        f"cells: {counts.legal} legal, {counts.noop} no-op, {counts.refused} refused"
    )


def _shown(table: Table) -> str:
    header = ["", *table.event_names]
    rows = [
        [state + (" ." if state in table.terminal else ""), *map(_text, row)]
        for state, row in zip(table.states, table.cells, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [_counted(table), ""]
    lines += [
        "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    lines += ["", "- refused   = no-op   ?name decided by a guard   . terminal"]
    for guard in table.guards:
        for branch in guard.branches:
            tests = " and ".join(
                f"{c.left.name} {c.operator} {getattr(c.right, 'name', c.right)}"
                for c in branch.conditions
            )
            added = "".join(f", {name} + {amount}" for name, amount in branch.add)
            lines.append(
                f"?{guard.name}: {f'if {tests}' if tests else 'else'} -> {branch.to}{added}"
            )
    return "\n".join(lines) + "\n"


def _text(cell: Cell) -> str:
    if cell.guard:
        return f"?{cell.guard}"
    return cell.to or {"no-op": "=", "refused": "-"}[str(cell.kind)]

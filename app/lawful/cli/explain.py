"""``lawful explain``: say what a check is about."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from lawful.spec.table import Table

__all__ = ["arguments", "run"]


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("id", metavar="ID", nargs="?", help="as a report prints it; all, if none")
    parser.add_argument("--spec", metavar="TABLE", default="task", help="a table: a name or a file")


def run(given: Namespace) -> int:
    """Explain a check, or list every check there is for a table."""
    from lawful.spec.reader import find_table

    table = find_table(given.spec)
    texts = _texts(table)
    if given.id is None:
        sys.stdout.write("".join(f"{name}\n    {text[0]}\n" for name, text in texts.items()))
        return 0
    if given.id not in texts:
        near = difflib.get_close_matches(given.id, texts, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise LawfulError(
            f"{table.name} has no check {given.id!r}{hint}; `lawful explain` lists all"
        )
    sys.stdout.write("\n\n".join((given.id, *texts[given.id])) + "\n")
    return 0


def _texts(table: Table) -> dict[str, tuple[str, ...]]:
    from lawful.laws.catalogue import laws_of
    from lawful.laws.cells import Cells
    from lawful.spec.oracle import Oracle
    from lawful.spec.words import shortest_paths

    texts: dict[str, tuple[str, ...]] = {}
    for params in table.valuations:
        oracle = Oracle(table, params)
        cells, paths = Cells(oracle), shortest_paths(oracle)
        with_ = ", ".join(f"{name} {value}" for name, value in params.items())
        for name, says in cells.says.items():
            key = cells.keys[name][0]
            word = " ".join(map(str, (*paths[key.position], key.letter)))
            where = f"Shortest word that asks it{f' ({with_})' if with_ else ''}: {word}"
            texts[name] = (says[0].upper() + says[1:] + ".", where)
    for law in laws_of(table):
        needs = f"Needs: {', '.join(law.needs)}." if law.needs else "Needs nothing optional."
        texts[law.id] = (law.says[0].upper() + law.says[1:] + ".", law.why, needs)
    return texts

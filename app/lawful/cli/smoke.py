"""``lawful smoke``: is the adapter fit to be judged?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .console import quiet_stdout

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["arguments", "run"]


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument(
        "--limit", type=float, default=10.0, metavar="SECONDS", help="on one call (default: 10)"
    )
    parser.add_argument("--spec", metavar="TABLE", help="judge by this table: a name or a file")


def run(given: Namespace) -> int:
    """Say what the first calls show; a wrong adapter ends in exit code 2 and one line."""
    from lawful.laws.smoke import smoke
    from lawful.spec.reader import find_table
    from lawful.strategies.adapter import describe
    from lawful.strategies.stores import store_folder
    from lawful.strategies.watch import Watch

    table = None if given.spec is None else find_table(given.spec)
    watch = Watch(given.limit)
    with quiet_stdout(), store_folder() as folder, watch.running():
        found = smoke(describe(given.target, table=table), folder, watch)
    adapter = found.adapter
    lines = [
        f"{given.target}: fit to be judged by {adapter.table.name}",
        f"offered: {', '.join(sorted(adapter.offered)) or 'nothing optional'}",
        f"gaps: {', '.join(sorted(adapter.gaps)) or 'none'}",
    ]
    if found.reached:
        lines.append(f"reached in {adapter.system}: {len(found.reached)} functions")
    elif found.visible:
        lines.append(
            f"reached in {adapter.system}: nothing. The adapter does not drive what it names"
        )
    else:
        lines.append(f"{adapter.system} is no module here: whether it was reached can't be seen")
    sys.stdout.write("\n".join(lines) + "\n")
    return 3 if found.visible and not found.reached else 0

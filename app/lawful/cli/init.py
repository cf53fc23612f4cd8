"""``lawful init``: write an adapter, a test and a CI workflow to begin with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

__all__ = ["arguments", "run"]


def arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR")
    parser.add_argument("--force", action="store_true", help="write over files that are there")


def run(given: Namespace) -> int:
    """Write the files; none of them, if one is already there."""
    from lawful.reports.writing import write
    from lawful.scaffold import FILES, text_of

    folder: Path = given.folder
    if not folder.is_dir():
        raise LawfulError(f"{folder} is no folder; make it first")
    there = [name for name in FILES if (folder / name).exists()]
    if there and not given.force:
        raise LawfulError(f"{', '.join(there)}: already there; --force writes over them")
    for name, template in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text_of(template))
        sys.stdout.write(f"wrote {path}\n")
    sys.stdout.write("next: lawful smoke lawful_adapter:Adapter\n")
    return 0

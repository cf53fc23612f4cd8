"""The faults of shipped tables that nobody can tell from the table, each with its reason.

That they are equivalent is proven anew in each run; what is proven must be what is written here.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["written_equivalents"]

FORMAT: Final = "lawful-equivalents/1"


def written_equivalents(table: str) -> Mapping[str, str] | None:
    """Return the equivalent mutants of a shipped table, by id, each with its reason.

    Args:
        table: The table's name.

    Returns:
        None for a table that is not shipped: of that nothing is written down.
    """
    file = files("lawful.mutants.table") / "equivalent" / f"{table}.toml"
    if not file.is_file():
        return None
    read = tomllib.loads(file.read_text("utf-8"))
    if read["format"] != FORMAT:
        raise ValueError(f"{table}.toml has the format {read['format']!r}, not {FORMAT!r}")
    return {entry["id"]: entry["reason"] for entry in read.get("equivalent", ())}

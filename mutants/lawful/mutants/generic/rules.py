"""Mutants that tell nothing about tests, set aside by rule: each is told with its rule."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .differences import Difference

__all__ = ["NO_CHANGE", "SAME_SQL", "WORDING", "set_aside"]

NO_CHANGE: Final = "its syntax tree is the original's"
SAME_SQL: Final = "SQL means the same in capitals and in small letters, outside of quotes"
WORDING: Final = "how the message of an error is worded is nobody's contract"

_SQL: Final = re.compile(
    r"\s*(SELECT|INSERT|UPDATE|DELETE|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|CREATE|DROP|ALTER|"
    r"PRAGMA|WITH)\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")""")


def set_aside(found: Difference) -> str:
    """Return the rule by which a mutant is set aside; empty if there is none."""
    if not found.changes:
        return NO_CHANGE
    before, after = _text(found.before), _text(found.after)
    if before is None or after is None:
        return ""
    if _SQL.match(before) and _unquoted(before) == _unquoted(after):
        return SAME_SQL
    if any(isinstance(node, ast.Raise) for node in found.around):
        return WORDING
    return ""


def _unquoted(sql: str) -> list[str]:
    """Return SQL in small letters, but for what is in quotes."""
    parts = _QUOTED.split(sql)  # quoted ones are at odd places
    return [part if number % 2 else part.lower() for number, part in enumerate(parts)]


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

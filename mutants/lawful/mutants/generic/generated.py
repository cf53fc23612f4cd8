"""What mutmut has generated: read as data, and made mutants with places, operators and sentences.

A mutant's id names its function and counts in it, and no line.
"""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.mutants.errors import MutationError
from lawful.mutants.mutant import Mutant, Place

from .differences import Function, difference

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .differences import Difference
    from .layout import Module

__all__ = ["Generated", "generated", "read_codes"]

_NUMBER: Final = "__mutmut_"
_CLASS: Final = "ǁ"


class Generated(NamedTuple):
    """One mutant as mutmut has generated it.

    Attributes:
        name: mutmut's name of it.
        mutant: The same, as reports show it.
        difference: What it changes.
        function: The text of the function that it is in, as it is in the source.
        outside: What its module holds outside of functions, as a text.
    """

    name: str
    mutant: Mutant
    difference: Difference
    function: str
    outside: str


def generated(module: Module, mutants: Path) -> Iterator[Generated]:
    """Read the mutants of a module.

    Args:
        module: The module.
        mutants: Where mutmut has written.

    Raises:
        MutationError: It has written something else than this version can read.
    """
    file = mutants / module.path
    names = list(read_codes(module, mutants))
    source = module.file.read_text("utf-8")
    outside = _outside(ast.parse(source))
    originals = _functions(ast.parse(source))
    there = {
        node.name: node
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, Function)
    }
    for name in names:
        mangled = name.rpartition(".")[2]
        head, _, number = mangled.rpartition(_NUMBER)
        qualified = _qualified(head)
        function = originals.get(qualified)
        pair = there.get(f"{head}{_NUMBER}orig"), there.get(mangled)
        if function is None or pair[0] is None or pair[1] is None:
            raise MutationError(f"{name}: there is no such function in what mutmut has generated")
        found = difference(pair[0], pair[1])
        place = _place(module, pair[0], function, found)
        text = ast.get_source_segment(source, function) or ""
        mutant = _mutant(module, qualified, number, place, found)
        yield Generated(name, mutant, found, text, outside)


def read_codes(module: Module, mutants: Path) -> dict[str, int | None]:
    """Return each mutant of a module with the exit code of its tests; None for one not tested."""
    try:
        read = json.loads((mutants / f"{module.path}.meta").read_text("utf-8"))
        codes = read["exit_code_by_key"]
        return {str(name): None if code is None else int(code) for name, code in codes.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MutationError(f"{module.name}: what mutmut has written can't be read") from error


def _functions(tree: ast.Module) -> dict[str, Function]:
    """Return the functions of a module and the methods of its classes, by qualified name."""
    found: dict[str, Function] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{each.name}": each for each in node.body if isinstance(each, Function)
            }
        elif isinstance(node, Function):
            found[node.name] = node
    return found


def _outside(tree: ast.Module) -> str:
    """Return what a module holds but for the bodies of its functions."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            node.body = [ast.Pass()]
    return ast.unparse(tree)


def _qualified(head: str) -> str:
    """Return the name of a function, ``Store.read``, from mutmut's ``xǁStoreǁread``."""
    if head.startswith(f"x{_CLASS}"):
        return head[2:].replace(_CLASS, ".")
    return head.removeprefix("x_")


def _place(
    module: Module,
    copy: Function,
    function: Function,
    found: Difference,
) -> Place:
    """Return where a difference is in the source: as far below its function as in the copy."""
    down = function.lineno - copy.lineno
    node = found.before
    end_line = node.end_lineno or node.lineno
    end_column = node.end_col_offset or node.col_offset
    return Place(
        module.path,
        node.lineno + down,
        node.col_offset + 1,
        end_line + down,
        end_column + 1,
    )


def _mutant(module: Module, qualified: str, number: str, place: Place, found: Difference) -> Mutant:
    before, after = _told(found.before), _told(found.after)
    return Mutant(
        f"mutmut/{found.family}/{module.name}.{qualified}/{number}",
        "mutmut",
        found.family,
        f"{found.family} changed in {qualified}",
        place,
        before,
        after,
        source="mutmut",
    )


def _told(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= MOST else f"{text[:MOST]}..."


MOST: Final = 160

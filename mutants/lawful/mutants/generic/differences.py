"""What a mutant of a function changes: found by comparing two syntax trees, and named.

mutmut keeps neither places nor operators; both are in what it has generated.
"""

from __future__ import annotations

import ast
from typing import Final, NamedTuple, TypeAlias

__all__ = ["Difference", "Function", "difference"]

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Located: TypeAlias = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.excepthandler


class Difference(NamedTuple):
    """Where two functions differ.

    Attributes:
        before: The smallest part of the original in which all that differs is.
        after: The same of the mutant.
        around: What the part is in, from the outside inwards.
    """

    before: Located
    after: Located
    around: tuple[ast.AST, ...]

    @property
    def changes(self) -> bool:
        """Whether there is any."""
        if isinstance(self.before, Function) and isinstance(self.after, Function):
            parts = _parts(self.before), _parts(self.after)
            return list(map(ast.dump, parts[0])) != list(map(ast.dump, parts[1]))
        return True

    @property
    def family(self) -> str:
        """What kind of change it is."""
        return _family(self)


def difference(original: Function, mutant: Function) -> Difference:
    """Find where two functions differ, whatever their names are; as a whole, if they don't."""
    found: list[tuple[Located, Located, tuple[ast.AST, ...]]] = []
    whole = Difference(original, mutant, ())
    parts = _parts(original), _parts(mutant)
    if len(parts[0]) != len(parts[1]):
        return whole
    differing = [(one, other) for one, other in zip(*parts, strict=True) if not _same(one, other)]
    if len(differing) != 1:
        return whole
    around: list[ast.AST] = [original]
    one, other = differing[0]
    while True:
        if isinstance(one, Located) and isinstance(other, Located):
            found.append((one, other, tuple(around)))
        deeper = _one_differing(one, other)
        if deeper is None:
            break
        around.append(one)
        one, other = deeper
    return Difference(*found[-1]) if found else whole


def _parts(function: Function) -> list[ast.AST]:
    return [function.args, *function.body]


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _one_differing(one: ast.AST, other: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """Return the only children that differ; None if several do, or something that is no child."""
    if type(one) is not type(other):
        return None
    differing: list[tuple[ast.AST, ast.AST]] = []
    for name in one._fields:
        here, there = getattr(one, name, None), getattr(other, name, None)
        if isinstance(here, list) and isinstance(there, list):
            if len(here) != len(there):
                return None
            pairs = list(zip(here, there, strict=True))
        else:
            pairs = [(here, there)]
        for left, right in pairs:
            if isinstance(left, ast.AST) and isinstance(right, ast.AST):
                if not _same(left, right):
                    differing.append((left, right))
            elif left != right:
                return None
    return differing[0] if len(differing) == 1 else None


_FAMILIES: Final[tuple[tuple[type[ast.AST], str], ...]] = (
    (ast.Compare, "comparison"),
    (ast.BoolOp, "logic"),
    (ast.BinOp, "arithmetic"),
    (ast.UnaryOp, "negation"),
    (ast.Lambda, "lambda"),
    (ast.AugAssign, "assignment"),
    (ast.Assign, "assignment"),
    (ast.AnnAssign, "assignment"),
    (ast.Break, "loop"),
    (ast.Continue, "loop"),
    (ast.Call, "argument"),
    (ast.keyword, "argument"),
    (ast.arg, "default"),
    (ast.Name, "name"),
    (ast.Attribute, "name"),
)


def _family(found: Difference) -> str:
    before, after = found.before, found.after
    parent = found.around[-1] if found.around else None
    became_none = isinstance(after, ast.Constant) and after.value is None
    if became_none and isinstance(parent, ast.Call | ast.keyword):
        return "argument"
    if became_none and isinstance(parent, ast.Assign | ast.AnnAssign):
        return "assignment"
    if isinstance(before, ast.Constant):
        if isinstance(before.value, bool):
            return "constant"
        if isinstance(before.value, str | bytes):
            return "text"
        if isinstance(before.value, int | float | complex):
            return "number"
    if isinstance(after, ast.UnaryOp):
        return "negation"
    for kind, family in _FAMILIES:
        if isinstance(before, kind):
            return family
    return "other"

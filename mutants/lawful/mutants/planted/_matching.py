"""What a patch looks for, found in a syntax tree, and replaced both there and in the text.

Whether the text was replaced rightly is not left to chance: it must parse to the tree in which the
same was replaced.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Match", "NoMatch", "Span", "match"]

Scope: TypeAlias = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_COMMA = re.compile(r"\s*,")


class NoMatch(Exception):
    """What is looked for can't be looked for, or can't be replaced; the message says why."""


class Span(NamedTuple):
    """A part of a text, and what is to stand there.

    Attributes:
        start: Its first character.
        end: The character behind it.
        instead: What is to stand there.
    """

    start: int
    end: int
    instead: str


@dataclass(frozen=True, slots=True)
class Match:
    """Where something was found.

    Attributes:
        source: The text.
        spans: Where it is, in the order of the text.
        tree: The text's tree, in which it was replaced.
    """

    source: str
    spans: tuple[Span, ...]
    tree: ast.Module

    def replaced(self) -> str:
        """Return the text in which it is replaced; in brackets, if it must be.

        Raises:
            NoMatch: It does not fit in there.
        """
        for form in ("{}", "({})"):
            made = self.source
            for start, end, instead in reversed(self.spans):
                made = made[:start] + form.format(instead) + made[end:]
            try:
                if ast.dump(ast.parse(made)) == ast.dump(self.tree):
                    return made
            except SyntaxError:
                continue
        raise NoMatch("what comes of it is not what was meant")


def match(source: str, where: str, before: str, after: str, *, text: bool) -> Match:
    """Find everything that a patch looks for.

    Args:
        source: The module's source.
        where: The qualified name of the class or function; empty for the module.
        before: What is looked for.
        after: What is to stand there.
        text: Whether both are pieces of a text.

    Raises:
        NoMatch: There is no such class or function, or ``before`` or ``after`` can't be read.
    """
    tree = ast.parse(source)
    finder = _Finder(source, _scope(tree, where))
    if text:
        spans = list(finder.texts(before, after))
    elif (item := _item(before)) is not None:
        spans = list(finder.items(item, after))
    else:
        looked, instead = _statements(before), _statements(after)
        if len(looked) == len(instead) == 1 and _is_expression(looked[0], instead[0]):
            spans = list(finder.expressions(looked[0].value, after))  # type: ignore[attr-defined]
        else:
            spans = list(finder.statements(looked, after))
    return Match(source, tuple(sorted(spans)), tree)


def _is_expression(*statements: ast.stmt) -> bool:
    return all(isinstance(each, ast.Expr) for each in statements)


def _statements(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(textwrap.dedent(text).strip()).body
    except SyntaxError as error:
        raise NoMatch(f"{' '.join(text.split())!r} is no Python: {error.msg}") from None


def _item(text: str) -> ast.Dict | None:
    """Return a dict of one item, if that is what is looked for."""
    try:
        ast.parse(textwrap.dedent(text).strip())
    except SyntaxError:
        return _dict(text)
    return None


def _dict(text: str) -> ast.Dict | None:
    try:
        read = ast.parse(f"{{{text.strip()}}}", mode="eval").body
    except SyntaxError:
        return None
    return read if isinstance(read, ast.Dict) else None


def _scope(tree: ast.Module, where: str) -> Scope:
    scope: Scope = tree
    for name in where.split(".") if where else ():
        found = [
            each for each in scope.body if isinstance(each, _DEFINITIONS) and each.name == name
        ]
        if len(found) != 1:
            raise NoMatch(f"there are {len(found)} of {where}")
        scope = found[0]
    return scope


class _Finder:
    """Finds and replaces in one scope.

    Args:
        source: The text.
        scope: The part of its tree.
    """

    def __init__(self, source: str, scope: Scope) -> None:
        self._source = source
        self._scope = scope
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def expressions(self, looked: ast.expr, after: str) -> Iterator[Span]:
        """Replace every expression that is equal to one."""
        wanted = ast.dump(looked)
        for node, put in self._nodes():
            if isinstance(node, ast.expr) and ast.dump(node) == wanted:
                put(_expression(after))
                yield Span(*self._range(node), textwrap.dedent(after).strip())

    def statements(self, looked: list[ast.stmt], after: str) -> Iterator[Span]:
        """Replace every run of statements that is equal to one."""
        wanted = [ast.dump(each) for each in looked]
        for block in self._blocks():
            dumped = [ast.dump(each) for each in block]
            for at in reversed(range(len(block) - len(looked) + 1)):
                if dumped[at : at + len(looked)] != wanted:
                    continue
                instead = after if after.strip() or len(block) > len(looked) else "pass"
                start = self._range(block[at])[0]
                end = self._range(block[at + len(looked) - 1])[1]
                lines = textwrap.dedent(instead).strip().split("\n")
                indent = "\n" + " " * block[at].col_offset
                block[at : at + len(looked)] = _statements(instead)
                yield Span(start, end, indent.join(lines))

    def items(self, looked: ast.Dict, after: str) -> Iterator[Span]:
        """Replace every item of a dict that is equal to one."""
        wanted, instead = _pair(looked, 0), _dict(after)
        if instead is None:
            raise NoMatch(f"{after!r} is no item of a dict")
        for node, _ in self._nodes():
            if not isinstance(node, ast.Dict):
                continue
            for at in reversed(range(len(node.keys))):
                key, value = node.keys[at], node.values[at]
                if key is None or _pair(node, at) != wanted:
                    continue
                start, end = self._range(key)[0], self._range(value)[1]
                if not after.strip() and (comma := _COMMA.match(self._source, end)):
                    end = comma.end()
                node.keys[at : at + 1] = instead.keys
                node.values[at : at + 1] = instead.values
                yield Span(start, end, textwrap.dedent(after).strip())

    def texts(self, piece: str, after: str) -> Iterator[Span]:
        """Replace a piece of every text that holds it."""
        for node, put in self._nodes():
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if (often := node.value.count(piece)) == 0:
                continue
            if often > 1:
                raise NoMatch(f"it stands {often} times in one text")
            value = node.value.replace(piece, after)
            start, end = self._range(node)
            raw = self._source[start:end]
            put(ast.Constant(value))
            if raw.count(piece) == 1:
                at = start + raw.index(piece)
                yield Span(at, at + len(piece), after)
            else:  # it goes over several literals, or holds an escape
                yield Span(start, end, repr(value))

    # -- where things are ------------------------------------------------------------------------

    def _nodes(self) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
        """Yield every node below the scope, with a function that puts another in its place."""
        yield from self._below(self._scope)

    def _below(self, node: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
        for name, value in ast.iter_fields(node):
            every = list(value) if isinstance(value, list) else [value]
            for at, child in enumerate(every):
                if not isinstance(child, ast.AST) or self._is_apart(child):
                    continue
                replaced: list[ast.AST] = []
                yield child, replaced.append
                if not replaced:
                    yield from self._below(child)
                elif isinstance(value, list):
                    value[at] = replaced[0]
                else:
                    setattr(node, name, replaced[0])

    def _blocks(self) -> Iterator[list[ast.stmt]]:
        nodes = [self._scope, *(node for node, _ in self._nodes())]
        for node in nodes:
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list):
                    yield block

    def _is_apart(self, node: ast.AST) -> bool:
        """Say whether a function or class is none of a module's or class's own."""
        of_function = isinstance(self._scope, ast.FunctionDef | ast.AsyncFunctionDef)
        return not of_function and isinstance(node, _DEFINITIONS)

    def _range(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno, node.end_col_offset
        if end_line is None or end_column is None:
            raise NoMatch("it has no end")
        return self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column)

    def _offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column in bytes, in characters."""
        start = self._lines[line - 1]
        text = self._source[start : self._lines[line]]
        return start + len(text.encode()[:column].decode())


def _expression(text: str) -> ast.expr:
    (statement,) = _statements(text)
    assert isinstance(statement, ast.Expr)  # noqa: S101 - the caller has looked
    return statement.value


def _pair(node: ast.Dict, at: int) -> tuple[str, str]:
    key = node.keys[at]
    return ("" if key is None else ast.dump(key), ast.dump(node.values[at]))

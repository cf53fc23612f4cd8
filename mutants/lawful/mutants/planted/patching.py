"""One patch of one module: found in its source by what it says, wherever that stands.

What is looked for is compared as a syntax tree, so that formatting and comments don't matter, and
must be found as often as the patch says. Nothing is imported and nothing is written: source goes
in, and patched source comes out.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

from lawful.mutants.errors import MutationError
from lawful.mutants.mutant import Place

from . import _matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._matching import Span

__all__ = ["Patch", "PatchError", "Patched", "file_of", "patched", "source_of"]


class Patch(NamedTuple):
    """What stands somewhere, and what is to stand there instead.

    Attributes:
        module: The module's name: ``lawful.sut.reference.store``.
        where: The qualified name of the function or class in it; empty for the module itself. What
            is in a function of a class or module is no part of the class or module.
        before: What stands there: an expression, statements, or an item of a dict.
        after: What is to stand there; empty to delete statements or an item.
        times: How often it must be found; each is replaced.
        text: Whether ``before`` and ``after`` are pieces of a text, found in one constant.
    """

    module: str
    where: str
    before: str
    after: str
    times: int = 1
    text: bool = False


class PatchError(MutationError):
    """A patch does not fit the source.

    Attributes:
        patch: The patch.
        problem: What is wrong.
    """

    def __init__(self, patch: Patch, problem: str) -> None:
        self.patch = patch
        self.problem = problem
        where = f"{patch.module}:{patch.where}" if patch.where else patch.module
        looked = " ".join(patch.before.split())
        super().__init__(f"{where}: {problem}; looked for: {looked}")


class Patched(NamedTuple):
    """Some patches, made.

    Attributes:
        sources: The patched source of each module, by its name.
        place: Where the first patch is, in the source as it was.
    """

    sources: dict[str, str]
    place: Place


@lru_cache(maxsize=64)
def source_of(module: str) -> Path:
    """Return where a module's source is, without importing it or its packages.

    Raises:
        MutationError: There is no such module, or it has no source.
    """
    path: Sequence[str] | None = None
    origin: str | None = None
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        found = PathFinder.find_spec(".".join(parts[:length]), path)
        if found is None:
            raise MutationError(f"there is no module {module}, and nothing to patch in it")
        origin, path = found.origin, list(found.submodule_search_locations or ())
    if origin is None or not origin.endswith(".py"):
        raise MutationError(f"{module} has no source that could be patched")
    return Path(origin)


def file_of(module: str) -> str:
    """Return what a module's file is called in reports: from the source root, with slashes."""
    tail = "/__init__.py" if source_of(module).name == "__init__.py" else ".py"
    return module.replace(".", "/") + tail


def patched(patches: Sequence[Patch]) -> Patched:
    """Make some patches, one after the other.

    Raises:
        PatchError: One does not fit, does not compile, or changes nothing.
        MutationError: There is no patch, or no such module.
    """
    sources: dict[str, str] = {}
    places = []
    for patch in patches:
        source = sources.get(patch.module)
        if source is None:
            source = source_of(patch.module).read_text("utf-8")
        span, sources[patch.module] = _made(patch, source)
        places.append(_place(patch.module, source, span))
    if not places:
        raise MutationError("there is no patch, and so no fault")
    return Patched(sources, places[0])


def _made(patch: Patch, source: str) -> tuple[Span, str]:
    """Make one patch; return where it was found first, and the patched source."""
    try:
        match = _matching.match(source, patch.where, patch.before, patch.after, text=patch.text)
    except _matching.NoMatch as error:
        raise PatchError(patch, str(error)) from None
    if len(match.spans) != patch.times:
        raise PatchError(patch, f"found {len(match.spans)} times; {patch.times} is expected")
    try:
        made = match.replaced()
        new = compile(made, "", "exec", dont_inherit=True)
    except (_matching.NoMatch, SyntaxError, ValueError) as error:
        told = f"it can't be replaced by {' '.join(patch.after.split())!r}: {error}"
        raise PatchError(patch, told) from None
    if _does(new) == _does(compile(source, "", "exec", dont_inherit=True)):
        raise PatchError(patch, "the code is the same with the patch as without")
    return match.spans[0], made


def _does(code: CodeType) -> tuple[object, ...]:
    """Return what a code object does, whatever the lines where it stands."""
    constants = tuple(
        _does(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


def _place(module: str, source: str, span: Span) -> Place:
    """Return where a span is, in lines and columns from 1."""

    def at(offset: int) -> tuple[int, int]:
        line = source.count("\n", 0, offset) + 1
        return line, offset - source.rfind("\n", 0, offset)

    return Place(file_of(module), *at(span.start), *at(span.end))

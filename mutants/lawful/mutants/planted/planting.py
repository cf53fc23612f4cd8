"""Patched source, given to whoever imports its module, in this process alone.

Nothing is written anywhere: an import hook hands out what the patches make of the source. Whether
the code that is there afterwards is the patched code is looked at, and not believed.
"""

from __future__ import annotations

import inspect
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from lawful.mutants.errors import MutationError

from .patching import patched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from .patching import Patch

__all__ = ["Planted", "plant"]


class _Loader(SourceFileLoader):
    """Loads a module from other source than its file's."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.code = compile(source, path, "exec", dont_inherit=True)
        self.loaded: ModuleType | None = None

    def get_code(self, fullname: str) -> CodeType:
        """Return the patched code, whatever is cached of the module."""
        return self.code

    def exec_module(self, module: ModuleType) -> None:
        """Run it, and keep what it has made."""
        super().exec_module(module)
        self.loaded = module


class _Finder:
    """Finds the modules that are patched, before anybody else does."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources
        self.loaders: dict[str, _Loader] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        """Return where a patched module comes from; None for any other."""
        if fullname not in self.sources:
            return None
        found = PathFinder.find_spec(fullname, path)
        if found is None or found.origin is None:
            return found
        loader = _Loader(fullname, found.origin, self.sources[fullname])
        self.loaders[fullname] = found.loader = loader
        return found


class Planted:
    """Some patches that are in place.

    Args:
        patches: The patches.
        finder: What hands out their source.
    """

    def __init__(self, patches: Sequence[Patch], finder: _Finder) -> None:
        self._patches = patches
        self._finder = finder

    def check(self) -> None:
        """See that the code that was loaded is the patched code.

        Raises:
            MutationError: It is not: somebody else has imported it, or nobody.
        """
        for name in self._finder.sources:
            module, loader = sys.modules.get(name), self._finder.loaders.get(name)
            if module is None:
                raise MutationError(f"{name} is patched, and was never imported")
            if loader is None or loader.loaded is not module:
                raise MutationError(f"{name} was imported past its patch")
        for patch in self._patches:
            code = self._finder.loaders[patch.module].code
            for name, wanted in _functions(code):
                if name == patch.where or name.startswith(patch.where + "."):
                    _compare(sys.modules[patch.module], patch.module, name, wanted)


def plant(patches: Sequence[Patch]) -> Planted:
    """Have the patched source imported from here on.

    Raises:
        PatchError: A patch does not fit.
        MutationError: A patched module is there already, as it was.
    """
    sources = patched(patches).sources if patches else {}
    for name in sources:
        if name in sys.modules:
            raise MutationError(f"{name} was imported before it could be patched")
    finder = _Finder(sources)
    sys.meta_path.insert(0, finder)
    return Planted(patches, finder)


def _functions(code: CodeType) -> list[tuple[str, CodeType]]:
    """Return the functions that some code makes, by qualified name; none that are within one."""
    found = []
    for each in code.co_consts:
        if not isinstance(each, CodeType) or "<" in each.co_qualname:
            continue
        if each.co_flags & inspect.CO_OPTIMIZED:
            found.append((each.co_qualname, each))
        else:  # a class's body
            found += _functions(each)
    return found


def _compare(module: ModuleType, of: str, name: str, wanted: CodeType) -> None:
    there: object = module
    for part in name.split("."):
        there = vars(there).get(part)
    there = getattr(there, "fget", None) or getattr(there, "__func__", there)
    function = inspect.unwrap(there) if callable(there) else there
    if not isinstance(function, FunctionType):
        raise MutationError(f"{of}:{name} is no function once it is imported")
    if function.__code__ != wanted:
        raise MutationError(f"{of}:{name} is not the patched one")

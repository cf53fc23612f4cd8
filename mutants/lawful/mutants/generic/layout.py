"""Where the source that is to be mutated is imported from, and by which names.

mutmut tells mutants apart by their modules' names, and so must find each file by its import path.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lawful.mutants.errors import MutationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Layout", "Module", "layout_of"]


class Module(NamedTuple):
    """One file of source.

    Attributes:
        name: Its name as it is imported: ``lawful.sut.reference.machine``.
        file: Where it is.
    """

    name: str
    file: Path

    @property
    def path(self) -> str:
        """Where it is below the source root, with slashes: ``lawful/sut/reference/machine.py``."""
        tail = "/__init__.py" if self.file.name == "__init__.py" else ".py"
        return self.name.replace(".", "/") + tail


class Layout(NamedTuple):
    """The source that is to be mutated, and what is imported along with it.

    Attributes:
        modules: Each file that is to be mutated, in the order of their names.
        roots: The outermost packages and modules that they are in, with the folder or file of each;
            namespace packages are none, since others have a part in them too.
    """

    modules: tuple[Module, ...]
    roots: dict[str, Path]


def layout_of(sources: Sequence[Path]) -> Layout:
    """Find the modules that some files and folders hold.

    Args:
        sources: Files, and folders, of which each file below counts.

    Raises:
        MutationError: There is no such file, or nobody could import it from here.
    """
    if not sources:
        raise MutationError("no source matched: name --source, or [tool.lawful.mutmut] source")
    modules: dict[str, Module] = {}
    for source in sources:
        if not source.exists():
            raise MutationError(f"--source {source}: no source matched: there is no such file")
        found = [_module(file) for file in _files(source)]
        if not found:
            raise MutationError(f"--source {source}: no source matched: there is no Python file")
        modules |= {module.name: module for module in found}
    ordered = tuple(modules[name] for name in sorted(modules))
    return Layout(ordered, dict(_root(module) for module in ordered))


def _files(source: Path) -> Iterable[Path]:
    if source.is_file():
        return [source] if source.suffix == ".py" else []
    return sorted(source.rglob("*.py"))


def _module(file: Path) -> Module:
    """Return a file as whoever imports it knows it: from the innermost place that leads there."""
    file = file.resolve()
    for place in sorted(set(_places()), key=lambda each: -len(each.parts)):
        if not file.is_relative_to(place):
            continue
        parts = file.relative_to(place).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts and all(part.isidentifier() for part in parts) and _finds(place, parts, file):
            return Module(".".join(parts), file)
    raise MutationError(
        f"--source {file}: it can't be imported from here: is its package installed?"
    )


def _places() -> Iterator[Path]:
    """Yield where modules are imported from; a project's own folders, installed or not, too."""
    here = Path.cwd().resolve()
    yield from (Path(place).resolve() for place in sys.path if place)
    yield from (here / "src", here)


def _finds(place: Path, parts: Sequence[str], file: Path) -> bool:
    path: Sequence[str] | None = [str(place)]
    origin: str | None = None
    for length in range(1, len(parts) + 1):
        found = PathFinder.find_spec(".".join(parts[:length]), path)
        if found is None:
            return False
        origin, path = found.origin, list(found.submodule_search_locations or ())
    return origin is not None and Path(origin).resolve() == file


def _root(module: Module) -> tuple[str, Path]:
    """Return the outermost package that a module is in, namespaces left out; else itself."""
    parts = module.name.split(".")
    is_package = module.file.name == "__init__.py"
    folder = module.file.parent
    packages = parts if is_package else parts[:-1]
    found: tuple[str, Path] | None = None
    while packages and (folder / "__init__.py").is_file():
        found = ".".join(packages), folder
        packages, folder = packages[:-1], folder.parent
    return found or (module.name, module.file)

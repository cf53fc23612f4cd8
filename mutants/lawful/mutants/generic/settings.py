"""What a project says of its mutants: ``[tool.lawful.mutmut]`` in its ``pyproject.toml``."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, NamedTuple

from lawful.mutants.errors import MutationError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Settings", "read_settings"]


class Settings(NamedTuple):
    """What is mutated, and who judges.

    Attributes:
        source: Files and folders of source.
        tests: Files and folders of tests.
        implementation: What the conformance suite judges besides; empty for nothing.
        reviewed: The file of what is known of survivors, if there is one.
    """

    source: tuple[Path, ...] = ()
    tests: tuple[Path, ...] = ()
    implementation: str = ""
    reviewed: Path | None = None


def read_settings(project: Path) -> Settings:
    """Read the settings of the project in a folder; empty ones where it has none.

    Raises:
        MutationError: A setting is none, or of the wrong type.
    """
    file = project / "pyproject.toml"
    if not file.is_file():
        return Settings()
    try:
        table = tomllib.loads(file.read_text("utf-8")).get("tool", {}).get("lawful", {})
        table = table.get("mutmut", {})
    except (ValueError, AttributeError) as error:
        raise MutationError(f"{file}: can't be read as TOML: {error}") from error
    source, tests = _texts(file, table, "source"), _texts(file, table, "tests")
    implementation, reviewed = table.get("implementation", ""), table.get("reviewed")
    if unknown := sorted(table.keys() - set(Settings._fields)):
        raise _wrong(file, unknown[0], f"unknown; there are {', '.join(Settings._fields)}")
    if not isinstance(implementation, str):
        raise _wrong(file, "implementation", "a text is expected")
    if reviewed is not None and not isinstance(reviewed, str):
        raise _wrong(file, "reviewed", "a file's name is expected")
    return Settings(
        tuple(project / name for name in source),
        tuple(project / name for name in tests),
        implementation,
        None if reviewed is None else project / reviewed,
    )


def _texts(file: Path, table: dict[str, object], name: str) -> list[str]:
    given = table.get(name, [])
    if isinstance(given, list) and all(isinstance(each, str) for each in given):
        return given
    raise _wrong(file, name, "a list of texts is expected")


def _wrong(file: Path, name: str, told: str) -> MutationError:
    return MutationError(f"{file}: tool.lawful.mutmut.{name}: {told}")

"""Table files: read, checked, and refused with file, line and the nearest right name.

Nothing in a file is evaluated and nothing is guessed.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ._sections import read_counts, read_table_node
from ._soundness import check
from ._source import Node, Source, listed, nearest, shown
from .errors import SpecError
from .locate import locate

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from .table import Table

__all__ = [
    "find_table",
    "parse_table",
    "read_table",
    "shipped_names",
    "shipped_table",
    "table_text",
]

_MOST_BYTES: Final = 256 * 1024
_LONGEST_LINE: Final = 4096  # a dotted key of a hundred thousand parts would take minutes to parse
_AT_LINE: Final = re.compile(r" \(at line (\d+), column \d+\)")


def find_table(name_or_path: str | Path) -> Table:
    """Return a shipped table by its name, or read the one at a path.

    Args:
        name_or_path: A string that ends in ``.toml`` or holds a slash is a path; any other
            string is the name of a shipped table.

    Raises:
        SpecError: There is no such table, or it is refused.
    """
    return parse_table(*table_text(name_or_path))


def table_text(name_or_path: str | Path) -> tuple[str, str]:
    """Return the text of a table's file, and what the file is called (see :func:`find_table`).

    Raises:
        SpecError: There is no such table, or its file can't be read.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text or "\\" in text:
        return _text_at(Path(name_or_path)), text
    return _shipped_text(text), f"{text}.toml"


def read_table(path: Path) -> Table:
    """Read a table file.

    Raises:
        SpecError: The file can't be read, or says something that is not allowed.
    """
    return parse_table(_text_at(path), str(path))


def _text_at(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(str(path), f"the file can't be read: {reason}") from error
    _refuse_size(len(content), str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wrong = content[error.start : error.start + 1].hex()
        problem = f"byte 0x{wrong} is not UTF-8; a table file is UTF-8 text"
        raise SpecError(str(path), problem, line=line) from error


def shipped_names() -> tuple[str, ...]:
    """Return the names of the tables that come with lawful, sorted."""
    names = (entry.name for entry in _shipped().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def shipped_table(name: str) -> Table:
    """Return a table that comes with lawful.

    Raises:
        SpecError: None of that name does.
    """
    return parse_table(_shipped_text(name), f"{name}.toml")


def _shipped_text(name: str) -> str:
    names = shipped_names()
    if name not in names:
        near = nearest(name, names)
        raise SpecError(
            name,
            f"no table of this name comes with lawful; known: {listed(names)}; "
            "the path of a file ends in .toml or holds a slash",
            hint=near,
        )
    return (_shipped() / f"{name}.toml").read_text("utf-8")


def _shipped() -> Traversable:
    return files("lawful.spec") / "tables"


def parse_table(text: str, file: str) -> Table:
    """Read a table from the text of a file.

    Args:
        text: TOML in the format ``lawful-spec/1``.
        file: The file's name, for messages.

    Raises:
        SpecError: The text says something that is not allowed.
    """
    _refuse_size(len(text.encode("utf-8", "surrogatepass")), file)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONGEST_LINE:
            problem = f"the line has {len(line)} characters; {_LONGEST_LINE} are allowed"
            raise SpecError(file, problem, line=number)
    try:
        data = tomllib.loads(text)
        lines = locate(text)
    except RecursionError as error:
        raise SpecError(file, "its values are nested too deeply to be read") from error
    except ValueError as error:
        raise _syntax_error(text, file, str(error)) from error
    source = Source(file, lines)
    root = Node(source, (), data)
    table = read_table_node(root)
    check(table, read_counts(root), source)
    return table


def _refuse_size(size: int, file: str) -> None:
    if size > _MOST_BYTES:
        problem = f"the file is larger than {_MOST_BYTES // 1024} KiB, the most that is allowed"
        raise SpecError(file, problem)


def _syntax_error(text: str, file: str, message: str) -> SpecError:
    """Turn tomllib's message, which ends in a place, into a refusal that shows the line."""
    lines = text.split("\n")
    place = _AT_LINE.search(message)
    number = int(place.group(1)) if place else len(lines)
    said = _AT_LINE.sub("", message).replace("Cannot overwrite a value", "a key is written twice")
    shown_line = shown(lines[number - 1].strip())
    return SpecError(file, f"this is not TOML: {said}: {shown_line}", line=number)

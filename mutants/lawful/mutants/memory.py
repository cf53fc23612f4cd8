"""What became of mutants before, for as long as nothing that it depends on has changed.

mutmut remembers by the mutated function alone: where every assertion is taken out of the tests, it
still says that all are killed. Here a fate is remembered under a key of the mutant, of all that
judged it, and of the tools that did.
"""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from .errors import MutationError
from .mutant import Fate, Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from .mutant import Mutant

__all__ = ["Memory", "key_of"]

FORMAT: Final = "lawful-mutants-memory/1"
MOST: Final = 64 * 1024 * 1024
"""The longest file that is read, in bytes."""
TOOLS: Final = ("lawful", "hypothesis", "mutmut", "pytest")
LASTING: Final = frozenset({Fate.KILLED, Fate.SURVIVED, Fate.EQUIVALENT, Fate.UNREACHED})
"""What is remembered: a limit that passed, and what could not be judged, are tried anew."""


class Memory:
    """What is remembered of mutants, by their ids.

    Args:
        rows: What was read; nothing by default.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._rows = dict(rows or {})

    @classmethod
    def read(cls, file: Path) -> Memory:
        """Read what was remembered; nothing, if there is no such file yet.

        Raises:
            MutationError: It can't be read, or is no such file, or another version's.
        """
        try:
            with file.open("rb") as opened:
                content = opened.read(MOST + 1)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise MutationError(f"{file}: can't be read: {error.strerror}") from error
        if len(content) > MOST:
            raise MutationError(f"{file}: longer than {MOST} bytes: no such memory is")
        try:
            read = json.loads(content)
            if read["format"] != FORMAT:
                raise MutationError(
                    f"{file}: a cache of another version ({read['format']!r}; this one reads "
                    f"{FORMAT!r}): delete it, and all is tested anew"
                )
            return cls({str(name): _row(row) for name, row in read["mutants"].items()})
        except MutationError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise MutationError(
                f"{file}: no cache of `lawful mutate` ({type(error).__name__}): delete it"
            ) from error

    def text(self) -> str:
        """Return what a file of it holds."""
        return json.dumps({"format": FORMAT, "mutants": self._rows}, indent=1) + "\n"

    def recall(self, mutant: Mutant, key: str) -> Result | None:
        """Return what became of a mutant, if it was under the same key."""
        row = self._rows.get(mutant.id)
        if row is None or row["key"] != key:
            return None
        return Result(mutant, Fate(row["fate"]), tuple(row["killers"]), row["reason"], row["trace"])

    def killers(self) -> Mapping[str, Sequence[str]]:
        """Return who has found mutants before, by their ids, whatever has changed since."""
        return {name: tuple(row["killers"]) for name, row in self._rows.items() if row["killers"]}

    def remember(self, result: Result, key: str) -> None:
        """Take in what has become of a mutant."""
        if result.fate not in LASTING:
            self._rows.pop(result.mutant.id, None)
            return
        self._rows[result.mutant.id] = {
            "key": key,
            "fate": result.fate.value,
            "killers": list(result.killers),
            "reason": result.reason,
            "trace": result.trace,
        }


def key_of(mutant: Mutant, depends: Iterable[str], *, matrix: bool) -> str:
    """Return a digest of a mutant, of all that its fate depends on, and of the tools.

    Args:
        mutant: The mutant.
        depends: Texts, or digests of texts.
        matrix: Whether all its killers are asked for.
    """
    digest = hashlib.sha256()
    parts = (mutant.id, mutant.before, mutant.after, *mutant.claims, str(matrix), *_tools())
    for text in (*parts, *depends):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:32]


def _tools() -> list[str]:
    found = [platform.python_version()]
    for name in TOOLS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return found


def _row(row: dict[str, Any]) -> dict[str, Any]:  # JSON values
    texts = {name: row[name] for name in ("key", "fate", "reason", "trace")}
    if not all(isinstance(each, str) for each in (*texts.values(), *row["killers"])):
        raise TypeError("a text is expected")
    return {**texts, "fate": Fate(texts["fate"]).value, "killers": list(row["killers"])}

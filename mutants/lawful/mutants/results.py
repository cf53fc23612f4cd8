"""The results of a campaign as a file: written for other parts of it, and read as data alone."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from .errors import MutationError
from .mutant import Fate, Mutant, Place, Result
from .score import Campaign, Trust

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_results", "results_text"]

FORMAT: Final = "lawful-mutants/1"
MOST: Final = 64 * 1024 * 1024
"""The longest file that is read, in bytes."""


def results_text(campaigns: list[Campaign]) -> str:
    """Return campaigns as the text of a results file."""
    rows = [asdict(campaign) for campaign in campaigns]
    return json.dumps({"format": FORMAT, "campaigns": rows}, indent=1) + "\n"


def read_results(path: Path) -> list[Campaign]:
    """Read a results file.

    Raises:
        MutationError: It can't be read, or is no such file.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST + 1)
    except OSError as error:
        raise MutationError(f"{path}: can't be read: {error.strerror}") from error
    if len(content) > MOST:
        raise MutationError(f"{path}: longer than {MOST} bytes: no results file is")
    try:
        read = json.loads(content)
        if read["format"] != FORMAT:
            raise MutationError(
                f"{path}: its format is {read['format']!r}; this version reads {FORMAT!r}"
            )
        return [_campaign(row) for row in read["campaigns"]]
    except MutationError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MutationError(
            f"{path}: not a results file of `lawful mutate --results` ({type(error).__name__})"
        ) from error


def _campaign(row: dict[str, Any]) -> Campaign:  # JSON values
    return Campaign(
        engine=_text(row["engine"]),
        target=_text(row["target"]),
        results=tuple(_result(each) for each in row["results"]),
        trust=tuple(Trust(_text(n), _flag(h), _text(t)) for n, h, t in row["trust"]),
        matrix=_flag(row["matrix"]),
        checks=tuple(map(_text, row["checks"])),
        sources={_text(name): _text(text) for name, text in row["sources"].items()},
        seconds=float(row["seconds"]),
        shard=(int(row["shard"][0]), int(row["shard"][1])),
        plan=_text(row["plan"]),
        interrupted=_flag(row["interrupted"]),
        remembered=int(row["remembered"]),
    )


def _result(row: dict[str, Any]) -> Result:  # JSON values
    given = row["mutant"]
    file, line, column, end_line, end_column, cell = given["place"]
    mutant = Mutant(
        id=_text(given["id"]),
        engine=_text(given["engine"]),
        family=_text(given["family"]),
        says=_text(given["says"]),
        place=Place(
            _text(file),
            int(line),
            int(column),
            int(end_line),
            int(end_column),
            None if cell is None else (_text(cell[0]), _text(cell[1])),
        ),
        before=_text(given["before"]),
        after=_text(given["after"]),
        claims=tuple(map(_text, given["claims"])),
        source=_text(given["source"]),
    )
    return Result(
        mutant,
        Fate(row["fate"]),
        tuple(map(_text, row["killers"])),
        _text(row["reason"]),
        _text(row["trace"]),
        int(row["tested"]),
        float(row["seconds"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value

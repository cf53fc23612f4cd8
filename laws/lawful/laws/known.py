"""Known divergences: a file that a command writes, each with a reason and its outcome pinned.

A pinned outcome that stays is KNOWN and makes no run fail. One that is gone is STALE, one that
has turned into another is MOVED: both fail, so that the file never says more than is so.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lawful.spec.errors import LawfulError

from .law import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from .law import Check

__all__ = ["KnownError", "Pin", "apply", "pins_of", "read_known", "write_known"]

FORMAT: Final = "lawful-known/1"
LIMIT: Final = 1024 * 1024
"""The largest file that is read, in bytes."""
_PINNED: Final = (Status.FAIL, Status.ERROR)


class KnownError(LawfulError):
    """A file of known divergences is refused."""

    def __init__(self, file: str, problem: str) -> None:
        self.file = file
        self.problem = problem
        super().__init__(f"{file}: {problem}")


@dataclass(frozen=True, slots=True)
class Pin:
    """A known divergence.

    Attributes:
        id: The check's id.
        got: What it gave when it was pinned.
        reason: Why it is accepted.
    """

    id: str
    got: str
    reason: str


def read_known(path: Path, ids: Collection[str]) -> dict[str, Pin]:
    """Read a file of known divergences.

    Args:
        path: The file.
        ids: The ids that there are; any other is refused.

    Raises:
        KnownError: The file can't be read, or says what it may not.
    """
    file = str(path)
    try:
        raw = path.read_bytes()
        if len(raw) > LIMIT:
            raise KnownError(file, f"{len(raw)} bytes; at most {LIMIT} are read")
        document = tomllib.loads(raw.decode())
    except OSError as error:
        raise KnownError(file, f"can't be read: {error.strerror}") from error
    except ValueError as error:
        raise KnownError(file, f"is not TOML: {error}") from error
    if document.get("format") != FORMAT:
        raise KnownError(file, f"format is {document.get('format')!r}; expected {FORMAT!r}")
    entries = document.get("known", [])
    if set(document) - {"format", "known"} or not isinstance(entries, list):
        raise KnownError(file, "holds `format` and a list of [[known]], nothing else")
    pins: dict[str, Pin] = {}
    for number, entry in enumerate(entries, 1):
        pin = _pin(file, number, entry)
        if pin.id not in ids:
            near = difflib.get_close_matches(pin.id, ids, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise KnownError(file, f"known {number}: there is no check {pin.id!r}{hint}")
        if pin.id in pins:
            raise KnownError(file, f"known {number}: {pin.id!r} stands twice")
        pins[pin.id] = pin
    return pins


def _pin(file: str, number: int, entry: object) -> Pin:
    fields = ("id", "got", "reason")
    if not isinstance(entry, dict) or set(entry) != set(fields):
        raise KnownError(file, f"known {number}: expected exactly {', '.join(fields)}")
    for name in fields:
        if not isinstance(entry[name], str) or not entry[name].strip():
            raise KnownError(file, f"known {number}: {name} is {entry[name]!r}; text is expected")
    return Pin(entry["id"], entry["got"], entry["reason"])


def apply(checks: Iterable[Check], pins: Mapping[str, Pin]) -> list[Check]:
    """Return the checks with what is known of them said."""
    return [_applied(check, pins[check.id]) if check.id in pins else check for check in checks]


def _applied(check: Check, pin: Pin) -> Check:
    if check.status in _PINNED:
        if check.got == pin.got:
            return replace(check, status=Status.KNOWN, cause=pin.reason)
        note = f"pinned as: {pin.got}"
        return replace(check, status=Status.MOVED, cause=pin.reason, note=note)
    note = f"pinned as: {pin.got}; it is {check.status} now: remove its entry"
    return replace(check, status=Status.STALE, cause=pin.reason, note=note)


def pins_of(checks: Iterable[Check], reason: str, before: Mapping[str, Pin]) -> list[Pin]:
    """Return the pins for what is broken now; a reason that was given before is kept."""
    return [
        Pin(check.id, check.got, before[check.id].reason if check.id in before else reason)
        for check in checks
        if check.status in _PINNED
    ]


def write_known(pins: Iterable[Pin]) -> str:
    """Return the text of a file of known divergences."""
    lines = [
        "# Known divergences: written by `lawful check --record-known`, reasons by people.",
        f'format = "{FORMAT}"',
    ]
    for pin in pins:
        lines += ["", "[[known]]"]
        # A JSON string is a TOML basic string, but for characters TOML wants escaped as well.
        lines += [
            f"{name} = {json.dumps(value).replace(chr(127), chr(92) + 'u007F')}"
            for name, value in (("id", pin.id), ("got", pin.got), ("reason", pin.reason))
        ]
    return "\n".join(lines) + "\n"

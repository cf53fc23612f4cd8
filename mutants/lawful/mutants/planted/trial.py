"""One trial, in a process of its own: a store is judged whose code is patched.

A request is one JSON line on stdin, its answer one JSON line on stdout. Worker processes that laws
have begun import this module once more, as ``__mp_main__``, before they load anything else: that is
how they come to the same patches.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lawful.mutants.planted.patching import Patch
from lawful.mutants.planted.planting import plant
from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Collection

    from lawful.laws.law import Check

__all__ = ["main"]

PATCHES: Final = "LAWFUL_PLANTED"
"""The environment variable in which a trial's own worker processes find its patches."""


class Enough(Exception):
    """All that was asked for is known."""


def main() -> None:
    """Read a request, judge, and write the answer."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a store prints is no answer
    request = json.loads(sys.stdin.readline())
    try:
        told = _judged(request)
    except LawfulError as error:
        told = {"error": str(error)}
    except Exception:
        told = {"error": traceback.format_exc(limit=-3)}
    answer.write(json.dumps(told) + "\n")
    answer.close()


def _judged(request: dict[str, Any]) -> dict[str, Any]:  # a wire format
    os.environ[PATCHES] = json.dumps(request["patches"])
    planted = plant(_patches())
    from lawful.laws.runner import Profile, run
    from lawful.strategies.adapter import describe

    adapter = describe(request["store"])
    planted.check()
    asked = request["checks"]
    checks: dict[str, Check] = {}

    def checked(check: Check) -> None:
        checks[check.id] = check
        if asked and checks.keys() >= set(asked):
            raise Enough

    with suppress(Enough):
        run(
            adapter,
            Path(request["folder"]),
            profile=Profile(request["profile"]),
            limit=request["limit"],
            only=asked,
            checked=checked,
        )
    planted.check()
    return {"checks": [_told(check) for check in _asked(checks, asked)]}


def _asked(checks: dict[str, Check], asked: Collection[str] | None) -> list[Check]:
    if asked is None:
        return list(checks.values())
    missing = [name for name in asked if name not in checks]
    if missing:
        raise LawfulError(f"there is no check {missing[0]!r} of this store")
    return [checks[name] for name in asked]


def _told(check: Check) -> dict[str, str]:
    return {
        "id": check.id,
        "status": check.status.value,
        "expected": check.expected,
        "got": check.got,
        "trace": check.trace,
        "cause": check.cause,
    }


def _patches() -> tuple[Patch, ...]:
    return tuple(Patch(*each) for each in json.loads(os.environ[PATCHES]))


if __name__ == "__main__":
    main()
elif __name__ == "__mp_main__":
    plant(_patches())

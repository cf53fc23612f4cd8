"""The conformance suite as one test: it fails at the first check that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.laws.judgement import Verdict, judgement
from lawful.laws.law import UNLAWFUL
from lawful.laws.runner import Profile, run
from lawful.strategies.adapter import describe

if TYPE_CHECKING:
    from pathlib import Path

    from lawful.laws.law import Check

__all__ = ["Unlawful", "conforms"]


class Unlawful(AssertionError):
    """An implementation does not conform.

    Attributes:
        check: The id of the check that says so; empty where the run as a whole does.
    """

    def __init__(self, check: str, told: str) -> None:
        self.check = check
        super().__init__(f"{check}: {told}" if check else told)


def conforms(target: str, folder: Path) -> None:
    """Judge an implementation, and go no further than its first fault.

    Args:
        target: A shipped name, or ``module:Class``.
        folder: Where stores are made.

    Raises:
        Unlawful: It does not conform, or what it offers can't be judged.
    """

    def checked(check: Check) -> None:
        if check.status in UNLAWFUL:
            seen = f"expected {check.expected}, got {check.got}" if check.got else check.cause
            raise Unlawful(check.id, seen)

    judged = judgement(run(describe(target), folder, profile=Profile.QUICK, checked=checked))
    if judged.verdict is not Verdict.LAWFUL:
        raise Unlawful("", "; ".join(judged.reasons) or judged.verdict)

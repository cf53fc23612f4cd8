"""A badge: the JSON that shields.io's endpoint reads (https://shields.io/badges/endpoint-badge)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lawful.laws.judgement import Verdict
from lawful.laws.law import Status

if TYPE_CHECKING:
    from .report import Report

__all__ = ["badge"]


def badge(report: Report) -> dict[str, Any]:
    """Return the badge as plain JSON values: how many cells pass, or that the run is incomplete.

    Where every cell passes and something else is broken, it says so: red beside ``56 of 56``
    would look like a mistake.
    """
    colours = {
        Verdict.LAWFUL: "brightgreen",
        Verdict.UNLAWFUL: "red",
        Verdict.INCOMPLETE: "lightgrey",
    }
    return {
        "schemaVersion": 1,
        "label": "lawful",
        "message": _message(report),
        "color": colours[report.verdict],
        "isError": report.verdict is not Verdict.LAWFUL,
    }


def _message(report: Report) -> str:
    if report.verdict is Verdict.INCOMPLETE:
        return "incomplete"
    if report.verdict is Verdict.UNLAWFUL and all(
        check.status is Status.PASS for check in report.core
    ):
        broken = len(report.causes())
        return f"{report.passed}, {broken} other{'s' if broken != 1 else ''} broken"
    return report.passed

"""Pieces of an HTML report. Every one escapes what it is given: all text is foreign here."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from lawful.laws.law import Status

from . import outline
from ._plain import printable
from .marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lawful.laws.law import Check

    from .report import Report

__all__ = ["button", "copyable", "entry", "group", "legend", "link", "tag", "text", "verdict"]


def text(foreign: str, *, lines: bool = False) -> str:
    """Return text as HTML, between tags or in a quoted attribute."""
    return escape(printable(foreign, lines=lines))


def tag(status: Status, word: str = "") -> str:
    """Return a status as sign and word."""
    mark = MARKS[status]
    return (
        f'<span class="tag {status}"><span class="sign" aria-hidden="true">{mark.sign}</span> '
        f"{text(word or mark.word)}</span>"
    )


def verdict(report: Report, *, named: bool) -> str:
    """Return the verdict in one line."""
    said = f"{report.name}: {report.headline}" if named else report.headline
    return f'<p class="verdict {report.verdict}">{text(said)}</p>'


def legend(checks: Iterable[Check]) -> str:
    """Return the statuses that occur."""
    items = "".join(f"<li>{tag(status)}</li>" for status, _ in outline.tally(checks))
    return f'<ul class="legend" aria-label="Signs">{items}</ul>'


def link(anchor: str, label: str) -> str:
    """Return a link to a check on the same page."""
    return f'<a href="#{text(quote(anchor, safe="/?+@=,:"))}">{text(label)}</a>'


def button(check: Check, *, anchor: str, word: str = "", before: str = "") -> str:
    """Return a square of the grid.

    Args:
        check: Its check.
        anchor: The id of the check's entry on the page.
        word: What to say in place of the status's word.
        before: What its name begins with.
    """
    mark = MARKS[check.status]
    name = outline.label(check.id).replace("+", " ", 1)
    said = f"{before}{name}: {_aloud(check, word)}"
    return (
        f'<button type="button" class="{check.status}" data-id="{text(anchor)}" '
        f'aria-label="{text(said)}" aria-controls="panel" aria-expanded="false">'
        f'<span class="sign">{mark.sign}</span><span class="word">{text(word or mark.word)}</span>'
        "</button>"
    )


def _aloud(check: Check, word: str) -> str:
    said = MARKS[check.status].word.lower()
    if word:
        return f"{said}, {word}"
    if check.status is Status.BLOCKED:
        return f"{said} by {check.cause}"
    if check.expected:
        return f"{said}, expected {check.expected}, got {check.got}"
    return f"{said}: {check.cause or check.note}" if check.cause or check.note else said


def copyable(foreign: str) -> str:
    """Return text that can be copied with one click."""
    return (
        f'<div class="copied"><pre>{text(foreign, lines=True)}</pre>'
        '<button type="button" class="copy">copy</button></div>'
    )


def entry(report: Report, check: Check, *, anchor: str, owner: str = "") -> str:
    """Return all that there is to say of a check, to be unfolded.

    Args:
        report: The report.
        check: The check.
        anchor: The id of the entry on the page.
        owner: Whose check it is, where the page shows several implementations.
    """
    rows = [("of", text(owner))] if owner else []
    rows += [
        (fact.name, copyable(fact.text) if fact.verbatim else text(fact.text))
        for fact in outline.facts(report, check)
    ]
    if check.trail:
        rows.append(("raised", f"<pre>{text(check.trail, lines=True)}</pre>"))
    if check.python:
        rows.append(("as a test", copyable(check.python)))
    layers = outline.hits(report, check.id)
    if layers:
        rows.append(("fired", text(layers)))
    counted = [("triggers", check.triggers), ("controls", check.controls)]
    rows += [(name, str(count)) for name, count in counted if count]
    if check.findings > 1:
        rows.append(("findings", f"{check.findings}, the shortest shown"))
    rows.append(("link", link(anchor, check.id)))
    facts = "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in rows)
    return (
        f'<details class="check" id="{text(anchor)}"><summary>{tag(check.status)} '
        f"<span>{text(check.id)}</span></summary><dl>{facts}</dl></details>"
    )


def group(report: Report, name: str, checks: Sequence[Check], *, prefix: str = "") -> str:
    """Return checks under one name, unfolded if there is something to see.

    Args:
        report: The report.
        name: Their name; the implementation's where the page shows several.
        checks: The checks.
        prefix: What their anchors begin with; empty where the page shows one implementation.
    """
    passed = outline.Group(name, tuple(checks)).passed
    others = " ".join(
        tag(status, f"{count} {MARKS[status].word}")
        for status, count in outline.tally(checks)
        if status is not Status.PASS
    )
    owner = name if prefix else ""
    entries = "\n".join(
        entry(report, check, anchor=prefix + check.id, owner=owner) for check in checks
    )
    return (
        f'<details class="group"><summary>{text(name)}: {passed} pass {others}</summary>\n'
        f"{entries}\n</details>"
    )

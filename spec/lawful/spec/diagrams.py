"""A table as a picture: Mermaid and DOT for other programs, SVG drawn here.

All three are the same from run to run, and all three draw every arrow of :mod:`._arrows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ._arrows import arrows
from ._svg import svg
from .table import CellKind

if TYPE_CHECKING:
    from .table import Table

__all__ = ["dot", "mermaid", "svg"]

# Words that Mermaid's state diagrams take for their own at the start of a line.
_MERMAID_WORDS: Final = frozenset(
    {"as", "choice", "class", "classdef", "click", "default", "direction", "end", "fork", "hide"}
    | {"href", "join", "note", "scale", "state", "style"}
)


def mermaid(table: Table) -> str:
    """Return the table as Mermaid text (``stateDiagram-v2``)."""
    lines = ["stateDiagram-v2", "    direction LR"]
    lines += [f'    state "{state}" as {_alias(state)}' for state in table.states]
    lines.append(f"    [*] --> {_alias(table.initial)}")
    labels: dict[tuple[str, str, str], list[str]] = {}
    for arrow in arrows(table):
        # Mermaid draws the last of several loops on a state alone, so they share one.
        own = "" if arrow.state == arrow.to else arrow.id
        labels.setdefault((arrow.state, arrow.to, own), []).append(arrow.text)
    lines += [
        f"    {_alias(state)} --> {_alias(to)} : {', '.join(texts)}"
        for (state, to, _), texts in labels.items()
    ]
    lines += [f"    {_alias(state)} --> [*]" for state in table.terminal]
    return "\n".join(lines) + "\n"


def _alias(state: str) -> str:
    return f"s_{state}" if state in _MERMAID_WORDS else state


def dot(table: Table) -> str:
    """Return the table as DOT text, for Graphviz: terminal states have a double border."""
    lines = [
        f"digraph {_quoted(table.name)} {{",
        "    rankdir=LR;",
        '    node [shape=box, style=rounded, fontname="monospace"];',
        '    edge [fontname="monospace"];',
        '    "" [shape=point];',
    ]
    for state in table.states:
        border = " [peripheries=2]" if state in table.terminal else ""
        lines.append(f"    {_quoted(state)}{border};")
    lines.append(f'    "" -> {_quoted(table.initial)};')
    for arrow in arrows(table):
        style = ", style=dashed" if arrow.kind is CellKind.NOOP else ""
        lines.append(
            f"    {_quoted(arrow.state)} -> {_quoted(arrow.to)} "
            f"[id={_quoted(arrow.id)}, label={_quoted(arrow.text)}{style}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

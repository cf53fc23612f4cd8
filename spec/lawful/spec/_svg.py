"""A table drawn as SVG: the words, the lines and the look; the places come from the layout.

The same table gives the same bytes. Colours are CSS variables with a light and a dark set; what
is terminal or a no-op is told by a double border and by dashes, not by colour alone.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from ._arrows import arrows, facts
from ._layout import Link, Point, Shape, arrange
from .table import CellKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._arrows import Arrow
    from ._layout import Box, Route
    from .table import Table

__all__ = ["svg"]

_MARGIN: Final = 16.0
_START: Final = 40.0  # room for the dot and the arrow that lead into the first state
_HALF: Final = 18.0  # half the height of a box
_LOOP: Final = 22.0  # height of a loop on top of its box
_LINE: Final = 14.0  # height of a line of a label
_NAME_WIDTH: Final = 8.2  # of one character of a state's name: monospace, 13 px, bold
_LABEL_WIDTH: Final = 7.3  # of one character of a label: monospace, 12 px

_STYLE: Final = """
.lawful-diagram {
  --lawful-paper: #ffffff; --lawful-box: #f3f5f8; --lawful-line: #4a5564;
  --lawful-text: #16202c; --lawful-muted: #566273;
  background: var(--lawful-paper);
  font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  .lawful-diagram {
    --lawful-paper: #11161d; --lawful-box: #1d2530; --lawful-line: #9aa7b8;
    --lawful-text: #e8edf3; --lawful-muted: #a9b4c2;
  }
}
.lawful-diagram rect { fill: var(--lawful-box); stroke: var(--lawful-line); }
.lawful-diagram path { stroke: var(--lawful-line); stroke-width: 1.4; }
.lawful-diagram .head, .lawful-diagram circle { fill: var(--lawful-line); stroke: none; }
.lawful-diagram text { fill: var(--lawful-text); text-anchor: middle; }
.lawful-diagram .state text { font-size: 13px; font-weight: 700; }
.lawful-diagram .muted { fill: var(--lawful-muted); }
"""

_HEAD: Final = (
    'viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'markerUnits="userSpaceOnUse" orient="auto">'
    '<path class="head" fill="#4a5564" d="M0 0.5L8 4L0 7.5Z"/>'
)
# Attributes as well as the style, for renderers that do not know CSS variables.
_LINES: Final = 'fill="none" stroke="#4a5564"'
_WORDS: Final = 'fill="#16202c" stroke="none" text-anchor="middle"'


def svg(table: Table) -> str:
    """Return the table as an SVG image: one path for each legal cell, branch and no-op.

    Each path has the id ``edge-STATE-EVENT``, or ``edge-STATE-EVENT-BRANCH`` where a guard
    decides, with its branches counted from 0.
    """
    every = arrows(table)
    between = [arrow for arrow in every if arrow.state != arrow.to]
    loops = {
        state: [arrow for arrow in every if arrow.state == state == arrow.to]
        for state in table.states
    }
    index = {state: number for number, state in enumerate(table.states)}
    shapes = [_shape(state, loops[state]) for state in table.states]
    layout = arrange(
        shapes,
        [Link(index[arrow.state], index[arrow.to], _room(arrow)) for arrow in between],
        first=index[table.initial],
    )
    width = layout.width + 2 * _MARGIN + _START
    height = layout.height + 2 * _MARGIN
    name = escape(table.name)
    size = f'width="{_number(width)}" height="{_number(height)}"'
    view = f'viewBox="0 0 {_number(width)} {_number(height)}"'
    shift = f"translate({_number(_MARGIN + _START)} {_number(_MARGIN)})"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lawful-diagram" role="img" {size} {view}',
        f' aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">The lifecycle {name}</title>',
        f'<desc id="{name}-desc">{escape(facts(table))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<defs><marker id="{name}-head" {_HEAD}</marker></defs>',
        f'<g transform="{shift}" {_LINES}>',
    ]
    parts += _start(layout.boxes[index[table.initial]], shapes[index[table.initial]].width, name)
    for arrow, route in zip(between, layout.routes, strict=True):
        parts += _edge(arrow, _curve(route), route.label, name)
    for state, shape, box in zip(table.states, shapes, layout.boxes, strict=True):
        parts += _state(state, box, shape.width, is_terminal=state in table.terminal)
        parts += _loops(loops[state], box, name)
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _lines(arrow: Arrow) -> tuple[str, ...]:
    """Return the lines of a label: the event, then what must hold and what is counted."""
    if arrow.kind is CellKind.NOOP:
        return (arrow.event, "no-op")
    return (arrow.event, *arrow.conditions, *arrow.additions)


def _room(arrow: Arrow) -> Shape:
    lines = _lines(arrow)
    return Shape(max(map(len, lines)) * _LABEL_WIDTH + 8, len(lines) * _LINE + 4, 4.0)


def _shape(state: str, loops: Sequence[Arrow]) -> Shape:
    rooms = [_room(arrow) for arrow in loops]
    above = max((room.above for room in rooms), default=-_LOOP) + _LOOP
    width = max(len(state) * _NAME_WIDTH + 28, sum(room.width for room in rooms) + 8)
    return Shape(width, _HALF + above, _HALF)


def _start(box: Box, width: float, name: str) -> list[str]:
    x, y = _number(-_START + 4), _number(box.middle.y)
    return [
        '<g class="start">',
        f'<circle cx="{x}" cy="{y}" r="5" fill="#4a5564"/>',
        f'<path d="M{x} {y}H{_number(box.middle.x - width / 2)}" marker-end="url(#{name}-head)"/>',
        "</g>",
    ]


def _edge(arrow: Arrow, curve: str, label: Point, name: str) -> list[str]:
    dashed = ' stroke-dasharray="4 3"' if arrow.kind is CellKind.NOOP else ""
    kind = "noop" if arrow.kind is CellKind.NOOP else "legal"
    lines = _lines(arrow)
    texts = []
    for number, line in enumerate(lines):
        y = label.y - 5 - (len(lines) - 1 - number) * _LINE
        muted = ' class="muted"' if number else ""
        texts.append(
            f'<text{muted} x="{_number(label.x)}" y="{_number(y)}" {_WORDS}>{escape(line)}</text>'
        )
    cell = escape(f"{arrow.state}/{arrow.event}")
    return [
        f'<g class="edge {kind}" data-cell="{cell}"><title>{escape(_sentence(arrow))}</title>',
        f'<path id="{escape(arrow.id)}" d="{curve}"{dashed} marker-end="url(#{name}-head)"/>',
        *texts,
        "</g>",
    ]


def _sentence(arrow: Arrow) -> str:
    return f"{arrow.state}, {arrow.text}: {arrow.to}"


def _curve(route: Route) -> str:
    """Return the path's data; a straight piece without length would turn the arrow's head."""
    last = route.points[0]
    parts = [f"M{_pair(last)}"]
    for number, point in enumerate(route.points[1:]):
        half = (last.x + point.x) / 2
        if number % 2 == 1:
            bend = (Point(half, last.y), Point(half, point.y), point)
            parts.append("C" + " ".join(map(_pair, bend)))
        elif _pair(point) != _pair(last):
            parts.append(f"L{_pair(point)}")
        last = point
    return "".join(parts)


def _state(state: str, box: Box, width: float, *, is_terminal: bool) -> list[str]:
    (x, y), half = box
    borders = [0.0, 4.0] if is_terminal else [0.0]
    rects = [
        f'<rect x="{_number(x - width / 2 + inset)}" y="{_number(y - half + inset)}" '
        f'width="{_number(width - 2 * inset)}" height="{_number(2 * (half - inset))}" '
        f'rx="{_number(9 - inset)}" fill="#f3f5f8"/>'
        for inset in borders
    ]
    kind = " terminal" if is_terminal else ""
    return [
        f'<g class="state{kind}" id="state-{escape(state)}">',
        *rects,
        f'<text x="{_number(x)}" y="{_number(y + 4.5)}" {_WORDS}>{escape(state)}</text>',
        "</g>",
    ]


def _loops(loops: Sequence[Arrow], box: Box, name: str) -> list[str]:
    """Draw what leads back to its own state: loops side by side on top of the box."""
    parts: list[str] = []
    rooms = [_room(arrow).width for arrow in loops]
    x = box.middle.x - sum(rooms) / 2
    top = box.middle.y - box.half
    for arrow, room in zip(loops, rooms, strict=True):
        middle = x + room / 2
        x += room
        left, right = Point(middle - 11, top), Point(middle + 11, top)
        bend = (Point(left.x - 6, top - 1.3 * _LOOP), Point(right.x + 6, top - 1.3 * _LOOP), right)
        curve = f"M{_pair(left)}C" + " ".join(map(_pair, bend))
        parts += _edge(arrow, curve, Point(middle, top - _LOOP), name)
    return parts


def _pair(point: Point) -> str:
    return f"{_number(point.x)} {_number(point.y)}"


def _number(value: float) -> str:
    """Return a coordinate with one decimal at most; half pixels are as fine as it gets."""
    return f"{round(value * 2) / 2:g}"

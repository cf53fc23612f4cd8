"""Where boxes and lines go: a layered layout from left to right that knows sizes alone.

After Sugiyama, Tagawa and Toda (1981): turn round what closes a cycle, put each box in a column
to the right of all that lead to it, give every line a slot of its own in each column it passes,
order the slots by the mean place of their neighbours, then move them as near to those as their
sizes allow. Every other column belongs to the labels. A line bends between columns only, and
crosses a column inside its slot; so no line crosses a box or a label, and no two of those touch.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Box", "Layout", "Link", "Point", "Route", "Shape", "arrange"]

_SWEEPS: Final = 12
_SETTLINGS: Final = 120
_WORK: Final = (
    200_000  # slots looked at in all: a drawing of thousands of lines is no beauty anyway
)
_SLOT_GAP: Final = 8.0  # between two slots of a column
_BOX_GAP: Final = 18.0  # where one of them is a box
_PORT_GAP: Final = 14.0  # between two lines on one side of a box
_STRAIGHT: Final = 8.0  # how much more a long line wants to be straight than a short one


class Point(NamedTuple):
    """A place in the drawing: pixels from the left and from the top."""

    x: float
    y: float


class Shape(NamedTuple):
    """The room that a box or a label needs: its width, and the height on either side of its line.

    A box's line is its middle; a label stands on its line.
    """

    width: float
    above: float
    below: float


class Link(NamedTuple):
    """A line to draw: indices of the boxes where it starts and ends, and its label's room."""

    tail: int
    head: int
    label: Shape


class Box(NamedTuple):
    """A box in its place: the middle, and half of its height, which grows with its lines."""

    middle: Point
    half: float


class Route(NamedTuple):
    """A line in its place.

    Attributes:
        points: From the tail's border to the head's, an even number: straight from the first to
            the second, bent to the third, and so on in turn.
        label: The middle of the label's bottom.
    """

    points: tuple[Point, ...]
    label: Point


class Layout(NamedTuple):
    """The places of all boxes and links, in the order in which they were given."""

    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


@dataclass(eq=False, slots=True)
class _Slot:
    """A box, or a line's passage through a column."""

    shape: Shape
    column: int
    is_box: bool
    y: float = 0.0
    left: list[_Wire] = field(default_factory=list)
    right: list[_Wire] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Wire:
    """A line's way between two neighbouring columns, and its offsets from the slots' lines."""

    start: _Slot
    end: _Slot
    start_offset: float = 0.0
    end_offset: float = 0.0


def arrange(shapes: Sequence[Shape], links: Sequence[Link], *, first: int) -> Layout:
    """Find a place for every box and line.

    Args:
        shapes: The boxes' sizes.
        links: The lines between two different boxes.
        first: The index of the box to start from: the leftmost.
    """
    turned = _closing(len(shapes), links, first)
    ranks = _ranks(len(shapes), links, turned)
    boxes = [_Slot(shape, 2 * rank, True) for shape, rank in zip(shapes, ranks, strict=True)]
    columns: list[list[_Slot]] = [[] for _ in range(2 * max(ranks) + 1)]
    for box in boxes:
        columns[box.column].append(box)
    chains = [_chain(boxes, link, back, columns) for link, back in zip(links, turned, strict=True)]
    _order(columns)
    _spread_ports(boxes, columns)
    _settle(columns)
    return _measured(boxes, columns, chains, turned)


def _closing(count: int, links: Sequence[Link], first: int) -> list[bool]:
    """Say of each link whether it closes a cycle, walking in depth from the first box."""
    outgoing: list[list[int]] = [[] for _ in range(count)]
    for index, link in enumerate(links):
        outgoing[link.tail].append(index)
    closing = [False] * len(links)
    entered: set[int] = set()
    for root in (first, *range(count)):
        path: list[tuple[int, Iterator[int]]] = []
        if root not in entered:
            entered.add(root)
            path.append((root, iter(outgoing[root])))
        while path:
            for index in path[-1][1]:
                head = links[index].head
                closing[index] = any(head == box for box, _ in path)
                if head not in entered:
                    entered.add(head)
                    path.append((head, iter(outgoing[head])))
                    break
            else:
                path.pop()
    return closing


def _ends(link: Link, back: bool) -> tuple[int, int]:
    return (link.head, link.tail) if back else (link.tail, link.head)


def _ranks(count: int, links: Sequence[Link], turned: Sequence[bool]) -> list[int]:
    """Return the length of the longest way to each box, once no link closes a cycle."""
    ways = [_ends(link, back) for link, back in zip(links, turned, strict=True)]
    waiting = [0] * count
    for _, end in ways:
        waiting[end] += 1
    ranks = [0] * count
    ready = deque(box for box in range(count) if not waiting[box])
    while ready:
        box = ready.popleft()
        for start, end in ways:
            if start == box:
                ranks[end] = max(ranks[end], ranks[box] + 1)
                waiting[end] -= 1
                if not waiting[end]:
                    ready.append(end)
    return ranks


def _chain(
    boxes: Sequence[_Slot], link: Link, back: bool, columns: Sequence[list[_Slot]]
) -> list[_Wire]:
    """Give a link its slots, from left to right; the label's is the one next to the tail."""
    start, end = (boxes[index] for index in _ends(link, back))
    passages = [
        _Slot(Shape(0.0, 2.0, 2.0), column, False) for column in range(start.column + 1, end.column)
    ]
    passages[-1 if back else 0].shape = link.label
    for slot in passages:
        columns[slot.column].append(slot)
    wires = [_Wire(left, right) for left, right in pairwise([start, *passages, end])]
    for wire in wires:
        wire.start.right.append(wire)
        wire.end.left.append(wire)
    return wires


def _order(columns: list[list[_Slot]]) -> None:
    """Order the slots of each column so that few lines cross: the best of several sweeps."""
    best = [list(column) for column in columns]
    fewest = _crossings(columns)
    for sweep in range(_rounds(_SWEEPS, columns)):
        rightward = sweep % 2 == 0
        for column in columns[1:] if rightward else columns[-2::-1]:
            column.sort(key=_means(columns, column, rightward).__getitem__)
        if (crossings := _crossings(columns)) < fewest:
            fewest = crossings
            best = [list(column) for column in columns]
    columns[:] = best


def _rounds(wanted: int, columns: Sequence[Sequence[_Slot]]) -> int:
    """Return how many rounds over all slots there is time for: two at least, one each way."""
    return max(2, min(wanted, _WORK // sum(map(len, columns))))


def _means(
    columns: Sequence[Sequence[_Slot]], column: Sequence[_Slot], rightward: bool
) -> dict[_Slot, float]:
    neighbours = columns[column[0].column + (-1 if rightward else 1)]
    place = {slot: float(index) for index, slot in enumerate(neighbours)}
    means: dict[_Slot, float] = {}
    for index, slot in enumerate(column):
        beside = [w.start for w in slot.left] if rightward else [w.end for w in slot.right]
        means[slot] = sum(place[one] for one in beside) / len(beside) if beside else float(index)
    return means


def _crossings(columns: Sequence[Sequence[_Slot]]) -> int:
    """Count the pairs of lines that cross between neighbouring columns."""
    count = 0
    for left, right in pairwise(columns):
        place = {slot: index for index, slot in enumerate(right)}
        seen: list[int] = []
        for slot in left:
            for end in sorted(place[wire.end] for wire in slot.right):
                count += len(seen) - bisect_right(seen, end)
                insort(seen, end)
    return count


def _spread_ports(boxes: Sequence[_Slot], columns: Sequence[Sequence[_Slot]]) -> None:
    """Give the lines on each side of a box a port each, in the order of their other ends."""
    place = {slot: index for column in columns for index, slot in enumerate(column)}
    for box in boxes:
        box.right.sort(key=lambda wire: place[wire.end])
        box.left.sort(key=lambda wire: place[wire.start])
        for index, wire in enumerate(box.right):
            wire.start_offset = (index - (len(box.right) - 1) / 2) * _PORT_GAP
        for index, wire in enumerate(box.left):
            wire.end_offset = (index - (len(box.left) - 1) / 2) * _PORT_GAP
        lines = max(len(box.left), len(box.right))
        grown = max(0.0, (lines + 1) / 2 * _PORT_GAP - box.shape.below)
        width, above, below = box.shape
        box.shape = Shape(width, above + grown, below + grown)


def _settle(columns: Sequence[Sequence[_Slot]]) -> None:
    """Move every slot as near to its neighbours' lines as the sizes in its column allow."""
    for column in columns:
        _place(column, [(0.0, 1.0)] * len(column))
    for turn in range(_rounds(_SETTLINGS, columns)):
        for column in columns if turn % 2 == 0 else columns[::-1]:
            _place(column, [_wish(slot) for slot in column])


def _wish(slot: _Slot) -> tuple[float, float]:
    """Return where a slot wants to be, and how much."""
    pulls = [
        (wire.start.y + wire.start_offset - wire.end_offset, _pull(wire)) for wire in slot.left
    ]
    pulls += [
        (wire.end.y + wire.end_offset - wire.start_offset, _pull(wire)) for wire in slot.right
    ]
    weight = sum(pull for _, pull in pulls)
    if not weight:
        return slot.y, 0.1
    return sum(y * pull for y, pull in pulls) / weight, weight


def _pull(wire: _Wire) -> float:
    return 1.0 if wire.start.is_box or wire.end.is_box else _STRAIGHT


def _place(column: Sequence[_Slot], wishes: Sequence[tuple[float, float]]) -> None:
    """Set the slots' places: least squares from the wishes, in order and without touching.

    With the distances that the sizes ask for taken off, this is isotonic regression: neighbours
    that are out of order are pooled at their weighted mean.
    """
    gaps = [
        one.shape.below + (_BOX_GAP if one.is_box or two.is_box else _SLOT_GAP) + two.shape.above
        for one, two in pairwise(column)
    ]
    offsets = [0.0, *accumulate(gaps)]
    pools: list[tuple[float, float, int]] = []  # mean, weight, slots
    for (wish, weight), offset in zip(wishes, offsets, strict=True):
        mean, count = wish - offset, 1
        while pools and pools[-1][0] > mean:
            other, its_weight, its_count = pools.pop()
            mean = (mean * weight + other * its_weight) / (weight + its_weight)
            weight, count = weight + its_weight, count + its_count
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    for slot, mean, offset in zip(column, means, offsets, strict=True):
        slot.y = mean + offset


def _measured(
    boxes: Sequence[_Slot],
    columns: Sequence[Sequence[_Slot]],
    chains: Sequence[Sequence[_Wire]],
    turned: Sequence[bool],
) -> Layout:
    top = min(slot.y - slot.shape.above for column in columns for slot in column)
    bottom = max(slot.y + slot.shape.below for column in columns for slot in column)
    edges: list[tuple[float, float]] = []  # left and right border of each column
    right = 0.0
    for index, column in enumerate(columns):
        left = right + (_bend(columns[index - 1]) if index else 0.0)
        right = left + max(slot.shape.width for slot in column)
        edges.append((left, right))

    def middle(slot: _Slot) -> Point:
        return Point(sum(edges[slot.column]) / 2, slot.y - top)

    routes = []
    for wires, back in zip(chains, turned, strict=True):
        start, end = wires[0].start, wires[-1].end
        points = [Point(middle(start).x + start.shape.width / 2, 0.0)]
        for wire in wires:
            points.append(
                Point(edges[wire.start.column][1], wire.start.y + wire.start_offset - top)
            )
            points.append(Point(edges[wire.end.column][0], wire.end.y + wire.end_offset - top))
        points.append(Point(middle(end).x - end.shape.width / 2, points[-1].y))
        points[0] = Point(points[0].x, points[1].y)
        label = middle(wires[-1].start if back else wires[0].end)
        routes.append(Route(tuple(reversed(points)) if back else tuple(points), label))
    placed = tuple(Box(middle(box), box.shape.below) for box in boxes)
    return Layout(placed, tuple(routes), edges[-1][1], bottom - top)


def _bend(column: Sequence[_Slot]) -> float:
    """Return the width of the gap after a column: wider where its lines go far up or down."""
    rises = [
        abs(wire.end.y + wire.end_offset - wire.start.y - wire.start_offset)
        for slot in column
        for wire in slot.right
    ]
    return min(30.0 + max(rises, default=0.0) * 0.25, 70.0)

"""Diagrams: every arrow drawn once, names escaped, and nothing drawn over anything else."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations, pairwise
from typing import NamedTuple

import pytest

from lawful.spec import (
    Cell,
    CellKind,
    Event,
    Table,
    dot,
    mermaid,
    parse_table,
    shipped_names,
    shipped_table,
    svg,
)

SVG = "{http://www.w3.org/2000/svg}"

TASK_EDGES = {
    "edge-submitted-enqueue",
    "edge-submitted-cancel",
    "edge-queued-start",
    "edge-queued-cancel",
    "edge-running-succeed",
    "edge-running-fail-0",
    "edge-running-fail-1",
    "edge-running-cancel",
    "edge-retry_wait-cancel",
    "edge-retry_wait-retry_due",
    "edge-cancelling-succeed",
    "edge-cancelling-fail",
    "edge-cancelling-cancel",
    "edge-cancelling-cancel_ack",
    "edge-cancelled-cancel",
}

GATE_MERMAID = """\
stateDiagram-v2
    direction LR
    state "pending" as pending
    state "running" as running
    state "done" as done
    state "failed" as failed
    state "dropped" as dropped
    [*] --> pending
    pending --> running : running
    pending --> dropped : dropped
    running --> done : done
    running --> failed : failed
    running --> dropped : dropped
    failed --> running : running
    failed --> dropped : dropped
    done --> [*]
    dropped --> [*]
"""

REVIEW_DOT = """\
digraph "review" {
    rankdir=LR;
    node [shape=box, style=rounded, fontname="monospace"];
    edge [fontname="monospace"];
    "" [shape=point];
    "draft";
    "in_review";
    "approved" [peripheries=2];
    "rejected" [peripheries=2];
    "withdrawn" [peripheries=2];
    "" -> "draft";
    "draft" -> "in_review" [id="edge-draft-submit", label="submit"];
    "draft" -> "withdrawn" [id="edge-draft-withdraw", label="withdraw"];
    "in_review" -> "approved" [id="edge-in_review-approve", label="approve"];
    "in_review" -> "draft" [id="edge-in_review-reject-0", \
label="reject [rounds < max_rounds] / rounds + 1"];
    "in_review" -> "rejected" [id="edge-in_review-reject-1", label="reject [else]"];
    "in_review" -> "withdrawn" [id="edge-in_review-withdraw", label="withdraw"];
}
"""

# A state that leads to itself, several no-ops on one state, words that Mermaid keeps for itself.
ODD = """
format = "lawful-spec/1"
name = "odd"
initial = "state"
terminal = ["end"]
events = ["again", "touch", "look", "finish"]
counts = { legal = 3, noop = 3, refused = 2 }
[table]
state = ["?more", "state", "=", "end"]
end = ["-", "=", "=", "-"]
[event.again]
payload = { how = ["soft", "hard"], sure = "bool" }
[event.touch]
add = { touches = 1 }
[guard.more]
when = [
  { if = [["how", "==", "soft", "hard"], ["sure", "!=", false, "unsure"]], to = "state" },
  { to = "end" },
]
""".replace("add = { touches = 1 }", "")


def odd() -> Table:
    return parse_table(ODD, "odd.toml")


def loopless() -> Table:
    """A table of one state, as no reader would accept it, with names that need escaping."""
    return Table(
        name='a<b>&"c',
        version=1,
        initial='<one> & "two"\\',
        states=('<one> & "two"\\',),
        terminal=(),
        events=(Event("<go>&"),),
        cells=((Cell(CellKind.NOOP),),),
    )


def tables() -> list[Table]:
    return [shipped_table(name) for name in shipped_names()] + [odd(), loopless()]


def test_mermaid_is_this_text_for_gate() -> None:
    assert mermaid(shipped_table("gate")) == GATE_MERMAID


def test_mermaid_shows_guards_counters_and_no_ops_in_words() -> None:
    lines = [line.strip() for line in mermaid(shipped_table("task")).splitlines()]
    assert "running --> retry_wait : fail [retryable == true, attempts < max_attempts]" in lines
    assert "running --> failed : fail [else]" in lines
    assert "queued --> running : start / attempts + 1" in lines
    assert "cancelling --> cancelling : cancel (no-op)" in lines


def test_mermaid_s_own_words_are_no_names_of_states() -> None:
    lines = [line.strip() for line in mermaid(odd()).splitlines()]
    assert 'state "end" as s_end' in lines
    assert "[*] --> s_state" in lines
    assert "s_state --> s_end : finish" in lines


def test_mermaid_s_loops_on_one_state_share_a_line() -> None:
    """Mermaid draws only one of several loops on a state."""
    lines = [line.strip() for line in mermaid(odd()).splitlines()]
    loops = "again [how == soft, sure != false], touch, look (no-op)"
    assert f"s_state --> s_state : {loops}" in lines
    assert "s_end --> s_end : touch (no-op), look (no-op)" in lines


def test_dot_is_this_text_for_review() -> None:
    assert dot(shipped_table("review")) == REVIEW_DOT


def test_dot_draws_no_ops_dashed_and_escapes_names() -> None:
    assert (
        '"cancelled" -> "cancelled" [id="edge-cancelled-cancel", label="cancel (no-op)", '
        "style=dashed];"
    ) in dot(shipped_table("task"))
    assert '"<one> & \\"two\\"\\\\" -> "<one> & \\"two\\"\\\\"' in dot(loopless())


# the drawing of our own


class Rect(NamedTuple):
    """A rectangle: left, top, right, bottom."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Rect") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def holds(self, x: float, y: float) -> bool:
        return self.left < x < self.right and self.top < y < self.bottom


def drawn(table: Table) -> ET.Element:
    return ET.fromstring(svg(table))


def number(element: ET.Element, name: str) -> float:
    return float(element.attrib[name])


def boxes(root: ET.Element) -> dict[str, Rect]:
    """Return the outer border of each state, less the line itself."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        if group.get("class", "").startswith("state"):
            rect = group.findall(f"{SVG}rect")[0]
            x, y = number(rect, "x"), number(rect, "y")
            found[group.attrib["id"]] = Rect(
                x + 1, y + 1, x + number(rect, "width") - 1, y + number(rect, "height") - 1
            )
    return found


def labels(root: ET.Element) -> list[tuple[str, Rect]]:
    """Return each line of text: 12 px monospace is 7.23 px wide and 11 px high."""
    found = []
    for group in root.iter(f"{SVG}g"):
        for text in group.findall(f"{SVG}text"):
            if group.get("class", "").startswith("edge"):
                words = text.text or ""
                x, y, half = number(text, "x"), number(text, "y"), len(words) * 7.23 / 2
                found.append((words, Rect(x - half, y - 9, x + half, y + 2)))
    return found


def curves(root: ET.Element) -> dict[str, list[tuple[float, float]]]:
    """Return points along each path, about two pixels apart."""
    return {
        path.attrib["id"]: walked(path.attrib["d"])
        for path in root.iter(f"{SVG}path")
        if "id" in path.attrib
    }


def walked(data: str) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for command, numbers in re.findall(r"([MLC])([^MLC]*)", data):
        values = [float(value) for value in numbers.split()]
        pairs = list(zip(values[::2], values[1::2], strict=True))
        if command == "M":
            points += pairs
            continue
        a, b, c, d = [points[-1], *pairs] if command == "C" else [points[-1]] * 2 + pairs * 2
        steps = int(abs(d[0] - a[0]) + abs(d[1] - a[1])) // 2 + 8
        for step in range(1, steps + 1):
            t = step / steps
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            points.append(
                (
                    sum(w * p[0] for w, p in zip(weights, (a, b, c, d), strict=True)),
                    sum(w * p[1] for w, p in zip(weights, (a, b, c, d), strict=True)),
                )
            )
    return points


def test_every_way_of_task_is_a_path_with_its_own_id() -> None:
    root = drawn(shipped_table("task"))
    assert set(curves(root)) == TASK_EDGES
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))


def test_a_path_runs_from_the_border_of_its_state_to_the_border_of_its_target() -> None:
    root = drawn(shipped_table("gate"))
    around = boxes(root)
    for edge, (start, end) in {
        "edge-pending-running": ("pending", "running"),
        "edge-running-done": ("running", "done"),
        "edge-failed-running": ("failed", "running"),
        "edge-pending-dropped": ("pending", "dropped"),
    }.items():
        points = curves(root)[edge]
        for (x, y), state in ((points[0], start), (points[-1], end)):
            left, top, right, bottom = around[f"state-{state}"]
            assert min(abs(x - left), abs(x - right)) <= 1.5
            assert top < y < bottom


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_no_label_and_no_box_lies_over_another(table: Table) -> None:
    root = drawn(table)
    placed = [*boxes(root).items(), *labels(root)]
    for (one, here), (two, there) in combinations(placed, 2):
        assert not here.meets(there), f"{one!r} lies over {two!r}"


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_no_path_runs_through_a_box_or_a_label(table: Table) -> None:
    root = drawn(table)
    placed = [*boxes(root).items(), *labels(root)]
    for edge, points in curves(root).items():
        for name, rect in placed:
            assert not [at for at in points if rect.holds(*at)], f"{edge} runs through {name!r}"


def turns(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])


def crossed(one: list[tuple[float, float]], two: list[tuple[float, float]]) -> bool:
    return any(
        turns(a, b, c) != turns(a, b, d) and turns(c, d, a) != turns(c, d, b)
        for a, b in pairwise(one[::6])
        for c, d in pairwise(two[::6])
        if max(a[0], b[0]) > min(c[0], d[0]) and max(c[0], d[0]) > min(a[0], b[0])
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gate", set()),
        ("review", set()),
        (
            "task",
            {
                ("edge-running-cancel", "edge-retry_wait-retry_due"),
                ("edge-retry_wait-cancel", "edge-cancelling-succeed"),
            },
        ),
    ],
)
def test_only_these_paths_cross(name: str, expected: set[tuple[str, str]]) -> None:
    paths = curves(drawn(shipped_table(name))).items()
    assert {(a, b) for (a, one), (b, two) in combinations(paths, 2) if crossed(one, two)} == (
        expected
    )


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_an_arrow_leads_into_the_first_state(table: Table) -> None:
    root = drawn(table)
    data = next(g for g in root.iter(f"{SVG}g") if g.get("class") == "start")[1].attrib["d"]
    _, y, end = (float(value) for value in re.findall(r"-?[\d.]+", data))
    left, top, _, bottom = boxes(root)[f"state-{table.initial}"]
    assert end == left - 1
    assert top < y < bottom


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_everything_lies_inside_the_picture(table: Table) -> None:
    root = drawn(table)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    shift = next(root.iter(f"{SVG}g")).attrib["transform"]
    dx, dy = map(float, re.findall(r"[\d.]+", shift))
    for left, top, right, bottom in [*boxes(root).values(), *(rect for _, rect in labels(root))]:
        assert left + dx >= 0
        assert top + dy >= 0
        assert right + dx <= width
        assert bottom + dy <= height


def test_terminal_states_have_a_double_border_and_no_ops_are_dashed() -> None:
    root = drawn(shipped_table("task"))
    borders = {
        group.attrib["id"]: len(group.findall(f"{SVG}rect"))
        for group in root.iter(f"{SVG}g")
        if group.get("class", "").startswith("state")
    }
    double = {"state-succeeded", "state-failed", "state-cancelled"}
    assert {name for name, count in borders.items() if count == 2} == double
    assert {name for name, count in borders.items() if count == 1} == set(borders) - double
    dashed = {
        path.attrib["id"] for path in root.iter(f"{SVG}path") if "stroke-dasharray" in path.attrib
    }
    assert dashed == {"edge-cancelling-cancel", "edge-cancelled-cancel"}


def test_a_straight_piece_without_length_never_ends_a_path() -> None:
    """The head of an arrow would turn to the right, into the box."""
    for table in tables():
        for path in drawn(table).iter(f"{SVG}path"):
            data = path.attrib["d"]
            last = re.findall(r"[\d.-]+ [\d.-]+", data)[-2:]
            assert len(last) < 2 or last[0] != last[1]


def test_the_picture_says_the_same_in_words() -> None:
    root = drawn(shipped_table("task"))
    assert root.attrib["role"] == "img"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert title.text == "The lifecycle task"
    assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {desc.attrib['id']}"
    words = desc.text or ""
    assert words.startswith(
        "8 states and 7 events. 12 legal cells, 2 no-ops, 42 refused. A task starts in submitted. "
        "submitted: enqueue leads to queued; cancel leads to cancelled. queued: "
    )
    assert "fail [retryable == true, attempts < max_attempts] leads to retry_wait; " in words
    assert words.endswith(
        "succeeded is terminal. failed is terminal. "
        "cancelled is terminal: cancel (no-op) changes nothing."
    )


def test_light_and_dark_are_variables_of_the_style() -> None:
    text = svg(shipped_table("gate"))
    assert "@media (prefers-color-scheme: dark)" in text
    light, dark = (set(re.findall(r"(--lawful-\w+):", part)) for part in text.split("@media"))
    assert light == dark
    assert set(re.findall(r"var\((--lawful-\w+)\)", text)) == light


def test_the_same_table_gives_the_same_bytes() -> None:
    assert svg(shipped_table("task")) == svg(shipped_table("task"))


def test_names_are_escaped() -> None:
    root = drawn(loopless())
    assert "<one>" not in svg(loopless())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ['<one> & "two"\\', "<go>&", "no-op"]


def test_a_state_that_nothing_reaches_is_drawn_all_the_same() -> None:
    gate = shipped_table("gate")
    cut = replace(gate, initial="failed")
    assert len(boxes(drawn(cut))) == 5


def test_a_large_table_is_drawn_in_time_and_without_overlap() -> None:
    count = 16
    names = [f"s{number}" for number in range(count)]
    text = (
        'format = "lawful-spec/1"\nname = "large"\ninitial = "s0"\nterminal = []\n'
        'events = ["next", "skip", "back", "home"]\n'
        f"counts = {{ legal = {4 * count}, noop = 0, refused = 0 }}\n[table]\n"
    )
    for at in range(count):
        targets = (at + 1, at + 5, at - 3, 0)
        row = ", ".join(f'"{names[target % count]}"' for target in targets)
        text += f"s{at} = [{row}]\n"
    table = parse_table(text, "large.toml")
    test_no_label_and_no_box_lies_over_another(table)
    test_no_path_runs_through_a_box_or_a_label(table)

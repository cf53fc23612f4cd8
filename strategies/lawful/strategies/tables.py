"""A Hypothesis strategy of lifecycles: random tables that are well formed.

They are there to try a toolkit on lifecycles other than its own. A table is drawn as the text of
a file and read by the reader, so that what is well formed is the reader's word alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

from lawful.spec.reader import parse_table

from .drawing import StrategyError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

    from lawful.spec.table import Table

__all__ = ["specs"]

Rows: TypeAlias = "dict[str, dict[str, str]]"
"""State to event to what stands in the cell."""


def specs(*, states: int = 6, events: int = 5) -> SearchStrategy[Table]:
    """Draw a well-formed table: with loops and without, with a guard and a lease or without.

    Args:
        states: The most states.
        events: The most events.

    Raises:
        StrategyError: Fewer than two states or than one event.
    """
    if states < 2 or events < 1:
        raise StrategyError(
            f"{states} states and {events} events: a table needs at least two and one"
        )
    return _texts(states, events).map(lambda text: parse_table(text, "drawn.toml"))


class _Grant(NamedTuple):
    """A lease in the making: the one state that holds it, and the one event that grants it."""

    held: str
    event: str


@st.composite
def _texts(draw: DrawFn, most_states: int, most_events: int) -> str:
    """Draw the text of a table file."""
    states = [f"s{n}" for n in range(draw(st.integers(2, most_states)))]
    events = [f"e{n}" for n in range(draw(st.integers(1, most_events)))]
    rows: Rows = {state: dict.fromkeys(events, "-") for state in states}
    grant = None
    if len(events) > 1 and draw(st.booleans()):
        grant = _Grant(draw(st.sampled_from(states[1:])), draw(st.sampled_from(events)))
    inner = _ways(draw, states, events, rows, grant)
    reports = _reports(draw, events, rows, grant) if grant else []
    for state in states:
        for event in events:
            if rows[state][event] == "-" and (event not in reports or state == _held(grant)):
                targets = _targets(states, grant, state, event) if state in inner else []
                rows[state][event] = draw(_cell(targets))
    terminal = [state for state in states if state not in inner]
    guard = _guard(draw, states, rows, grant) if draw(st.booleans()) else None
    lease = _lease(draw, rows, guard, grant, reports) if grant else None
    return _written(states, events, terminal, rows, guard, lease)


def _held(grant: _Grant | None) -> str | None:
    return grant.held if grant else None


def _ways(
    draw: DrawFn, states: list[str], events: list[str], rows: Rows, grant: _Grant | None
) -> list[str]:
    """Give each state but the first a way in, and return the states with a way out."""
    inner: list[str] = []
    for number, state in enumerate(states[1:], 1):
        free = [
            (other, event)
            for other in states[:number]
            for event in events
            if rows[other][event] == "-" and state in _targets(states, grant, other, event)
        ]
        other, event = draw(st.sampled_from(free))
        rows[other][event] = state
        inner.append(other)
    if grant and grant.held not in inner:
        # Whoever holds a lease must be able to lose it.
        event = draw(st.sampled_from([e for e in events if e != grant.event]))
        rows[grant.held][event] = draw(st.sampled_from([s for s in states if s != grant.held]))
        inner.append(grant.held)
    return inner


def _targets(states: list[str], grant: _Grant | None, state: str, event: str) -> list[str]:
    """Return where a cell may lead: into the held state by the granting event alone."""
    if grant is None:
        return states
    if event == grant.event:
        return [grant.held]
    return [to for to in states if to != grant.held or state == grant.held]


def _reports(draw: DrawFn, events: list[str], rows: Rows, grant: _Grant) -> list[str]:
    """Draw the events that only the holder may fire: no other state has a use for them yet."""
    free = [
        event
        for event in events
        if event != grant.event
        and all(row[event] == "-" for state, row in rows.items() if state != grant.held)
    ]
    return [event for event in free if draw(st.booleans())]


def _cell(targets: list[str]) -> SearchStrategy[str]:
    """Draw what stands in a cell that no way needs: mostly a refusal."""
    still = st.sampled_from(["-", "-", "="])
    return st.one_of(still, st.sampled_from(targets)) if targets else still


def _guard(
    draw: DrawFn, states: list[str], rows: Rows, grant: _Grant | None
) -> dict[str, Any] | None:
    """Put a guard that counts, up to a limit, in place of one of the legal cells."""
    legal = [
        (state, event)
        for state in states
        for event in rows[state]
        if rows[state][event] in states and not (grant and event == grant.event)
    ]
    if not legal:
        return None
    state, event = draw(st.sampled_from(legal))
    within, beyond = (
        rows[state][event],
        draw(st.sampled_from(_targets(states, grant, state, event))),
    )
    rows[state][event] = "?again"
    tests: list[list[object]] = [["tries", draw(st.sampled_from(["<", "!="])), "limit", "spent"]]
    told = draw(st.booleans())
    if told:
        tests.insert(0, ["worth", "==", True, "hopeless"])
    return {
        "when": [{"if": tests, "to": within, "add": {"tries": 1}}, {"to": beyond}],
        "told": event if told else None,
    }


def _lease(
    draw: DrawFn,
    rows: Rows,
    guard: Mapping[str, Any] | None,
    grant: _Grant,
    reports: list[str],
) -> dict[str, Any]:
    """Draw the rest of a lease."""
    held = rows[grant.held]
    ends = [event for event in held if event != grant.event and held[event] not in ("-", "=")]
    event = draw(st.sampled_from(ends))
    expiry: dict[str, Any] = {"event": event}
    if guard and guard["told"] == event:
        expiry["payload"] = {"worth": draw(st.booleans())}
    return {
        "granted_by": [grant.event],
        "needed_by": reports,
        "held_in": [grant.held],
        "seconds": draw(st.sampled_from([30, 7])),
        "expiry": draw(st.sampled_from(["lazy", "strict"])),
        "on_expiry": expiry,
    }


def _written(
    states: list[str],
    events: list[str],
    terminal: list[str],
    rows: Rows,
    guard: Mapping[str, Any] | None,
    lease: Mapping[str, Any] | None,
) -> str:
    cells = [cell for row in rows.values() for cell in row.values()]
    counts = {"noop": cells.count("="), "refused": cells.count("-")}
    counts["legal"] = len(cells) - sum(counts.values())
    lines = [
        'format = "lawful-spec/1"',
        'name = "drawn"',
        f"initial = {_toml(states[0])}",
        f"terminal = {_toml(terminal)}",
        f"events = {_toml(events)}",
        f"counts = {_toml(counts)}",
        "[table]",
        *(f"{state} = {_toml([rows[state][event] for event in events])}" for state in states),
    ]
    if guard:
        lines += ["[guard.again]", f"when = {_toml(guard['when'])}"]
        lines += ["[params.limit]", "default = 2", "check = [1, 2]"]
    if guard and guard["told"]:
        lines += [f"[event.{guard['told']}]", 'payload = { worth = "bool" }']
    if lease:
        lines += ["[lease]", *(f"{name} = {_toml(value)}" for name, value in lease.items())]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)

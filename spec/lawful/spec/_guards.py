"""Guards as a table file writes them: branches in order, conditions with typed names.

Reads the section ``[guard]``; which branch is taken is the oracle's affair.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from ._source import LARGEST, listed, shown
from .oracle import OPERATORS
from .table import Branch, Condition, Guard, Name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._source import Node
    from .errors import SpecError
    from .table import Event, Value

__all__ = ["Scope", "branch_nodes", "read_additions", "read_guard", "refuse_chains"]

Domain: TypeAlias = "tuple[Value, ...] | None"
"""The finite values of a payload field, or None for a number."""

_ORDERINGS: Final = frozenset({"<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that one guard may use.

    Attributes:
        numbers: Counters and parameters.
        users: The events in whose cells the guard stands.
    """

    numbers: tuple[str, ...]
    users: tuple[Event, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, numbers first."""
        fields = [field for event in self.users for field, _ in event.payload]
        return tuple(dict.fromkeys((*self.numbers, *fields)))

    def domains(self, node: Node, name: str) -> list[Domain]:
        """Return what a known name can be, for each event that uses the guard."""
        if name in self.numbers:
            return [None] * len(self.users)
        found: list[Domain] = []
        for event in self.users:
            values = dict(event.payload).get(name)
            if values is None:
                raise node.error(
                    f"payload field {name!r} is not declared for event {event.name!r}, "
                    "which uses this guard too"
                )
            found.append(values)
        return found


def branch_nodes(guard: Node) -> list[Mapping[str, Node]]:
    """Return the fields of each branch of a guard, in order; there is at least one branch."""
    when = guard.fields(required=("when",))["when"]
    return [
        branch.fields(required=("to",), optional=("if", "add")) for branch in when.items(least=1)
    ]


def read_additions(node: Node | None) -> tuple[tuple[str, int], ...]:
    """Read ``add``: counter and what is added to it, 1 or more."""
    if node is None:
        return ()
    entries = node.entries().items()
    return tuple((at.checked_name(counter), at.integer(least=1)) for counter, at in entries)


def refuse_chains(guards: Mapping[str, Node]) -> None:
    """Refuse a branch that leads to a guard; name the cycle if there is one."""
    chained = [
        (name, branch["to"], str(branch["to"].value).removeprefix("?"))
        for name, guard in guards.items()
        for branch in branch_nodes(guard)
        if branch["to"].text().startswith("?")
    ]
    links: dict[str, list[str]] = {}
    for name, _, target in chained:
        links.setdefault(name, []).append(target)
    for name, node, target in chained:
        way = _way(links, target, name)
        if way:
            cycle = " -> ".join((name, *way))
            raise node.error(f"guards lead in a circle: {cycle}; a branch leads to a state")
    for name, node, target in chained:
        raise node.error(
            f"guard {name!r} leads to guard {shown(target)}; a branch leads to a state"
        )


def _way(links: Mapping[str, Sequence[str]], start: str, goal: str) -> list[str]:
    """Return the shortest way from start to goal, both included; empty if there is none."""
    before: dict[str, str | None] = {start: None}
    queue = deque([start])
    while queue and goal not in before:
        for onward in links.get(current := queue.popleft(), ()):
            if onward not in before:
                before[onward] = current
                queue.append(onward)
    way: list[str] = []
    at: str | None = goal if goal in before else None
    while at is not None:
        way.append(at)
        at = before[at]
    return way[::-1]


def read_guard(name: str, guard: Node, states: Sequence[str], scope: Scope) -> Guard:
    """Read one guard, whose conditions may name what ``scope`` holds."""
    branches: list[Branch] = []
    words: set[str] = set()
    every = branch_nodes(guard)
    for position, fields in enumerate(every, 1):
        to = fields["to"].one_of(states, "a state")
        conditions = fields.get("if")
        if position == len(every) and conditions is not None:
            raise conditions.error(
                f"the last branch of guard {name!r} has an 'if'; "
                "it must be unconditional, so that the guard always decides"
            )
        if position < len(every) and conditions is None:
            raise fields["to"].error(
                f"branch {position} of guard {name!r} has no 'if', so no later branch is ever taken"
            )
        items = conditions.items(least=1) if conditions is not None else []
        read = tuple(_condition(item, scope, words) for item in items)
        branches.append(Branch(read, to, read_additions(fields.get("add"))))
    return Guard(name, tuple(branches))


def _condition(node: Node, scope: Scope, words: set[str]) -> Condition:
    parts = node.items()
    if len(parts) != 4:
        raise node.error(
            f"{shown(node.value)} has {len(parts)} parts; "
            "a condition has 4: name, operator, name or value, failure word"
        )
    left, sign, right, word = parts
    name = left.text()
    if name not in scope.names:
        users = listed(event.name for event in scope.users)
        raise left.error(
            f"{shown(name)} is no counter, parameter or payload field of {users}; "
            f"known: {listed(scope.names)}",
            wrong=name,
            among=scope.names,
        )
    operator = sign.one_of(tuple(OPERATORS), "an operator")
    value = _right(left, right, operator, scope)
    failure = word.name()
    if failure in words:
        raise word.error(f"failure word {failure!r} stands twice in this guard: ids come from it")
    words.add(failure)
    return Condition(Name(name), operator, value, failure)


def _right(left: Node, right: Node, operator: str, scope: Scope) -> Name | Value:
    """Read the right side: a name or a literal that the left side can be compared with."""
    domains = scope.domains(left, left.text())
    value = right.value
    if isinstance(value, str):
        return _right_string(left, right, operator, scope)
    if not isinstance(value, bool):
        value = right.integer(least=-LARGEST)
    for domain in domains:
        fits = domain is None if not isinstance(value, bool) else domain == (True, False)
        if not fits or (domain is not None and operator in _ORDERINGS):
            raise _incomparable(left, operator, right, domain)
    return value


def _right_string(left: Node, right: Node, operator: str, scope: Scope) -> Name | Value:
    domains = scope.domains(left, left.text())
    word = right.text()
    literal = all(domain is not None and word in domain for domain in domains)
    if literal and word in scope.names:
        raise right.error(
            f"{word!r} is ambiguous: a value of {left.text()!r} and a name; rename one of them"
        )
    if not literal and word not in scope.names:
        values = [str(one) for domain in domains for one in domain or () if isinstance(one, str)]
        known = tuple(dict.fromkeys((*scope.names, *values)))
        raise right.error(
            f"{shown(word)} is neither a known name nor a value of {left.text()!r}; "
            f"known: {listed(known)}",
            wrong=word,
            among=known,
        )
    others = domains if literal else scope.domains(right, word)
    for mine, other in zip(domains, others, strict=True):
        if mine is None and other is None:
            continue
        if mine is None or other is None or not set(mine) & set(other) or operator in _ORDERINGS:
            raise _incomparable(left, operator, right, mine)
    return word if literal else Name(word)


def _incomparable(left: Node, operator: str, right: Node, domain: Domain) -> SpecError:
    what = "a number" if domain is None else f"one of {listed(shown(one) for one in domain)}"
    allowed = "any operator and a number" if domain is None else "== or != and a value of its own"
    return right.error(
        f"{left.text()!r} {operator} {shown(right.value)} compares what can't be compared: "
        f"{left.text()!r} is {what}; allowed: {allowed}"
    )

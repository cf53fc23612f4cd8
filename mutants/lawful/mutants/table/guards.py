"""Every first-order fault of a guard: how what decides between a cell's targets can be wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.oracle import OPERATORS, Position
from lawful.spec.table import Name

from .effects import lawful_effect, moved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Branch, Condition, Guard, Letter, Table, Value

    from .effects import Effect

__all__ = ["GuardFault", "guard_faults"]


@dataclass(frozen=True, slots=True)
class GuardFault:
    """A guard that decides by other branches.

    Attributes:
        guard: The guard's name.
        branches: What it decides by.
        off: The condition whose left side is off by this much, if one is.
        some: The branch for which one of its conditions is enough, counted from 0; None for none.
    """

    guard: str
    branches: tuple[Branch, ...]
    off: tuple[Condition, int] | None = None
    some: int | None = None

    @property
    def state(self) -> None:
        """A guard may stand in any state."""

    def effect(self, oracle: Oracle, position: Position, letter: Letter, *, armed: bool) -> Effect:
        """Return what comes of a letter."""
        table = oracle.table
        cell = table.cell(position.state, letter.event)
        if cell.guard != self.guard:
            return lawful_effect(oracle, position, letter)
        counters = dict(zip(table.counters, position.counters, strict=True))
        names: dict[str, Value] = {**oracle.params, **counters, **dict(letter.payload)}
        *conditional, last = enumerate(self.branches)
        taken = next((b for i, b in conditional if self._taken(i, b, names)), last[1])
        for counter, amount in (*table.event(letter.event).add, *taken.add):
            counters[counter] += amount
        return moved(position, letter, Position(taken.to, tuple(counters.values())))

    def arms(self, position: Position, letter: Letter) -> bool:
        """Arm nothing."""
        return False

    def _taken(self, index: int, branch: Branch, names: Mapping[str, Value]) -> bool:
        enough = any if index == self.some else all
        return enough(self._true(condition, names) for condition in branch.conditions)

    def _true(self, condition: Condition, names: Mapping[str, Value]) -> bool:
        left = names[condition.left.name]
        if self.off is not None and self.off[0] is condition:
            left = int(left) + self.off[1]
        right = condition.right
        value = names[right.name] if isinstance(right, Name) else right
        return OPERATORS[condition.operator](left, value)


class Named(NamedTuple):
    """A fault of a guard, with what it is called.

    Attributes:
        name: A piece of its id.
        before: What the table has.
        after: What is there instead.
        fault: The fault.
    """

    name: str
    before: str
    after: str
    fault: GuardFault


def guard_faults(table: Table, guard: Guard) -> Iterator[Named]:
    """Yield every first-order fault of a guard."""
    for index, branch in enumerate(guard.branches):
        for condition in branch.conditions:
            yield from _of_condition(table, guard, index, condition)
        if len(branch.conditions) > 1:
            text = " and ".join(map(_text, branch.conditions))
            fault = GuardFault(guard.name, guard.branches, some=index)
            yield Named(f"{index + 1}/or", text, text.replace(" and ", " or "), fault)
        if branch.conditions:
            left = (*guard.branches[:index], *guard.branches[index + 1 :])
            name = f"{index + 1}/dropped"
            yield Named(name, f"... -> {branch.to}", "", GuardFault(guard.name, left))
        yield from _of_target(table, guard, index, branch)
    for first, second in combinations(range(len(guard.branches)), 2):
        one, other = guard.branches[first], guard.branches[second]
        swapped = list(guard.branches)
        swapped[first] = replace(one, to=other.to, add=other.add)
        swapped[second] = replace(other, to=one.to, add=one.add)
        yield Named(
            f"{first + 1}-{second + 1}/swapped",
            f"{one.to}, else {other.to}",
            f"{other.to}, else {one.to}",
            GuardFault(guard.name, tuple(swapped)),
        )
        if other.conditions:
            order = list(guard.branches)
            order[first], order[second] = other, one
            fault = GuardFault(guard.name, tuple(order))
            yield Named(f"{first + 1}-{second + 1}/order", "in order", "the other way round", fault)


def _of_condition(table: Table, guard: Guard, index: int, condition: Condition) -> Iterator[Named]:
    name, text = f"{index + 1}/{condition.failure}", _text(condition)

    def instead(what: str, *conditions: Condition) -> Named:
        branch = guard.branches[index]
        kept: list[Condition] = []
        for each in branch.conditions:
            kept += conditions if each is condition else (each,)
        fault = GuardFault(guard.name, _with(guard, index, replace(branch, conditions=tuple(kept))))
        after = " and ".join(map(_text, conditions))
        return Named(f"{name}/{what}", text, after, fault)

    yield instead("dropped")
    for operator in OPERATORS:
        if operator != condition.operator and _ordered(table, condition, operator):
            yield instead(operator, replace(condition, operator=operator))
    for operand in _operands(table, condition):
        shown = operand.name if isinstance(operand, Name) else str(operand).lower()
        yield instead(f"against {shown}", replace(condition, right=operand))
    if condition.left.name in (*table.counters, *table.defaults):
        for amount in (-1, 1):
            fault = GuardFault(guard.name, guard.branches, off=(condition, amount))
            after = f"{condition.left.name} {amount:+d} {text.partition(' ')[2]}"
            yield Named(f"{name}/off by {amount:+d}", text, after, fault)


def _of_target(table: Table, guard: Guard, index: int, branch: Branch) -> Iterator[Named]:
    """Yield what is wrong with what a branch adds; where it leads is a fault of its cells."""
    for counter, amount in branch.add:
        others = tuple(pair for pair in branch.add if pair[0] != counter)
        for name, add in (("not added", others), ("twice", (*others, (counter, 2 * amount)))):
            fault = GuardFault(guard.name, _with(guard, index, replace(branch, add=add)))
            text = f"{counter} +{amount}"
            yield Named(f"{index + 1}/{counter} {name}", text, f"{counter} {name}", fault)


def _with(guard: Guard, index: int, branch: Branch) -> tuple[Branch, ...]:
    return (*guard.branches[:index], branch, *guard.branches[index + 1 :])


def _ordered(table: Table, condition: Condition, operator: str) -> bool:
    """Say whether an operator has a meaning there: only numbers are more or less."""
    return operator in ("==", "!=") or condition.left.name in (*table.counters, *table.defaults)


def _operands(table: Table, condition: Condition) -> Iterator[Name | Value]:
    """Yield what else a condition could compare with: hard-coded, or another number."""
    right = condition.right
    if isinstance(right, bool):
        yield not right
        return
    if isinstance(right, Name):
        for param in table.params:
            if param.name == right.name:
                yield from param.check
        numbers = (*table.counters, *table.defaults)
        yield from (Name(n) for n in numbers if n not in (right.name, condition.left.name))
    elif isinstance(right, int):
        yield right - 1
        yield right + 1
    else:
        yield from (v for v in _values(table, condition.left.name) if v != right)


def _values(table: Table, field: str) -> tuple[Value, ...]:
    """Return the values that a payload field takes."""
    return next((v for e in table.events for name, v in e.payload if name == field), ())


def _text(condition: Condition) -> str:
    right = condition.right
    shown = right.name if isinstance(right, Name) else str(right).lower()
    return f"{condition.left.name} {condition.operator} {shown}"

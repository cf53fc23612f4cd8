"""Every first-order fault of a table: each sub-cell with every wrong outcome, guards, rows.

A *sub-cell* is a state, an event, and the branch of a guard: what has a check of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from lawful.mutants.mutant import Mutant, Place
from lawful.spec.oracle import Oracle
from lawful.spec.table import CellKind
from lawful.spec.words import reachable
from lawful.sut.contract import Refusal

from .effects import Line, lawful_effect, moved
from .guards import guard_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lawful.spec.oracle import Position
    from lawful.spec.table import Letter, Table

    from .effects import Effect
    from .machine import Behaviour

    Twist: TypeAlias = Callable[[Effect, Position, Letter], Effect]

__all__ = ["Fault", "SubCell", "faults", "sub_cells"]


class SubCell(NamedTuple):
    """What has a check of its own.

    Attributes:
        state: The state.
        event: The event.
        branch: The failed conditions that lead to a guard's branch; empty for its first branch
            and where no guard decides.
        kind: What the table says of it.
        to: Where it leads; empty unless it is legal.
    """

    state: str
    event: str
    branch: str
    kind: CellKind
    to: str = ""

    @property
    def name(self) -> str:
        """A piece of an id: ``running/fail?exhausted``."""
        return f"{self.state}/{self.event}" + (f"?{self.branch}" if self.branch else "")


class Fault(NamedTuple):
    """A mutant of a table, and what a machine that has it does."""

    mutant: Mutant
    behaviour: Behaviour


def sub_cells(table: Table) -> list[SubCell]:
    """Return every sub-cell that the table can reach, in the table's order."""
    found: dict[tuple[str, str, str], SubCell] = {}
    for params in table.valuations:
        oracle = Oracle(table, params)
        for position in reachable(oracle):
            for letter in table.letters:
                outcome = oracle.step(position, letter)
                key = position.state, letter.event, outcome.branch
                to = outcome.after.state if outcome.kind is CellKind.LEGAL else ""
                found.setdefault(key, SubCell(*key, outcome.kind, to))
    order = {(s, e): (i, j) for i, s in enumerate(table.states)
             for j, e in enumerate(table.event_names)}  # fmt: skip
    return sorted(found.values(), key=lambda cell: (order[cell.state, cell.event], cell.branch))


def faults(table: Table) -> Iterator[Fault]:
    """Yield every first-order fault of a table, cell by cell, then its guards, then its rows."""
    for cell in sub_cells(table):
        for family, name, after, twist in _twists(table, cell):
            yield _fault(table, cell, family, name, after, twist)
    yield from _of_guards(table)
    yield from _of_rows(table)


# -- one sub-cell ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CellFault:
    """A sub-cell with another outcome."""

    cell: SubCell
    twist: Twist

    @property
    def state(self) -> str:
        """The one state in which it may differ."""
        return self.cell.state

    def effect(self, oracle: Oracle, position: Position, letter: Letter, *, armed: bool) -> Effect:
        """Return what comes of a letter."""
        lawful = lawful_effect(oracle, position, letter)
        if (position.state, letter.event) != (self.cell.state, self.cell.event):
            return lawful
        if oracle.step(position, letter).branch != self.cell.branch:
            return lawful
        return self.twist(lawful, position, letter)

    def arms(self, position: Position, letter: Letter) -> bool:
        """Arm nothing."""
        return False


class _Twisted(NamedTuple):
    family: str
    name: str
    after: str
    twist: Twist


def _fault(table: Table, cell: SubCell, family: str, name: str, after: str, twist: Twist) -> Fault:
    before = {CellKind.LEGAL: cell.to, CellKind.NOOP: "=", CellKind.REFUSED: "-"}[cell.kind]
    mutant = Mutant(
        f"table/{family}/{cell.name}/{name}",
        "table",
        family,
        f"{cell.event!r} on a task that is {cell.state!r}: {after}",
        Place(table.name, cell=(cell.state, cell.event)),
        before,
        after,
        source=f"every {family}",
    )
    return Fault(mutant, CellFault(cell, twist))


def _twists(table: Table, cell: SubCell) -> Iterator[_Twisted]:
    if cell.kind is CellKind.LEGAL:
        yield from _of_legal(table, cell)
    else:
        yield from _of_quiet(table, cell)


def _of_legal(table: Table, cell: SubCell) -> Iterator[_Twisted]:
    for state in table.states:
        if state != cell.to:
            yield _Twisted("transfer", state, f"leads to {state!r}", _leads_to(state))
    refused, nothing = _refused(Refusal.ILLEGAL), _nothing
    yield _Twisted("verdict", "refused", "is refused", refused)
    yield _Twisted("verdict", "no-op", "is accepted and writes nothing", nothing)
    for index, counter in enumerate(table.counters):
        for amount in (-1, 1):
            says = f"{counter} is {abs(amount)} too {'low' if amount < 0 else 'high'}"
            yield _Twisted("counter", f"{counter}{amount:+d}", says, _counts(index, amount))
        yield _Twisted("counter", f"{counter}=0", f"{counter} is set to 0", _zero(index))
    yield _Twisted("version", "same", "leaves the version", _grows(0))
    yield _Twisted("version", "twice", "adds 2 to the version", _grows(2))
    yield _Twisted("history", "none", "writes no entry", _logs(0))
    yield _Twisted("history", "twice", "writes its entry twice", _logs(2))
    yield _Twisted("history", "silent", "moves, and leaves version and history", _silent)
    yield _Twisted("history", "state kept", "writes all but the state", _stays)
    for name, says, wrong in _entries(table, cell):
        yield _Twisted("entry", name, f"writes {says}", _writes(wrong))


def _entries(table: Table, cell: SubCell) -> Iterator[tuple[str, str, Callable[[Line], Line]]]:
    """Yield how the entry of a transition can be wrong: a name, a sentence, the line."""
    event = next((e for e in table.event_names if e != cell.event), None)
    if event is not None:
        yield "event", f"that {event!r} was fired", lambda line: line._replace(event=event)
    was = next((s for s in table.states if s != cell.state), cell.state)
    yield "before", f"that it was {was!r}", lambda line: line._replace(before=was)
    goes = next((s for s in table.states if s != cell.to), cell.to)
    yield "after", f"that it is {goes!r}", lambda line: line._replace(after=goes)
    yield "version", "the version after its own", lambda line: line._replace(ahead=1)
    yield "actor", "that 'nobody' fired it", lambda line: line._replace(actor="nobody")
    if table.event(cell.event).payload:
        yield "payload", "no payload", lambda line: line._replace(bare=True)


def _of_quiet(table: Table, cell: SubCell) -> Iterator[_Twisted]:
    refuses = cell.kind is CellKind.REFUSED
    for state in table.states:
        yield _Twisted("transfer", state, f"is accepted and leads to {state!r}", _becomes(state))
    if refuses:
        yield _Twisted("verdict", "no-op", "is accepted and writes nothing", _nothing)
        says = "is refused as if there were no such task"
        yield _Twisted("verdict", "reason", says, _refused(Refusal.UNKNOWN_TASK))
    else:
        yield _Twisted("verdict", "refused", "is refused", _refused(Refusal.ILLEGAL))
    family, what = ("refusal writes", "refused") if refuses else ("no-op writes", "a no-op")
    for state in table.states:
        if state != cell.state:
            says = f"is {what}, and the state becomes {state!r}"
            yield _Twisted(family, state, says, _slips(state))
    for index, counter in enumerate(table.counters):
        for amount in (-1, 1):
            says = f"is {what}, and {counter} changes by {amount:+d}"
            yield _Twisted(family, f"{counter}{amount:+d}", says, _counts(index, amount))
    yield _Twisted(family, "version", f"is {what}, and the version grows", _grows(1))
    yield _Twisted(family, "history", f"is {what}, and is logged", _logs(1))
    yield _Twisted(family, "both", f"is {what}, logged, and the version grows", _both)


# What can be wrong with an effect, one thing at a time.


def _leads_to(state: str) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return moved(position, letter, effect.after._replace(state=state))

    return twist


def _becomes(state: str) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return moved(position, letter, position._replace(state=state))

    return twist


def _slips(state: str) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return effect._replace(after=position._replace(state=state))

    return twist


def _refused(reason: Refusal) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return effect._replace(refusal=reason, after=position, versions=0, lines=())

    return twist


def _nothing(effect: Effect, position: Position, letter: Letter) -> Effect:
    return effect._replace(refusal=None, after=position, versions=0, lines=())


def _stays(effect: Effect, position: Position, letter: Letter) -> Effect:
    return effect._replace(after=effect.after._replace(state=position.state))


def _silent(effect: Effect, position: Position, letter: Letter) -> Effect:
    return effect._replace(versions=0, lines=())


def _both(effect: Effect, position: Position, letter: Letter) -> Effect:
    return effect._replace(versions=1, lines=(_line(position, letter),))


def _counts(index: int, amount: int) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return effect._replace(after=_count(effect.after, index, amount))

    return twist


def _zero(index: int) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return effect._replace(after=_count(effect.after, index, -effect.after.counters[index]))

    return twist


def _count(position: Position, index: int, amount: int) -> Position:
    counters = list(position.counters)
    counters[index] += amount
    return position._replace(counters=tuple(counters))


def _grows(versions: int) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return effect._replace(versions=versions)

    return twist


def _logs(times: int) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        line = effect.lines[0] if effect.lines else _line(position, letter)
        return effect._replace(lines=(line,) * times)

    return twist


def _writes(wrong: Callable[[Line], Line]) -> Twist:
    def twist(effect: Effect, position: Position, letter: Letter) -> Effect:
        return effect._replace(lines=tuple(map(wrong, effect.lines)))

    return twist


def _line(position: Position, letter: Letter) -> Line:
    return Line(letter.event, position.state, position.state)


# -- guards and rows -------------------------------------------------------------------------------


def _of_guards(table: Table) -> Iterator[Fault]:
    for guard in table.guards:
        cells = [
            (state, event)
            for state, row in zip(table.states, table.cells, strict=True)
            for event, cell in zip(table.event_names, row, strict=True)
            if cell.guard == guard.name
        ]
        for name, before, after, fault in guard_faults(table, guard):
            mutant = Mutant(
                f"table/guard/{guard.name}/{name}",
                "table",
                "guard",
                f"the guard {guard.name!r} decides by {after or 'less'}, not by {before}",
                Place(table.name, cell=cells[0] if cells else None),
                before,
                after,
                source="every fault of a guard",
            )
            yield Fault(mutant, fault)


@dataclass(frozen=True, slots=True)
class RowFault:
    """A state in which every event does what it does in another one, or is refused."""

    state: str
    like: str | None

    def effect(self, oracle: Oracle, position: Position, letter: Letter, *, armed: bool) -> Effect:
        """Return what comes of a letter."""
        if position.state != self.state:
            return lawful_effect(oracle, position, letter)
        if self.like is None:
            return lawful_effect(oracle, position, letter)._replace(
                refusal=Refusal.ILLEGAL, after=position, versions=0, lines=()
            )
        outcome = oracle.step(position._replace(state=self.like), letter)
        if outcome.kind is CellKind.LEGAL:
            return moved(position, letter, outcome.after)
        refusal = Refusal.ILLEGAL if outcome.kind is CellKind.REFUSED else None
        return lawful_effect(oracle, position, letter)._replace(
            refusal=refusal, after=position, versions=0, lines=()
        )

    def arms(self, position: Position, letter: Letter) -> bool:
        """Arm nothing."""
        return False


def _of_rows(table: Table) -> Iterator[Fault]:
    """Yield what a wrong set of terminal states comes to."""
    for state in table.states:
        if state not in table.terminal:
            says = f"{state!r} is taken for a terminal state: all is refused there"
            yield _row_fault(table, state, None, "terminal", says)
            continue
        for other in table.states:
            if other not in table.terminal:
                says = f"{state!r} is left as {other!r} is"
                yield _row_fault(table, state, other, f"as {other}", says)


def _row_fault(table: Table, state: str, like: str | None, name: str, says: str) -> Fault:
    mutant = Mutant(
        f"table/terminal/{state}/{name}",
        "table",
        "terminal",
        says,
        Place(table.name, cell=(state, table.event_names[0])),
        "terminal" if like else "not terminal",
        f"as {like}" if like else "terminal",
        source="every fault of the terminal set",
    )
    return Fault(mutant, RowFault(state, like))

"""Moves: what may be done next, said so that it means something wherever the tasks are by then.

A move says "the holder", "a stale version", "the second task"; a resolver follows the table and
turns it into a step of a trace. What draws moves (Hypothesis, a seeded walk) is elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from lawful.spec.model import Call, fire, heartbeat, reap, submitted
from lawful.spec.oracle import Oracle
from lawful.spec.table import CellKind, Letter
from lawful.spec.words import shortest_paths

from .trace import TASK, Advance, Fire, Heartbeat, Reap, Reopen, Second, Submit
from .walk import STRANGER, Cast, actor_for

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from lawful.spec.model import Model
    from lawful.spec.oracle import Position
    from lawful.spec.table import Lease, Table
    from lawful.spec.words import Word

    from .adapter import Adapter
    from .trace import Op

__all__ = [
    "ABILITIES",
    "FRONT",
    "Beat",
    "Begin",
    "Firing",
    "Kind",
    "Move",
    "Onward",
    "Played",
    "Resolver",
    "Shown",
    "Start",
    "Who",
    "abilities",
    "drawable",
    "elapsing",
    "every_start",
    "kinds",
    "likely_starts",
    "plainer",
    "resolved",
    "simplified",
    "spelled_out",
]

ABILITIES: Final = frozenset(
    {
        "actor",
        "clock",
        "expected_version",
        "heartbeat",
        "reap",
        "restart",
        "second_connection",
        "token",
    }
)
"""What moves may make use of beyond firing events."""

FRONT: Final = 256
"""How many moves are drawn by weight."""


def abilities(adapter: Adapter) -> frozenset[str]:
    """Return what moves may make use of with an implementation."""
    always = {"clock", "restart", "second_connection"} - set(adapter.gaps)
    return frozenset(ABILITIES & (adapter.offered | always))


class Start(NamedTuple):
    """Where a program begins.

    Attributes:
        params: What the task is submitted with, as pairs.
        position: Where it is brought.
        word: The table's shortest way there.
    """

    params: tuple[tuple[str, int], ...]
    position: Position
    word: Word


def every_start(table: Table) -> list[Start]:
    """Return every start, those that take fewest steps first, the default parameters first."""
    every = [
        Start(tuple(valuation.items()), position, word)
        for valuation in table.valuations
        for position, word in shortest_paths(Oracle(table, valuation)).items()
    ]
    return sorted(every, key=lambda start: len(start.word))


def likely_starts(table: Table) -> list[Start]:
    """Return every start, and again for each event that is legal there: more can come of those."""
    every = every_start(table)
    again = [
        start
        for start in every
        for event in table.event_names
        if table.cell(start.position.state, event).kind is CellKind.LEGAL
    ]
    return every + again


def elapsing(lease: Lease) -> tuple[float, float]:
    """Return two numbers of seconds: a part of a lease, and more than a whole one.

    No sum of them is a whole lease: at the deadline itself the table says nothing. What is begun
    after the part outlasts the other.
    """
    seconds = lease.seconds
    parts = (n for n in range(max(seconds // 4, 2), seconds) if seconds % n)
    step = next(parts, 0.75 * seconds)
    return step, step * (seconds // step + 1)


class Who(StrEnum):
    """Who makes a call."""

    PROPER = "proper"
    """Whoever should: the holder, the next worker, a client."""
    STRANGER = "stranger"
    FORMER = "former"
    """The worker whose start came before the present one: a zombie."""


class Shown(StrEnum):
    """Which version is expected, or whose token is shown."""

    NOTHING = "nothing"
    RIGHT = "right"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Firing:
    """An event is fired at the task of that number."""

    letter: Letter
    who: Who = Who.PROPER
    version: Shown = Shown.NOTHING
    token: Shown = Shown.NOTHING
    task: int = 0


@dataclass(frozen=True, slots=True)
class Onward:
    """A task that has not ended is sent on: an event that the table accepts.

    Attributes:
        choice: Which of the accepted letters, counted round.
        task: Which of the tasks that have not ended, counted round.
    """

    choice: int
    who: Who = Who.PROPER
    version: Shown = Shown.NOTHING
    token: Shown = Shown.NOTHING
    task: int = 0


@dataclass(frozen=True, slots=True)
class Beat:
    """A heartbeat is sent for the task of that number."""

    who: Who = Who.PROPER
    token: Shown = Shown.NOTHING
    task: int = 0


@dataclass(frozen=True, slots=True)
class Begin:
    """Another task is submitted and brought to a start."""

    start: Start


Move: TypeAlias = Firing | Onward | Beat | Begin | Advance | Reap | Reopen | Second


@dataclass(slots=True)
class Played:
    """A task in a program, as the table has it."""

    label: str
    oracle: Oracle
    model: Model
    owners: list[str] = field(default_factory=list)


class Resolver:
    """Turns moves into steps of a trace, following the table.

    Args:
        table: The lifecycle.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._now = 0.0
        self.tasks: list[Played] = []
        self._oracles: dict[tuple[tuple[str, int], ...], Oracle] = {}
        self._choices: dict[tuple[Oracle, Position], tuple[Letter, ...]] = {}
        self._shared = False

    def resolve(self, move: Move) -> list[Op]:
        """Return what a move means now, and take it."""
        match move:
            case Begin(start):
                return self._begin(start)
            case Firing():
                return [self._fire(self.tasks[move.task % len(self.tasks)], move)]
            case Onward():
                return self.resolve(self.plain(move))
            case Beat():
                return self._beat(self.tasks[move.task % len(self.tasks)], move)
            case Advance(seconds):
                self._now += seconds
            case Reap():
                self._reap()
            case Second():
                # One is enough to see through; each more is a reading more at every step.
                if self._shared:
                    return []
                self._shared = True
            case Reopen():
                pass
        return [move]

    def plain(self, move: Move) -> Move:
        """Return the move that says the same now, and always: its task and letter by name."""
        if not isinstance(move, Firing | Onward | Beat):
            return move
        if not isinstance(move, Onward):
            return replace(move, task=move.task % len(self.tasks))
        live = [n for n, task in enumerate(self.tasks) if not self._ended(task)]
        numbers = live or range(len(self.tasks))
        number = numbers[move.task % len(numbers)]
        letters = self._accepted(self.tasks[number]) or self._table.letters
        letter = letters[move.choice % len(letters)]
        return Firing(letter, move.who, move.version, move.token, number)

    def _ended(self, task: Played) -> bool:
        return task.model.position.state in self._table.terminal

    def _accepted(self, task: Played) -> tuple[Letter, ...]:
        """Return the letters that the table accepts where a task is, to be chosen from.

        Those that do not end it stand there twice: more comes of them.
        """
        position = task.model.position
        key = task.oracle, position
        if key not in self._choices:
            outcomes = [(n, task.oracle.step(position, n)) for n in self._table.letters]
            some = [(n, to.after) for n, to in outcomes if to.kind is not CellKind.REFUSED]
            lasting = [n for n, after in some if after.state not in self._table.terminal]
            self._choices[key] = (*(n for n, _ in some), *lasting)
        return self._choices[key]

    def _begin(self, start: Start) -> list[Op]:
        if start.params not in self._oracles:
            self._oracles[start.params] = Oracle(self._table, dict(start.params))
        oracle = self._oracles[start.params]
        label = TASK if not self.tasks else f"{TASK}{len(self.tasks) + 1}"
        task = Played(label, oracle, submitted(oracle))
        self.tasks.append(task)
        other = tuple((n, v) for n, v in start.params if v != self._table.defaults[n])
        return [Submit(other, label), *(self._fire(task, Firing(letter)) for letter in start.word)]

    def _fire(self, task: Played, move: Firing) -> Fire:
        model = task.model
        version = {Shown.NOTHING: None, Shown.RIGHT: model.version}.get(
            move.version, model.version - 1 if model.version else 1
        )
        actor = self._actor(task, move.letter, move.who)
        grant = self._grant(model, move.token)
        call = Call(move.letter, actor, version, grant)
        task.model = fire(task.oracle, model, call, self._now).after
        if task.model.grants > model.grants:
            task.owners.append(actor)
        return Fire(move.letter, actor, version, grant, task.label)

    def _actor(self, task: Played, letter: Letter, who: Who) -> str:
        if who is Who.STRANGER:
            return STRANGER
        if who is Who.FORMER and task.owners:
            held = task.model.holding
            older = task.owners[:-1] if held else task.owners
            return older[-1] if older else STRANGER
        return actor_for(task, letter, Cast.ANOTHER)

    def _grant(self, model: Model, shown: Shown) -> int | None:
        if shown is Shown.RIGHT and model.holding:
            return model.holding.grant
        if shown is Shown.STALE and model.grants > 1:
            return model.grants - 1
        return None

    def _beat(self, task: Played, move: Beat) -> list[Op]:
        lease = self._table.lease
        if lease is None:
            return []
        held = task.model.holding
        letter = Letter("heartbeat")
        actor = held.owner if held else STRANGER
        if move.who is not Who.PROPER:
            actor = self._actor(task, letter, move.who)
        grant = self._grant(task.model, move.token)
        call = Call(letter, actor, None, grant)
        task.model = heartbeat(lease, task.model, call, self._now).after
        return [Heartbeat(actor, grant, task.label)]

    def _reap(self) -> None:
        lease = self._table.lease
        for task in self.tasks:
            if lease is not None:
                task.model = reap(task.oracle, lease, task.model, self._now).after


class Kind(NamedTuple):
    """Moves of one kind.

    Attributes:
        name: What they are called.
        weight: How often they are drawn, beside the others.
        moves: The moves, plain ones first.
    """

    name: str
    weight: int
    moves: tuple[Move, ...]


def kinds(table: Table, *, tasks: int, able: Collection[str]) -> list[Kind]:
    """Return every move that there is a use for, by kind.

    Args:
        table: The lifecycle.
        tasks: The most tasks.
        able: What may be made use of, of ``ABILITIES``.
    """
    lease = table.lease
    each = range(tasks)
    whos = list(Who) if lease and "actor" in able else [Who.PROPER]
    versions = list(Shown) if "expected_version" in able else [Shown.NOTHING]
    tokens = list(Shown) if lease and "token" in able else [Shown.NOTHING]
    odd = _odd(whos, versions, tokens)
    choices = range(2 * max(_accepting(table, state) for state in table.states))
    made = [
        Kind("fire", 2, tuple(Firing(n, task=t) for n in table.letters for t in each)),
        Kind("go_on", 6, tuple(Onward(n, task=t) for n in choices for t in each)),
        Kind("go_on_oddly", 3, tuple(Onward(n, *o, t) for o in odd for n in choices for t in each)),
        Kind(
            "fire_oddly",
            0,  # every move is drawn now and then, and of these there are many
            tuple(
                Firing(*fields)
                for fields in product(table.letters, whos, versions, tokens, each)
                if odd
            ),
        ),
    ]
    if tasks > 1:
        made.append(Kind("begin", 8, tuple(map(Begin, likely_starts(table)))))
    if lease and "clock" in able:
        made.append(Kind("advance", 3, tuple(map(Advance, elapsing(lease)))))
    if lease and "reap" in able:
        made.append(Kind("reap", 3, (Reap(),)))
    if lease and "heartbeat" in able:
        made.append(Kind("heartbeat", 1, tuple(Beat(*f) for f in product(whos, tokens, each))))
    if "restart" in able:
        made.append(Kind("reopen", 1, (Reopen(),)))
    if "second_connection" in able:
        made.append(Kind("second", 1, (Second(),)))
    return [kind for kind in made if kind.moves]


def _odd(
    whos: Sequence[Who], versions: Sequence[Shown], tokens: Sequence[Shown]
) -> list[tuple[Who, Shown, Shown]]:
    """Return ways to make a call with one thing out of order: a second one would hide it.

    What a zombie does stands there more often: it takes the most steps to come to.
    """
    weights = {Who.FORMER: 3, Who.STRANGER: 2, Shown.STALE: 2, Shown.RIGHT: 1}
    nothing = Shown.NOTHING
    ways = [(who, nothing, nothing, weights[who]) for who in whos[1:]]
    ways += [(Who.PROPER, version, nothing, weights[version]) for version in versions[1:]]
    ways += [(Who.PROPER, nothing, token, weights[token]) for token in tokens[1:]]
    return [way[:3] for way in ways for _ in range(way[3])]


def drawable(some: Sequence[Kind]) -> list[Move]:
    """Return moves to draw from: 256 by weight, and after them every move once.

    Hypothesis draws four of five characters of a string from the first 256 that there are.
    """
    total = sum(kind.weight for kind in some)
    front: list[Move] = []
    for kind in some:
        share = kind.weight * FRONT / total
        front += (
            kind.moves[int(n * max(len(kind.moves) / share, 1)) % len(kind.moves)]
            for n in range(round(share))
        )
    return front[:FRONT] + [move for kind in some for move in kind.moves]


def _accepting(table: Table, state: str) -> int:
    kinds = [table.cell(state, letter.event).kind for letter in table.letters]
    return len(kinds) - kinds.count(CellKind.REFUSED)


def spelled_out(table: Table, drawn: Iterable[Move], *, tasks: int) -> tuple[Move, ...]:
    """Return moves that do the same, each a single step that names its task and its letter.

    Args:
        table: The lifecycle.
        drawn: The moves; the first begins a task.
        tasks: The most tasks.
    """
    single: list[Move] = []
    resolver = Resolver(table)
    for move in drawn:
        begun = len(resolver.tasks)
        if not isinstance(move, Begin):
            plain = resolver.plain(move)
            single += [plain] * len(resolver.resolve(plain))  # some come to nothing
        elif begun < tasks:
            origin = move.start._replace(word=())
            single += [Begin(origin), *(Firing(letter, task=begun) for letter in move.start.word)]
            resolver.resolve(move)
    return tuple(single)


def simplified(table: Table, course: Sequence[Move]) -> Iterator[tuple[Move, ...]]:
    """Yield programs that may show the same in fewer steps, each move a single step.

    Args:
        table: The lifecycle.
        course: The moves, each a single step (see :func:`spelled_out`).
    """
    course = spelled_out(table, course, tasks=len(course))  # tasks may have been left out
    begins = [move for move in course if isinstance(move, Begin)]
    for number in range(len(begins)) if len(begins) > 1 else ():
        yield _bereft(course, number)
    gathered = (*begins, *(move for move in course if not isinstance(move, Begin)))
    for some in dict.fromkeys((tuple(course), gathered)):
        for index, move in enumerate(some):
            before, after = some[:index], some[index + 1 :]
            if isinstance(move, Begin):
                for params in table.valuations:
                    start = move.start._replace(params=tuple(params.items()))
                    yield (*before, Begin(start), *after)
            elif isinstance(move, Reap) and table.lease:
                # The reaper goes with the time that it took.
                times = [n for n, other in enumerate(before) if isinstance(other, Advance)][-1:]
                kept = tuple(other for n, other in enumerate(before) if n not in times)
                for number in range(len(begins)):
                    yield (*kept, Firing(table.lease.on_expiry, task=number), *after)
    yield from _from_elsewhere(table, course)


def plainer(table: Table, course: Sequence[Move]) -> Iterator[tuple[Move, ...]]:
    """Yield programs as long as this one that say less: default parameters, nothing shown.

    Args:
        table: The lifecycle.
        course: The moves, each a single step.
    """
    for index, move in enumerate(course):
        other: list[Move] = []
        if isinstance(move, Begin):
            other = [Begin(move.start._replace(params=tuple(table.defaults.items())))]
        elif isinstance(move, Firing):
            other = [replace(move, version=Shown.NOTHING), replace(move, token=Shown.NOTHING)]
        if isinstance(move, Firing | Beat):
            other.append(replace(move, who=Who.PROPER))
        for plain in other:
            if plain != move:
                yield (*course[:index], plain, *course[index + 1 :])


def _bereft(course: Sequence[Move], number: int) -> tuple[Move, ...]:
    """Leave a task out of a program, and count the tasks after it anew."""
    kept: list[Move] = []
    begun = -1
    for move in course:
        begun += isinstance(move, Begin)
        if isinstance(move, Begin):
            kept += [move] if begun != number else []
        elif not isinstance(move, Firing | Onward | Beat):
            kept.append(move)
        elif move.task != number:
            kept.append(replace(move, task=move.task - (move.task > number)))
    return tuple(kept)


def _from_elsewhere(table: Table, course: Sequence[Move]) -> Iterator[tuple[Move, ...]]:
    """Begin elsewhere, nearest first, and end as the program does, or nearly so."""
    last = course[-1]
    tails: list[tuple[Move, ...]] = [tuple(course[-1:]), tuple(course[-2:])]
    if isinstance(last, Firing) and last != Firing(last.letter, task=last.task):
        tails += [(replace(last, letter=letter),) for letter in table.letters]
    for start in every_start(table):
        for tail in tails:
            if 1 + len(start.word) + len(tail) < len(course):
                yield spelled_out(table, (Begin(start), *tail), tasks=1)


def resolved(table: Table, drawn: Iterable[Move], *, tasks: int) -> tuple[Op, ...]:
    """Turn moves into a trace; a task too many is left out.

    Args:
        table: The lifecycle.
        drawn: The moves; the first begins a task.
        tasks: The most tasks.
    """
    resolver = Resolver(table)
    ops: list[Op] = []
    for move in drawn:
        if not (isinstance(move, Begin) and len(resolver.tasks) >= tasks):
            ops += resolver.resolve(move)
    return tuple(ops)

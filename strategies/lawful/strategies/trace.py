"""A trace: what was done to an implementation, as values, as one line of text, and back.

The line is what a finding prints and ``lawful replay`` reads, for example
``SUBMIT(max_attempts=1) enqueue@client start@worker-1 fail(retryable=true)@worker-1[version=2]``.
What the suite itself does stands in capitals, which no event's name has. Text is data: it is
parsed against a table, never evaluated, and bounded in size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from lawful.spec.errors import LawfulError
from lawful.spec.table import Letter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lawful.spec.table import Table, Value

__all__ = [
    "ABSENT",
    "Advance",
    "Fire",
    "Heartbeat",
    "Op",
    "Poison",
    "Put",
    "Read",
    "Reap",
    "Reopen",
    "Second",
    "Submit",
    "TraceError",
    "format_trace",
    "parse_start",
    "parse_steps",
    "parse_trace",
]

TASK: Final = "t"
"""The label of the task where a trace has only one."""
ABSENT: Final = "?"
"""The label of an id that was never given out."""
LIMIT: Final = 65_536
"""The longest text that is read, in characters."""


class TraceError(LawfulError):
    """A trace can't be read.

    Attributes:
        token: The piece that is wrong.
        problem: What is wrong with it, and what is allowed.
    """

    def __init__(self, token: str, problem: str) -> None:
        self.token = token
        self.problem = problem
        super().__init__(f"trace: {token!r}: {problem}")


@dataclass(frozen=True, slots=True)
class Submit:
    """A task is submitted with ``params``."""

    params: tuple[tuple[str, int], ...] = ()
    task: str = TASK


@dataclass(frozen=True, slots=True)
class Put:
    """A task is put straight into a state (with the table's default parameters)."""

    state: str
    counters: tuple[tuple[str, int], ...]
    actor: str
    task: str = TASK


@dataclass(frozen=True, slots=True)
class Fire:
    """An event is fired.

    Attributes:
        letter: The event with its payload.
        actor: Who fires it.
        version: The version it expects, in transitions since submission; None if it doesn't say.
        grant: Whose start's token it shows, counted from 1; None if it shows none.
        task: The task's label; ``?`` is an id that was never given out.
    """

    letter: Letter
    actor: str
    version: int | None = None
    grant: int | None = None
    task: str = TASK


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A worker says that it still works on a task."""

    actor: str
    grant: int | None = None
    task: str = TASK


@dataclass(frozen=True, slots=True)
class Read:
    """A task is read."""

    task: str = TASK


@dataclass(frozen=True, slots=True)
class Poison:
    """A task's next write is made to fail."""

    task: str = TASK


@dataclass(frozen=True, slots=True)
class Second:
    """A second instance is opened on the same store, and goes on looking."""


@dataclass(frozen=True, slots=True)
class Advance:
    """The clock moves on by ``seconds``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reap:
    """The reaper runs."""


@dataclass(frozen=True, slots=True)
class Reopen:
    """The store is closed and opened again: a restart."""


Op: TypeAlias = Submit | Put | Fire | Heartbeat | Read | Poison | Advance | Reap | Reopen | Second


def format_trace(ops: Sequence[Op]) -> str:
    """Write a trace as one line; a plain submission at its beginning goes without saying."""
    called = isinstance(ops[1], Fire | Heartbeat | Read | Poison) if len(ops) > 1 else False
    implied = called and ops[0] == Submit() and getattr(ops[1], "task", "") == TASK
    return " ".join(map(_format, ops[1:] if implied else ops))


def _format(op: Op) -> str:
    match op:
        case Submit(params, task):
            return _label(task) + "SUBMIT" + _pairs(params)
        case Put(state, counters, actor, task):
            inside = ",".join((state, *(f"{name}={value}" for name, value in counters)))
            return f"{_label(task)}PUT({inside})@{actor}"
        case Fire(letter, actor, version, grant, task):
            return f"{_label(task)}{letter}@{actor}{_options(version, grant)}"
        case Heartbeat(actor, grant, task):
            return f"{_label(task)}HEARTBEAT@{actor}{_options(None, grant)}"
        case Poison(task):
            return f"{_label(task)}POISON"
        case Second():
            return "SECOND"
        case Read(task):
            return f"{_label(task)}READ"
        case Advance(seconds):
            whole, _, rest = f"{seconds:.6f}".partition(".")
            return f"ADVANCE({'.'.join(filter(None, (whole, rest.rstrip('0'))))})"
        case Reap():
            return "REAP"
        case Reopen():
            return "REOPEN"


def _label(task: str) -> str:
    return "" if task == TASK else f"{task}:"


def _pairs(pairs: tuple[tuple[str, int], ...]) -> str:
    return "(" + ",".join(f"{name}={value}" for name, value in pairs) + ")" if pairs else ""


def _options(version: int | None, grant: int | None) -> str:
    given = [f"version={version}"] if version is not None else []
    given += [f"token={grant}"] if grant is not None else []
    return f"[{','.join(given)}]" if given else ""


# Which pieces a step of the suite's own takes; an event takes all of them.
_TAKES: Final = {
    "SUBMIT": ("task", "inside"),
    "PUT": ("task", "inside", "actor"),
    "HEARTBEAT": ("task", "actor", "token"),
    "READ": ("task",),
    "POISON": ("task",),
    "ADVANCE": ("inside",),
    "REAP": (),
    "REOPEN": (),
    "SECOND": (),
}
_PIECES: Final = {"task": "task", "inside": "(...)", "actor": "@actor"}

_TOKEN = re.compile(
    r"""(?:(?P<task>[\w.?-]+):)?
        (?P<name>[\w-]+)
        (?:\((?P<inside>[^()\s]*)\))?
        (?:@(?P<actor>[\w.-]+))?
        (?:\[(?P<options>[^\[\]\s]*)\])?""",
    re.VERBOSE,
)


def parse_trace(text: str, table: Table) -> tuple[Op, ...]:
    """Read a trace that :func:`format_trace` wrote, or that a person did.

    A trace that begins neither with SUBMIT nor with PUT begins with a submission with
    the table's defaults. An actor that is left out is ``client``.

    Raises:
        TraceError: A piece can't be read, or names what the table doesn't have.
    """
    ops = list(parse_steps(text, table))
    known: set[str] = set()
    for index, op in enumerate(ops):
        if isinstance(op, Submit | Put):
            if op.task in {ABSENT, *known}:
                raise TraceError(op.task, "a task is submitted once, and '?' never is")
            known.add(op.task)
        elif isinstance(op, Fire | Heartbeat | Read | Poison) and op.task not in known | {ABSENT}:
            if op.task != TASK:
                raise TraceError(op.task, "this task is used before it is submitted")
            ops.insert(index, Submit())
            known.add(TASK)
    return tuple(ops)


def parse_start(text: str, table: Table) -> tuple[Op, ...]:
    """Read a trace that leads to where something begins: its task is there, said or not.

    Raises:
        TraceError: It can't be read.
    """
    ops = parse_trace("" if text == "-" else text, table)
    there = any(isinstance(op, Submit | Put) and op.task == TASK for op in ops)
    return ops if there else (Submit(), *ops)


def parse_steps(text: str, table: Table) -> tuple[Op, ...]:
    """Read steps that are taken on tasks which are there already.

    Raises:
        TraceError: A piece can't be read, or names what the table doesn't have.
    """
    if len(text) > LIMIT:
        raise TraceError(text[:20] + "...", f"{len(text)} characters; at most {LIMIT} are read")
    return tuple(_parse(token, table) for token in text.split())


def _parse(token: str, table: Table) -> Op:
    match = _TOKEN.fullmatch(token)
    if not match:
        raise TraceError(token, "expected [task:]event[(payload)][@actor][[version=N,token=N]]")
    task = match["task"] or TASK
    name, actor, inside = match["name"], match["actor"] or "client", match["inside"] or ""
    takes = _TAKES.get(name, ("task", "inside", "actor", "version", "token"))
    for piece in ("task", "inside", "actor"):
        if match[piece] is not None and piece not in takes:
            raise TraceError(token, f"{name} takes no {_PIECES[piece]}")
    options = _ints(token, match["options"], tuple(o for o in ("version", "token") if o in takes))
    version, grant = options.get("version"), options.get("token")
    if name in table.event_names:
        return Fire(_letter(token, name, inside, table), actor, version, grant, task)
    if name in ("HEARTBEAT", "REAP") and table.lease is None:
        raise TraceError(token, f"{table.name} has no leases")
    match name:
        case "SUBMIT":
            return Submit(tuple(_ints(token, inside, tuple(table.defaults)).items()), task)
        case "PUT":
            state, _, counters = inside.partition(",")
            if state not in table.states:
                raise TraceError(token, f"no such state; there are {', '.join(table.states)}")
            return Put(state, tuple(_ints(token, counters, table.counters).items()), actor, task)
        case "HEARTBEAT":
            return Heartbeat(actor, grant, task)
        case "READ":
            return Read(task)
        case "POISON":
            return Poison(task)
        case "ADVANCE":
            if not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", inside, re.ASCII):
                raise TraceError(token, "expected seconds, as in ADVANCE(31)")
            return Advance(float(inside))
        case "REAP":
            return Reap()
        case "REOPEN":
            return Reopen()
        case "SECOND":
            return Second()
        case _:
            allowed = ", ".join((*table.event_names, *_TAKES))
            raise TraceError(token, f"no such event; there are {allowed}")


def _letter(token: str, name: str, inside: str, table: Table) -> Letter:
    fields = table.event(name).payload
    given = _pairs_in(token, inside)
    payload: list[tuple[str, Value]] = []
    for field, values in fields:
        by_text = {str(v).lower() if isinstance(v, bool) else str(v): v for v in values}
        text = given.pop(field, None)
        if text not in by_text:
            raise TraceError(token, f"{field} is needed: one of {', '.join(by_text)}")
        payload.append((field, by_text[text]))
    if given:
        raise TraceError(token, f"{name} has no payload field {next(iter(given))!r}")
    return Letter(name, tuple(payload))


def _ints(token: str, inside: str | None, allowed: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in _pairs_in(token, inside or "").items():
        if name not in allowed or not re.fullmatch(r"-?\d{1,10}", value, re.ASCII):
            names = ", ".join(allowed) or "none"
            raise TraceError(token, f"expected NAME=INTEGER with a name of {names}")
        found[name] = int(value)
    return found


def _pairs_in(token: str, inside: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for piece in inside.split(","):
        if not piece:
            continue
        name, equals, value = piece.partition("=")
        if not equals:
            raise TraceError(token, f"expected NAME=VALUE, got {piece!r}")
        if name in found:
            raise TraceError(token, f"{name} stands twice")
        found[name] = value
    return found

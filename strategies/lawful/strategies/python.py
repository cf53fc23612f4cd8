"""A trace as a pytest function that drives the adapter directly, to paste and to debug.

It is what the table says, written out: nothing of lawful is needed but the clock.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from lawful.spec.model import (
    Answer,
    Call,
    Holding,
    Model,
    Reason,
    fire,
    heartbeat,
    reap,
    submitted,
)
from lawful.spec.oracle import Position
from lawful.spec.table import CellKind, Letter
from lawful.sut.contract import Refusal

from .trace import (
    ABSENT,
    Advance,
    Fire,
    Heartbeat,
    Poison,
    Put,
    Read,
    Reap,
    Reopen,
    Second,
    Submit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lawful.spec.oracle import Oracle

    from .adapter import Adapter
    from .trace import Op

__all__ = ["as_python"]


def as_python(adapter: Adapter, ops: Sequence[Op], name: str = "trace") -> str:
    """Return a test that does the steps and asserts what the table says of the last one.

    Args:
        adapter: Whose methods are called.
        ops: The steps.
        name: What the test is called, after ``test_``.
    """
    return "\n".join(_Writer(adapter).lines(ops, name)) + "\n"


class _Writer:
    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._table = adapter.table
        self._tasks: dict[str, tuple[Oracle, Model]] = {}
        self._versions: set[str] = set()
        self._tokens: set[str] = set()
        self._now = 0.0
        self._seconds = adapter.table.lease.seconds if adapter.table.lease else 0
        factory = adapter.factory
        self._module = factory.__module__
        self._class = factory.__qualname__
        self._async = any(inspect.iscoroutinefunction(v) for _, v in inspect.getmembers(factory))
        self._imports = {f"from {self._module} import {self._class}"}

    def lines(self, ops: Sequence[Op], name: str) -> Iterator[str]:
        used = [op for op in ops if isinstance(op, Fire | Heartbeat)]
        self._versions = {op.task for op in used if isinstance(op, Fire) and op.version is not None}
        self._tokens = {op.task for op in used if op.grant is not None}
        body = [line for number, op in enumerate(ops, 1) for line in self._op(op, number, len(ops))]
        if self._async:
            yield from ("import asyncio", "")
        if "import pytest" in self._imports:
            self._imports.remove("import pytest")
            yield from ("import pytest", "")
        yield "from lawful.strategies import ManualClock"
        yield from sorted(self._imports)
        yield ""
        yield ""
        yield f"def test_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')}(tmp_path):"
        yield "    clock = ManualClock()"
        if self._async:
            yield "    run = asyncio.Runner().run"
        yield f"    system = {self._class}()"
        yield f"    {self._call('open(tmp_path, clock)', 'open')}"
        yield from (f"    {line}" for line in body)

    def _call(self, text: str, method: str) -> str:
        call = f"system.{text}"
        is_async = inspect.iscoroutinefunction(getattr(self._adapter.factory, method, None))
        return f"run({call})" if is_async else call

    def _op(self, op: Op, number: int, count: int) -> Iterator[str]:
        last = number == count
        match op:
            case Submit(params, task):
                oracle = self._adapter.oracle(dict(params))
                self._tasks[task] = oracle, submitted(oracle)
                yield f"{task} = {self._call(f'submit({oracle.params!r})', 'submit')}"
                yield from self._shown(task)
            case Put(state, counters, actor, task):
                oracle = self._adapter.oracle({})
                named = dict(counters)
                values = tuple(named.get(n, 0) for n in self._table.counters)
                held = self._table.lease and state in self._table.lease.held_in
                holding = Holding(actor, 1, self._now + self._seconds) if held else None
                model = Model(Position(state, values), 0, 1 if held else 0, holding)
                self._tasks[task] = oracle, model
                text = f"put({state!r}, {named!r}, actor={actor!r})"
                yield f"{task} = {self._call(text, 'put')}"
                yield from self._shown(task)
            case Advance(seconds):
                self._now += seconds
                yield f"clock.advance({seconds:g})"
            case Reopen():
                yield self._call("close()", "close")
                yield f"system = {self._class}()"
                yield self._call("open(tmp_path, clock)", "open")
            case Reap():
                yield from self._reap(last=last)
            case Poison(task):
                yield self._call(f"poison({task})", "poison")
            case Second():
                yield f"other = {self._class}()"
                yield self._call("open(tmp_path, clock)", "open").replace("system.", "other.")
            case Fire() | Heartbeat() | Read():
                yield from self._fire(op, last=last)

    def _shown(self, task: str) -> Iterator[str]:
        """Write down what later calls of the trace show: the first version, and the tokens."""
        if task in self._versions:
            yield f"{task}_version = {self._call(f'read({task})', 'read')}.version"
        if task in self._tokens:
            yield f"{task}_tokens = []"

    def _granted(self, task: str, before: Model, after: Model) -> Iterator[str]:
        if task in self._tokens and after.grants > before.grants:
            read = self._call(f"read({task})", "read")
            yield f"{task}_tokens.append({read}.lease_token)"

    def _reap(self, *, last: bool) -> Iterator[str]:
        lease = self._table.lease
        yield self._call("reap()", "reap")
        for task, (oracle, model) in self._tasks.items():
            if lease is None:
                continue
            after = reap(oracle, lease, model, self._now).after
            self._tasks[task] = oracle, after
            if last:
                yield from self._state(task, after)

    def _state(self, task: str, model: Model) -> Iterator[str]:
        state = model.position.state
        own = [mine for mine, theirs in self._adapter.states.items() if theirs == state] or [state]
        read = self._call(f"read({task})", "read")
        if len(own) == 1:
            yield f"assert {read}.state == {own[0]!r}"
        else:
            yield f"assert {read}.state in {own!r}"

    def _fire(self, op: Fire | Heartbeat | Read, *, last: bool) -> Iterator[str]:
        text, method = self._text(op)
        if op.task == ABSENT:
            yield f"absent = {self._call('absent()', 'absent')}"
            yield from self._refused(self._call(text, method), Reason.UNKNOWN_TASK)
            return
        oracle, model = self._tasks[op.task]
        answer = self._answer(op, oracle, model)
        self._tasks[op.task] = oracle, answer.after
        call = self._call(text, method)
        if answer.kind is CellKind.LEGAL:
            yield call
            yield from self._granted(op.task, model, answer.after)
            if last:
                yield from self._state(op.task, answer.after)
            return
        if last:
            yield f"before = {self._call(f'read({op.task})', 'read')}"
        if answer.reason is None:
            yield call
        else:
            yield from self._refused(call, answer.reason)
        if last:
            yield f"assert {self._call(f'read({op.task})', 'read')} == before"

    def _refused(self, call: str, reason: Reason) -> Iterator[str]:
        """Write a call that must be refused, by whatever exceptions stand for the reason."""
        wanted = Refusal(reason.value)
        kinds = [k for k, reasons in self._adapter.refusals.items() if wanted in reasons]
        if not kinds:
            self._imports.add("from lawful.sut import Refused")
            yield f"assert isinstance({call}, Refused)  # {reason}"
            return
        self._imports.add("import pytest")
        for kind in kinds:
            if kind.__module__ != "builtins":
                self._imports.add(f"from {kind.__module__} import {kind.__qualname__}")
        names = ", ".join(kind.__qualname__ for kind in kinds)
        yield f"with pytest.raises({names if len(kinds) == 1 else f'({names})'}):  # {reason}"
        yield f"    {call}"

    def _answer(self, op: Fire | Heartbeat | Read, oracle: Oracle, model: Model) -> Answer:
        match op:
            case Fire(letter, actor, version, grant):
                return fire(oracle, model, Call(letter, actor, version, grant), self._now)
            case Heartbeat(actor, grant) if self._table.lease:
                call = Call(Letter("heartbeat"), actor, None, grant)
                return heartbeat(self._table.lease, model, call, self._now)
            case _:
                return Answer(CellKind.NOOP, None, model)

    def _text(self, op: Fire | Heartbeat | Read) -> tuple[str, str]:
        """Return the call as the driver would make it, and the method's name."""
        task = "absent" if op.task == ABSENT else op.task
        if isinstance(op, Read):
            return f"read({task})", "read"
        token = [f"token={task}_tokens[{op.grant - 1}]"] if op.grant else []
        if isinstance(op, Heartbeat):
            given = ", ".join([task, f"actor={op.actor!r}", *token])
            return f"heartbeat({given})", "heartbeat"
        method, takes = self._adapter.calls[op.letter.event]
        if method == "claim":
            return f"claim({op.actor!r})", "claim"
        arguments = [task, repr(op.letter.event)] if method == "fire" else [task]
        if "actor" in takes:
            arguments.append(f"actor={op.actor!r}")
        if "payload" in takes:
            arguments.append(f"payload={dict(op.letter.payload)!r}")
        if op.version is not None and "expected_version" in takes:
            arguments.append(f"expected_version={task}_version + {op.version}")
        if "token" in takes:
            arguments += token
        return f"{method}({', '.join(arguments)})", method

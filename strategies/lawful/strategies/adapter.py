"""What an adapter class says of itself, read once and checked.

How events are called, what is offered, and what is missing with a reason. Nothing is opened here;
a class that can't be an adapter is refused with one plain line.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lawful.spec.errors import LawfulError
from lawful.spec.oracle import Oracle
from lawful.spec.reader import find_table
from lawful.sut.contract import GAP_NAMES, OPTIONAL_METHODS, SERVERS, NotYet, Refusal, Unsupported
from lawful.sut.shipped import SHIPPED

from .servers import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from lawful.spec.table import Params, Table

__all__ = ["Adapter", "AdapterError", "EventCall", "describe", "load_target"]

_KEYWORDS: Final = ("actor", "payload", "expected_version", "token")
_REQUIRED: Final = ("open", "close", "submit", "read")


class AdapterError(LawfulError):
    """The adapter is wrong: nothing is said about the system behind it.

    Attributes:
        target: The adapter, as it was named.
        problem: The method, what it gave, and what is allowed.
    """

    def __init__(self, target: str, problem: str) -> None:
        self.target = target
        self.problem = problem
        super().__init__(f"{target}: {problem}")


class EventCall(NamedTuple):
    """How an event is fired on an adapter.

    Attributes:
        method: The method's name: ``fire``, the event's own, or ``claim``.
        keywords: Those of actor, payload, expected_version and token that it takes.
    """

    method: str
    keywords: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """An adapter class, described.

    Attributes:
        target: How it was named on the command line.
        factory: The class; called without arguments, it gives an unopened instance.
        table: The lifecycle it is judged by.
        calls: How each of the table's events is fired.
        offered: The names that it declares by offering them.
        gaps: The names that it declares as missing.
        states: The system's own state names to the table's.
        refusals: Exception types and the reasons that each may stand for.
        indistinct: For each state that can't be told apart, the set it is in.
        chooses_id: Whether ``submit`` takes an id of the caller's choosing.
        server: The kind of server that it needs; empty where it needs none.
    """

    target: str
    factory: Callable[[], Any]  # an adapter may be any class with the right members
    table: Table
    system: str
    calls: Mapping[str, EventCall]
    offered: frozenset[str]
    gaps: Mapping[str, Unsupported | NotYet]
    states: Mapping[str, str]
    refusals: Mapping[type[BaseException], frozenset[Refusal]]
    indistinct: Mapping[str, frozenset[str]]
    chooses_id: bool
    server: str = ""
    _oracles: dict[tuple[tuple[str, int], ...], Oracle] = field(default_factory=dict, init=False)

    def oracle(self, params: Params) -> Oracle:
        """Return the table for these parameters, the defaults filled in; always the same one."""
        full = {**self.table.defaults, **params}
        key = tuple(full.items())
        if key not in self._oracles:
            self._oracles[key] = Oracle(self.table, full)
        return self._oracles[key]

    @property
    def claims(self) -> str | None:
        """The event that ``claim`` stands for, if workers can't choose their task."""
        return next((event for event, call in self.calls.items() if call.method == "claim"), None)


def load_target(target: str) -> Callable[[], Any]:
    """Return the class that ``target`` names: a shipped name, or ``module:Class``.

    Raises:
        AdapterError: There is none; the message names what is near.
    """
    path = SHIPPED.get(target, target)
    module_name, colon, name = path.partition(":")
    if not colon or not module_name or not name:
        near = difflib.get_close_matches(target, SHIPPED, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        known = ", ".join(SHIPPED)
        raise AdapterError(
            target, f"no such target: expected one of {known}, or module:Class{hint}"
        )
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if module_name == missing or module_name.startswith(missing + "."):
            raise AdapterError(
                target, f"there is no module {missing!r} on the path ({sys.path[0] or '.'} is)"
            ) from error
        raise AdapterError(target, f"importing {module_name} needs {missing!r}") from error
    except Exception as error:
        kind = type(error).__name__
        raise AdapterError(target, f"importing {module_name} raised {kind}: {error}") from error
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [n for n, v in vars(module).items() if isinstance(v, type)]
        near = difflib.get_close_matches(name, classes, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AdapterError(target, f"{module_name} has no class {name!r}{hint}")
    if target in SHIPPED:
        # A shipped adapter can be read without its system; it can't be opened.
        server, system = getattr(found, "server", ""), getattr(found, "system", "")
        needed = KINDS[server].client if server else system.partition(".")[0]
        if importlib.util.find_spec(needed) is None:
            extra = server or target
            raise AdapterError(target, f"{needed} is not installed: pip install 'lawful[{extra}]'")
    return found


def describe(target: str, *, table: Table | None = None) -> Adapter:
    """Load a target and read what it says of itself.

    Args:
        target: A shipped name, or ``module:Class``.
        table: The table to judge by in place of the one that the adapter names.

    Raises:
        AdapterError: The class can't be an adapter.
        SpecError: Its table can't be read.
    """
    return describe_class(load_target(target), target, table=table)


def describe_class(
    factory: Callable[[], Any], target: str, *, table: Table | None = None
) -> Adapter:
    """Read what an adapter class says of itself (see :func:`describe`)."""

    def wrong(problem: str) -> AdapterError:
        return AdapterError(target, problem)

    if table is None:
        table = find_table(getattr(factory, "lifecycle", "task"))
    for name in _REQUIRED:
        if not callable(_own(factory, name)):
            raise wrong(f"the method {name!r} is missing{_near(name, factory, table.event_names)}")
    system = getattr(factory, "system", None)
    if not isinstance(system, str) or not system:
        raise wrong(f"`system` must name the package, module or service tested; got {system!r}")
    server = getattr(factory, "server", "")
    if server not in ("", *SERVERS):
        near = difflib.get_close_matches(str(server), SERVERS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise wrong(
            f"`server` must be one of {_listed(SERVERS)}, or left out; got {server!r}{hint}"
        )
    for name in ("gaps", "refusals", "states"):
        value = getattr(factory, name, {})
        if not isinstance(value, Mapping):
            raise wrong(f"`{name}` must be a dict; got {value!r}")
    gaps = getattr(factory, "gaps", {})
    for name, reason in gaps.items():
        if name not in GAP_NAMES:
            near = difflib.get_close_matches(name, GAP_NAMES, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise wrong(f"gaps: unknown name {name!r}; allowed are {_listed(GAP_NAMES)}{hint}")
        if not isinstance(reason, Unsupported | NotYet) or not reason.reason:
            raise wrong(f"gaps[{name!r}]: expected Unsupported(reason) or NotYet(reason)")
    events = table.event_names
    calls = {event: _event_call(factory, event, events, wrong) for event in events}
    _claimed(calls, table, factory, wrong)
    offered = {name for name in OPTIONAL_METHODS if callable(_own(factory, name))}
    for keyword in ("actor", "expected_version", "token"):
        # `claim` always names its worker; that says nothing about the reports that follow.
        if any(keyword in call.keywords for call in calls.values() if call.method != "claim"):
            offered.add(keyword)
    both = sorted(offered & set(gaps))
    if both:
        raise wrong(f"gaps: {_listed(both)} is declared as missing, and offered")
    return Adapter(
        target=target,
        factory=factory,
        table=table,
        system=system,
        calls=calls,
        offered=frozenset(offered),
        gaps=dict(gaps),
        states=_states(getattr(factory, "states", {}), table, wrong),
        refusals=_refusals(getattr(factory, "refusals", {}), wrong),
        indistinct=_indistinct(getattr(factory, "indistinct", ()), table, wrong),
        chooses_id="task" in _keywords(_own(factory, "submit"), ("task",)),
        server=server,
    )


def _own(factory: Callable[[], Any], name: str) -> Any:  # whatever the class holds by that name
    """Return a member that the class itself or a base other than the contract's gives."""
    for base in inspect.getmro(factory) if isinstance(factory, type) else ():
        if name in vars(base):
            is_contract = base.__module__ == "lawful.sut.contract"
            return None if is_contract else getattr(factory, name)
    return None


def _near(name: str, factory: Callable[[], Any], events: Collection[str]) -> str:
    """Return a hint at a member that looks like a misspelling of ``name``."""
    known = {*_REQUIRED, *OPTIONAL_METHODS, *events}
    others = [n for n in dir(factory) if not n.startswith("_") and n not in known]
    near = difflib.get_close_matches(name, others, 1, 0.75)
    return f" (there is {near[0]!r})" if near else ""


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names))


def _event_call(
    factory: Callable[[], Any],
    event: str,
    events: Collection[str],
    wrong: Callable[[str], AdapterError],
) -> EventCall:
    reserved = (*_REQUIRED, *OPTIONAL_METHODS)
    for name in ("fire", event):
        method = _own(factory, name)
        if callable(method):
            if name in reserved:
                raise wrong(f"the event {event!r} has the name of a method: write `fire`")
            return EventCall(name, _keywords(method, _KEYWORDS))
    if callable(_own(factory, "claim")):
        return EventCall("claim", frozenset({"actor"}))
    raise wrong(
        f"nothing fires the event {event!r}: write `fire`, or a method {event!r}"
        f"{_near(event, factory, events)}"
    )


def _claimed(
    calls: Mapping[str, EventCall],
    table: Table,
    factory: Callable[[], Any],
    wrong: Callable[[str], AdapterError],
) -> None:
    """See that ``claim`` stands for the one event that grants the lease, and for no other."""
    stands_for = [event for event, call in calls.items() if call.method == "claim"]
    granting = table.lease.granted_by if table.lease else stands_for[:1]
    missing = [event for event in stands_for if event not in granting]
    if len(stands_for) > 1 and not missing:
        missing = stands_for[1:]
    if missing and not table.lease:
        # Which of them the claim is meant for can't be told: neither is guessed.
        raise wrong(
            f"`claim` stands for one event; {_listed(stands_for)} have no method: write "
            "all but one of them"
        )
    for event in missing:
        raise wrong(
            f"nothing fires the event {event!r}: write `fire`, or a method {event!r}; `claim` "
            f"stands for {_listed(granting)} alone{_near(event, factory, calls)}"
        )


def _keywords(method: Any, names: tuple[str, ...]) -> frozenset[str]:  # any callable
    parameters = inspect.signature(method).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return frozenset(names)
    return frozenset(parameters) & frozenset(names)


def _states(
    states: Mapping[str, str], table: Table, wrong: Callable[[str], AdapterError]
) -> Mapping[str, str]:
    for own, name in states.items():
        if name not in table.states:
            near = difflib.get_close_matches(name, table.states, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            allowed = ", ".join(table.states)
            raise wrong(f"states[{own!r}]: {name!r} is no state of {table.name} ({allowed}){hint}")
    return dict(states)


def _refusals(
    refusals: Mapping[Any, Any],  # what a stranger's class holds there
    wrong: Callable[[str], AdapterError],
) -> Mapping[type[BaseException], frozenset[Refusal]]:
    read: dict[type[BaseException], frozenset[Refusal]] = {}
    for kind, reasons in refusals.items():
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise wrong(f"refusals: {kind!r} is no exception type")
        if not isinstance(reasons, Collection):
            raise wrong(f"refusals[{kind.__name__}]: expected a Refusal or a set; got {reasons!r}")
        given = (reasons,) if isinstance(reasons, str) else tuple(reasons)
        for reason in given:
            if reason not in set(Refusal):
                allowed = ", ".join(Refusal)
                raise wrong(f"refusals[{kind.__name__}]: {str(reason)!r} is none of {allowed}")
        read[kind] = frozenset(map(Refusal, given))
    return read


def _indistinct(
    sets: Collection[Collection[str]], table: Table, wrong: Callable[[str], AdapterError]
) -> Mapping[str, frozenset[str]]:
    read: dict[str, frozenset[str]] = {}
    for one in sets:
        if isinstance(one, str):
            raise wrong(f"indistinct: expected sets of states; got {one!r}")
        for state in one:
            if state not in table.states or state in read:
                raise wrong(f"indistinct: {state!r} is no state of {table.name}, or stands twice")
            read[state] = frozenset(one)
    return read

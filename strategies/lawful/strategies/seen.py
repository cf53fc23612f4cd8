"""One step as it was seen, and the one judge of it.

The judge compares what is stored (reading, then history, then dump, as far as they are offered)
with the table's answer. What the call claimed is compared too, but it is never the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.model import Reason
from lawful.spec.table import CellKind, Letter
from lawful.sut.contract import Refusal

from .driver import ClaimKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lawful.spec.model import Answer, Model
    from lawful.sut.contract import Entry, Reading

    from .adapter import Adapter
    from .driver import Claim, Fault
    from .trace import Op

__all__ = [
    "CELL_ASPECTS",
    "Aspect",
    "How",
    "Hung",
    "Judge",
    "Problem",
    "Seen",
    "View",
    "counter",
    "differences",
    "faulty",
]


class Aspect(StrEnum):
    """What of a step is wrong."""

    CLAIM = "claim"
    """Accepted where it must be refused, or the other way round."""
    REASON = "reason"
    """Refused for another reason than the table's."""
    STATE = "state"
    COUNTER = "counter"
    VERSION = "version"
    HISTORY = "history"
    """The number of entries that it added."""
    ENTRY = "entry"
    """What the entry says."""
    WROTE = "wrote"
    """A refusal or a no-op wrote something."""
    LEASE = "lease"
    ERROR = "error"
    """The implementation raised, hung, or gave what the contract does not allow."""
    NEIGHBOUR = "neighbour"
    """Something of another task changed."""
    ELSEWHERE = "elsewhere"
    """Another instance on the same store reads something else."""


CELL_ASPECTS = frozenset(Aspect) - {
    Aspect.ENTRY,
    Aspect.LEASE,
    Aspect.NEIGHBOUR,
    Aspect.ELSEWHERE,
}
"""What a cell demands: the right state and counters, one step of version and one entry, or the
right refusal and nothing written."""


class How(StrEnum):
    """How a step came to where it was fired, best first."""

    CLEAN = "clean"
    """Every step before it was lawful."""
    PUT = "put"
    """The task was put straight into its state, because no lawful way leads there."""
    RESYNCHRONISED = "resynchronised"
    """A step before it was unlawful; judged on from what was observed."""


class Problem(NamedTuple):
    """One difference between the table and what was seen."""

    aspect: Aspect
    expected: str
    got: str


class View(NamedTuple):
    """All that can be seen of a task at one moment.

    Attributes:
        reading: What ``read`` gave.
        history: What ``history`` gave; None if it is not offered.
        dump: What ``dump`` gave for this task; None if it is not offered.
    """

    reading: Reading
    history: tuple[Entry, ...] | None
    dump: object


@dataclass(slots=True)
class Seen:
    """One step on one task.

    Attributes:
        op: What was done.
        task: The task's label.
        letter: The event that the table is asked about; None for a heartbeat or a restart.
        actor: Who fired it; None if that is the implementation's own affair (the reaper's name).
        model: The task before, as the table sees it.
        answer: What the table says of the step.
        claim: What the call said; None if the step is no call on the task.
        before: The task before, as it was seen.
        after: The task afterwards; None if it could not be read.
        problems: What is wrong.
        how: How the task came to where it was.
        trail: The implementation's own traceback, if it raised.
    """

    op: Op
    task: str
    letter: Letter | None
    actor: str | None
    model: Model
    answer: Answer
    claim: Claim | None
    before: View
    after: View | None
    problems: tuple[Problem, ...] = ()
    how: How = How.CLEAN
    trail: str = ""

    def wrong(self, aspects: frozenset[Aspect]) -> tuple[Problem, ...]:
        """Return the problems of these aspects."""
        return tuple(p for p in self.problems if p.aspect in aspects)


class Hung(Exception):
    """A call did not return in time; the run ends here.

    Attributes:
        seen: The step, with its problem.
        log: What was done to the task, the step included.
    """

    def __init__(self, seen: Seen, log: Sequence[Op]) -> None:
        self.seen = seen
        self.log = tuple(log)
        super().__init__(seen.problems[-1].got)


def counter(reading: Reading, name: str) -> int | None:
    """Return a counter as the reading shows it; None if it shows none of that name."""
    if name == "attempts":
        return reading.attempts
    return (reading.counters or {}).get(name)


class Judge:
    """Compares steps with the table's answers.

    Args:
        adapter: Whose steps they are; what it does not offer is not judged.
    """

    def __init__(self, adapter: Adapter) -> None:
        self._counters = adapter.table.counters
        self._same = adapter.shows
        self._shows = {
            name: name in adapter.offered
            for name in ("version", "lease_owner", "lease_until", "lease_token")
        }

    def __call__(self, seen: Seen, *, base: int, granted: int) -> tuple[Problem, ...]:
        """Return what is wrong with a step, the most telling first.

        Args:
            seen: The step, with its answer, its claim and both views.
            base: The version that the task began with.
            granted: The highest lease token that the task has shown before this step.
        """
        if seen.after is None:
            return ()
        if seen.answer.kind is not CellKind.LEGAL:
            found = _wrote(seen.before, seen.after, seen.answer.kind)
            return tuple(_claimed(seen) + found)
        return tuple(
            self._position(seen, seen.after.reading, base)
            + self._history(seen, seen.after)
            + self._lease(seen, seen.after.reading, granted)
        )

    def _position(self, seen: Seen, got: Reading, base: int) -> list[Problem]:
        found = []
        want = seen.answer.after.position
        if seen.claim is not None and seen.claim.kind is ClaimKind.REFUSED:
            refused = f"refused ({seen.claim.text})"
            found.append(Problem(Aspect.CLAIM, f"accepted -> {want.state}", refused))
        if not self._same(want.state, got.state):
            found.append(Problem(Aspect.STATE, want.state, got.state))
        for name, value in zip(self._counters, want.counters, strict=True):
            shown = counter(got, name)
            if shown is not None and shown != value:
                found.append(Problem(Aspect.COUNTER, f"{name} {value}", f"{name} {shown}"))
        version = base + seen.answer.after.version
        if self._shows["version"] and got.version != version:
            found.append(Problem(Aspect.VERSION, f"version {version}", f"version {got.version}"))
        return found

    def _history(self, seen: Seen, after: View) -> list[Problem]:
        old, new = seen.before.history, after.history
        if old is None or new is None:
            return []
        wanted = seen.answer.after.version - seen.model.version
        added = len(new) - len(old)
        if added != wanted:
            return [Problem(Aspect.HISTORY, _entries(wanted), _entries(added))]
        if new[: len(old)] != old:
            return [Problem(Aspect.HISTORY, "older entries stay", "older entries changed")]
        return self._entry(seen, new[-1], after.reading) if wanted else []

    def _entry(self, seen: Seen, entry: Entry, reading: Reading) -> list[Problem]:
        event, payload = seen.letter or Letter("")
        found = []
        if entry.event is not None and entry.event != event:
            found.append(("event", event, entry.event))
        # An entry tells what happened: where that was unlawful, the state is at fault, not it.
        was = seen.before.reading.state
        if entry.before is not None and not self._same(was, entry.before):
            found.append(("before", was, entry.before))
        if not self._same(reading.state, entry.after):
            found.append(("after", reading.state, entry.after))
        if entry.version is not None and entry.version != reading.version:
            found.append(("version", str(reading.version), str(entry.version)))
        if None not in (entry.actor, seen.actor) and entry.actor != seen.actor:
            found.append(("actor", str(seen.actor), str(entry.actor)))
        problems = [Problem(Aspect.ENTRY, f"entry: {n} {want}", got) for n, want, got in found]
        if entry.payload is not None:
            kept = {name: entry.payload.get(name) for name, _ in payload}
            if kept != dict(payload):
                problems.append(Problem(Aspect.ENTRY, f"entry: payload {dict(payload)}", f"{kept}"))
        return problems

    def _lease(self, seen: Seen, got: Reading, granted: int) -> list[Problem]:
        if not self._shows["lease_owner"]:
            return []
        held = seen.answer.after.holding
        owner = held.owner if held else None
        found = []
        if got.lease_owner != owner:
            found.append(
                Problem(Aspect.LEASE, f"lease_owner {owner!r}", f"lease_owner {got.lease_owner!r}")
            )
        until = held.until if held else None
        if self._shows["lease_until"] and got.lease_until != until:
            found.append(
                Problem(Aspect.LEASE, f"lease_until {until!r}", f"lease_until {got.lease_until!r}")
            )
        if held and self._shows["lease_token"]:
            fresh = seen.answer.after.grants > seen.model.grants
            token = got.lease_token
            if fresh and (token is None or token <= granted):
                found.append(Problem(Aspect.LEASE, f"a token above {granted}", f"token {token}"))
            elif not fresh and token != granted:
                found.append(Problem(Aspect.LEASE, f"the token stays {granted}", f"token {token}"))
        return found


def _entries(number: int, form: str = "d") -> str:
    return f"{number:{form}} history {'entry' if abs(number) == 1 else 'entries'}"


def _claimed(seen: Seen) -> list[Problem]:
    """Judge what a call said, where the table has it write nothing."""
    claim, reason = seen.claim, seen.answer.reason
    if claim is None:
        return []
    if reason is None:
        if claim.kind is ClaimKind.ACCEPTED:
            return []
        return [Problem(Aspect.CLAIM, "accepted, nothing written", f"refused ({claim.text})")]
    if claim.kind is ClaimKind.ACCEPTED:
        return [Problem(Aspect.CLAIM, f"refused ({reason})", "accepted")]
    if not _fits(seen, claim, reason):
        named = " or ".join(sorted(claim.reasons))
        return [Problem(Aspect.REASON, f"refused ({reason})", f"refused ({named}: {claim.text})")]
    return []


def _fits(seen: Seen, claim: Claim, reason: Reason) -> bool:
    if Refusal(reason.value) in claim.reasons:
        return True
    if reason is not Reason.ILLEGAL or Refusal.ALREADY not in claim.reasons:
        return False
    # "Already so" refines "illegal" only if the last entry is this very report by this actor.
    last = seen.before.history[-1] if seen.before.history else None
    return (
        last is not None
        and seen.letter is not None
        and (last.event, last.actor) == (seen.letter.event, seen.actor)
    )


def _wrote(before: View, after: View, kind: CellKind) -> list[Problem]:
    if before == after:
        return []
    expected = "a no-op writes nothing" if kind is CellKind.NOOP else "a refusal writes nothing"
    return [Problem(Aspect.WROTE, expected, differences(before, after))]


def differences(before: View, after: View) -> str:
    """Tell what changed between two views: the reading, the history, or else the dump."""
    found = [
        f"{name} {old!r} -> {new!r}"
        for name, old, new in zip(
            before.reading._fields, before.reading, after.reading, strict=True
        )
        if old != new
    ]
    if before.history != after.history:
        added = len(after.history or ()) - len(before.history or ())
        found.append(_entries(added, "+d") if added else "older history entries changed")
    return ", ".join(found) or "the dump changed"


def faulty(answer: Answer, fault: Fault) -> Problem:
    """Return the problem of a call that failed where the table has an answer."""
    return Problem(Aspect.ERROR, _expected(answer), f"{fault.method} {fault.problem}")


def _expected(answer: Answer) -> str:
    if answer.kind is CellKind.LEGAL:
        return f"accepted -> {answer.after.position.state}"
    if answer.kind is CellKind.NOOP:
        return "accepted, nothing written"
    return f"refused ({answer.reason})"

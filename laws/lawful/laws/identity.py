"""The family ``identity``: a task is itself alone, and what was never submitted is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lawful.spec.table import CellKind
from lawful.spec.words import histories
from lawful.strategies.driver import Fault
from lawful.strategies.seen import CELL_ASPECTS, Aspect
from lawful.strategies.trace import TASK
from lawful.strategies.walk import CLIENT, Cast, actor_for

from .law import Finding, ScenarioLaw
from .stage import probe

if TYPE_CHECKING:
    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Letter
    from lawful.spec.words import Word
    from lawful.strategies.session import Session
    from lawful.strategies.trace import Op
    from lawful.strategies.tracked import Tracked

    from .law import Tally
    from .stage import Stage

__all__ = ["APART", "TASKS", "UNKNOWN"]

TASKS: Final = 25
"""How many tasks live in one store."""


def _unknown(stage: Stage, tally: Tally) -> None:
    with stage.session() as session:
        session.submit({})
        refused = frozenset({Aspect.CLAIM, Aspect.REASON, Aspect.WROTE, Aspect.ERROR})
        asked: list[Op] = []
        for letter in stage.table.letters:
            if letter.event != stage.adapter.claims:
                probe(tally, session, session.fire_absent(letter, CLIENT), refused)
                asked.append(session.log.pop())  # each event is a trace of its own
        if "heartbeat" in stage.adapter.offered and stage.table.lease:
            probe(tally, session, session.heartbeat_absent(CLIENT), refused)
            asked.append(session.log.pop())
        probe(tally, session, session.read_absent(), refused)
        session.log.pop()
        if "dump" not in stage.adapter.offered:
            tally.note("without a dump, marks outside the task are not judged")
        tally.control(session.driver.find(session.tasks[TASK].id).kind == "accepted")
        _later(stage, session, tally, asked)


def _later(stage: Stage, session: Session, tally: Tally, asked: list[Op]) -> None:
    """Give the id out after all: what was refused for it must not be done to its task."""
    absent = session.driver.absent()
    if not stage.adapter.chooses_id or absent in [t.id for t in session.tasks.values()]:
        return
    session.log[1:] = asked
    try:
        tracked = session.submit({}, "later", absent)
    except Fault as fault:
        if fault.hung:
            raise
        if fault.method == "submit":
            return  # such an id can't be chosen
        tally.find(Finding("a later task of that id is new", fault.problem, tuple(session.log)))
        return
    moves = stage.moves(tracked.oracle, tracked.model.position)
    if tracked.id == absent and moves:
        stage.go(session, tracked, moves[0])


def own_ids() -> list[str]:
    """Return ids many of which are prefixes of each other: ``t11``, ``t1``, ``t111``, ..., ``t2``.

    Some come before their prefix and others after it: the first that fits is not always right.
    """
    ones = ["t" + "1" * n for n in (2, 1, 3, 0, 5, 4, 7, 6, 8)]
    return ones + [f"t{n}" for n in (*range(2, 10), *range(20, 28))]


def _apart(stage: Stage, tally: Tally) -> None:
    """Advance tasks with mixed limits in turn, and look at each again before its next step."""
    oracles = list(stage.oracles())
    with stage.session() as session:
        going: list[tuple[Tracked, list[Letter]]] = []
        for number, own in enumerate(own_ids()):
            oracle = oracles[number % len(oracles)]
            tracked = session.submit(oracle.params, own, own)
            word = list(_history(oracle, number // len(oracles)))
            going.append((tracked, word))
            _taken(stage, session, tally, tracked, word)
        while any(word for _, word in going):
            for tracked, word in going:
                if word:
                    _step(stage, session, tally, tracked, word)
                    _taken(stage, session, tally, tracked, word)
        for tracked, _ in going:
            _unmoved(session, tally, tracked)


def _history(oracle: Oracle, number: int) -> Word:
    """Return one of the table's maximal histories; different numbers give different ones."""
    every = list(histories(oracle))
    return every[number * 7 % len(every)]


def _taken(
    stage: Stage, session: Session, tally: Tally, tracked: Tracked, word: list[Letter]
) -> None:
    """Go on while the task waits to be taken, if workers take what comes: only one may wait."""
    while word and word[0].event == stage.adapter.claims:
        _step(stage, session, tally, tracked, word)


def _step(
    stage: Stage, session: Session, tally: Tally, tracked: Tracked, word: list[Letter]
) -> None:
    """See that the task is as it was, and fire two letters that don't move it and one that does."""
    refused = [
        letter
        for letter in stage.table.letters
        if tracked.oracle.step(tracked.model.position, letter).kind is not CellKind.LEGAL
    ]
    _unmoved(session, tally, tracked)
    for letter in (*refused[:2], word.pop(0)):
        actor = actor_for(tracked, letter, Cast.ANOTHER)
        position = tracked.model.position
        seen = session.fire(letter, actor, task=tracked.label)
        tally.trigger()
        tally.control(seen.answer.kind is CellKind.LEGAL and not seen.problems)
        if seen.wrong(CELL_ASPECTS):
            word.clear()
            tally.stop(stage.broken(session, seen, tracked.oracle, position, letter))
            return
    session.remember(tracked)


def _unmoved(session: Session, tally: Tally, tracked: Tracked) -> None:
    """See that nothing which the others have done since its own last step touched a task."""
    if problems := session.untouched(tracked):
        tally.find(Finding(problems[0].expected, problems[0].got, tuple(session.log)))


UNKNOWN = ScenarioLaw(
    id="identity/unknown",
    says="an id that was never given out is refused as unknown by every call, and leaves no mark",
    why="Celery answers PENDING for any string (issue 3596); arq kept the abort of an unknown id "
    "and applied it to a later job of that id (issue 485).",
    needs=("absent",),
    run=_unknown,
)

APART = ScenarioLaw(
    id="identity/apart",
    says=f"what happens to one of {TASKS} tasks in a store, with mixed limits and ids that are "
    "prefixes of each other, changes none of the others",
    why="An id compared by its beginning, a flag kept in the class instead of the row, a limit "
    "read from the wrong task: each shows only with several tasks in one store.",
    run=_apart,
)

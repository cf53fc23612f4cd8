"""The law ``silence/bisimulation``: what was refused on the way changes nothing that follows.

A refusal can leave a mark that no reading, history or dump shows (in memory, say) and that acts
later. So each maximal history is run twice, packed with refused events and bare, and what came
of the moves is compared: claims, readings with their leases, and histories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.table import CellKind
from lawful.spec.words import histories, packed
from lawful.strategies.seen import CELL_ASPECTS
from lawful.strategies.walk import Cast

from .applying import quiet
from .cells import cell_id
from .law import Finding, ScenarioLaw

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lawful.spec.oracle import Oracle
    from lawful.spec.table import Params
    from lawful.spec.words import Word
    from lawful.strategies.driver import ClaimKind
    from lawful.strategies.seen import Seen
    from lawful.strategies.walk import Walk
    from lawful.sut.contract import Entry, Reading

    from .law import Tally
    from .stage import Stage

__all__ = ["BISIMULATION", "Move", "came_of", "told"]


class Move(NamedTuple):
    """What came of one move."""

    claim: ClaimKind | None
    reading: Reading
    history: tuple[Entry, ...] | None


def came_of(steps: Iterable[Seen]) -> list[Move]:
    """Return what came of each move. Tokens only grow: they are compared by their rank."""
    moves: list[Move] = []
    ranks: dict[tuple[str, int], int] = {}
    for seen in steps:
        if seen.answer.kind is not CellKind.LEGAL or seen.after is None:
            continue
        reading = seen.after.reading
        if reading.lease_token is not None:
            rank = ranks.setdefault((seen.task, reading.lease_token), len(ranks) + 1)
            reading = reading._replace(lease_token=rank)
        moves.append(Move(seen.claim.kind if seen.claim else None, reading, seen.after.history))
    return moves


def _moves(walked: Walk) -> list[Move]:
    return came_of(walked.steps)


def _run(stage: Stage, tally: Tally) -> None:
    for oracle in stage.oracles():
        differing = []
        bare = tuple(histories(oracle))
        full = {walked.word: walked for walked in stage.packed(oracle.params)}
        suite = dict(zip(bare, packed(oracle), strict=True))
        for without in _walked(stage, oracle.params, bare):
            with_ = full.get(suite[without.word])
            if with_ is None:
                continue  # its store could not be opened, or took no task
            if broken := _broken(oracle, with_):
                tally.blocked.append(broken)
                continue
            tally.trigger(len(with_.steps) - len(without.steps))
            tally.control(len(without.steps))
            if _moves(with_) != _moves(without):
                differing.append((without, with_))
        if differing:
            shortest = min(differing, key=lambda pair: len(pair[0].word))
            tally.find(_located(stage, oracle, *shortest))
            tally.findings += len(differing) - 1


def _walked(stage: Stage, params: Params, words: Iterable[Word]) -> list[Walk]:
    return list(stage.walks(params, words, suite="bisimulation", cast=Cast.SAME))


def _broken(oracle: Oracle, walked: Walk) -> str:
    """Return the cell that a walk broke first: after it, the two are no longer the same trace.

    A lease that is wrong breaks no cell, and may be just what the refused events have left.
    """
    for seen in walked.steps:
        if seen.letter and seen.wrong(CELL_ASPECTS):
            return cell_id(oracle, seen.model.position, seen.letter)
    return ""


def _insertions(oracle: Oracle, bare: Word) -> Iterator[Word]:
    """Yield the history with one letter that does not move put in, nearest to its end last."""
    position = oracle.origin
    for index in range(len(bare)):
        for letter in oracle.table.letters:
            if oracle.step(position, letter).kind is not CellKind.LEGAL:
                yield (*bare[:index], letter, *bare[index:])
        position = oracle.step(position, bare[index]).after


def _located(stage: Stage, oracle: Oracle, without: Walk, with_: Walk) -> Finding:
    """Find one refused event that makes the difference alone; else show the whole word."""
    wanted = _moves(without)
    found = [_difference(without, with_)]
    for word in _insertions(oracle, without.word):
        # Each in a store of its own: what one leaves behind must not be put down to another.
        singles = _walked(stage, oracle.params, [word])
        found += [_difference(without, single) for single in singles if _moves(single) != wanted]
    return min(found, key=lambda one: one.rank)


def _difference(without: Walk, with_: Walk) -> Finding:
    lengths = [
        length
        for length, seen in enumerate(with_.steps, 1)
        if seen.answer.kind is CellKind.LEGAL and seen.after is not None
    ]
    # A walk that ends early has fewer moves than the other: what both have is compared.
    for length, want, got in zip(lengths, _moves(without), _moves(with_), strict=False):
        if got != want:
            return Finding(
                f"as without the refused events: {told(want, got)}",
                told(got, want),
                with_.trace(length),
            )
    expected = f"{len(without.steps)} moves, as without the refused events"
    return Finding(expected, f"{len(lengths)} moves", with_.trace(len(with_.steps)))


def told(move: Move, other: Move) -> str:
    """Tell what of a move differs from the other."""
    if move.claim != other.claim:
        return str(move.claim)
    if move.reading != other.reading:
        return ", ".join(
            f"{name} {mine!r}"
            for name, mine, theirs in zip(
                move.reading._fields, move.reading, other.reading, strict=True
            )
            if mine != theirs
        )
    return f"history {[tuple(entry) for entry in move.history or ()]}"


BISIMULATION = ScenarioLaw(
    id="silence/bisimulation",
    says="what follows is the same with and without the events that were refused on the way",
    why="A refused cancel of an unknown id aborted a later task of that id (arq issue 485): the "
    "mark was in nobody's row, and a comparison of rows could not see it.",
    applies=quiet,
    run=_run,
)

"""The words that a table asks for: which letters, in which order, settle which faults.

Three suites, each complete for a stated class of faults (Vaandrager and Melse, "New Fault
Domains for Conformance Testing of FSMs", CONCUR 2025, for ``deep``):

* ``cells``: the shortest way to each position, then each letter. Complete for faults that
  depend on the position and the letter alone.
* ``packed``: each maximal legal history, on which every letter that does not move is fired
  twice wherever the history passes. Catches a fault that one cell arms and a later one shows.
* ``deep``: the shortest way to each position, then every pair of letters. Complete for one
  extra hidden state.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from .table import CellKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from .oracle import Oracle, Position
    from .table import Letter

__all__ = [
    "Edge",
    "Word",
    "cells",
    "deep",
    "histories",
    "packed",
    "reachable",
    "shortest_paths",
]

Word: TypeAlias = "tuple[Letter, ...]"

LOOPS = 1
"""How often a history may come back to a position: cyclic tables have endless histories."""


MOST: Final = 1_000
"""How many histories are yielded at most: a dense cyclic table has more than anybody can walk."""


class Edge(NamedTuple):
    """A transition of the table: a letter where it moves."""

    position: Position
    letter: Letter


def reachable(oracle: Oracle) -> tuple[Position, ...]:
    """Return every position that a legal history reaches, nearest first."""
    return tuple(shortest_paths(oracle))


def shortest_paths(oracle: Oracle, *, without: Collection[Edge] = ()) -> dict[Position, Word]:
    """Return a shortest way to each position, in breadth-first order.

    Args:
        oracle: The table and its parameters.
        without: Transitions that must not be used, because an implementation breaks them.

    Returns:
        Position to the word that leads there; a position that ``without`` cuts off is absent.
    """
    paths: dict[Position, Word] = {oracle.origin: ()}
    queue = deque(paths)
    while queue:
        position = queue.popleft()
        for letter in oracle.table.letters:
            outcome = oracle.step(position, letter)
            if (
                outcome.kind is CellKind.LEGAL
                and outcome.after not in paths
                and Edge(position, letter) not in without
            ):
                paths[outcome.after] = (*paths[position], letter)
                queue.append(outcome.after)
    return paths


def histories(oracle: Oracle, *, loops: int = LOOPS) -> Iterator[Word]:
    """Yield each maximal legal history: every way to move until nothing moves any more.

    Args:
        oracle: The table and its parameters.
        loops: How often a history may come back to a position it has been in. A history that
            may not go on for that reason alone ends there, and counts as maximal.

    At most ``MOST`` are yielded: of a table with more, ``packed`` is complete no longer.
    """
    left = MOST
    stack: list[tuple[Position, Word, tuple[Position, ...]]] = [(oracle.origin, (), ())]
    while stack and left:
        position, word, visited = stack.pop()
        visited = (*visited, position)
        onward = [
            (outcome.after, (*word, letter), visited)
            for letter in oracle.table.letters
            if (outcome := oracle.step(position, letter)).kind is CellKind.LEGAL
            and visited.count(outcome.after) <= loops
        ]
        if not onward:
            yield word
            left -= 1
        stack.extend(reversed(onward))


def cells(oracle: Oracle, *, paths: Mapping[Position, Word] | None = None) -> tuple[Word, ...]:
    """Return the suite ``cells``: words of shortest path + letter.

    Args:
        oracle: The table and its parameters.
        paths: The way to each position; the table's shortest paths by default.
    """
    return _then(oracle, 1, paths)


def deep(oracle: Oracle) -> tuple[Word, ...]:
    """Return the suite ``deep``: words of shortest path + two letters."""
    return _then(oracle, 2, None)


def _then(oracle: Oracle, letters: int, paths: Mapping[Position, Word] | None) -> tuple[Word, ...]:
    words = list((paths if paths is not None else shortest_paths(oracle)).values())
    for _ in range(letters):
        words = [(*word, letter) for word in words for letter in oracle.table.letters]
    return _maximal(words)


def _maximal(words: Iterable[Word]) -> tuple[Word, ...]:
    """Drop each word that is a prefix of another: the other one fires it too."""
    every = list(dict.fromkeys(words))
    prefixes = {word[:length] for word in every for length in range(len(word))}
    return tuple(word for word in every if word not in prefixes)


def packed(oracle: Oracle, *, loops: int = LOOPS) -> tuple[Word, ...]:
    """Return the suite ``packed``: each maximal history with all other letters on the way, twice.

    Two rounds put each of two letters before the other, and each before itself: a fault that
    one cell arms and another shows can't hide in their order.
    """
    words = []
    for history in histories(oracle, loops=loops):
        position = oracle.origin
        word: list[Letter] = []
        for letter in (*history, None):
            still = [
                other
                for other in oracle.table.letters
                if oracle.step(position, other).kind is not CellKind.LEGAL
            ]
            word += still * 2
            if letter is not None:
                word.append(letter)
                position = oracle.step(position, letter).after
        words.append(tuple(word))
    return tuple(words)

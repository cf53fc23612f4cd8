"""The deterministic suites of a table, and which of their words come by where."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lawful.spec.oracle import Oracle
from lawful.spec.words import cells, packed
from lawful.strategies.walk import Cast

from .differences import Difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lawful.spec.table import Table
    from lawful.spec.words import Word

    from .sticky import Pair

__all__ = ["Suites", "Walked"]

_CASTS = {"cells": Cast.ANOTHER, "packed": Cast.SAME}


class Walked(NamedTuple):
    """A word of a suite, for one set of parameters.

    Attributes:
        params: What its task is submitted with.
        suite: The suite that it is from.
        word: The letters.
    """

    params: tuple[tuple[str, int], ...]
    suite: str
    word: Word

    @property
    def cast(self) -> Cast:
        """Which worker starts the task again."""
        return _CASTS[self.suite]


class Suites:
    """The words of ``cells`` and ``packed``, with each set of parameters.

    Args:
        table: The table.

    Attributes:
        words: All of them, ``cells`` first.
    """

    def __init__(self, table: Table) -> None:
        self.words: list[Walked] = []
        self._hits: dict[Difference, dict[int, _Hits]] = {}
        for params in table.valuations:
            oracle, key = Oracle(table, params), tuple(params.items())
            for suite, words in (("cells", cells(oracle)), ("packed", packed(oracle))):
                for word in words:
                    self._index(oracle, Walked(key, suite, word))

    def _index(self, oracle: Oracle, walked: Walked) -> None:
        position, number = oracle.origin, len(self.words)
        self.words.append(walked)
        for length, letter in enumerate(walked.word):
            there = Difference(walked.params, position, letter)
            hits = self._hits.setdefault(there, {})
            first = hits[number].first if number in hits else length
            hits[number] = _Hits(first, length)
            position = oracle.step(position, letter).after

    def through(self, differences: Iterable[Difference]) -> Iterator[Walked]:
        """Yield each word that comes by one of some places, the one that is there first first.

        A fault that shows nowhere else answers all other words as the table does.
        """
        every = sorted(
            (hits.first, number)
            for each in differences
            for number, hits in self._hits.get(each, {}).items()
        )
        for number in dict.fromkeys(number for _, number in every):
            yield self.words[number]

    def through_both(self, pair: Pair) -> Iterator[Walked]:
        """Yield each word in which a fault is armed, and shows afterwards."""
        arms, shows = self._hits.get(pair.arms, {}), self._hits.get(pair.shows, {})
        both = sorted(
            (shows[number].last, number)
            for number in arms.keys() & shows.keys()
            if arms[number].first < shows[number].last
        )
        for _, number in both:
            yield self.words[number]


class _Hits(NamedTuple):
    """Where a word comes by a place for the first time and for the last, counted from 0."""

    first: int
    last: int

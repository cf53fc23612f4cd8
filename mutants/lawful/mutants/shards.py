"""A campaign in parts: who tests which mutants, and putting the parts together again.

Which part a mutant is in depends on its id alone, so that parts agree without asking each other.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .errors import MutationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .mutant import Mutant
    from .score import Campaign, Trust

__all__ = ["Shard", "merge", "parse_shard", "plan_of"]


class Shard(NamedTuple):
    """One part of a campaign.

    Attributes:
        number: Which, counted from 1.
        of: How many there are.
    """

    number: int = 1
    of: int = 1

    def has(self, mutant: Mutant) -> bool:
        """Say whether a mutant is in this part."""
        digest = hashlib.sha256(mutant.id.encode()).digest()
        return int.from_bytes(digest[:8]) % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse_shard(text: str) -> Shard:
    """Read a part, ``2/4``.

    Raises:
        MutationError: There is no such part.
    """
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text, re.ASCII)
    shard = Shard(int(match[1]), int(match[2])) if match else Shard(0, 0)
    if not 1 <= shard.number <= shard.of:
        raise MutationError(f"--shard {text}: K/N with K from 1 to N is expected, as in 1/4")
    return shard


def plan_of(mutants: Iterable[Mutant]) -> str:
    """Return a digest of all the mutants that a campaign is about, its other parts' included."""
    digest = hashlib.sha256()
    for mutant in mutants:
        for text in (mutant.id, mutant.before, mutant.after):
            digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def merge(parts: Sequence[Campaign]) -> list[Campaign]:
    """Put parts of campaigns together: one campaign for each engine and target.

    Raises:
        MutationError: A part is missing, is there twice, or is of another campaign.
    """
    by_campaign: dict[tuple[str, str], list[Campaign]] = {}
    for part in parts:
        by_campaign.setdefault((part.engine, part.target), []).append(part)
    return [_whole(some) for some in by_campaign.values()]


def _whole(parts: Sequence[Campaign]) -> Campaign:
    first = parts[0]
    name = f"{first.engine}: {first.target}"
    for part in parts:
        if part.plan != first.plan or part.shard[1] != first.shard[1]:
            raise MutationError(
                f"{name}: part {Shard(*part.shard)} is not of the same mutants as part "
                f"{Shard(*first.shard)}: run all parts on the same source, and with the same N"
            )
        if part.matrix != first.matrix:
            raise MutationError(f"{name}: some parts were run with --matrix, and some without")
    numbers = [part.shard[0] for part in parts]
    for number in range(1, first.shard[1] + 1):
        if numbers.count(number) != 1:
            count = "is missing" if number not in numbers else "is there more than once"
            raise MutationError(f"{name}: part {Shard(number, first.shard[1])} {count}")
    ordered = sorted(parts, key=lambda part: part.shard[0])
    return replace(
        first,
        results=tuple(result for part in ordered for result in part.results),
        trust=tuple(_named(part, trust) for part in ordered for trust in part.trust),
        sources={name: text for part in ordered for name, text in part.sources.items()},
        seconds=sum(part.seconds for part in parts),
        shard=(1, 1),
        interrupted=any(part.interrupted for part in parts),
        remembered=sum(part.remembered for part in parts),
    )


def _named(part: Campaign, trust: Trust) -> Trust:
    return trust._replace(told=f"part {Shard(*part.shard)}: {trust.told}")

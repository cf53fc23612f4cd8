"""What every engine of mutants does: it makes them, says why it can be believed, and tests them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .mutant import Mutant, Result
    from .score import Trust

__all__ = ["Engine"]


class Engine(Protocol):
    """Makes mutants of one target, and says what becomes of each.

    Whatever is opened, made or begun for that lives as long as the engine is entered, and is gone
    after that, Ctrl-C included.
    """

    @property
    def name(self) -> str:
        """``table``, ``planted`` or ``mutmut``."""
        ...

    @property
    def target(self) -> str:
        """What is mutated: a table's name, an implementation's, or a folder of source."""
        ...

    @property
    def checks(self) -> Sequence[str]:
        """Every check or test that a mutant may be found by; known once ``trust`` was asked."""
        ...

    def __enter__(self) -> Engine:
        """Make what the engine needs."""
        ...

    def __exit__(self, *error: object) -> None:
        """Remove it."""
        ...

    def mutants(self) -> Sequence[Mutant]:
        """Return every mutant, in an order that is always the same.

        Raises:
            MutationError: There is nothing to mutate.
        """
        ...

    def sources(self) -> Mapping[str, str]:
        """Return the text of each file that mutants are in, by its name in their places."""
        ...

    def trust(self, some: Sequence[Mutant]) -> Iterable[Trust]:
        """Look whether a score could be believed: baseline, null mutant, canary, workspace.

        It is asked once, before anything is tested. One that does not hold ends the campaign.

        Args:
            some: The mutants whose score it is about.
        """
        ...

    def test(
        self, some: Sequence[Mutant], *, matrix: bool, killers: Mapping[str, Sequence[str]]
    ) -> Iterator[Result]:
        """Test mutants, and yield what became of each as it is known, in any order.

        Args:
            some: The mutants, of those that ``mutants`` returned.
            matrix: Whether all killers are asked for, and not the first alone.
            killers: Which checks have found a mutant before, by its id: they are tried first.
        """
        ...

    def depends(self, mutant: Mutant) -> Iterable[str]:
        """Return the text of everything that a mutant's fate depends on, beside the mutant.

        Its own function as it is in the source, and every file that what judges it is made of. A
        fate is remembered as long as all of that is the same.
        """
        ...

"""What a planted fault is: a sentence, where it comes from, its patches, and who must find it."""

from __future__ import annotations

from dataclasses import dataclass

from .patching import Patch

__all__ = ["Fault", "Patch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault in the code of a shipped store.

    Attributes:
        id: Its permanent id, ``planted/FAMILY/NAME``.
        says: What is wrong, in one sentence.
        source: A public report (``project#number``), or the name of an operator.
        patches: What makes it; two of them where one alone could not be seen.
        claims: The checks of which each must find it by itself.
        store: The shipped store it is in.
        equivalent: Why nobody can tell it from the original on this store, if nobody can.
    """

    id: str
    says: str
    source: str
    patches: tuple[Patch, ...]
    claims: tuple[str, ...]
    store: str = "reference"
    equivalent: str = ""

    def __post_init__(self) -> None:
        """See that somebody is asked.

        Raises:
            ValueError: Nobody claims it: then nothing would be run, and nothing found.
        """
        if not self.claims:
            raise ValueError(f"{self.id}: nobody claims it")

    @property
    def family(self) -> str:
        """What kind of fault it is."""
        return self.id.split("/")[1]

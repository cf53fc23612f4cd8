"""What can be wrong with a campaign before anything is tested."""

from __future__ import annotations

from lawful.spec.errors import LawfulError

__all__ = ["MutationError"]


class MutationError(LawfulError):
    """Mutants can't be made or tested as asked; the message says what to do."""

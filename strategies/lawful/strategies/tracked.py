"""A task in a session: where the table has it, and what was last seen of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .seen import How
from .trace import Advance, Reap, Reopen, Second

if TYPE_CHECKING:
    from lawful.spec.model import Model
    from lawful.spec.oracle import Oracle
    from lawful.sut.contract import TaskId

    from .seen import View
    from .trace import Op

__all__ = ["Tracked", "relabelled"]


@dataclass(slots=True)
class Tracked:
    """A task in a session.

    Attributes:
        label: Its name in the trace.
        id: Its id in the system.
        oracle: The table, with the parameters it was submitted with.
        model: Where the table has it.
        base: The version that it began with (0 if versions aren't shown).
        tokens: The lease tokens it has shown, one for each grant.
        view: What was last seen of it.
        how: How it came to where it is.
        ended: Nothing more can be judged: it can't be read, or is in no state of the table.
        poisoned: Its next write has been made to fail.
    """

    label: str
    id: TaskId
    oracle: Oracle
    model: Model
    base: int
    view: View
    how: How = How.CLEAN
    tokens: list[int] = field(default_factory=list)
    ended: bool = False
    poisoned: bool = False

    def lost(self) -> bool:
        """Say whether the table no longer has it where it would be by lawful steps alone."""
        return self.ended or self.how is How.RESYNCHRONISED

    def granted(self, grant: int | None) -> int | None:
        """Return a grant that it has seen, None for any other: a trace may name what never was."""
        return grant if grant is not None and 0 < grant <= len(self.tokens) else None

    def learn(self, token: int | None) -> None:
        """Take in the token that is shown, if there was a start that it may be of."""
        following = max(self.tokens, default=-1) + 1
        while len(self.tokens) < self.model.grants:
            self.tokens.append(following if token is None else token)

    def token(self, grant: int | None) -> int | None:
        """Return a grant's token; None for no grant."""
        return None if grant is None else self.tokens[grant - 1]


def relabelled(op: Op, label: str) -> Op:
    """Return a step as it would be on a task of another label."""
    return op if isinstance(op, Advance | Reap | Reopen | Second) else replace(op, task=label)

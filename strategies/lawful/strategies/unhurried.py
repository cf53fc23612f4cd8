"""A session for long runs: the other tasks are looked at later, and not after every step.

Looking at every task after every step costs more than the steps do. A task that another's step has
changed is found out when its own turn comes, or when all are looked at; which step it was shows
when the log is done again in a plain session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lawful.spec.model import Answer
from lawful.spec.table import CellKind

from .session import Session
from .trace import TASK, Fire, Heartbeat, Read, Reap, Reopen, Second

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from lawful.spec.table import Params

    from .seen import Seen
    from .trace import Op
    from .tracked import Tracked

__all__ = ["Unhurried"]


class Unhurried(Session):
    """A session that looks at the other tasks when :meth:`overdue` is asked."""

    _stale: frozenset[str] = frozenset()
    """Labels of the tasks that were not looked at since another one's step."""

    def submit(self, params: Params, label: str = TASK, own: str | None = None) -> Tracked:
        """Submit a task, and remember all that is stored of it."""
        tracked = super().submit(params, label, own)
        self._remembered(tracked)
        return tracked

    def neighbours(self, seen: Seen) -> None:
        """Remember all that is stored of the step's own task, for when it is looked at again."""
        tracked = self.tasks[seen.task]
        if not tracked.ended:
            self._remembered(tracked)

    def _remembered(self, tracked: Tracked) -> None:
        self.remember(tracked)
        self._stale |= self.tasks.keys() - {tracked.label}

    def overdue(self, op: Op | None = None) -> Iterator[Seen]:
        """Look at tasks that have waited for it, and yield those that are not as they were.

        Args:
            op: The step that comes next: what it is about is looked at. None: every task is.
        """
        due = self._stale & (self.tasks.keys() if op is None else self._about(op))
        self._stale -= due
        for label in sorted(due):
            tracked = self.tasks[label]
            answer = Answer(CellKind.NOOP, None, tracked.model)
            seen = self._watched(tracked, Read(label), None, answer)
            seen.problems, seen.after = self.untouched(tracked), tracked.view
            if seen.problems:
                yield seen

    def _about(self, op: Op) -> Set[str]:
        """Return the labels of the tasks that a step is about."""
        if isinstance(op, Fire | Heartbeat):
            return {op.task}
        return self.tasks.keys() if isinstance(op, Reap | Reopen | Second) else set()

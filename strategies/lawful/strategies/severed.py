"""Accidents of a system on a server: its connection is cut at a turn, on one side or the other.

What a process that is killed leaves behind is what the server makes of a connection that is gone.
No image can be taken of that; so each accident is had again whenever it is looked at.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from lawful.spec.errors import LawfulError

from .accidents import Sort
from .aftermath import Found, as_it_is
from .crashes import WORKER, CrashSite, Film, make
from .driver import Fault
from .hub import LIMIT
from .links import Moment
from .servers import server_url
from .trace import Reopen
from .wire import WireTap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from .accidents import Hit, Mishap, Statement
    from .adapter import Adapter
    from .calls import Came
    from .crashes import Hurt
    from .session import Session
    from .trace import Op
    from .tracked import Tracked

__all__ = ["SeveredSite", "crash_site"]


def crash_site(adapter: Adapter, folder: Path, *, limit: float = LIMIT) -> CrashSite:
    """Return where an implementation's accidents are staged: by its files, or on its server."""
    site = SeveredSite if adapter.server else CrashSite
    return site(adapter, folder, limit=limit)


@dataclass(frozen=True, slots=True)
class Redo:
    """How an accident is had again. Two leave the same behind if as much had landed before.

    Attributes:
        landed: How many statements may have left something behind by then.
        at: The turn before which the connection is cut, counted from 1; None if it is not.
        before: What brings the tasks to where the call is made.
        call: The call.
        first: The accident from which this is the recovery, if it is one.
        tasks: The tasks as they were found after that.
    """

    landed: int
    at: int | None = field(compare=False)
    before: tuple[Op, ...] = field(compare=False)
    call: Hit = field(compare=False)
    first: Redo | None = field(compare=False, default=None)
    tasks: tuple[Tracked, ...] = field(compare=False, default=())


class SeveredSite(CrashSite):
    """Where accidents of a system on a server are staged."""

    _wire: WireTap

    def _enter_tap(self, stack: ExitStack) -> None:
        """Have the worker stop before each of its turns, until what is entered is left."""
        url = server_url(self.adapter.server)
        self._wire = stack.enter_context(WireTap(self._hub, url, reduced=False))

    @property
    def unseen(self) -> str:
        """Why nothing was seen of what the worker does; empty if something was."""
        return self._wire.unseen

    def film(self, before: Sequence[Op], call: Hit) -> Film:
        """Make a call on a fresh store, and keep how each of its accidents is had."""
        with self._begun(before) as (session, tasks):
            statements, came = self._watched(session, call)
            redo = Redo(0, None, tuple(before), call)
            now = session.clock.now()
        return Film(tasks, now, call, statements, _redos(redo, statements), came)

    def film_recovery(self, film: Film, number: int, tasks: Sequence[Tracked]) -> Film:
        """Recover from an accident, and keep how each accident of that is had."""
        first = film.images[number]
        assert isinstance(first, Redo)  # noqa: S101 - this site has made the film
        redo = replace(first, first=first, tasks=tuple(tasks), at=None)
        with self._had(first) as session:
            self._adopt(session, tasks)
            reaper, now = self._late(session), session.clock.now()
            statements, came = self._watched(session, reaper)
            there = tuple(map(as_it_is, session.tasks.values()))
        return Film(there, now, reaper, statements, _redos(redo, statements), came)

    def after(self, film: Film, number: int) -> Found:
        """Say what is there for a new process after an accident."""
        try:
            with self._had(film.images[number]) as session:
                came = film.came if number == len(film.statements) else None
                tasks = [as_it_is(task) for task in session.tasks.values()]
                return self._stored(session, tasks, film.now, film.call, came)
        except Fault as fault:
            return Found((), "the store can be opened, read and closed", str(fault))

    @contextmanager
    def reopened(self, film: Film, number: int, tasks: Sequence[Tracked] = ()) -> Iterator[Session]:
        """Have an accident again, and go on as a new process would."""
        with self._had(film.images[number]) as session:
            self._adopt(session, tasks)
            yield session

    @contextmanager
    def hurt(self, before: Sequence[Op], call: Hit, mishap: Mishap) -> Iterator[Hurt]:
        """Make a call whose connection is cut; what is done then is done on a new one."""
        with self._begun(before) as (session, tasks):
            when = Moment.AFTER if mishap.sort is Sort.LOST else Moment.BEFORE
            statements, came = self._watched(session, call, cut=(mishap.at, when))
            if len(statements) < mishap.at:
                raise LawfulError(f"{mishap}: there are {len(statements)} statements")
            yield self._hurt(session, tasks, call, mishap, statements, came)

    # -- what they have in common ----------------------------------------------------------------

    @contextmanager
    def _begun(self, before: Sequence[Op]) -> Iterator[tuple[Session, tuple[Tracked, ...]]]:
        """Open a store past the door, and bring its tasks to where the call is made."""
        with self._folder_of() as folder, self._session(folder) as session:
            yield session, self._brought(session, before)

    @contextmanager
    def _had(self, redo: object) -> Iterator[Session]:
        """Have an accident, and give the store to a new process."""
        assert isinstance(redo, Redo)  # noqa: S101 - this site has made the film
        if redo.first is None:
            with self._begun(redo.before) as (session, _):
                self._watched(session, redo.call, dies=redo.at)
                yield session
        else:
            with self._had(redo.first) as session:
                self._adopt(session, redo.tasks)
                self._watched(session, self._late(session), dies=redo.at)
                yield session

    def _adopt(self, session: Session, tasks: Sequence[Tracked]) -> None:
        """Go on with tasks where the table has them; each run of a store has ids of its own."""
        for task in tasks:
            own = replace(session.tasks[task.label], tokens=[*task.tokens])
            self._do(partial(session.adopt, own, task.model))

    def _late(self, session: Session) -> Hit:
        """Wait until every lease has expired, and return what a recovery is."""
        late, reaper = self._lateness()
        session.advance(late)
        return reaper or Reopen()

    def _watched(
        self,
        session: Session,
        call: Hit,
        each: Callable[[int], None] = lambda _: None,
        *,
        cut: tuple[int, Moment] | None = None,
        dies: int | None = None,
    ) -> tuple[tuple[Statement, ...], Came]:
        """Make a call through the worker's door, cut at one of its turns.

        A client that is cut may connect again and go on; one that dies may try.

        Args:
            session: The store.
            call: The call.
            each: Told of each turn before it is taken: how many there were by then, with it.
            cut: The turn at which the connection is cut, counted from 1, and on which side.
            dies: The turn before which the worker is as good as gone, counted from 1.

        Returns:
            The call's statements, and what came of it.
        """
        aside, door = session.driver, self._wire.address(WORKER)
        session.driver = self._do(partial(session.opened, door))
        if cut is not None:
            self._wire.cut(WORKER, *cut)
        if dies is not None:
            self._wire.kill(WORKER, dies)
        try:
            return self._follow(partial(make, session, call, door), each)
        finally:
            with suppress(Fault):  # its connection may be gone
                self._do(session.driver.close)
            session.driver = aside
            self._wire.spare(WORKER)

    def _statement(self) -> Statement:
        """Return the turn before which the worker is parked."""
        return self._wire.statement(WORKER)


def _redos(redo: Redo, statements: Sequence[Statement]) -> tuple[Redo, ...]:
    landed, redos = 0, []
    for at, statement in enumerate(statements, 1):
        redos.append(replace(redo, landed=landed, at=at))
        landed += statement.lands
    return (*redos, replace(redo, landed=landed, at=None))

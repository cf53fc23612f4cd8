"""A call that something happens to at one of its statements, and what is stored then.

What a process that is killed leaves behind is what is in its files at that instant. So one run is
enough for all the points of a call: an image is taken before each statement and behind the last,
and each of them is opened as a new process would. What must be there: each task as it was before
the call or as the table has it after, whole; and after, if the call had said so.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from lawful.spec.errors import LawfulError

from .accidents import Sort
from .aftermath import Found, as_it_is, stored
from .calls import Came, called, known
from .clock import ManualClock
from .driver import Driver, Fault
from .garbage import garbage_waits
from .hub import LIMIT, Hub, Stuck
from .images import Camera, Image, unsound
from .moves import elapsing
from .performing import bring, perform
from .session import Session
from .sqlite_tap import SqliteTap
from .trace import Reap, Reopen
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from pathlib import Path

    from .accidents import Hit, Mishap, Statement
    from .adapter import Adapter
    from .seen import Seen
    from .trace import Op
    from .tracked import Tracked

__all__ = ["WORKER", "CrashSite", "Film", "Hurt", "Last", "make"]

WORKER: Final = "A"
"""Who has the accidents."""


@dataclass(frozen=True, slots=True)
class Film:
    """A call as it was done, with an image of the store before each statement.

    Attributes:
        tasks: The tasks as they were before.
        now: The clock, in seconds; it stands still.
        call: The call.
        statements: Its statements.
        images: The store before each of them, and behind the last: one more than statements. Two
            that are equal leave the same behind; only the site that made them can look at them.
        came: What came of the call.
    """

    tasks: tuple[Tracked, ...]
    now: float
    call: Hit
    statements: tuple[Statement, ...]
    images: tuple[Hashable, ...]
    came: Came


class Last(NamedTuple):
    """What a process has told before it was gone.

    Attributes:
        tasks: The tasks as they were before the call.
        now: The clock, in seconds.
        came: What came of the call; None while it was under way.
    """

    tasks: tuple[Tracked, ...]
    now: float
    came: Came | None


class Hurt(NamedTuple):
    """A call at one of whose statements something went wrong.

    Attributes:
        session: The store, open still; whatever is done with it is done at the site.
        statements: The call's statements.
        came: What the call said.
        found: What is stored.
    """

    session: Session
    statements: tuple[Statement, ...]
    came: Came
    found: Found


class CrashSite:
    """Where accidents of one implementation are staged: one worker, a store for each accident.

    Args:
        adapter: The implementation.
        folder: A folder for stores.
        limit: How long a worker may take from one statement to the next, in seconds.
    """

    def __init__(self, adapter: Adapter, folder: Path, *, limit: float = LIMIT) -> None:
        self.adapter = adapter
        self._folder = folder
        self._limit = limit
        self._numbers = itertools.count()
        self._hub: Hub
        self._tap: SqliteTap
        self._left: ExitStack

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(garbage_waits())
            self._hub = stack.enter_context(Hub((WORKER,), self._limit))
            self._enter_tap(stack)
            self._left = stack.pop_all()
        return self

    def _enter_tap(self, stack: ExitStack) -> None:
        """Have the worker stop before each of its statements, until what is entered is left."""
        self._tap = stack.enter_context(SqliteTap(self._hub, reduced=False))

    def __exit__(self, *error: Any) -> None:  # the three that a context is left with
        self._left.__exit__(*error)

    @property
    def unseen(self) -> str:
        """Why nothing was seen of what the worker does; empty if something was."""
        return self._tap.unseen

    def perform(self, session: Session, op: Op) -> list[Seen]:
        """Do a step on the worker's thread, where the store is open; return what was judged."""
        steps: list[Seen] = self._do(lambda: perform(session, op))
        return steps

    def _do(self, job: Callable[[], Any]) -> Any:  # what the job returns
        return self._hub.call(WORKER, job)

    # -- crashes ---------------------------------------------------------------------------------

    def film(self, before: Sequence[Op], call: Hit) -> Film:
        """Make a call on a fresh store, with an image at each statement.

        Args:
            before: What brings the tasks to where the call is made.
            call: The call.

        Raises:
            Unready: What comes before it is unlawful by itself.
            Stuck: The worker came to no next statement in time.
            Fault: The store can't be opened, closed or read.
        """
        with (
            self._folder_of() as folder,
            Camera(folder) as camera,
            self._session(folder) as session,
        ):
            tasks, now = self._brought(session, before), session.clock.now()
            images: list[Image] = []
            statements, came = self._watched(session, call, lambda _: images.append(camera.take()))
            return Film(tasks, now, call, statements, (*images, camera.take()), came)

    def film_recovery(self, film: Film, number: int, tasks: Sequence[Tracked]) -> Film:
        """Recover from a crash when every lease has expired, with an image at each statement.

        The store is opened, and the reaper runs, if there is one.

        Args:
            film: The call.
            number: Which of its images the crash left.
            tasks: The tasks, as they were found there.

        Raises:
            Stuck: The worker came to no next statement in time.
            Fault: The store can't be opened or closed.
        """
        late, reaper = self._lateness()
        clock = ManualClock(film.now + late)
        opened: list[Driver] = []

        def recover(folder: Path) -> Came:
            opened.append(Driver(self.adapter, Watch()))
            opened[0].open(folder, clock)
            return called(opened[0], tasks[0], reaper) if reaper else Came()

        def close() -> None:
            for driver in opened:
                driver.close()

        with (
            self._folder_of(_image(film, number)) as folder,
            Camera(folder) as camera,
            self._closing(close),
        ):
            images: list[Image] = []
            statements, came = self._follow(
                partial(recover, folder), lambda _: images.append(camera.take())
            )
            every = (*images, camera.take())
            return Film(tuple(tasks), clock.now(), reaper or Reopen(), statements, every, came)

    def after(self, film: Film, number: int) -> Found:
        """Say what is there for a new process after a crash.

        Args:
            film: The call.
            number: Which of its images the crash left.
        """
        with self._folder_of(_image(film, number)) as aside:
            if problem := unsound(aside):
                return Found((), "a database without a fault", problem)
        try:
            with self.reopened(film, number) as session:
                came = film.came if number == len(film.statements) else None
                return self._stored(session, film.tasks, film.now, film.call, came)
        except Fault as fault:
            return Found((), "the store can be opened, read and closed", str(fault))

    @contextmanager
    def reopened(self, film: Film, number: int, tasks: Sequence[Tracked] = ()) -> Iterator[Session]:
        """Open what a crash has left, as a new process would.

        Args:
            film: The call.
            number: Which of its images the crash left.
            tasks: The tasks, as they were found there; the session goes on with them.
        """
        with (
            self._folder_of(_image(film, number)) as folder,
            self._session(folder, ManualClock(film.now)) as session,
        ):
            self._do(lambda: [session.adopt(task, task.model) for task in tasks])
            yield session

    def die(
        self,
        folder: Path,
        before: Sequence[Op],
        call: Hit,
        at: int,
        tell: Callable[[Last], None],
    ) -> None:
        """Make a call, and have this process killed before one of its statements.

        It comes back only if the call has fewer statements than that.

        Args:
            folder: Where the store is to be made; it is left as it is.
            before: What brings the tasks to where the call is made.
            call: The call.
            at: The statement, counted from 1; one more than there are is behind the last.
            tell: Told what there is to judge by, while this process still is.
        """
        session: Session = self._do(lambda: Session(self.adapter, folder, Watch()))
        tasks, now = self._brought(session, before), session.clock.now()
        tell(Last(tasks, now, None))
        statements, came = self._watched(session, call, partial(_die_at, at))
        if len(statements) + 1 == at:
            tell(Last(tasks, now, came))
            _die_at(at, at)

    # -- errors ----------------------------------------------------------------------------------

    @contextmanager
    def hurt(self, before: Sequence[Op], call: Hit, mishap: Mishap) -> Iterator[Hurt]:
        """Make a call on a fresh store, one statement of which goes wrong.

        Args:
            before: What brings the tasks to where the call is made.
            call: The call.
            mishap: The statement, and what goes wrong: INTERRUPT or LOST.

        Raises:
            LawfulError: The call does not have so many statements.
            Unready: What comes before it is unlawful by itself.
            Stuck: The worker came to no next statement in time.
            Fault: The store can't be opened, closed or read.
        """
        with self._folder_of() as folder, self._session(folder) as session:
            tasks = self._brought(session, before)
            wrong = {Sort.INTERRUPT: self._tap.interrupt, Sort.LOST: self._tap.lose}

            def hit(number: int) -> None:
                if number == mishap.at:
                    wrong[mishap.sort](WORKER)

            job = self._tap.endangered(WORKER, partial(make, session, call))
            statements, came = self._follow(job, hit)
            if len(statements) < mishap.at:
                raise LawfulError(f"{mishap}: there are {len(statements)} statements")
            if isinstance(call, Reopen) and came.fault is not None:
                gc.collect()  # a service that does not come up is gone, and is started again
                self._do(session.restart)
            yield self._hurt(session, tasks, call, mishap, statements, came)

    # -- what they have in common ----------------------------------------------------------------

    @contextmanager
    def _folder_of(self, image: Image | None = None) -> Iterator[Path]:
        """Give a folder for a store, with what an image has of it, and remove it."""
        folder = self._folder / f"accident-{next(self._numbers)}"
        gc.collect()
        try:
            if image is not None:
                image.restore(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _session(self, folder: Path, clock: ManualClock | None = None) -> Iterator[Session]:
        """Open a store on the worker's thread, where a call that hangs is ended, and close it."""
        session: Session = self._do(lambda: Session(self.adapter, folder, Watch(), clock))
        with self._closing(lambda: session.__exit__(None, None, None)):
            yield session

    @contextmanager
    def _closing(self, close: Callable[[], None]) -> Iterator[None]:
        """Close a store on the worker's thread at the end.

        What went wrong before is more than what goes wrong then. A worker that hangs closes
        nothing any more.
        """
        try:
            yield
        except Stuck:
            raise
        except BaseException:
            with suppress(Exception):
                self._do(close)
            raise
        self._do(close)

    def _lateness(self) -> tuple[float, Reap | None]:
        """Return when every lease has expired, in seconds from now, and the reaper, if any."""
        lease, adapter = self.adapter.table.lease, self.adapter
        late = elapsing(lease)[1] if lease and "clock" not in adapter.gaps else 0
        return late, Reap() if late and "reap" in adapter.offered else None

    def _brought(self, session: Session, before: Sequence[Op]) -> tuple[Tracked, ...]:
        """Bring the tasks of a store to where a call is made, and return them as they are then."""
        self._do(lambda: bring(session, before))
        return tuple(map(as_it_is, session.tasks.values()))

    def _watched(
        self, session: Session, call: Hit, each: Callable[[int], None] = lambda _: None
    ) -> tuple[tuple[Statement, ...], Came]:
        """Make a call and follow its statements."""
        return self._follow(partial(make, session, call), each)

    def _follow(
        self, job: Callable[[], Came], each: Callable[[int], None]
    ) -> tuple[tuple[Statement, ...], Came]:
        """Do a job on the worker's thread; return its statements, and what came of it.

        Args:
            job: The job.
            each: Told of each statement before it runs: how many there were by then, with it.
        """
        statements: list[Statement] = []
        came: list[Came] = []

        def choose(able: Sequence[str], _: str | None) -> str:
            statements.append(self._statement())
            each(len(statements))
            return able[0]

        self._hub.run({WORKER: lambda: came.append(job())}, choose)
        return tuple(statements), came[0]

    def _statement(self) -> Statement:
        """Return the statement before which the worker is parked."""
        return self._tap.statement(WORKER)

    def _hurt(
        self,
        session: Session,
        tasks: Sequence[Tracked],
        call: Hit,
        mishap: Mishap,
        statements: tuple[Statement, ...],
        came: Came,
    ) -> Hurt:
        """Look at what a call has left in one of whose statements something went wrong."""
        # A caller has lost its answer; a reaper may leave a task for the next time.
        unheard = mishap.sort is Sort.LOST or isinstance(call, Reap)
        heard, now = None if unheard else came, session.clock.now()
        try:
            found = self._stored(session, tasks, now, call, heard)
        except Fault as fault:
            found = Found((), "the store can be read", str(fault))
        return Hurt(session, statements, came, found)

    def _stored(
        self,
        session: Session,
        tasks: Sequence[Tracked],
        now: float,
        call: Hit,
        came: Came | None,
    ) -> Found:
        found: Found = self._do(lambda: stored(session, tasks, now, call, came))
        return found


def _die_at(at: int, number: int) -> None:
    if number == at:
        os.kill(os.getpid(), signal.SIGKILL)


def _image(film: Film, number: int) -> Image:
    image = film.images[number]
    assert isinstance(image, Image)  # noqa: S101 - this site has made the film
    return image


def make(session: Session, call: Hit, url: str | None = None) -> Came:
    """Make a call; nothing is judged.

    Args:
        session: The store.
        call: The call.
        url: Where a store that is opened again finds its server; by default where it always is.
    """
    if isinstance(call, Reopen):
        try:
            session.restart(url)
        except Fault as fault:
            # The frames of the process that has failed are gone with it, and what they had open.
            fault.__cause__ = fault.__context__ = None
            return Came(fault=fault.with_traceback(None))
        return Came()
    task = (
        next(iter(session.tasks.values())) if isinstance(call, Reap) else session.tasks[call.task]
    )
    return called(session.driver, task, known(task, call))

"""A call that something happens to at one of its statements, and what is stored then.

What a process that is killed leaves behind is what is in its files at that instant. So one run is
enough for all the points of a call: an image is taken before each statement and behind the last,
and each of them is opened as a new process would. What must be there: each task as it was before
the call or as the table has it after, whole; and after, if the call had said so.
"""

from __future__ import annotations

import gc
import itertools
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from lawful.spec.errors import LawfulError

from .accidents import Sort
from .calls import Came, called, known
from .clock import ManualClock
from .driver import ClaimKind, Driver, Fault
from .hub import LIMIT, Hub, Stuck
from .images import Camera, unsound
from .linear import Order, answered, shows
from .moves import elapsing
from .performing import bring, perform
from .session import Session
from .sqlite_tap import SqliteTap
from .trace import Fire, Heartbeat, Reap, Reopen
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from .accidents import Hit, Mishap
    from .adapter import Adapter
    from .calls import Done
    from .images import Image
    from .seen import Seen, View
    from .sqlite_tap import Statement
    from .trace import Op
    from .tracked import Tracked

__all__ = ["CrashSite", "Film", "Found", "Hurt"]

WORKER: Final = "A"


@dataclass(frozen=True, slots=True)
class Film:
    """A call as it was done, with an image of the store before each statement.

    Attributes:
        tasks: The tasks as they were before.
        now: The clock, in seconds; it stands still.
        call: The call.
        statements: Its statements.
        images: The store before each of them, and behind the last: one more than statements.
        came: What came of the call.
    """

    tasks: tuple[Tracked, ...]
    now: float
    call: Hit
    statements: tuple[Statement, ...]
    images: tuple[Image, ...]
    came: Came


class Found(NamedTuple):
    """What is stored after an accident.

    Attributes:
        tasks: Each task as it was found, where the table has it then; empty if one is nowhere.
        expected: What would have been lawful, where something is not.
        got: What is there instead.
    """

    tasks: tuple[Tracked, ...] = ()
    expected: str = ""
    got: str = ""

    @property
    def lawful(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.got


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
        self._numbers = itertools.count()
        self._hub = Hub((WORKER,), limit)
        self._tap = SqliteTap(self._hub, reduced=False)
        self._collected = gc.isenabled()

    def __enter__(self) -> Self:
        # What was dropped without being closed keeps its locks until it is collected: when that is
        # must not depend on what else the process has allocated.
        gc.freeze()
        gc.disable()
        self._tap.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._hub.__exit__()
        self._tap.__exit__()
        if self._collected:
            gc.enable()
        gc.unfreeze()

    @property
    def statements(self) -> int:
        """How many statements were seen."""
        return self._tap.statements

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
            tasks = self._brought(session, before)
            now = session.clock.now()
            return self._filmed(camera, tasks, now, call, lambda: _make(session, call))

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
        lease, offered = self.adapter.table.lease, self.adapter.offered
        late = elapsing(lease)[1] if lease and "clock" not in self.adapter.gaps else 0
        clock = ManualClock(film.now + late)
        reaper = Reap() if late and "reap" in offered else None
        opened: list[Driver] = []

        def recover(folder: Path) -> Came:
            opened.append(Driver(self.adapter, Watch()))
            opened[0].open(folder, clock)
            return called(opened[0], tasks[0], reaper) if reaper else Came()

        def close() -> None:
            for driver in opened:
                driver.close()

        with (
            self._folder_of(film.images[number]) as folder,
            Camera(folder) as camera,
            self._closing(close),
        ):
            call, job = reaper or Reopen(), partial(recover, folder)
            return self._filmed(camera, tuple(tasks), clock.now(), call, job)

    def after(self, film: Film, number: int) -> Found:
        """Say what is there for a new process after a crash.

        Args:
            film: The call.
            number: Which of its images the crash left.
        """
        with self._folder_of(film.images[number]) as aside:
            if problem := unsound(aside):
                return Found((), "a database without a fault", problem)
        returned = number == len(film.statements) and film.came.fault is None
        try:
            with self.reopened(film, number) as session:
                return self._found(session, film, returned)
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
            self._folder_of(film.images[number]) as folder,
            self._session(folder, ManualClock(film.now)) as session,
        ):
            self._do(lambda: [session.adopt(task, task.model) for task in tasks])
            yield session

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
            statements: list[Statement] = []

            def choose(able: Sequence[str], _: str | None) -> str:
                statements.append(self._tap.statement(WORKER))
                if len(statements) == mishap.at:
                    wrong = {Sort.INTERRUPT: self._tap.interrupt, Sort.LOST: self._tap.lose}
                    wrong[mishap.sort](WORKER)
                return able[0]

            job = self._tap.losing(WORKER, lambda: _make(session, call))
            came = self._run(job, choose)
            if len(statements) < mishap.at:
                raise LawfulError(f"{mishap}: there are {len(statements)} statements")
            if isinstance(call, Reopen) and came.fault is not None:
                gc.collect()  # a service that does not come up is gone, and is started again
                self._do(session.restart)
            film = Film(tasks, session.clock.now(), call, tuple(statements), (), came)
            # A caller may have lost its answer; a reaper may have left a task for the next time.
            answered = mishap.sort is Sort.INTERRUPT and not isinstance(call, Reap)
            returned = came.fault is None and answered
            try:
                found = self._found(session, film, returned)
            except Fault as fault:
                found = Found((), "the store can be read", str(fault))
            yield Hurt(session, film.statements, came, found)

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

    def _brought(self, session: Session, before: Sequence[Op]) -> tuple[Tracked, ...]:
        """Bring the tasks of a store to where a call is made, and return them as they are then."""
        self._do(lambda: bring(session, before))
        return tuple(map(_as_it_is, session.tasks.values()))

    def _filmed(
        self,
        camera: Camera,
        tasks: tuple[Tracked, ...],
        now: float,
        call: Hit,
        job: Callable[[], Came],
    ) -> Film:
        statements: list[Statement] = []
        images: list[Image] = []

        def choose(able: Sequence[str], _: str | None) -> str:
            statements.append(self._tap.statement(WORKER))
            images.append(camera.take())
            return able[0]

        came = self._run(job, choose)
        return Film(tasks, now, call, tuple(statements), (*images, camera.take()), came)

    def _run(
        self, job: Callable[[], Came], choose: Callable[[Sequence[str], str | None], str]
    ) -> Came:
        came: list[Came] = []
        self._hub.run({WORKER: lambda: came.append(job())}, choose)
        return came[0]

    def _found(self, session: Session, film: Film, returned: bool) -> Found:
        """Say what is stored, and go on from there."""
        found: Found = self._do(lambda: self._looked(session, film, returned))
        return found

    def _looked(self, session: Session, film: Film, returned: bool) -> Found:
        tasks, expected, got = [], [], []
        for task in film.tasks:
            view = session.look(task)
            lawful = _orders(task, film, returned)
            order = next((one for one in lawful if shows(self.adapter, task, one, view)), None)
            if order is None:
                expected.append(" or ".join(dict.fromkeys(_told(task, one) for one in lawful)))
                got.append(_seen(view))
            else:
                tasks.append(_as_it_is(session.adopt(task, order.model)))
        if got:
            return Found((), "; ".join(expected), "; ".join(got))
        return Found(tuple(tasks))


def _as_it_is(task: Tracked) -> Tracked:
    """Return a task that stays as it is, whatever its session does next."""
    return replace(task, tokens=[*task.tokens])


def _make(session: Session, call: Hit) -> Came:
    """Make a call; nothing is judged."""
    if isinstance(call, Reopen):
        try:
            session.restart()
        except Fault as fault:
            # The frames of the process that has failed are gone with it, and what they had open.
            fault.__cause__ = fault.__context__ = None
            return Came(fault=fault.with_traceback(None))
        return Came()
    task = (
        next(iter(session.tasks.values())) if isinstance(call, Reap) else session.tasks[call.task]
    )
    return called(session.driver, task, known(task, call))


def _orders(task: Tracked, film: Film, returned: bool) -> list[Order]:
    """Return what a task may have come to: what it was, what the call makes of it, or either.

    Opening a store may recover what has expired, or leave it to the reaper.
    """
    call, nothing = film.call, Order((), task.model, ())
    if isinstance(call, Fire | Heartbeat) and call.task != task.label:
        return [nothing]
    if isinstance(call, Reopen) and task.oracle.table.lease is None:
        return [nothing]
    answer, entry = answered(task.oracle, task.model, film.now, _done(task, call))
    done = Order((), answer.after, () if entry is None else (entry,))
    claim = film.came.claim
    if returned and claim is not None and claim.kind is ClaimKind.REFUSED:
        return [nothing]
    return [done] if returned and not isinstance(call, Reopen) else [nothing, done]


def _done(task: Tracked, call: Hit) -> Done:
    return Reap() if isinstance(call, Reopen) else known(task, call)


def _told(task: Tracked, order: Order) -> str:
    held, entries = order.model.holding, len(task.view.history or ()) + len(order.entries)
    version = task.base + order.model.version
    return _line(order.model.position.state, held.owner if held else None, version, entries)


def _seen(view: View) -> str:
    reading = view.reading
    entries = 0 if view.history is None else len(view.history)
    return _line(reading.state, reading.lease_owner, reading.version, entries)


def _line(state: str, owner: str | None, version: int | None, entries: int) -> str:
    by = f" by {owner}" if owner else ""
    return f"{state}{by} at version {version}, history of {entries}"

"""Every turn of unmodified clients of a server, before the server hears it: through a door each.

Each worker is given an address of its own, so whoever connects there is that worker. A turn is held
until it is its worker's turn. Whether the server is slow or has the worker wait is asked of the
server, and never concluded from time; when it has let a worker go on, its answer is kept back until
nobody else runs.
"""

from __future__ import annotations

import itertools
import selectors
import socket
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from .accidents import Statement
from .addresses import LOOPBACK, parse_address
from .blockers import Blockers
from .hub import Stuck
from .links import Link, Moment
from .turns import Sight
from .wire_postgresql import PostgresqlFraming
from .wire_redis import RedisFraming

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .hub import Hub
    from .turns import Framing, Turn

__all__ = ["Moment", "WireTap"]

_FRAMINGS: Final[dict[str, Callable[[], Framing]]] = {
    "postgresql": PostgresqlFraming,
    "redis": RedisFraming,
}


class _Cut(NamedTuple):
    """A cut that is still to come.

    Attributes:
        turn: At which of its worker's turns.
        when: On which side of what the server does.
        dies: Whether the worker is as good as gone from then on.
    """

    turn: int
    when: Moment
    dies: bool


class WireTap:
    """Parks the workers of a hub before each turn that goes to a server, as long as it is entered.

    Args:
        hub: The workers.
        url: Where the server is: ``postgresql://``, ``redis://`` or ``unix://``.
        reduced: Whether turns that the other workers can't see are no choice.

    Attributes:
        reduced: The same, for the next schedule.
        statements: How many turns of workers were seen.

    Raises:
        WireError: The server can't be reached so.
    """

    def __init__(self, hub: Hub, url: str, *, reduced: bool = True) -> None:
        self.statements = 0
        self.hub = hub
        self.blockers: Blockers | None = None
        self._url = url
        self._address = parse_address(url)
        self.reduced = reduced
        self._lock = threading.Lock()
        self._doors: dict[str, _Door] = {}
        self._links: list[Link] = []
        self._numbers = itertools.count(1)
        self._turns: dict[str, int] = {}
        self._cuts: dict[str, _Cut] = {}
        self._at: dict[str, Statement] = {}
        self._dead: set[str] = set()

    @property
    def unseen(self) -> str:
        """Why nothing was seen of what the workers do; empty if something was."""
        return "" if self.statements else "no statement of its own goes through its door"

    def __enter__(self) -> WireTap:
        if self._address.kind == "postgresql":
            self.blockers = Blockers(self._url)
        self.hub.arbiter = self
        return self

    def __exit__(self, *_: object) -> None:
        self.hub.arbiter = None
        for door in self._doors.values():
            door.close()
        self._doors.clear()
        for link in self._all():
            link.drop()
            link.thread.join(self.hub.limit)
        if self.blockers is not None:
            self.blockers.close()

    def address(self, worker: str) -> str:
        """Return the URL of a worker's own door to the server; whoever connects there is it."""
        if worker not in self._doors:
            self._doors[worker] = _Door(worker, self._admit)
        return self._address.through(self._doors[worker].port)

    def note(self, worker: str) -> None:
        """Take in that a worker has done all it had to do: nothing is to be looked at here."""

    def statement(self, worker: str) -> Statement:
        """Return the turn before which a worker is parked."""
        return self._at[worker]

    def cut(self, worker: str, turn: int, when: Moment) -> None:
        """Cut a worker's connection at one of its turns, and have the client find out.

        The client hears of it when the server has let go of the connection: it says so itself.

        Args:
            worker: Whose.
            turn: Its n-th turn that others can see, from now, counted from 1.
            when: On which side of what the server does.
        """
        self._plan(worker, turn, when, dies=False)

    def kill(self, worker: str, turn: int) -> None:
        """Cut all of a worker's connections before one of its turns, and let it in no more.

        Its code goes on, and whatever it tries then, the server hears nothing of it: as of a
        process that is gone. :meth:`spare` lets it in again.

        Args:
            worker: Whose.
            turn: Its n-th turn that others can see, from now, counted from 1.
        """
        self._plan(worker, turn, Moment.BEFORE, dies=True)

    def spare(self, worker: str) -> None:
        """Forget a cut that has not come, and let a worker in again."""
        self._cuts.pop(worker, None)
        self._dead.discard(worker)

    def _plan(self, worker: str, turn: int, when: Moment, *, dies: bool) -> None:
        if turn < 1:
            raise ValueError(f"turns are counted from 1; got {turn}")
        self._cuts[worker] = _Cut(self._turns.get(worker, 0) + turn, when, dies)

    # -- connections -----------------------------------------------------------------------------

    def _admit(self, worker: str, client: socket.socket) -> None:
        """Take in a new connection: it is known before anything goes through it."""
        if worker in self._dead:
            client.close()
            return
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            server = self._address.connect()
        except OSError:
            client.close()  # the client is told as it would be without us
            return
        number = next(self._numbers)
        link = Link(self, worker, number, client, server, _FRAMINGS[self._address.kind]())
        with self._lock:
            self._links.append(link)
        link.thread.start()

    def left(self, link: Link) -> None:
        """Take in that a connection has ended."""
        with self._lock:
            self._links.remove(link)

    def _all(self) -> list[Link]:
        with self._lock:
            return list(self._links)

    # -- turns -----------------------------------------------------------------------------------

    def before(self, link: Link, turn: Turn) -> Moment | None:
        """Park before a turn, if the others can see it; say when to cut the connection at it."""
        if turn.sight is Sight.HIDDEN:
            return None
        worker = link.worker
        self.statements += 1
        if self.reduced and turn.sight is Sight.UNSEEN:
            if self.hub.scheduled:
                self.hub.pass_by(worker, turn.text)
            return None
        self._at[worker] = Statement(turn.text, turn.lands, turn.undoes)
        with link.stopping():
            self.hub.park(worker, turn.text)
        number = self._turns[worker] = self._turns.get(worker, 0) + 1
        cut = self._cuts.get(worker)
        if cut is None or cut.turn != number:
            return None
        del self._cuts[worker]
        if cut.dies:
            self._dead.add(worker)
            for other in self._all():
                if other.worker == worker and other is not link:
                    other.sever()
        return cut.when

    def blocked(self, link: Link) -> None:
        """Stop where the server has a worker wait, until it has let it go on."""
        if self.hub.scheduled:
            self.hub.pass_by(link.worker, f"waits for {self._who(link)}")
        with link.stopping(waits=True):
            self.hub.wait(link.worker)

    def _who(self, link: Link) -> str:
        """Name those whom a worker waits for."""
        named = {each.framing.session: each.worker for each in self._all()}
        who = {named.get(session, "a session that is no worker's") for session in link.blockers}
        return " and ".join(sorted(who))

    # -- what the hub asks -----------------------------------------------------------------------

    def settle(self, *, stalled: bool) -> str | None:
        """Name a worker that waited and that the server has let go on."""
        deadline = time.monotonic() + self.hub.limit
        for link in self._all():
            link.rest(deadline)
        while waiting := [link for link in self._all() if link.waits]:
            for link in waiting:
                if link.sure(deadline):
                    return link.worker
            if not stalled:
                return None
            if not _any_heard([link.server for link in waiting], deadline):
                raise self._stuck(waiting)
        return None

    def _stuck(self, waiting: Sequence[Link]) -> Stuck:
        told = "; ".join(f"{link.worker} waits for {self._who(link)}" for link in waiting)
        return Stuck(waiting[0].worker, waiting[0].text, self.hub.limit, told)

    def abandon(self) -> None:
        """Cut all connections to the server: their own threads tell the clients, once they run."""
        for link in self._all():
            if link.waits and self.blockers is not None and link.framing.session is not None:
                self.blockers.end(link.framing.session)  # it would not see that we have gone
            link.part()


class _Door:
    """Where one worker connects.

    Args:
        worker: Which.
        admit: What is done with a connection, in a thread of the door's.

    Attributes:
        port: Its port on the loopback.
    """

    def __init__(self, worker: str, admit: Callable[[str, socket.socket], None]) -> None:
        self._worker = worker
        self._admit = admit
        self._listener = socket.create_server((LOOPBACK, 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._told, self._tell = socket.socketpair()
        self._thread = threading.Thread(target=self._open, name=f"door-{worker}", daemon=True)
        self._thread.start()

    def _open(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._told, selectors.EVENT_READ)
            while all(key.fileobj is not self._told for key, _ in selector.select()):
                try:
                    client, _ = self._listener.accept()
                except OSError:
                    continue  # it was given up before we came to it
                self._admit(self._worker, client)

    def close(self) -> None:
        """Let nobody in any more."""
        self._tell.close()
        self._thread.join()
        self._told.close()
        self._listener.close()


def _any_heard(servers: Sequence[socket.socket], deadline: float) -> bool:
    """Wait until one of them says something; say whether one did in time."""
    with selectors.DefaultSelector() as selector:
        for server in servers:
            selector.register(server, selectors.EVENT_READ)
        return bool(selector.select(max(deadline - time.monotonic(), 0)))

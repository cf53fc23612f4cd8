"""One connection of a worker's to a server, through its door: it holds a turn until it is due."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from .hub import Stuck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .turns import Framing, Turn
    from .wire import WireTap

__all__ = ["Link", "Moment"]

CHUNK: Final = 65536
"""How much is read at once, in bytes."""

FIRST: Final = 0.001
"""After how long without an answer the server is first asked whether it has a worker wait, in
seconds; a socket's time limit is no finer. It is asked until it has answered, so this is a matter
of speed alone."""

LAST: Final = 0.02
"""The longest time between two such questions, in seconds."""


class Moment(StrEnum):
    """When a connection is cut: on one side of what the server does at a turn."""

    BEFORE = "before"
    """The server never hears of the turn."""
    AFTER = "after"
    """The server has answered, and the client never hears of that."""


class Link:
    """One connection of a worker's: its client, and the server.

    One thread does all there is to do, so that what a client does upon an answer is never met
    before the answer is known. While its worker waits, that thread stands still and the hub's
    listens in its place.

    Attributes:
        worker: Whose.
        framing: How its bytes are cut into turns.
        server: The connection to the server.
        thread: Its thread, to be started.
        text: Its last turn, in words.
        waits: Whether its worker waits in the server.
        blockers: The sessions that it waits for, as the server said last.
    """

    def __init__(
        self,
        tap: WireTap,
        worker: str,
        number: int,
        client: socket.socket,
        server: socket.socket,
        framing: Framing,
    ) -> None:
        self.worker = worker
        self.framing = framing
        self.server = server
        self.text = ""
        self.waits = False
        self.blockers: tuple[int, ...] = ()
        self._tap = tap
        self._client = client
        self._held: bytearray | None = None
        self._answered = True
        self._cut = False
        self._gone = False
        self._leaving = False
        self._stopped = False
        self._resting = threading.Event()
        self.thread = threading.Thread(
            target=self._serve, name=f"link-{worker}-{number}", daemon=True
        )

    # -- its thread ------------------------------------------------------------------------------

    def _serve(self) -> None:
        over = False
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._client, selectors.EVENT_READ)
                selector.register(self.server, selectors.EVENT_READ)
                while not over and (data := self._said(selector)):
                    over = any(self._take(turn) for turn in self.framing.asked(data))
            self._leave()
        except OSError:
            pass  # one of the two has gone, and the other finds out by our going
        except BaseException as error:
            self._tap.hub.fail(error)
        finally:
            self._client.close()
            self.server.close()
            self._tap.left(self)
            self._resting.set()

    def _said(self, selector: selectors.BaseSelector) -> bytes:
        """Return what the client says next; nothing if either has gone."""
        while not self._gone:
            self._resting.set()
            ready = selector.select()
            self._resting.clear()
            if any(key.fileobj is self.server for key, _ in ready):
                self._hear(None)
            else:
                return self._client.recv(CHUNK)
        return b""

    def _take(self, turn: Turn) -> bool:
        """Take a turn, from its being parked to its answer; say whether the connection is over."""
        if turn.reply:
            self._client.sendall(turn.reply)
            return False
        self.text = turn.text
        cut = self._tap.before(self, turn)
        self._cut = cut is not None
        if cut is Moment.BEFORE:
            return True
        self._held = bytearray() if self._cut else None
        self.server.settimeout(None)
        self.server.sendall(turn.data)
        self._answered = not turn.answered
        while not self.sure():
            self._held = bytearray() if self._held is None else self._held
            self._tap.blocked(self)
        if self._cut or self._gone:
            return True
        if self._held:
            self._client.sendall(self._held)
        self._held = None
        return False

    def _leave(self) -> None:
        """Part from the server, and wait until it has let go of the connection."""
        self._leaving = True
        self.server.settimeout(None)
        self.server.shutdown(socket.SHUT_WR)
        while self.server.recv(CHUNK):
            pass
        session, blockers = self.framing.session, self._tap.blockers
        if self._cut and session is not None and blockers is not None:
            deadline = time.monotonic() + self._tap.hub.limit
            while blockers.has(session):
                if time.monotonic() > deadline:
                    raise Stuck(self.worker, self.text, self._tap.hub.limit)

    # -- its server ------------------------------------------------------------------------------

    def sure(self, deadline: float | None = None) -> bool:
        """Wait until the server has answered, or says that it has the worker wait.

        Args:
            deadline: When to give up; by default the hub does.

        Returns:
            Whether it has answered.

        Raises:
            Stuck: It has done neither in time.
        """
        pause = 0.0 if self.waits else FIRST  # one that has waited most often still does
        session, blockers = self.framing.session, self._tap.blockers
        while not self._answered:
            asking = self._tap.hub.scheduled and blockers is not None and session is not None
            if self._hear(pause if asking else None):
                continue
            assert blockers is not None  # noqa: S101 - else there is no limit to hear within
            assert session is not None  # noqa: S101 - the same
            self.blockers = blockers.of(session)
            if self.blockers:
                return False
            if deadline is not None and time.monotonic() > deadline:
                raise Stuck(self.worker, self.text, self._tap.hub.limit)
            pause = min(max(2 * pause, FIRST), LAST)
        return True

    def _hear(self, seconds: float | None) -> bool:
        """Take in what the server says next, or its going; say whether anything came in time."""
        self.server.settimeout(seconds)
        try:
            data = self.server.recv(CHUNK)
        except (TimeoutError, BlockingIOError):
            return False
        except OSError:
            data = b""
        if not data:
            self._gone = self._answered = True
            return True
        if self.framing.heard(data):
            self._answered = True
        if self.framing.arbitrary():
            # The detector may look before we do, and then nobody is seen to wait.
            self._tap.hub.disorder()
        if self._held is None:
            self._client.sendall(data)
        else:
            self._held += data
        return True

    # -- what others ask of it -------------------------------------------------------------------

    @contextmanager
    def stopping(self, *, waits: bool = False) -> Iterator[None]:
        """Have it known that the hub stops its thread, as long as this is entered."""
        self._stopped, self.waits = True, waits
        self._resting.set()
        try:
            yield
        finally:
            self._stopped = self.waits = False
            self._resting.clear()

    def rest(self, deadline: float) -> None:
        """Wait until its thread has done all that the client wants, be it to part.

        A worker goes on when it has closed its connection, and the server lets go a little later:
        who waits for that must not depend on when.

        Raises:
            Stuck: That takes too long.
        """
        session, blockers = self.framing.session, self._tap.blockers
        while not self._stopped and self.thread.is_alive():
            if self._resting.wait(FIRST) and not self._has_said():
                return
            if self._leaving and blockers is not None and session is not None:
                self.blockers = blockers.of(session)
                if self.blockers:
                    return  # it was left in the midst of a turn, and waits by itself
            if time.monotonic() > deadline:
                raise Stuck(self.worker, self.text, self._tap.hub.limit)
            time.sleep(0)  # it is awake, and has come to nothing yet

    def _has_said(self) -> bool:
        """Say whether there is something of the client's that was not read yet."""
        try:
            self._client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError:
            return False
        return True

    def part(self) -> None:
        """End what the server is to it. Its own thread ends the rest, and closes both."""
        with suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)

    def sever(self) -> None:
        """Cut it where it rests, and wait until the server has let go of it.

        Raises:
            Stuck: That takes too long.
        """
        self._cut = True
        with suppress(OSError):
            self._client.shutdown(socket.SHUT_RD)
        self.thread.join(self._tap.hub.limit)
        if self.thread.is_alive():
            raise Stuck(self.worker, self.text, self._tap.hub.limit)

    def drop(self) -> None:
        """End it, whatever it is at."""
        self.part()
        with suppress(OSError):
            self._client.shutdown(socket.SHUT_RDWR)

"""A turn: what a client sends before it must hear an answer; and what a protocol tells of turns.

Nothing here, and nothing in the protocols (:mod:`lawful.strategies.wire_postgresql`,
:mod:`lawful.strategies.wire_redis`), touches a socket: bytes come in, turns come out.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST", "Framing", "Sight", "Turn", "WireError", "in_words"]

MOST: Final = 64 * 1024 * 1024
"""The longest turn, in bytes: it is held whole."""

_TOLD: Final = 400
"""How much of a turn's text is told, in characters."""


class WireError(LawfulError):
    """What goes over a connection can't be held: it is no protocol we know, or too much."""


class Sight(Enum):
    """Who can tell when a turn is taken."""

    SEEN = "seen"
    """Other workers can: when it is taken is a choice."""
    UNSEEN = "unseen"
    """No other worker can; it is a step of the program's, and told."""
    HIDDEN = "hidden"
    """It is the driver's own bookkeeping, and depends on what its connection did before: told, it
    would make one program look different from run to run."""


class Turn(NamedTuple):
    """One turn.

    Attributes:
        data: What the server is to hear.
        text: What it is, in words.
        sight: Who can tell when it is taken.
        answered: Whether the server answers it.
        reply: What the client hears at once, from us; nothing goes to the server then.
        lands: Whether it may leave something behind for everybody, once it is taken.
        undoes: Whether it takes back what was written.
    """

    data: bytes
    text: str = ""
    sight: Sight = Sight.HIDDEN
    answered: bool = True
    reply: bytes = b""
    lands: bool = False
    undoes: bool = False


class Framing(Protocol):
    """How one connection's bytes are cut into turns and answers."""

    @property
    def session(self) -> int | None:
        """The server's number for the connection, once it is known and can be asked about."""
        ...

    def arbitrary(self) -> bool:
        """Say whether the server has told of a choice of its own, since this was last asked."""
        ...

    def asked(self, data: bytes) -> Iterator[Turn]:
        """Take in what the client sent, and yield the turns that are whole, each when it is due.

        Raises:
            WireError: It can't be read.
        """
        ...

    def heard(self, data: bytes) -> bool:
        """Take in what the server sent, and say whether it ends the answer to the last turn.

        Raises:
            WireError: It can't be read.
        """
        ...


def in_words(text: str) -> str:
    """Return a turn's text in one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _TOLD else f"{line[: _TOLD - 3]}..."

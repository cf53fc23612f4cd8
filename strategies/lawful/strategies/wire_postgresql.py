"""PostgreSQL's protocol, version 3: where a client's turns and the server's answers end.

A turn ends with Query, Sync or Flush; its answer with ReadyForQuery, or, after Flush, with as many
completions as were asked for (https://www.postgresql.org/docs/current/protocol-flow.html).
"""

from __future__ import annotations

import re
import struct
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from .turns import MOST, Sight, Turn, WireError, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PostgresqlFraming", "may_land", "sight_of"]

_CANCEL: Final = 80877102
_ENCRYPTION: Final = frozenset({80877103, 80877104})
"""SSLRequest and GSSENCRequest, by their codes."""

_UNSEEN: Final = frozenset({"BEGIN", "START", "SET", "SHOW", "DISCARD", "SAVEPOINT", "RELEASE"})
"""What reads nothing, writes nothing and lets go of no lock: a snapshot is taken by the first
statement after BEGIN, and a released savepoint keeps what it has locked."""

_HIDDEN: Final = frozenset({"DEALLOCATE"})

_BEGINS: Final = frozenset({"BEGIN", "START"})
_ENDS: Final = frozenset({"COMMIT", "END"})
_UNDOES: Final = frozenset({"ROLLBACK", "ABORT"})

_READS: Final = frozenset(
    {
        *(_BEGINS | _UNDOES | _UNSEEN),
        *("SELECT", "VALUES", "TABLE", "FETCH", "DECLARE", "CLOSE", "DEALLOCATE"),
    }
)
"""What leaves nothing behind, unless it calls a function. What is not known may: that costs a run
more."""

_FIRST: Final = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*([a-z]+)", re.I | re.S)

_COMPLETES: Final = frozenset(b"123TnCIs")
"""The tags that end the answer to one message of an extended batch."""

_ASKS: Final = frozenset(b"PBDEC")
"""The tags of the messages that have such an answer."""

_LOOKED_AT: Final = {"K": 4, "R": 4, "E": 256, "Z": 1}
"""How many bytes are looked at of what is in a message of the server's: a number, an error's code
(behind its severity, in two languages), whether a transaction is open."""

_DEADLOCK: Final = b"\0C40P01\0"

_NAMES: Final = 4096
"""How many prepared statements' texts are remembered for one connection."""


def sight_of(text: str) -> Sight:
    """Say who can tell when a statement runs; of several in one text, everybody."""
    if _several(text):
        return Sight.SEEN
    word = _word(text)
    if word in _HIDDEN:
        return Sight.HIDDEN
    return Sight.UNSEEN if word in _UNSEEN else Sight.SEEN


def may_land(text: str, *, within: bool) -> bool:
    """Say whether a statement may leave something behind for everybody.

    Args:
        text: The statement. Of several in one text, any may.
        within: Whether it runs in a transaction that was begun before it.
    """
    word = _word(text)
    if _several(text) or word in _ENDS:
        return True
    # SELECT writes, too: by a function that it calls, or into a new table.
    reads = word in _READS and not (word == "SELECT" and re.search(r"\(|\binto\b", text, re.I))
    return not (within or reads)


def _several(text: str) -> bool:
    return ";" in text.rstrip().rstrip(";")


def _word(text: str) -> str:
    """Return a statement's first word."""
    found = _FIRST.match(text)
    return found[1].upper() if found else ""


class _Message(NamedTuple):
    """One message of a client's: its tag (0 before the connection has begun), and all its bytes."""

    tag: int
    data: bytes

    def texts(self, count: int) -> list[bytes]:
        """Return the texts that it begins with, each of which ends with a zero byte."""
        parts = self.data[5:].split(b"\0", count)
        if len(parts) <= count:
            raise WireError(f"a message {chr(self.tag)!r} of PostgreSQL's ends in its midst")
        return parts[:count]


class _Until(NamedTuple):
    """What ends the answer to a turn.

    Attributes:
        completions: After a Flush: how many; None where ReadyForQuery ends it.
        begins: Whether the connection is beginning, which the server may ask questions about.
    """

    completions: int | None = None
    begins: bool = False


class PostgresqlFraming:
    """One connection's turns and answers. See :class:`lawful.strategies.turns.Framing`."""

    def __init__(self) -> None:
        self._session: int | None = None
        self._asked = bytearray()
        self._begun = False
        self._batch: list[_Message] = []
        self._size = 0
        self._statements: dict[bytes, str] = {}
        self._portals: dict[bytes, str] = {}
        self._until = _Until(begins=True)
        self._heard = bytearray()
        self._tag = ""
        self._begins = b""
        self._left = 0
        self._failed = False
        self._copies = False
        self._batched = False
        self._arbitrary = False
        self._within = False

    @property
    def session(self) -> int | None:
        """The process id of the server's process for this connection."""
        return self._session

    def arbitrary(self) -> bool:
        """Say whether the server has ended a deadlock, by an error to this connection."""
        arbitrary, self._arbitrary = self._arbitrary, False
        return arbitrary

    # -- what the client sends -------------------------------------------------------------------

    def asked(self, data: bytes) -> Iterator[Turn]:
        """Take in what the client sent, and yield the turns that are whole, each when it is due."""
        self._asked += data
        while (message := self._message()) is not None:
            turn = self._taken(message) if message.tag else self._beginning(message.data)
            if turn is not None:
                yield turn

    def _message(self) -> _Message | None:
        """Return the next message, if it is whole."""
        head = 5 if self._begun else 4
        if len(self._asked) < head:
            return None
        tag = self._asked[0] if self._begun else 0
        (length,) = struct.unpack_from("!I", self._asked, head - 4)
        if length < 4 or self._size + length > MOST:
            raise WireError(
                f"a message of PostgreSQL's says that it has {length} bytes; expected 4 to {MOST} "
                "in one turn"
            )
        end = head - 4 + length
        if len(self._asked) < end:
            return None
        whole = bytes(self._asked[:end])
        del self._asked[:end]
        return _Message(tag, whole)

    def _beginning(self, data: bytes) -> Turn:
        """Return the turn of a message without a tag."""
        code = struct.unpack_from("!I", data, 4)[0] if len(data) >= 8 else 0
        if code in _ENCRYPTION:
            return Turn(b"", reply=b"N")
        if code == _CANCEL:
            return Turn(data, answered=False)
        self._begun = True
        self._until = _Until(begins=True)
        return Turn(data)

    def _taken(self, message: _Message) -> Turn | None:
        """Take in a message; return the turn that it ends, if it ends one."""
        tag = chr(message.tag)
        if tag == "X":
            return Turn(message.data, answered=False)
        if tag == "p":  # an answer to a question of the server's as the connection begins
            return Turn(message.data)
        self._batch.append(message)
        self._size += len(message.data)
        if self._copies:
            return self._copied(tag)
        if tag not in "QSFH":
            return None
        batch, self._batch, self._size = self._batch, [], 0
        data = b"".join(each.data for each in batch)
        texts = self._texts(batch)
        sights = {sight_of(text) for text in texts}
        sight = next((each for each in Sight if each in sights), Sight.HIDDEN)
        answered = True
        self._until = _Until()
        if tag == "H":
            self._until = _Until(sum(each.tag in _ASKS for each in batch))
            answered = not self._failed and self._until.completions != 0
        told = "; ".join(text for text in texts if sight_of(text) is not Sight.HIDDEN)
        return Turn(
            *(data, in_words(told), sight, answered),
            lands=self._land(texts),
            undoes=any(_word(text) in _UNDOES for text in texts),
        )

    def _land(self, texts: Sequence[str]) -> bool:
        """Say whether any of a batch's statements may leave something behind."""
        within, lands = self._within, False
        for text in texts:
            lands = may_land(text, within=within) or lands
            within = within or _word(text) in _BEGINS
        return lands

    def _copied(self, tag: str) -> Turn | None:
        """Return the turn that ends a COPY, once it is whole: a batch's has a Sync behind it."""
        if tag not in ("S" if self._batched else "cf"):
            return None
        data = b"".join(each.data for each in self._batch)
        self._batch, self._size, self._copies = [], 0, False
        self._until = _Until()
        return Turn(data, "COPY: its rows", Sight.SEEN, lands=not self._within)

    def _texts(self, batch: Sequence[_Message]) -> list[str]:
        """Return the texts of the statements that a batch runs, and remember what it prepares."""
        texts = []
        self._batched = batch[-1].tag != ord("Q")
        for message in batch:
            match chr(message.tag):
                case "Q":
                    texts.append(_decoded(*message.texts(1)))
                case "F":
                    texts.append("a function by its number")
                case "P":
                    name, text = message.texts(2)
                    self._remember(self._statements, name, _decoded(text))
                case "B":
                    portal, name = message.texts(2)
                    self._remember(self._portals, portal, self._statements.get(name, ""))
                case "E":
                    (portal,) = message.texts(1)
                    texts.append(self._portals.get(portal, "") or "a statement without a name")
                case _:
                    pass
        return texts

    def _remember(self, names: dict[bytes, str], name: bytes, text: str) -> None:
        names.pop(name, None)
        names[name] = text
        for oldest in list(islice(names, max(len(names) - _NAMES, 0))):
            del names[oldest]

    # -- what the server answers -----------------------------------------------------------------

    def heard(self, data: bytes) -> bool:
        """Take in what the server sent, and say whether it ends the answer to the last turn."""
        ended = False
        self._heard += data
        while self._tag or self._head():
            passed = min(self._left, len(self._heard))
            # What a message holds, rows above all, is passed and not kept.
            del self._heard[:passed]
            self._left -= passed
            if self._left:
                break
            tag, self._tag = self._tag, ""
            ended = self._ends(tag, self._begins) or ended
        return ended

    def _head(self) -> bool:
        """Read the head of the server's next message, if it is there."""
        if len(self._heard) < 5:
            return False
        tag = chr(self._heard[0])
        (length,) = struct.unpack_from("!I", self._heard, 1)
        if length < (8 if tag in "KR" else 4):
            raise WireError(f"PostgreSQL's server sent a message {tag!r} of {length} bytes")
        end = min(length + 1, 5 + _LOOKED_AT.get(tag, 0))
        if len(self._heard) < end:
            return False
        self._begins = bytes(self._heard[5:end])
        self._tag, self._left = tag, length + 1
        return True

    def _ends(self, tag: str, begins: bytes) -> bool:
        """Take in one message of the server's, and say whether it ends an answer."""
        until = self._until
        if tag == "K":
            self._session = int.from_bytes(begins)
        elif tag == "Z":
            self._failed = False
            self._within = begins in (b"T", b"E")  # in a transaction, or in one that has failed
            self._until = _Until()
            return True
        elif tag == "G":
            self._copies = True
            return True
        elif tag == "E":
            self._failed = not until.begins
            self._arbitrary = self._arbitrary or _DEADLOCK in begins
            return until.begins or until.completions is not None
        elif tag == "R":
            # All is well, or SASL has ended; else the server asks something.
            return int.from_bytes(begins) not in (0, 12)
        elif ord(tag) in _COMPLETES and until.completions is not None:
            self._until = _Until(until.completions - 1)
            return until.completions == 1
        return False


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")

"""Redis' protocol, RESP2 and RESP3: a turn is one command, its answer one reply.

Between MULTI and EXEC the server only queues: EXEC alone is seen by others
(https://redis.io/docs/latest/develop/reference/protocol-spec/).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .turns import MOST, Sight, Turn, WireError, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["RedisFraming"]

_LINE: Final = 64 * 1024
"""The longest line that is no text of a given length, in bytes."""

_DEPTH: Final = 64
"""How deep a reply may be nested."""

_HIDDEN: Final = frozenset({"HELLO", "AUTH", "CLIENT", "SELECT", "PING", "SCRIPT"})
"""How a driver sets a connection up, and looks whether it still holds; with SCRIPT, it loads what
the server does not know yet."""

_UNSEEN: Final = frozenset({"MULTI", "DISCARD", "UNWATCH"})
"""What concerns the connection alone."""

_READS: Final = frozenset(
    {
        *("MULTI", "DISCARD", "WATCH", "UNWATCH", "PING", "TIME"),
        *("GET", "MGET", "EXISTS", "TYPE", "TTL", "KEYS", "SCAN", "STRLEN"),
        *("HGET", "HMGET", "HGETALL", "HEXISTS", "HLEN", "LRANGE", "LLEN", "LINDEX"),
        *("SMEMBERS", "SISMEMBER", "SCARD", "ZRANGE", "ZRANGEBYSCORE", "ZSCORE", "ZCARD"),
    }
)
"""What leaves nothing behind. What is not known may: that costs a run more."""

_UNDOES: Final = frozenset({"DISCARD", "UNWATCH"})

_ONE_LINE: Final = b"+-:_,#("
_TEXT: Final = b"$=!"
_MANY: Final = b"*~>%|"
_KINDS: Final = _ONE_LINE + _TEXT + _MANY
_PAIRS: Final = b"%|"
_ASIDE: Final = b">|"
"""A push and attributes: they are sent beside a reply's values."""


class RedisFraming:
    """One connection's turns and answers. See :class:`lawful.strategies.turns.Framing`."""

    session: int | None = None
    """Redis lets nobody wait, so there is nothing to ask about."""

    def __init__(self) -> None:
        self._asked = bytearray()
        self._arguments: list[bytes] = []
        self._left = 0
        self._size = 0
        self._raw = bytearray()
        self._queues = False
        self._repeats = False
        self._reply = _Reply()

    def arbitrary(self) -> bool:
        """Say no: what Redis does is decided by what it is sent."""
        return False

    # -- what the client sends -------------------------------------------------------------------

    def asked(self, data: bytes) -> Iterator[Turn]:
        """Take in what the client sent, and yield the turns that are whole, each when it is due."""
        self._asked += data
        while self._command():
            arguments, self._arguments = self._arguments, []
            whole, self._raw = bytes(self._raw), bytearray()
            yield self._turn(whole, arguments)

    def _command(self) -> bool:
        """Take in arguments; say whether a command is whole."""
        while True:
            if not self._left:
                line = self._line()
                if line is None:
                    return False
                if line[:1] != b"*":
                    self._arguments = line.split()
                    if self._arguments:
                        return True
                    continue
                self._left = _number(line)
                if self._left > MOST // 4:
                    raise WireError(f"a command of Redis' says that it has {self._left} words")
                self._left = max(self._left, 0)
                continue
            word = self._word()
            if word is None:
                return False
            self._arguments.append(word)
            self._left -= 1
            if not self._left:
                return True

    def _line(self) -> bytes | None:
        end = self._asked.find(b"\r\n")
        if end > _LINE or (end < 0 and len(self._asked) > _LINE):
            raise WireError(f"a line of a command of Redis' has more than {_LINE} bytes")
        return None if end < 0 else self._take(end + 2)[:-2]

    def _word(self) -> bytes | None:
        """Return the next argument: a length, and as many bytes."""
        end = self._asked.find(b"\r\n", 0, 32)
        if end < 0:
            if len(self._asked) >= 32:
                raise WireError(f"an argument of Redis' begins with {bytes(self._asked[:32])!r}")
            return None
        length = _number(bytes(self._asked[:end]))
        if self._asked[:1] != b"$" or length < 0 or len(self._raw) + length > MOST:
            raise WireError(
                f"an argument of Redis' begins with {bytes(self._asked[:end])!r}; expected $ and "
                f"its length, in a command of up to {MOST} bytes"
            )
        whole = end + 2 + length + 2
        return None if len(self._asked) < whole else self._take(whole)[end + 2 : -2]

    def _take(self, length: int) -> bytes:
        taken = bytes(self._asked[:length])
        del self._asked[:length]
        self._raw += taken
        return taken

    def _turn(self, data: bytes, arguments: Sequence[bytes]) -> Turn:
        name = arguments[0].decode("utf-8", "replace").upper()
        sight = Sight.SEEN
        if name in _HIDDEN:
            sight = Sight.HIDDEN
        elif name in _UNSEEN or (self._queues and name != "EXEC"):
            sight = Sight.UNSEEN
        elif name == "EVALSHA" and self._repeats:
            # The server did not know the script, and nothing was done: this is the same step, and
            # whether it takes two depends on what the server has been sent before.
            sight = Sight.HIDDEN
        if name not in _HIDDEN:
            self._repeats = False
        lands = name == "EXEC" or not (self._queues or name in _READS)
        self._queues = name == "MULTI" or (self._queues and name not in ("EXEC", "DISCARD"))
        words = b" ".join(arguments).decode("utf-8", "replace")
        return Turn(data, in_words(words), sight, lands=lands, undoes=name in _UNDOES)

    # -- what the server answers -----------------------------------------------------------------

    def heard(self, data: bytes) -> bool:
        """Take in what the server sent, and say whether it ends the answer to the last turn."""
        ended = self._reply.ends(data)
        if ended and self._reply.first.startswith(b"-NOSCRIPT"):
            self._repeats = True
        return ended


class _Reply:
    """Where a server is in its reply.

    Attributes:
        first: The first line of the last reply.
    """

    def __init__(self) -> None:
        self.first = b""
        self._rest = bytearray()
        self._skipped = 0
        self._open: list[int] = []
        """How many values are still to come, in each array that has begun."""
        self._aside: list[bool] = []
        """Whether each of those is none of a reply's values: a push, or attributes."""

    def ends(self, data: bytes) -> bool:
        """Take in more, and say whether a reply has ended with it."""
        ended = False
        self._rest += data
        while self._rest:
            if self._skipped:
                skipped = min(self._skipped, len(self._rest))
                del self._rest[:skipped]
                self._skipped -= skipped
                ended = (not self._skipped and self._complete()) or ended
                continue
            end = self._rest.find(b"\r\n", 0, _LINE)
            if end < 0:
                if len(self._rest) >= _LINE:
                    raise WireError(f"a line of a reply of Redis' has more than {_LINE} bytes")
                break
            line = bytes(self._rest[:end])
            del self._rest[: end + 2]
            ended = self._begin(line) or ended
        return ended

    def _begin(self, line: bytes) -> bool:
        """Take in a line; say whether a reply has ended with it."""
        if not self._open:
            self.first = line
        kind = line[:1]
        if not kind or kind not in _KINDS:
            raise WireError(f"a reply of Redis' begins with {line[:32]!r}")
        if kind in _ONE_LINE:
            return self._complete()
        length = _number(line)
        if kind in _TEXT:
            self._skipped = length + 2 if length >= 0 else 0  # a text that is not there has no end
            return length < 0 and self._complete()
        if length <= 0 and kind not in _ASIDE:
            return self._complete()
        if len(self._open) >= _DEPTH:
            raise WireError(f"a reply of Redis' is nested deeper than {_DEPTH}")
        # It is whole when its values are, and then counts as one itself.
        self._open.append(max(length, 0) * (2 if kind in _PAIRS else 1) + 1)
        self._aside.append(kind in _ASIDE)
        return self._complete()

    def _complete(self) -> bool:
        """Take in that a value is whole; say whether a reply is whole with it."""
        while self._open:
            self._open[-1] -= 1
            if self._open[-1]:
                return False
            self._open.pop()
            if self._aside.pop():
                return False
        return True


def _number(line: bytes) -> int:
    """Return the number behind a line's first byte."""
    digits = line[1:]
    if not digits.removeprefix(b"-").isdigit() or len(digits) > 19:
        raise WireError(
            f"a line of Redis' is {line[:32]!r}; expected a number behind its first byte"
        )
    return int(digits)

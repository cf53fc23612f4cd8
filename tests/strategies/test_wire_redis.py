"""Redis' bytes are cut into commands and replies, in both versions of its protocol."""

from __future__ import annotations

import pytest

from lawful.strategies.turns import MOST, Sight, Turn, WireError
from lawful.strategies.wire_redis import RedisFraming


def command(*words: str) -> bytes:
    told = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    return f"*{len(words)}\r\n{''.join(told)}".encode()


def sights(*commands: str) -> list[tuple[str, Sight]]:
    """Return who can tell when each of some commands runs, sent one after the other."""
    framing = RedisFraming()
    data = b"".join(command(*each.split()) for each in commands)
    return [(turn.text, turn.sight) for turn in framing.asked(data)]


# -- turns -----------------------------------------------------------------------------------------


def test_a_command_is_a_turn_with_its_words() -> None:
    asked = command("HSET", "task", "version", "ö 1")
    assert list(RedisFraming().asked(asked)) == [
        Turn(asked, "HSET task version ö 1", Sight.SEEN, lands=True),
    ]


def test_commands_sent_at_once_are_a_turn_each() -> None:
    both = [command("GET", "a"), command("SET", "b", "")]
    assert [turn.data for turn in RedisFraming().asked(b"".join(both))] == both


def test_a_turn_is_whole_only_with_its_last_byte() -> None:
    framing, asked = RedisFraming(), command("SET", "key", "a\r\nb")
    for byte in range(len(asked) - 1):
        assert list(framing.asked(asked[byte : byte + 1])) == []
    assert list(framing.asked(asked[-1:])) == [
        Turn(asked, "SET key a b", Sight.SEEN, lands=True),
    ]


def test_a_command_typed_by_hand_is_a_turn() -> None:
    assert list(RedisFraming().asked(b"\r\nGET key\r\n")) == [
        Turn(b"\r\nGET key\r\n", "GET key", Sight.SEEN)
    ]


def test_how_a_connection_is_set_up_is_not_told() -> None:
    for name in ("HELLO 3 AUTH me secret", "auth secret", "CLIENT SETINFO x y", "SELECT 1", "PING"):
        assert [sight for _, sight in sights(name)] == [Sight.HIDDEN]


def landing(*commands: str) -> list[str]:
    """Return which of some commands, sent one after the other, may leave something behind."""
    framing = RedisFraming()
    data = b"".join(command(*each.split()) for each in commands)
    return [turn.text for turn in framing.asked(data) if turn.lands]


def test_what_is_queued_lands_with_exec_and_with_discard_not_at_all() -> None:
    assert landing("WATCH k", "GET k", "MULTI", "SET k 1", "INCR n", "EXEC") == ["EXEC"]
    assert landing("MULTI", "SET k 1", "DISCARD", "SET k 2") == ["SET k 2"]
    assert landing("MULTI", "SET k 1", "EXEC", "HSET k f 1") == ["EXEC", "HSET k f 1"]


def test_a_write_by_itself_lands_and_so_may_what_is_not_known() -> None:
    alone = ["set k 1", "EVAL script 0", "EVALSHA digest 0", "BLMOVE a b LEFT RIGHT 0", "FLY high"]
    assert landing(*alone) == alone
    assert landing("GET k", "hgetall k", "SMEMBERS k", "ZRANGEBYSCORE k 0 1", "PING") == []


def test_what_takes_back_is_told() -> None:
    framing = RedisFraming()
    data = b"".join(map(command, ("MULTI", "DISCARD", "UNWATCH", "EXEC")))
    assert [turn.text for turn in framing.asked(data) if turn.undoes] == ["DISCARD", "UNWATCH"]


def test_between_multi_and_exec_only_exec_is_seen() -> None:
    assert sights("WATCH k", "GET k", "MULTI", "SET k 1", "INCR n", "EXEC", "SET k 2") == [
        ("WATCH k", Sight.SEEN),
        ("GET k", Sight.SEEN),
        ("MULTI", Sight.UNSEEN),
        ("SET k 1", Sight.UNSEEN),
        ("INCR n", Sight.UNSEEN),
        ("EXEC", Sight.SEEN),
        ("SET k 2", Sight.SEEN),
    ]


def test_a_transaction_that_is_given_up_is_not_seen() -> None:
    assert [sight for _, sight in sights("MULTI", "SET k 1", "DISCARD", "UNWATCH", "SET k 2")] == [
        *[Sight.UNSEEN] * 4,
        Sight.SEEN,
    ]


def test_a_script_that_the_server_did_not_know_is_one_step() -> None:
    framing, told = RedisFraming(), []
    answers = {"EVALSHA": b"-NOSCRIPT No matching script.\r\n", "SCRIPT": b"$2\r\nab\r\n"}
    for name in ("EVALSHA", "SCRIPT", "EVALSHA", "EVALSHA"):
        (turn,) = framing.asked(command(name, "ab"))
        told.append(turn.sight)
        assert framing.heard(answers[name])
        answers["EVALSHA"] = b":1\r\n" if name == "SCRIPT" else answers["EVALSHA"]
    assert told == [Sight.SEEN, Sight.HIDDEN, Sight.HIDDEN, Sight.SEEN]


# -- replies ---------------------------------------------------------------------------------------

REPLIES = [
    b"+OK\r\n",
    b"-ERR no such key\r\n",
    b":-12\r\n",
    b"$5\r\na\r\nbc\r\n",
    b"$0\r\n\r\n",
    b"$-1\r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n",
    b"*2\r\n*0\r\n*1\r\n*0\r\n",
    b"_\r\n",
    b"#t\r\n",
    b",1.5e3\r\n",
    b"(12345678901234567890123\r\n",
    b"!5\r\nERR x\r\n",
    b"=6\r\ntxt:ab\r\n",
    b"%2\r\n+a\r\n:1\r\n+b\r\n~1\r\n:2\r\n",
    b"%0\r\n",
    b"|1\r\n+ttl\r\n:3\r\n+OK\r\n",
    b">2\r\n+invalidate\r\n*1\r\n+key\r\n+OK\r\n",
    b"*2\r\n|1\r\n+a\r\n:1\r\n:5\r\n:6\r\n",
]


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_ends_with_its_last_byte_and_not_before(reply: bytes) -> None:
    framing = RedisFraming()
    for _ in range(2):
        ends = [framing.heard(reply[at : at + 1]) for at in range(len(reply))]
        assert ends == [False] * (len(reply) - 1) + [True]
    assert framing.heard(reply)


def test_a_push_by_itself_is_no_reply() -> None:
    assert not RedisFraming().heard(b">3\r\n+message\r\n+channel\r\n$2\r\nhi\r\n")


def test_a_long_reply_is_read_in_pieces() -> None:
    framing = RedisFraming()
    reply = b"*20000\r\n" + b"$3\r\nabc\r\n" * 20000
    pieces = [reply[at : at + 4099] for at in range(0, len(reply), 4099)]
    ends = [framing.heard(piece) for piece in pieces]
    assert ends == [False] * (len(pieces) - 1) + [True]


# -- what is no protocol ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"*x\r\n", r"b'\*x'; expected a number"),
        (b"*2\r\n+GET\r\n", r"b'\+GET'"),
        (b"*1\r\n:3\r\nGET\r\n", r"begins with b':3'; expected \$ and its length"),
        (b"*1\r\n$-1\r\n", r"begins with b'\$-1'"),
        (b"*1\r\n$%d\r\n" % (MOST + 1), f"up to {MOST} bytes"),
        (b"*%d\r\n" % MOST, "a command of Redis' says that it has"),
        (b"*1\r\n" + b"$" * 40, "an argument of Redis' begins with"),
        (b"x" * 70_000, "more than 65536 bytes"),
    ],
)
def test_a_client_that_speaks_something_else_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(WireError, match=told):
        list(RedisFraming().asked(data))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"HTTP/1.1 200 OK\r\n", "begins with b'HTTP/1.1 200 OK'"),
        (b"\r\n", "begins with b''"),
        (b"$one\r\n", "expected a number"),
        (b"*1\r\n" * 65, "nested deeper than 64"),
        (b"+" + b"x" * 70_000, "more than 65536 bytes"),
    ],
)
def test_a_server_that_speaks_something_else_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(WireError, match=told):
        RedisFraming().heard(data)

"""PostgreSQL's messages are cut into turns and answers, by the bytes alone."""

from __future__ import annotations

import struct

import pytest

from lawful.strategies.turns import MOST, Sight, Turn, WireError
from lawful.strategies.wire_postgresql import PostgresqlFraming, may_land, sight_of


def sent(tag: str, body: bytes = b"") -> bytes:
    """Return a message: its tag, its length, the length's own 4 bytes included, and its body."""
    return tag.encode() + struct.pack("!I", len(body) + 4) + body


STARTUP = struct.pack("!II", 17, 3 << 16) + b"user\0me\0\0"
READY = sent("Z", b"I")
SYNC = sent("S")


def parse(name: str, text: str) -> bytes:
    return sent("P", f"{name}\0{text}\0".encode() + b"\0\0")


def bind(name: str, portal: str = "") -> bytes:
    return sent("B", f"{portal}\0{name}\0".encode() + bytes(6))


EXECUTE = sent("E", b"\0" + bytes(4))
DESCRIBE = sent("D", b"P\0")


def query(text: str) -> bytes:
    return sent("Q", text.encode() + b"\0")


@pytest.fixture
def begun() -> PostgresqlFraming:
    """A connection that has begun."""
    framing = PostgresqlFraming()
    assert list(framing.asked(STARTUP)) == [Turn(STARTUP)]
    assert framing.heard(sent("R", bytes(4)) + sent("K", struct.pack("!II", 4711, 99)) + READY)
    return framing


def turns(framing: PostgresqlFraming, data: bytes) -> list[Turn]:
    """Return the turns of what a client sends, each answered before the next is taken."""
    found = []
    for turn in framing.asked(data):
        found.append(turn)
        if turn.answered and turn.data:
            framing.heard(READY)
    return found


# -- how a connection begins -----------------------------------------------------------------------


@pytest.mark.parametrize("code", [80877103, 80877104])
def test_encryption_is_declined_and_the_server_not_asked(code: int) -> None:
    framing = PostgresqlFraming()
    asks = struct.pack("!II", 8, code)
    assert turns(framing, asks + STARTUP) == [Turn(b"", reply=b"N"), Turn(STARTUP)]


def test_a_request_to_cancel_is_handed_on_and_has_no_answer() -> None:
    cancel = struct.pack("!IIII", 16, 80877102, 4711, 99)
    assert turns(PostgresqlFraming(), cancel) == [Turn(cancel, answered=False)]


def test_a_password_is_asked_for_and_given_before_the_connection_is_ready() -> None:
    framing = PostgresqlFraming()
    list(framing.asked(STARTUP))
    assert framing.heard(sent("R", struct.pack("!I", 10) + b"SCRAM-SHA-256\0\0"))
    given = sent("p", b"secret")
    assert list(framing.asked(given)) == [Turn(given)]
    assert not framing.heard(sent("R", struct.pack("!I", 12) + b"v=..."))
    assert not framing.heard(sent("R", bytes(4)))
    assert framing.heard(READY)


def test_the_server_process_is_known_by_its_number(begun: PostgresqlFraming) -> None:
    assert begun.session == 4711
    assert PostgresqlFraming().session is None


def test_a_refusal_ends_the_answer_to_a_connection_that_begins() -> None:
    framing = PostgresqlFraming()
    list(framing.asked(STARTUP))
    assert framing.heard(sent("E", b"SFATAL\0\0"))


# -- turns -----------------------------------------------------------------------------------------


def test_a_query_is_a_turn_with_its_text(begun: PostgresqlFraming) -> None:
    asked = query("UPDATE task\n   SET version = 1")
    assert turns(begun, asked) == [
        Turn(asked, "UPDATE task SET version = 1", Sight.SEEN, lands=True),
    ]


def test_a_batch_is_one_turn_as_far_as_its_sync(begun: PostgresqlFraming) -> None:
    first = parse("", "SELECT 1") + bind("") + DESCRIBE + EXECUTE + SYNC
    second = parse("", "SELECT 2") + bind("") + EXECUTE + SYNC
    assert turns(begun, first + second) == [
        Turn(first, "SELECT 1", Sight.SEEN),
        Turn(second, "SELECT 2", Sight.SEEN),
    ]


def test_what_runs_in_one_batch_is_told_together(begun: PostgresqlFraming) -> None:
    batch = b"".join(
        parse("", text) + bind("") + EXECUTE for text in ("BEGIN", "SELECT 1", "SELECT 2")
    )
    assert turns(begun, batch + SYNC) == [
        Turn(batch + SYNC, "BEGIN; SELECT 1; SELECT 2", Sight.SEEN)
    ]


def test_a_turn_is_whole_only_with_its_last_byte(begun: PostgresqlFraming) -> None:
    asked = parse("", "SELECT 1") + bind("") + EXECUTE + SYNC
    for byte in range(len(asked) - 1):
        assert list(begun.asked(asked[byte : byte + 1])) == []
    assert list(begun.asked(asked[-1:])) == [Turn(asked, "SELECT 1", Sight.SEEN)]


def test_a_prepared_statement_is_told_as_before_it_was_prepared(begun: PostgresqlFraming) -> None:
    text = "SELECT version FROM task"
    (plain,) = turns(begun, parse("", text) + bind("") + EXECUTE + SYNC)
    (prepares,) = turns(begun, parse("_pg3_0", text) + SYNC)
    (prepared,) = turns(begun, bind("_pg3_0") + DESCRIBE + EXECUTE + SYNC)
    assert (prepared.text, prepared.sight) == (plain.text, plain.sight) == (text, Sight.SEEN)
    assert (prepares.text, prepares.sight) == ("", Sight.HIDDEN)


def test_a_connection_does_not_know_what_another_has_prepared(begun: PostgresqlFraming) -> None:
    (turn,) = turns(begun, bind("_pg3_0") + EXECUTE + SYNC)
    assert turn.text == "a statement without a name"


def test_of_endless_prepared_statements_the_oldest_are_forgotten(begun: PostgresqlFraming) -> None:
    turns(begun, b"".join(parse(f"s{n}", f"SELECT {n}") for n in range(5000)) + SYNC)
    told = [turns(begun, bind(f"s{n}") + EXECUTE + SYNC)[0].text for n in (0, 903, 904, 4999)]
    assert told == ["a statement without a name"] * 2 + ["SELECT 904", "SELECT 4999"]


def test_the_end_of_a_connection_has_no_answer(begun: PostgresqlFraming) -> None:
    assert turns(begun, sent("X")) == [Turn(sent("X"), answered=False)]


@pytest.mark.parametrize(
    ("text", "sight"),
    [
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", Sight.UNSEEN),
        ("start transaction", Sight.UNSEEN),
        ("  -- a word before\n /* and\n another */ SET x = 1;  ", Sight.UNSEEN),
        ("SHOW timezone", Sight.UNSEEN),
        ("DISCARD ALL", Sight.UNSEEN),
        ('SAVEPOINT "_pg3_1"', Sight.UNSEEN),
        ('RELEASE "_pg3_1"', Sight.UNSEEN),
        ("DEALLOCATE _pg3_0", Sight.HIDDEN),
        ("ROLLBACK TO x", Sight.SEEN),
        ("COMMIT", Sight.SEEN),
        ("SELECT 1", Sight.SEEN),
        ("BEGIN; UPDATE task SET version = 2", Sight.SEEN),
        ("SETTING", Sight.SEEN),
        ("", Sight.SEEN),
    ],
)
def test_who_can_tell_when_a_statement_runs(text: str, sight: Sight) -> None:
    assert sight_of(text) is sight


@pytest.mark.parametrize(
    ("text", "alone", "within"),
    [
        ("UPDATE task SET version = 1", True, False),
        ("WITH one AS (DELETE FROM task RETURNING id) SELECT * FROM one", True, False),
        ("FLY high", True, False),
        ("SELECT id FROM task FOR UPDATE", False, False),
        ("SELECT add_job($1)", True, False),
        ("SELECT id INTO kept FROM task", True, False),
        ("SELECT intov FROM task", False, False),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", False, False),
        ('SAVEPOINT "_pg3_1"', False, False),
        ('RELEASE "_pg3_1"', False, False),
        ("ROLLBACK TO x", False, False),
        ("ROLLBACK", False, False),
        ("COMMIT", True, True),
        ("/* the end */ end", True, True),
        ("BEGIN; UPDATE task SET version = 2; COMMIT", True, True),
        ("", True, False),
    ],
)
def test_what_may_leave_something_behind(text: str, alone: bool, within: bool) -> None:
    assert may_land(text, within=False) is alone
    assert may_land(text, within=True) is within


IN_TRANSACTION, FAILED = sent("Z", b"T"), sent("Z", b"E")


def test_the_server_says_whether_a_transaction_is_open(begun: PostgresqlFraming) -> None:
    lands = []
    for text, ready in (
        ("UPDATE a", READY),
        ("BEGIN", IN_TRANSACTION),
        ("UPDATE a", IN_TRANSACTION),
        ("SAVEPOINT s", IN_TRANSACTION),
        ("UPDATE a", FAILED),
        ("UPDATE a", FAILED),
        ("ROLLBACK TO s", IN_TRANSACTION),
        ("UPDATE a", IN_TRANSACTION),
        ("COMMIT", READY),
        ("UPDATE a", READY),
    ):
        (turn,) = begun.asked(query(text))
        begun.heard(ready)
        lands.append(turn.lands)
    assert lands == [True, *[False] * 7, True, True]


def test_a_batch_lands_by_any_of_its_statements(begun: PostgresqlFraming) -> None:
    def batch(*texts: str) -> bytes:
        return b"".join(parse("", text) + bind("") + EXECUTE for text in texts) + SYNC

    told = [
        turn.lands
        for texts in (("BEGIN", "UPDATE a"), ("BEGIN", "UPDATE a", "COMMIT"), ("SELECT a",))
        for turn in turns(begun, batch(*texts))
    ]
    assert told == [False, True, False]


def test_what_takes_back_is_told(begun: PostgresqlFraming) -> None:
    texts = ("ROLLBACK", "abort", "ROLLBACK TO s", "COMMIT", "DISCARD ALL")
    undoes = [turn.undoes for text in texts for turn in turns(begun, query(text))]
    assert undoes == [True, True, True, False, False]


def test_a_long_text_is_told_in_part(begun: PostgresqlFraming) -> None:
    (turn,) = turns(begun, query("SELECT " + "x" * 1000))
    assert turn.text == "SELECT " + "x" * 390 + "..."


# -- answers ---------------------------------------------------------------------------------------


def test_an_answer_ends_when_the_server_is_ready_and_not_before(begun: PostgresqlFraming) -> None:
    list(begun.asked(query("SELECT 1")))
    rows = sent("T", bytes(9)) + sent("D", b"Z" * 1000) + sent("C", b"SELECT 1\0")
    answer = sent("N", b"a notice") + rows + sent("E", b"an error") + READY
    ends = [begun.heard(answer[at : at + 1]) for at in range(len(answer))]
    assert ends == [False] * (len(answer) - 1) + [True]


def test_the_end_of_a_deadlock_is_the_servers_choice(begun: PostgresqlFraming) -> None:
    list(begun.asked(query("SELECT 1")))
    for code, told in (("40P01", True), ("40001", False)):
        error = sent("E", f"SFEHLER\0VERROR\0C{code}\0Mdeadlock\0D".encode() + b"x" * 900 + b"\0\0")
        assert [begun.heard(error[at : at + 1]) for at in range(len(error))] == [False] * len(error)
        assert begun.heard(READY)
        assert (begun.arbitrary(), begun.arbitrary()) == (told, False)


def test_an_answer_ends_with_what_follows_it_too(begun: PostgresqlFraming) -> None:
    list(begun.asked(query("SELECT 1")))
    notice = sent("A", bytes(4) + b"channel\0\0")
    assert begun.heard(READY + notice[:3])
    assert not begun.heard(notice[3:])


def test_a_flushed_batch_is_answered_by_as_many_completions(begun: PostgresqlFraming) -> None:
    batch = parse("", "SELECT 1") + bind("") + DESCRIBE + EXECUTE
    assert list(begun.asked(batch + sent("H"))) == [Turn(batch + sent("H"), "SELECT 1", Sight.SEEN)]
    parts = [sent("1"), sent("2"), sent("T", bytes(2)), sent("D", bytes(8)), sent("C", b"SELECT\0")]
    assert [begun.heard(part) for part in parts] == [False] * 4 + [True]
    assert list(begun.asked(SYNC)) == [Turn(SYNC)]
    assert begun.heard(READY)


def test_what_is_flushed_after_an_error_has_no_answer(begun: PostgresqlFraming) -> None:
    batch = parse("", "SELEKT") + bind("") + EXECUTE + sent("H")
    (turn,) = begun.asked(batch)
    assert turn.answered
    assert begun.heard(sent("E", b"an error"))
    (again,) = begun.asked(batch)
    assert not again.answered
    list(begun.asked(SYNC))
    assert begun.heard(READY)
    (later,) = begun.asked(batch)
    assert later.answered


@pytest.mark.parametrize("batched", [False, True])
def test_the_rows_of_a_copy_are_a_turn_of_their_own(
    begun: PostgresqlFraming, batched: bool
) -> None:
    text = "COPY task FROM STDIN"
    asked = parse("", text) + bind("") + EXECUTE + SYNC if batched else query(text)
    assert list(begun.asked(asked)) == [Turn(asked, text, Sight.SEEN, lands=True)]
    assert begun.heard(sent("G", bytes(3)))
    rows = sent("d", b"1\t0\n") + sent("d", b"2\t0\n") + sent("c") + (SYNC if batched else b"")
    assert list(begun.asked(rows[:-1])) == []
    assert list(begun.asked(rows[-1:])) == [Turn(rows, "COPY: its rows", Sight.SEEN, lands=True)]
    assert not begun.heard(sent("C", b"COPY 2\0"))
    assert begun.heard(READY)
    assert turns(begun, query("SELECT 1"))[0].text == "SELECT 1"


# -- what is no message ----------------------------------------------------------------------------


def test_a_message_that_is_too_long_is_refused(begun: PostgresqlFraming) -> None:
    with pytest.raises(WireError, match=rf"{MOST + 1} bytes; expected 4 to {MOST} in one turn"):
        list(begun.asked(b"Q" + struct.pack("!I", MOST + 1)))


def test_a_batch_that_is_too_long_is_refused(begun: PostgresqlFraming) -> None:
    assert list(begun.asked(sent("P", bytes(100)))) == []
    with pytest.raises(WireError, match="in one turn"):
        list(begun.asked(b"P" + struct.pack("!I", MOST - 50)))


def test_another_protocol_is_refused() -> None:
    with pytest.raises(WireError, match="PostgreSQL"):
        list(PostgresqlFraming().asked(b"GET / HTTP/1.1\r\n\r\n"))


def test_a_message_without_its_end_is_refused(begun: PostgresqlFraming) -> None:
    with pytest.raises(WireError, match="a message 'P' of PostgreSQL's ends in its midst"):
        list(begun.asked(sent("P", b"name") + SYNC))


def test_a_server_that_sends_no_messages_is_refused(begun: PostgresqlFraming) -> None:
    with pytest.raises(WireError, match="sent a message 'Z' of 3 bytes"):
        begun.heard(b"Z" + struct.pack("!I", 3))

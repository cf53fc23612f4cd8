"""Every refusal of a table's content: its line, the value it names and the nearest right name."""

from pathlib import Path

import pytest

from lawful.spec import Letter, Name, SpecError, parse_table

TEXT = Path(__file__).with_name("ticket.toml").read_text("utf-8")


def edited(old: str, new: str, text: str = TEXT) -> str:
    assert text.count(old) == 1, f"{old!r} must stand in the text once"
    return text.replace(old, new)


def refusal(text: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        parse_table(text, "ticket.toml")
    error = caught.value
    assert str(error).startswith(
        "ticket.toml:" if error.line is None else f"ticket.toml:{error.line}: "
    )
    assert "\n" not in str(error)
    return error


IF = 'if = [["how", "==", "bad", "fine"], ["tries", "<", "limit", "spent"]], '
FIRST = '["how", "==", "bad", "fine"]'
SECOND = '["tries", "<", "limit", "spent"]'
BRANCHES = TEXT[TEXT.index("  { if") : TEXT.index("]\n\n[event.take]")]
ON_EXPIRY = 'on_expiry = { event = "report", payload = { how = "bad", sure = false } }'

# what is written, what in its place: line, said, hint
REFUSALS = [
    # the top
    (
        '"lawful-spec/1"',
        '"lawful-spec/2"',
        1,
        ["'lawful-spec/2'", "lawful-spec/1"],
        "lawful-spec/1",
    ),
    ('"lawful-spec/1"', "1", 1, ["format is an integer, 1;", "a string"], None),
    ('format = "lawful-spec/1"\n', "", 1, ["key 'format' is missing at the top"], None),
    ("initial =", "inital =", 3, ["unknown key 'inital' at the top", "initial"], "initial"),
    ('name = "ticket"', 'name = "Ticket"', 2, ["'Ticket' is no name", "a lower-case letter"], None),
    ('name = "ticket"', 'name = "a/b"', 2, ["'a/b' is no name"], None),
    ('name = "ticket"', 'name = ""', 2, ["'' is no name"], None),
    ('name = "ticket"', f'name = "{"x" * 65}"', 2, ["64 characters at most"], None),
    ('name = "ticket"', 'name = "t"\nversion = 0', 3, ["version is 0;", "1 or more"], None),
    ('name = "ticket"', 'name = "t"\nversion = true', 3, ["version is a boolean, true;"], None),
    ('initial = "new"', 'initial = "nwe"', 3, ["'nwe' is not a state", "new, held"], "new"),
    ('["closed", "lost"]', '["closed", "lots"]', 4, ["terminal[1]: 'lots' is not a state"], "lost"),
    ('["closed", "lost"]', '["lost", "lost"]', 4, ["'lost' stands twice in terminal"], None),
    ('["closed", "lost"]', '"lost"', 4, ["terminal is a string, 'lost';", "an array"], None),
    ('"report", "drop"]', '"take", "drop"]', 5, ["'take' stands twice in events"], None),
    ('"report", "drop"]', '"re port", "drop"]', 5, ["'re port' is no name"], None),
    ('["take", "report", "drop"]', "[]", 5, ["events holds 0 of at least 1"], None),
    ("legal = 4", "legal = 5", 6, ["counts.legal says 5", "holds 4"], None),
    ("noop = 1", "noop = 0", 6, ["counts.noop says 0", "holds 1"], None),
    ("refused = 7", "refused = 8", 6, ["counts.refused says 8", "holds 7"], None),
    ("noop = 1", "noops = 1", 6, ["unknown key 'noops' in counts", "legal, noop"], "noop"),
    (", noop = 1", "", 6, ["key 'noop' is missing in counts"], None),
    ("legal = 4", "legal = 4.0", 6, ["counts.legal is a float, 4.0;", "an integer"], None),
    ("legal = 4", "legal = -4", 6, ["counts.legal is -4;", "0 or more"], None),
    # the table
    (
        '"?again", "lost"]',
        '"?again"]',
        10,
        ["row 'held' has 2 cells; it needs 3", "take, report"],
        None,
    ),
    ('"?again", "lost"]', '"?again", "lots"]', 10, ["table.held[2]: 'lots' is not"], "lost"),
    ('"?again", "lost"]', '"?agian", "lost"]', 10, ["'?agian' is not", "?again"], "?again"),
    ('"?again", "lost"]', '"?again", 1]', 10, ["table.held[2] is an integer, 1;"], None),
    ('closed = ["-",    "-",      "="]\n', "", 4, ["'closed' is not a state with a row"], "lost"),
    (
        'held   = ["-",    "?again", "lost"]\n',
        "",
        9,
        ["'held' is not '-', '=', a state with a row"],
        None,
    ),
    ("lost   =", "Lost   =", 12, ["'Lost' is no name"], None),
    ("lost   =", "new =", 12, ["a key is written twice", "new ="], None),
    ("[table]", "[tables]", 8, ["unknown key 'tables'"], "table"),
    (
        'lost   = ["-",    "-",      "-"]',
        'lost   = ["-",    "-",      "new"]',
        12,
        ["'lost' is terminal, but 'drop' leads from it to 'new'"],
        None,
    ),
    ('["closed", "lost"]', '["closed"]', 12, ["nothing leaves 'lost': add it to terminal"], None),
    ('new    = ["held"', 'new    = ["-"', 10, ["no way leads from 'new' to 'held'"], None),
    # guards
    ("[guard.again]", "[guard.Again]", 14, ["'Again' is no name"], None),
    ('"?again"', '"new"', 14, ["guard 'again' is not used: no cell is '?again'"], None),
    (
        "[guard.again]\nwhen",
        "[guard.again]\nif",
        15,
        ["unknown key 'if' in guard.again", "when"],
        None,
    ),
    (BRANCHES, "", 15, ["guard.again.when holds 0 of at least 1"], None),
    (
        'to = "closed", add = { reports = 1 }',
        IF + 'to = "closed"',
        17,
        ["last branch of guard 'again' has an 'if'"],
        None,
    ),
    (IF, "", 16, ["branch 1 of guard 'again' has no 'if'"], None),
    (IF, "if = [], ", 16, ["guard.again.when[0].if holds 0 of at least 1"], None),
    ('to = "closed"', 'to = "colsed"', 17, ["'colsed' is not a state"], "closed"),
    ('{ to = "closed", add', "{ add", 17, ["key 'to' is missing in guard.again.when[1]"], None),
    ('to = "closed", add', 'to = "closed", ad', 17, ["unknown key 'ad'"], "add"),
    ("reports = 1", "reports = 0", 17, ["add.reports is 0;", "1 or more"], None),
    ("reports = 1", 'reports = "1"', 17, ["add.reports is a string, '1';"], None),
    ("reports = 1", "Reports = 1", 17, ["'Reports' is no name"], None),
    ('to = "closed"', 'to = "?again"', 17, ["in a circle: again -> again;"], None),
    ('to = "closed"', 'to = "?other"', 17, ["guard 'again' leads to guard 'other'"], None),
    (', "fine"]', "]", 16, ["['how', '==', 'bad'] has 3 parts", "a condition has 4"], None),
    (
        '"tries", "<"',
        '"tires", "<"',
        16,
        ["'tires' is no counter, parameter", "of report"],
        "tries",
    ),
    ('"tries", "<"', '3, "<"', 16, ["if[1][0] is an integer, 3;", "a string"], None),
    ('"tries", "<"', '"tries", "<<="', 16, ["'<<=' is not an operator", "==, !=, <, <="], "<="),
    ('"limit", "spent"', '"limits", "spent"', 16, ["'limits' is neither"], "limit"),
    ('"bad", "fine"', '"bed", "fine"', 16, ["'bed' is neither", "good, bad"], "bad"),
    ('"limit", "spent"', '1.5, "spent"', 16, ["is a float, 1.5;", "an integer"], None),
    (
        '"limit", "spent"',
        '3000000000, "spent"',
        16,
        ["is 3000000000; it must be 2147483647 at"],
        None,
    ),
    ('"limit", "spent"', 'true, "spent"', 16, ["'tries' < true compares", "is a number"], None),
    ('"limit", "spent"', '"how", "spent"', 16, ["'tries' < 'how' compares", "is a number"], None),
    (
        '"how", "==", "bad"',
        '"how", "<", "bad"',
        16,
        ["'how' < 'bad' compares", "'good', 'bad'"],
        None,
    ),
    ('"how", "==", "bad"', '"how", "==", 1', 16, ["'how' == 1 compares"], None),
    ('"how", "==", "bad"', '"how", "==", "tries"', 16, ["'how' == 'tries' compares"], None),
    ('"how", "==", "bad"', '"how", "==", "sure"', 16, ["'how' == 'sure' compares"], None),
    ('"how", "==", "bad"', '"sure", "==", 1', 16, ["'sure' == 1 compares", "true, false"], None),
    ('"how", "==", "bad"', '"sure", ">", true', 16, ["'sure' > true compares"], None),
    ('"how", "==", "bad"', '"how", "==", true', 16, ["'how' == true compares"], None),
    ('"spent"', '"fine"', 16, ["failure word 'fine' stands twice"], None),
    ('"spent"', '"a+b"', 16, ["'a+b' is no name"], None),
    ('"spent"', "1", 16, ["is an integer, 1;"], None),
    ('["good", "bad"]', '["good", "bad", "limit"]', 24, [], None),  # not an error until it is used
    # events
    ("[event.take]", "[event.tkae]", 20, ["[event.tkae]: 'tkae' is not an event"], "take"),
    ("[event.take]\nadd", "[event.take]\nadds", 21, ["unknown key 'adds' in event.take"], "add"),
    ("tries = 1", "tries = -1", 21, ["add.tries is -1;", "1 or more"], None),
    ("tries = 1", "tries = true", 21, ["add.tries is a boolean, true;"], None),
    ("add = { tries = 1 }", "add = 1", 21, ["event.take.add is an integer, 1;", "a table"], None),
    ('sure = "bool"', 'sure = "boolean"', 24, ["'boolean' is not a payload type"], "bool"),
    ('sure = "bool"', "sure = 1", 24, ["payload.sure is an integer, 1;", "an array"], None),
    ('sure = "bool"', "sure = []", 24, ["payload.sure holds 0 of at least 1"], None),
    ('sure = "bool"', "sure = [true]", 24, ["payload.sure[0] is a boolean, true;"], None),
    (
        '["good", "bad"]',
        '["bad", "bad"]',
        24,
        ["'bad' stands twice in event.report.payload.how"],
        None,
    ),
    ('sure = "bool"', "'s-e' = \"bool\"", 24, ["'s-e' is no name"], None),
    ('sure = "bool"', 'tries = "bool"', 24, ["'tries' is a payload field and a counter"], None),
    ('sure = "bool"', 'limit = "bool"', 24, ["'limit' is a payload field and a parameter"], None),
    # parameters
    ("[params.limit]", "[params.tries]", 26, ["'tries' is a parameter and a counter"], None),
    ("[params.limit]", "[params.li-mit]", 26, ["'li-mit' is no name"], None),
    ("default = 2", "default = 3", 27, ["default 3 is not in its 'check' values 1, 2"], None),
    ("default = 2", "default = 0", 27, ["params.limit.default is 0;"], None),
    ("default = 2\n", "", 26, ["key 'default' is missing in params.limit"], None),
    ("check = [1, 2]", "check = []", 28, ["params.limit.check holds 0 of at least 1"], None),
    ("check = [1, 2]", "check = [1, 2, 1]", 28, ["1 stands twice in params.limit.check"], None),
    ("check = [1, 2]", "check = [0, 2]", 28, ["params.limit.check[0] is 0;", "1 or more"], None),
    ("check = [1, 2]", "chekc = [1, 2]", 28, ["unknown key 'chekc'"], "check"),
    # the lease
    ('granted_by = ["take"]', 'granted_by = ["tkae"]', 31, ["'tkae' is not an event"], "take"),
    (
        'granted_by = ["take"]',
        "granted_by = []",
        31,
        ["lease.granted_by holds 0 of at least 1"],
        None,
    ),
    ('granted_by = ["take"]\n', "", 30, ["key 'granted_by' is missing in lease"], None),
    (
        'needed_by = ["report"]',
        'needed_by = ["reprot"]',
        32,
        ["'reprot' is not an event"],
        "report",
    ),
    ('held_in = ["held"]', 'held_in = ["hold"]', 33, ["'hold' is not a state"], "held"),
    ('held_in = ["held"]', "held_in = []", 33, ["lease.held_in holds 0"], None),
    ("seconds = 30", "seconds = 0", 34, ["lease.seconds is 0;"], None),
    ("seconds = 30", "seconds = 1.5", 34, ["lease.seconds is a float, 1.5;"], None),
    ("seconds = 30", "seconds = 2024-01-01", 34, ["lease.seconds is a date or time, "], None),
    ('"strict"', '"strikt"', 35, ["'strikt' is not a kind of expiry", "lazy, strict"], "strict"),
    (
        'event = "report", payload',
        'event = "rport", payload',
        36,
        ["'rport' is not an event"],
        "report",
    ),
    (
        'how = "bad", sure',
        'how = "bda", sure',
        36,
        ["payload.how is 'bda';", "'good', 'bad'"],
        "bad",
    ),
    ("sure = false", "sure = 0", 36, ["payload.sure is 0;", "true, false"], None),
    (", sure = false", "", 36, ["key 'sure' is missing in lease.on_expiry.payload"], None),
    (
        "sure = false",
        "sure = false, x = 1",
        36,
        ["unknown key 'x' in lease.on_expiry.payload"],
        None,
    ),
    (
        ON_EXPIRY,
        'on_expiry = { event = "report" }',
        36,
        ["event 'report' needs a payload: how, sure"],
        None,
    ),
    (
        ON_EXPIRY,
        'on_expiry = { event = "drop", payload = {} }',
        36,
        ["'drop' has no payload"],
        None,
    ),
    (ON_EXPIRY, 'on_expiry = { event = "take" }', 36, ["'take' is not legal in 'held'"], None),
    (
        'granted_by = ["take"]',
        'granted_by = ["take", "drop"]',
        9,
        ["'drop' grants a lease, but leads from 'new' to 'lost'", "held in held"],
        None,
    ),
    (
        'granted_by = ["take"]',
        'granted_by = ["drop"]',
        9,
        ["'take' leads from 'new' to 'held'", "only drop grants it"],
        None,
    ),
    (
        'needed_by = ["report"]',
        'needed_by = ["drop"]',
        9,
        ["'drop' needs the lease, so it must be refused in 'new'"],
        None,
    ),
    # not TOML
    ("legal = 4,", "legal = ,", 6, ["this is not TOML: Invalid value: 'counts"], None),
    ("[lease]", "[lease", 30, ["this is not TOML", "'[lease'"], None),
    ("[lease]", "[params.limit]", 30, ["this is not TOML", "'[params.limit]'"], None),
    ("sure = false } }", "sure = ", 36, ["this is not TOML"], None),
    ('"strict"', '"\\q"', 35, ["this is not TOML"], None),
]


@pytest.mark.parametrize(("old", "new", "line", "said", "hint"), REFUSALS)
def test_a_mistake_is_refused_with_its_line_and_the_nearest_name(
    old: str, new: str, line: int, said: list[str], hint: str | None
) -> None:
    text = edited(old, new)
    if not said:
        parse_table(text, "ticket.toml")
        return
    error = refusal(text)
    assert (error.line, error.hint) == (line, hint), str(error)
    for words in said:
        assert words in error.problem


def test_a_table_without_rows_is_refused() -> None:
    head = TEXT[: TEXT.index("[table]")]
    error = refusal(head + "[table]\n")
    assert (error.line, error.problem) == (8, "[table] has no rows; it needs one for each state")


def test_a_value_that_is_also_a_name_is_ambiguous() -> None:
    text = edited('["good", "bad"]', '["good", "bad", "limit"]')
    error = refusal(edited('"bad", "fine"', '"limit", "fine"', text))
    assert error.line == 16
    assert "'limit' is ambiguous: a value of 'how' and a name" in error.problem


def test_a_circle_of_guards_is_named_whole() -> None:
    text = edited('to = "closed", add = { reports = 1 }', 'to = "?third"')
    text += (
        '[guard.retry]\nwhen = [{ to = "?backoff" }]\n'
        '[guard.backoff]\nwhen = [{ to = "?retry" }]\n'
        '[guard.third]\nwhen = [{ to = "?retry" }]\n'
    )
    error = refusal(text)
    assert error.line == 38
    assert "guards lead in a circle: retry -> backoff -> retry;" in error.problem


def shared_guard(payload: str, condition: str) -> str:
    """Return the ticket with its guard in two columns: ``drop`` has a payload of its own."""
    text = edited('"?again", "lost"]', '"?again", "?again"]')
    text = edited(FIRST, condition, text)
    return text + f"[event.drop]\n{payload}\n"


@pytest.mark.parametrize(
    ("payload", "condition", "said"),
    [
        ("", FIRST, "payload field 'how' is not declared for event 'drop'"),
        (
            'payload = { how = ["bad", "sad"] }',
            '["how", "==", "good", "fine"]',
            "'good' is neither",
        ),
        ('payload = { how = "bool" }', '["how", "==", true, "fine"]', "'how' == true compares"),
        ("", '["tries", ">", "sure", "fine"]', "payload field 'sure' is not declared for event"),
    ],
)
def test_every_event_that_uses_a_guard_must_have_its_fields(
    payload: str, condition: str, said: str
) -> None:
    error = refusal(shared_guard(payload, condition))
    assert error.line == 16
    assert said in error.problem


def test_a_guard_may_serve_two_events_that_both_have_its_field() -> None:
    table = parse_table(shared_guard('payload = { how = ["sad", "bad"] }', FIRST), "ticket.toml")
    assert table.guard("again").branches[0].conditions[0].right == "bad"


@pytest.mark.parametrize(
    ("condition", "right"),
    [
        ('["sure", "!=", false, "x"]', False),
        ('["tries", ">=", -2, "x"]', -2),
        ('["tries", "!=", "reports", "x"]', Name("reports")),
        ('["sure", "==", "sure", "x"]', Name("sure")),
    ],
)
def test_what_can_be_compared_is_read(condition: str, right: object) -> None:
    table = parse_table(edited(FIRST, condition), "ticket.toml")
    assert table.guard("again").branches[0].conditions[0].right == right


def test_a_lease_may_be_granted_again_and_an_event_without_payload_may_expire_it() -> None:
    text = edited('held   = ["-"', 'held   = ["held"')
    text = edited("legal = 4, noop = 1, refused = 7", "legal = 5, noop = 1, refused = 6", text)
    text = edited(ON_EXPIRY, 'on_expiry = { event = "drop" }', text)
    # Taken again and again, tries would grow without end.
    assert "counter 'tries' went up to" in refusal(text).problem
    text = edited("add = { tries = 1 }", "", text)
    text = edited(f", {SECOND}", "", text)
    table = parse_table(text, "ticket.toml")
    assert table.lease is not None
    assert table.lease.on_expiry == Letter("drop")

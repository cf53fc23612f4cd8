"""What the reader reads, from text and from files; what is too large; and what nobody foresaw."""

import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful.spec import (
    Branch,
    Cell,
    CellKind,
    Condition,
    Event,
    Expiry,
    Guard,
    Lease,
    Letter,
    Name,
    Param,
    SpecError,
    Table,
    find_table,
    parse_table,
    read_table,
    shipped_names,
    shipped_table,
)

TEXT = Path(__file__).with_name("ticket.toml").read_text("utf-8")

REFUSED, LOST = Cell(CellKind.REFUSED), Cell(CellKind.LEGAL, to="lost")
TICKET = Table(
    name="ticket",
    version=1,
    initial="new",
    states=("new", "held", "closed", "lost"),
    terminal=("closed", "lost"),
    events=(
        Event("take", add=(("tries", 1),)),
        Event("report", payload=(("how", ("good", "bad")), ("sure", (True, False)))),
        Event("drop"),
    ),
    cells=(
        (Cell(CellKind.LEGAL, to="held"), REFUSED, LOST),
        (REFUSED, Cell(CellKind.LEGAL, guard="again"), LOST),
        (REFUSED, REFUSED, Cell(CellKind.NOOP)),
        (REFUSED, REFUSED, REFUSED),
    ),
    guards=(
        Guard(
            "again",
            (
                Branch(
                    (
                        Condition(Name("how"), "==", "bad", "fine"),
                        Condition(Name("tries"), "<", Name("limit"), "spent"),
                    ),
                    "new",
                ),
                Branch((), "closed", (("reports", 1),)),
            ),
        ),
    ),
    params=(Param("limit", 2, (1, 2)),),
    counters=("tries", "reports"),
    lease=Lease(
        granted_by=("take",),
        needed_by=("report",),
        held_in=("held",),
        seconds=30,
        expiry=Expiry.STRICT,
        on_expiry=Letter("report", (("how", "bad"), ("sure", False))),
    ),
)


def test_a_file_is_read_into_this_table() -> None:
    assert parse_table(TEXT, "ticket.toml") == TICKET


def test_a_version_is_read() -> None:
    assert parse_table("version = 4\n" + TEXT, "ticket.toml").version == 4


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


# sizes


def wide(states: int, events: int) -> str:
    names = [f"e{number}" for number in range(events)]
    row = str(["-"] * events).replace("'", '"')
    rows = "\n".join(f"s{number} = {row}" for number in range(states))
    listed = str(names).replace("'", '"')
    return (
        'format = "lawful-spec/1"\nname = "wide"\ninitial = "s0"\nterminal = []\n'
        f"events = {listed}\ncounts = {{ legal = 0, noop = 0, refused = 0 }}\n[table]\n{rows}\n"
    )


def test_sixty_four_states_and_events_are_read_and_one_more_is_refused() -> None:
    assert "nothing leaves 's0'" in refusal(wide(64, 64)).problem
    error = refusal(wide(65, 1))
    assert (error.line, error.problem) == (7, "65 states; 64 are allowed")
    error = refusal(wide(1, 65))
    assert (error.line, error.problem) == (5, "65 events; 64 are allowed")


def test_sixty_five_guards_are_refused() -> None:
    guards = "".join(f'[guard.g{n}]\nwhen = [{{ to = "new" }}]\n' for n in range(64))
    error = refusal(TEXT + guards)
    assert (error.line, error.problem) == (14, "65 guards; 64 are allowed")


def test_more_than_1024_letters_are_refused_before_they_are_made() -> None:
    fields = ", ".join(f'f{number} = "bool"' for number in range(60))
    error = refusal(edited('sure = "bool"', fields))
    assert error.line == 5
    assert f"{2 + 2**61} letters" in error.problem
    assert "1024 are allowed" in error.problem


def test_long_lists_of_names_are_cut_in_messages() -> None:
    text = wide(60, 2).replace('initial = "s0"', 'initial = "start"')
    assert "s14, s15 and 44 more" in refusal(text).problem


def test_too_many_combinations_of_parameters_are_refused() -> None:
    more = "[params.other]\ndefault = 1\ncheck = [" + ", ".join(map(str, range(1, 34))) + "]\n"
    error = refusal(TEXT + more)
    assert error.line == 26
    assert "66 combinations" in error.problem


ENDLESS = """\
format = "lawful-spec/1"
name = "endless"
initial = "a"
terminal = []
events = ["go"]
counts = { legal = 1, noop = 0, refused = 0 }
[table]
a = ["a"]
[event.go]
add = { steps = 1 }
"""


def test_a_counter_without_a_bound_is_refused_where_it_is_added_to() -> None:
    error = refusal(ENDLESS)
    assert error.line == 10
    assert "counter 'steps' went up to 131071" in error.problem
    assert "bound each loop" in error.problem


def test_a_counter_that_a_guard_adds_to_is_refused_at_the_table() -> None:
    text = ENDLESS[: ENDLESS.index("[event.go]")].replace('["a"]', '["?on"]')
    error = refusal(text + '[guard.on]\nwhen = [{ to = "a", add = { steps = 1 } }]\n')
    assert error.line == 7
    assert "counter 'steps' went up to" in error.problem


def test_too_many_cells_without_a_counter_are_refused_too() -> None:
    rows = "\n".join(f's{n} = ["s{n + 1}"]' for n in range(63)) + '\ns63 = ["-"]'
    words = ", ".join(f'"w{n}"' for n in range(1024))
    checks = ", ".join(map(str, range(1, 65)))
    text = (
        'format = "lawful-spec/1"\nname = "big"\ninitial = "s0"\nterminal = ["s63"]\n'
        'events = ["go"]\ncounts = { legal = 63, noop = 0, refused = 1 }\n'
        f"[table]\n{rows}\n[event.go.payload]\nword = [\n"
    )
    text += words.replace(", ", ",\n") + f"]\n[params.size]\ndefault = 1\ncheck = [{checks}]\n"
    error = refusal(text)
    assert error.line == 7
    assert "more than 131072 cells" in error.problem


def test_ten_thousand_lines_end_in_one_short_line_and_soon() -> None:
    rows = "".join(f's{number} = ["-", "-"]\n' for number in range(10_000))
    started = time.perf_counter()
    error = refusal(TEXT.replace("[table]\n", f"[table]\n{rows}"))
    assert time.perf_counter() - started < 10
    assert error.problem == "10004 states; 64 are allowed"
    error = refusal("x = 1\n" + TEXT + "# comment\n" * 10_000)
    assert error.line == 1
    assert len(str(error)) < 300


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    error = refusal(TEXT + "#" * (256 * 1024))
    assert error.problem == "the file is larger than 256 KiB, the most that is allowed"
    path = tmp_path / "huge.toml"
    path.write_bytes(b"\xff" * (256 * 1024 + 1))
    with pytest.raises(SpecError, match="larger than 256 KiB"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("\n" + "a." * 60_000 + "b = 1", 2, "the line has 120005 characters; 4096 are allowed"),
        ("a = " + "[\n" * 5000, None, "nested too deeply"),
        ("a = " + "9" * 4001 + "9" * 300, 1, "the line has 4305 characters"),
        ("", 1, "key 'format' is missing"),
        ("x = " + "[" * 60 + "]" * 60, 1, "unknown key 'x' at the top"),
        (f"format = {'[' * 40}{']' * 40}", 1, "format is an array, [[[[...]]]];"),
        (f"format = 0x{'f' * 4000}", 1, "format is an integer, an integer of 16000 bits;"),
    ],
)
def test_hostile_text_ends_in_one_short_line(text: str, line: int | None, said: str) -> None:
    error = refusal(text)
    assert error.line == line
    assert said in error.problem
    assert len(str(error)) < 400


# files


def test_a_file_is_read_from_disk_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "ticket.toml"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(TEXT, encoding)
        assert read_table(path) == find_table(path) == find_table(str(path)) == TICKET


def test_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "ticket.toml"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert read_table(path) == TICKET


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes(b"# one\n# two\n# \xe9t\xe9\n" + TEXT.encode())
    with pytest.raises(SpecError) as caught:
        read_table(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    assert "byte 0xe9 is not UTF-8" in caught.value.problem


@pytest.mark.parametrize(
    ("name", "said"),
    [("none.toml", "No such file"), (".", "directory"), ("a\0b", "null byte")],
)
def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path, name: str, said: str) -> None:
    path = tmp_path / name
    with pytest.raises(SpecError) as caught:
        read_table(path)
    assert (caught.value.file, caught.value.line) == (str(path), None)
    assert "the file can't be read: " in caught.value.problem
    assert said in caught.value.problem


def test_the_shipped_tables_are_found_by_name() -> None:
    names = shipped_names()
    assert names == tuple(sorted(names))
    assert {"task", "gate", "review"} <= set(names)
    for name in names:
        assert find_table(name) == shipped_table(name)
        assert find_table(name).name == name


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(SpecError) as caught:
        find_table("taks")
    assert (caught.value.file, caught.value.line, caught.value.hint) == ("taks", None, "task")
    assert "gate, " in caught.value.problem
    assert ".toml" in caught.value.problem


@pytest.mark.parametrize("path", ["tables/task", "tables\\task", "task.toml", Path("task")])
def test_what_looks_like_a_path_is_never_taken_for_a_name(path: str | Path) -> None:
    with pytest.raises(SpecError, match="the file can't be read"):
        find_table(path)


# whatever the text: a table or a refusal

SHIPPED = [
    (files("lawful.spec") / "tables" / f"{name}.toml").read_text("utf-8")
    for name in ("task", "gate", "review")
] + [TEXT]


def never_anything_else(text: str) -> None:
    try:
        result: Table | SpecError = parse_table(text, "fuzz.toml")
    except SpecError as error:
        result = error
    if isinstance(result, SpecError):
        assert "\n" not in str(result)
        assert result.line is None or 1 <= result.line <= text.count("\n") + 1
    else:
        assert parse_table(text, "fuzz.toml") == result


quick = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@quick
@given(st.text())
def test_any_text_is_a_table_or_a_refusal(text: str) -> None:
    never_anything_else(text)


def delete(text: str, line: int, _: int, __: str) -> str:
    lines = text.split("\n")
    return "\n".join(lines[:line] + lines[line + 1 :])


def duplicate(text: str, line: int, _: int, __: str) -> str:
    lines = text.split("\n")
    return "\n".join(lines[: line + 1] + lines[line:])


def change(text: str, _: int, at: int, character: str) -> str:
    return text[:at] + character + text[at + 1 :]


@quick
@given(st.data())
@pytest.mark.parametrize("damage", [delete, duplicate, change])
def test_a_damaged_table_is_a_table_or_a_refusal(
    damage: Callable[[str, int, int, str], str], data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(SHIPPED))
    line = data.draw(st.integers(0, text.count("\n")))
    at = data.draw(st.integers(0, len(text) - 1))
    character = data.draw(st.sampled_from("[]{}\"'=,.#-?\n 1tz\\") | st.characters())
    never_anything_else(damage(text, line, at, character))

"""The shipped tables against cells written here by hand, a second time."""

import pytest

from lawful.spec import Cell, CellKind, Counts, Letter, shipped_table

TASK = """
             enqueue  start    succeed    fail       cancel      retry_due  cancel_ack
submitted    queued   .        .          .          cancelled   .          .
queued       .        running  .          .          cancelled   .          .
running      .        .        succeeded  ?retry     cancelling  .          .
retry_wait   .        .        .          .          cancelled   queued     .
cancelling   .        .        succeeded  cancelled  no-op       .          cancelled
succeeded    .        .        .          .          .           .          .
failed       .        .        .          .          .           .          .
cancelled    .        .        .          .          no-op       .          .
"""
GATE = """
             pending  running  done  failed  dropped
pending      .        running  .     .       dropped
running      .        .        done  failed  dropped
done         .        .        .     .       .
failed       .        running  .     .       dropped
dropped      .        .        .     .       .
"""
REVIEW = """
             submit     approve   reject   withdraw
draft        in_review  .         .        withdrawn
in_review    .          approved  ?rework  withdrawn
approved     .          .         .        .
rejected     .          .         .        .
withdrawn    .          .         .        .
"""


def cells_of(grid: str) -> dict[tuple[str, str], str]:
    header, *rows = (line.split() for line in grid.strip().splitlines())
    return {
        (state, event): cell
        for state, *cells in rows
        for event, cell in zip(header, cells, strict=True)
    }


def word_of(cell: Cell) -> str:
    if cell.kind is CellKind.LEGAL:
        return f"?{cell.guard}" if cell.guard is not None else str(cell.to)
    return {CellKind.REFUSED: ".", CellKind.NOOP: "no-op"}[cell.kind]


@pytest.mark.parametrize(
    ("name", "grid", "counts"),
    [("task", TASK, (12, 2, 42)), ("gate", GATE, (7, 0, 18)), ("review", REVIEW, (5, 0, 15))],
)
def test_every_cell_of_a_shipped_table_is_as_written_by_hand(
    name: str, grid: str, counts: tuple[int, int, int]
) -> None:
    table = shipped_table(name)
    expected = cells_of(grid)
    assert len(expected) == sum(counts) == len(table.states) * len(table.events)
    assert {at: word_of(table.cell(*at)) for at in expected} == expected
    assert table.count() == Counts(*counts)


def test_the_order_of_rows_and_columns_is_the_file_s() -> None:
    table = shipped_table("task")
    assert table.states == (
        *("submitted", "queued", "running", "retry_wait"),
        *("cancelling", "succeeded", "failed", "cancelled"),
    )
    assert table.event_names == (
        *("enqueue", "start", "succeed", "fail", "cancel", "retry_due", "cancel_ack"),
    )
    assert (table.initial, table.terminal) == ("submitted", ("succeeded", "failed", "cancelled"))


def test_the_letters_of_task_are_seven_events_one_of_them_with_two_payloads() -> None:
    letters = shipped_table("task").letters
    assert [str(letter) for letter in letters] == [
        "enqueue",
        "start",
        "succeed",
        "fail(retryable=true)",
        "fail(retryable=false)",
        "cancel",
        "retry_due",
        "cancel_ack",
    ]
    assert letters[3] == Letter("fail", (("retryable", True),))


def test_a_letter_shows_words_and_numbers_as_they_are() -> None:
    assert str(Letter("report", (("how", "bad"), ("size", 3)))) == "report(how=bad,size=3)"


def test_every_combination_of_parameters_is_run_with_the_defaults_first() -> None:
    assert shipped_table("task").valuations == (
        {"max_attempts": 3},
        {"max_attempts": 1},
        {"max_attempts": 2},
    )
    assert shipped_table("review").valuations[0] == {"max_rounds": 2}
    assert shipped_table("gate").valuations == ({},)


def test_the_counters_are_what_events_and_guards_add_to() -> None:
    assert shipped_table("task").counters == ("attempts",)
    assert shipped_table("review").counters == ("rounds",)
    assert shipped_table("gate").counters == ()


@pytest.mark.parametrize("name", ["task", "gate", "review"])
def test_a_table_is_a_value(name: str) -> None:
    table = shipped_table(name)
    assert table == shipped_table(name)
    assert hash(table) == hash(shipped_table(name))


def test_a_name_that_the_table_does_not_have_is_a_key_error() -> None:
    table = shipped_table("task")
    with pytest.raises(KeyError):
        table.cell("pending", "start")
    with pytest.raises(KeyError):
        table.event("begin")
    with pytest.raises(KeyError):
        table.guard("rework")

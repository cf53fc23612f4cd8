"""A wrong adapter is told so in one line, and nothing is said about the system behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lawful.laws import smoke
from lawful.strategies import AdapterError
from lawful.strategies.adapter import describe, describe_class
from lawful.strategies.watch import Watch
from miniatures import Honest, judged, variants, workplace, wrong_adapters

if TYPE_CHECKING:
    from lawful.laws import Smoke

STATES = "submitted, queued, running, retry_wait, cancelling, succeeded, failed, cancelled"


def smoked(adapter: type, limit: float = 60.0) -> Smoke:
    watch = Watch(limit)
    with workplace() as folder, watch.running():
        return smoke(describe_class(adapter, "mine:Adapter"), folder, watch)


@pytest.mark.parametrize(
    ("adapter", "problem"),
    [
        (wrong_adapters.OpenRaises, "open raised PermissionError: not here"),
        (wrong_adapters.OpenRefuses, "open raised Illegal: not now"),
        (wrong_adapters.InitRefuses, "__init__ raised Illegal: not now"),
        (wrong_adapters.CloseRaises, "close raised RuntimeError: busy"),
        (wrong_adapters.ReadsNone, "read gave None; a Reading(state, ...) is expected"),
        (wrong_adapters.SubmitsNone, "submit gave None; a task id is expected"),
        (
            wrong_adapters.SubmitsTheSame,
            "submit gave 'the-task' twice; each task needs an id of its own",
        ),
        (
            wrong_adapters.ReadsAnotherName,
            f"read gave the state 'NEW'; allowed are {STATES}; map it in `states`",
        ),
        (wrong_adapters.ReadsAList, "read gave state=['submitted']; str is expected"),
        (wrong_adapters.ReadsTextForAVersion, "read gave version='0'; int | None is expected"),
        (
            wrong_adapters.ReadsTextForAToken,
            "read gave lease_token='token-1'; int | None is expected",
        ),
        (
            wrong_adapters.LogsTextForAPayload,
            "history holds payload='{}'; Mapping | None is expected",
        ),
        (
            wrong_adapters.LogsPlainTuples,
            (
                "history holds (1, 'enqueue', 'submitted', 'queued', 'client', {}); "
                "an Entry is expected"
            ),
        ),
        (
            wrong_adapters.HistoryIsText,
            "history gave 'nothing happened'; a list of Entry is expected",
        ),
        (
            wrong_adapters.DumpsObjects,
            "dump gave two values in a row that differ; plain values are expected",
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_wrong_adapter_is_told_in_one_line(adapter: type, problem: str) -> None:
    with pytest.raises(AdapterError) as caught:
        smoked(adapter)
    assert str(caught.value) == f"mine:Adapter: {problem}"


def test_a_dump_that_can_be_read_once_is_refused() -> None:
    with pytest.raises(AdapterError, match=r"dump gave <generator .*plain values are expected$"):
        smoked(wrong_adapters.DumpsAGenerator)


@pytest.mark.parametrize(
    ("adapter", "call"),
    [
        (wrong_adapters.HangsInOpen, "open"),
        (wrong_adapters.HangsInAStart, "fire"),
    ],
)
def test_a_call_that_hangs_is_named(adapter: type, call: str) -> None:
    with pytest.raises(AdapterError) as caught:
        smoked(adapter, limit=0.1)
    assert str(caught.value) == f"mine:Adapter: {call} did not return within 0.1 s"


def test_a_run_begins_with_the_smoke_test() -> None:
    with pytest.raises(AdapterError, match="read gave None"):
        judged(wrong_adapters.ReadsNone, 1)


def test_an_honest_adapter_shows_the_fields_that_its_readings_fill() -> None:
    found = smoked(Honest)
    fields = {"attempts", "version", "lease_owner", "lease_until", "lease_token"}
    assert fields <= found.adapter.offered
    assert found.visible
    assert "miniatures.honest.Honest.fire" in found.reached
    assert found.calls < 40


def test_a_declared_gap_stays_one_although_the_reading_fills_the_field() -> None:
    class ShowsWhatItDisowns(variants.Indistinct):
        read = Honest.read

    assert "version" not in smoked(ShowsWhatItDisowns).adapter.offered


def test_a_wrong_first_move_is_for_the_laws_and_no_fault_of_the_adapter() -> None:
    class StartsNothing(Honest):
        def target(self, row: object, call: object) -> str | None:
            return None

    assert "lease_owner" in smoked(StartsNothing).adapter.offered


def test_code_of_the_named_package_is_seen_where_it_runs() -> None:
    with workplace() as folder:
        found = smoke(describe("reference"), folder, Watch())
    assert any(name.startswith("lawful.sut.reference.store.") for name in found.reached)


def test_code_of_a_package_that_never_runs_is_not_seen() -> None:
    found = smoked(variants.InPlaceOfAPackage)
    assert found.visible
    assert found.reached == ()


def test_a_service_that_is_no_module_here_can_not_be_seen() -> None:
    class ElseWhere(Honest):
        system = "https://queue.example.org"

    assert not smoked(ElseWhere).visible


def test_a_counter_that_the_table_needs_and_the_reading_lacks_is_told() -> None:
    from lawful.sut.review import Review

    class CountsNothing(Review):
        lifecycle = "review"

        def read(self, task: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
            return super().read(task)._replace(counters=None)

    with pytest.raises(AdapterError) as caught:
        smoked(CountsNothing)
    assert str(caught.value) == (
        "mine:Adapter: read shows no counter 'rounds'; counters={...} is expected"
    )

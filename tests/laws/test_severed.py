"""What cut connections show in stores on servers of which every call is right by itself."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from lawful.laws import Status, crashes, effects, processes, recovery
from lawful.sut import load_shipped
from scenes import fit, judged, of

pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
pytest.importorskip("redis", reason="the extra `redis` is not installed")

import networked
from stagings import shown_again

if TYPE_CHECKING:
    from collections.abc import Callable

    from lawful.laws.law import ScenarioLaw

LAWS = (*crashes.LAWS, *processes.LAWS, *recovery.LAWS, *effects.LAWS)
BY_ID = {law.id: law for law in LAWS}


@pytest.fixture(autouse=True)
def _servers(server: Callable[[str], str]) -> None:
    for kind in ("postgresql", "redis"):
        server(kind)


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted fault.

    Attributes:
        adapter: The implementation; its docstring says what is wrong.
        law: The law that is there for it.
        besides: Which other laws about accidents find it; the rest must not.
    """

    adapter: type
    law: str
    besides: frozenset[str]


HALVES = frozenset(
    {
        *("crash/recovery", "crash/interrupted", "crash/killed"),
        *("reply/repeated", "reply/error-path"),
    }
)
PLANTED = (
    Planted(networked.TwoTransactions, "crash/statement", HALVES),
    Planted(networked.TwoExecs, "crash/statement", HALVES),
    # A success that has landed when its error is handled. One that has not is a failure that
    # nobody reported. A process that is gone handles nothing.
    Planted(
        networked.TurnsIntoFailure,
        "reply/repeated",
        frozenset({"reply/error-path", "crash/interrupted"}),
    ),
    # Only a reply that is lost has it sent once more when it has landed.
    Planted(networked.Resending, "reply/repeated", frozenset({"reply/error-path"})),
)
EACH = pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.adapter.__name__)

RIGHT = (
    *map(load_shipped, ("postgresql", "redis", "redis-lua")),
    networked.Comparing,
    networked.Repeatable,
    networked.ResendingScript,
)

fitted = functools.cache(fit)


@EACH
def test_a_planted_fault_is_found_by_its_law_and_shown_again_by_the_line(planted: Planted) -> None:
    (check,) = judged([BY_ID[planted.law]], of(planted.adapter)).values()
    assert check.status is Status.FAIL
    assert check.expected
    assert check.got
    assert shown_again(fitted(planted.adapter), check.trace, 10) == [True] * 10


@EACH
@pytest.mark.slow
def test_a_planted_fault_is_found_by_these_laws_and_no_other(planted: Planted) -> None:
    checks = judged(LAWS, of(planted.adapter))
    found = {name: each for name, each in checks.items() if each.findings}
    assert found.keys() == {planted.law, *planted.besides}
    for check in found.values():
        assert shown_again(fitted(planted.adapter), check.trace, 2) == [True] * 2


@pytest.mark.parametrize(
    ("adapter", "laws"),
    [
        (load_shipped("redis-lua"), ("crash/statement", "reply/repeated", "effect/at-least")),
        (load_shipped("redis"), ("reply/repeated", "reply/error-path")),
        (load_shipped("postgresql"), ("reply/repeated", "effect/at-most")),
        (networked.ResendingScript, ("reply/repeated", "reply/error-path")),
    ],
)
def test_a_store_that_is_right_is_never_accused(adapter: type, laws: tuple[str, ...]) -> None:
    never_accused(adapter, tuple(BY_ID[law] for law in laws))


@pytest.mark.slow
@pytest.mark.parametrize("adapter", RIGHT)
def test_a_store_that_is_right_is_accused_by_no_law_about_accidents(adapter: type) -> None:
    never_accused(adapter, LAWS)


def never_accused(adapter: type, laws: tuple[ScenarioLaw, ...]) -> None:
    checks = judged(laws, of(adapter))
    assert checks.keys() == {law.id for law in laws}
    for check in checks.values():
        assert check.status is Status.PASS, check
        assert check.triggers
        assert check.controls

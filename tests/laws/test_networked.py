"""The systems on servers pass every law; those that meet others differently pass call by call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lawful.laws import Status, judgement
from lawful.sut import load_shipped
from miniatures import checks, failed, judged, shipped

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
pytest.importorskip("redis", reason="the extra `redis` is not installed")

import networked  # it needs both

SHIPPED = ("postgresql", "redis", "redis-lua")
OTHERS = (networked.Comparing, networked.Blind, networked.Repeatable, networked.Unwatched)


@pytest.mark.parametrize("kind", [*map(load_shipped, SHIPPED)])
def test_a_shipped_system_on_a_server_obeys_the_table_with_one_attempt(
    kind: type[Any], server: Callable[[str], str]
) -> None:
    server(kind.server)
    found = judged(kind, 1)
    assert failed(found) == set()
    assert {check.status for check in found.checks} == {Status.PASS}
    assert checks(found)["lease/poison"].triggers > 0
    assert judgement(found).headline == "lawful"


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_system_on_a_server_is_lawful(name: str, server: Callable[[str], str]) -> None:
    server(load_shipped(name).server)
    found = shipped(name)
    assert failed(found) == set()
    assert {check.status for check in found.checks} == {Status.PASS}
    assert found.undeclared == {}
    assert judgement(found).headline == "lawful"


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHERS)
def test_call_by_call_nothing_is_wrong_with_the_others(
    kind: type[Any], server: Callable[[str], str]
) -> None:
    server(kind.server)
    assert failed(judged(kind, 1)) == set()

"""A server's URL is read as its clients read it, and leads through a door unchanged otherwise."""

from __future__ import annotations

import pytest

from lawful.strategies.addresses import parse_address
from lawful.strategies.turns import WireError


@pytest.mark.parametrize(
    ("url", "place", "door"),
    [
        (
            "postgresql://me:a%40b@db.example:5433/tasks?connect_timeout=3&sslmode=prefer",
            ("db.example", 5433, ""),
            "postgresql://me:a%40b@127.0.0.1:1234/tasks?connect_timeout=3&sslmode=prefer",
        ),
        ("postgres://db", ("db", 5432, ""), "postgresql://127.0.0.1:1234"),
        (
            "postgresql://me@/tasks?host=/run/Server&port=5555",
            ("", 5555, "/run/Server/.s.PGSQL.5555"),
            "postgresql://me@127.0.0.1:1234/tasks",
        ),
        (
            "postgresql://%2Frun%2FServer/tasks",
            ("", 5432, "/run/Server/.s.PGSQL.5432"),
            "postgresql://127.0.0.1:1234/tasks",
        ),
        (
            "postgresql://db/tasks?hostaddr=10.0.0.7&options=-c%20x%3D1",
            ("10.0.0.7", 5432, ""),
            "postgresql://127.0.0.1:1234/tasks?options=-c%20x%3D1",
        ),
        ("redis://:pw@[::1]:7000/2", ("::1", 7000, ""), "redis://:pw@127.0.0.1:1234/2"),
        ("redis://cache", ("cache", 6379, ""), "redis://127.0.0.1:1234"),
        (
            "unix://:pw@/run/Redis.sock?db=3&protocol=3",
            ("", 0, "/run/Redis.sock"),
            "redis://:pw@127.0.0.1:1234/3?protocol=3",
        ),
        ("unix:///run/redis.sock", ("", 0, "/run/redis.sock"), "redis://127.0.0.1:1234/0"),
    ],
)
def test_a_url_is_read_and_leads_through_a_door(
    url: str, place: tuple[str, int, str], door: str
) -> None:
    address = parse_address(url)
    assert (address.host, address.port, address.path) == place
    assert address.through(1234) == door


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "mysql://db",
            r"begins with 'mysql'; expected one of postgresql://, postgres://, redis://",
        ),
        ("rediss://db", "begins with 'rediss'"),
        ("postgresql://db?sslmode=verify-full", "sslmode=verify-full: what is encrypted can't be"),
        ("postgresql://one,two/tasks", "must name one host or socket; got 'one,two'"),
        ("postgresql:///tasks", "must name one host or socket; got ''"),
        ("redis://db:port", "has the port 'port'; expected 1 to 65535"),
        ("redis://db:70000", "has the port '70000'"),
    ],
)
def test_a_url_that_a_door_cannot_lead_to_is_refused(url: str, told: str) -> None:
    with pytest.raises(WireError, match=told):
        parse_address(url)

"""Where a server is: as the environment says, or one of our own, which is gone when we are."""

from __future__ import annotations

import pytest

from lawful.spec import LawfulError
from lawful.strategies import servers
from lawful.strategies.servers import KINDS, ServerError, ServerMissing, server_url

URLS = {
    "postgresql": "postgresql://somebody@192.0.2.1/tasks",
    "redis": "unix:///run/redis.sock",
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_environment_says_where_a_server_is(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KINDS[kind].variable, URLS[kind])
    assert server_url(kind) == URLS[kind]


def test_what_is_no_url_of_a_server_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_REDIS_URL", "127.0.0.1:6379")
    with pytest.raises(ServerError) as refused:
        server_url("redis")
    assert str(refused.value) == (
        "redis: LAWFUL_REDIS_URL: expected a URL such as redis://127.0.0.1:6379/0; "
        "got '127.0.0.1:6379'"
    )


def test_without_a_server_and_without_a_wheel_both_ways_on_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LAWFUL_POSTGRESQL_URL", raising=False)
    monkeypatch.setattr(servers, "_KEPT", {})
    monkeypatch.setattr(servers, "find_spec", lambda name: None)
    with pytest.raises(ServerMissing) as missing:
        server_url("postgresql")
    assert isinstance(missing.value, LawfulError)
    assert str(missing.value) == (
        "postgresql: there is no server: pip install 'lawful[postgresql,servers]' to have one "
        "started, or set LAWFUL_POSTGRESQL_URL to one that runs "
        "(postgresql://user:password@127.0.0.1:5432/database)"
    )

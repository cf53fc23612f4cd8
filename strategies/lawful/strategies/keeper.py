"""A process that keeps one server: starts it, says where it is, and ends it with its parent.

It is run as a file, by itself: it must need nothing but the standard library. Its standard input is
a pipe that the parent never writes to; when that ends, for whatever reason, the server is stopped
and its folder removed. Where the system can, the server is told of the keeper's own end too.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOST: Final = "127.0.0.1"
PORTS_TRIED: Final = 20
STOP_SECONDS: Final = 10.0
LINES_KEPT: Final = 20
PR_SET_PDEATHSIG: Final = 1

# Anybody on this machine may connect to a port; not anybody may run a program as us. A random
# password needs no stretching, which would cost each connection 5 ms.
INITDB: Final = (
    *("-U", "lawful", "-A", "password", "-c", "scram_iterations=1"),
    *("-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions"),
)

POSTGRESQL: Final = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    # Nothing needs to survive: the cluster is removed at the end.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # A deadlock is meant to be found while somebody waits for the verdict.
    "deadlock_timeout": "20ms",
    # Nothing goes on by itself: what a table costs must not depend on when it was vacuumed.
    "autovacuum": "off",
    "shared_buffers": "16MB",
    # In files of the cluster: a segment of the system's would be left behind by a SIGKILL.
    "dynamic_shared_memory_type": "mmap",
    "jit": "off",
}

REDIS: Final = """\
bind {host}
port {port}
requirepass {password}
dir {folder}
save ""
appendonly no
daemonize no
"""


class Over(Exception):
    """The parent has gone, or has had enough."""


class Failed(Exception):
    """A command ended too early. The message is the last line that says why."""


class Command:
    """A running command and what it prints.

    Args:
        arguments: The program and its arguments.
        folder: Where it runs, as the user who owns it.
        stop: The signal that ends it.
        given: What it reads from its standard input.
    """

    def __init__(
        self,
        arguments: Sequence[str | Path],
        folder: Path,
        *,
        stop: signal.Signals,
        given: str = "",
    ) -> None:
        owner = folder.stat()
        other = owner.st_uid != os.geteuid()
        self._stop = stop
        self._lines: list[str] = []
        self._process = subprocess.Popen(  # noqa: S603 - paths that our parent has found
            [str(part) for part in arguments],
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=owner.st_uid if other else None,
            group=owner.st_gid if other else None,
            extra_groups=[] if other else None,
            preexec_fn=_ending_with_us(stop),
        )
        stdin, self._output = _pipes(self._process)
        with contextlib.suppress(BrokenPipeError):  # it has ended already, and says why
            stdin.write(given.encode())
            stdin.flush()
        with contextlib.suppress(BrokenPipeError):
            stdin.close()

    def until(self, sign: str | None) -> None:
        """Wait until it prints ``sign``, or, if that is None, until it ends.

        Raises:
            Over: Our own standard input has ended.
            Failed: It ended without the sign, or with an exit code other than 0.
        """
        rest = b""
        while True:
            ready, _, _ = select.select([sys.stdin, self._output], [], [])
            if sys.stdin in ready:
                raise Over
            more = os.read(self._output.fileno(), 65536)
            *lines, rest = (rest + more).split(b"\n")
            for line in lines:
                self._lines = [*self._lines, line.decode("utf-8", "replace")][-LINES_KEPT:]
                if sign is not None and sign in self._lines[-1]:
                    return
            if not more:
                if self._process.wait() or sign is not None:
                    raise Failed(self._why())
                self._output.close()
                return

    def end(self) -> None:
        """Stop it, and wait until it is gone."""
        self._process.send_signal(self._stop)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # what it may have started
        self._output.close()

    def says(self, word: str) -> bool:
        """Say whether a word stands in what it printed last."""
        return any(word in line for line in self._lines)

    def _why(self) -> str:
        told = [line for line in self._lines if "FATAL" in line or "error" in line.lower()]
        return (told or self._lines or ["it said nothing"])[-1].strip()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None  # noqa: S101 - pipes were asked for
    assert process.stdout is not None  # noqa: S101 - the same
    return process.stdin, process.stdout


def _ending_with_us(stop: signal.Signals) -> Callable[[], None] | None:
    """Return what has the system send ``stop`` to a child when we are gone, where it can."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    us = os.getpid()

    def ask() -> None:
        # Called after the change of user, which would undo it.
        libc.prctl(PR_SET_PDEATHSIG, int(stop), 0, 0, 0)
        if os.getppid() != us:
            os._exit(1)

    return ask


def postgresql(binaries: Path, folder: Path) -> tuple[Command, str]:
    """Make a cluster and start its server; return it and its URL."""
    if os.geteuid() == 0:
        binaries = _for_nobody(binaries, folder)
    password = secrets.token_urlsafe(16)
    secret, cluster = folder / "password", folder / "cluster"
    _write(secret, password)
    making = Command(
        [binaries / "bin" / "initdb", *INITDB, "-D", cluster, "--pwfile", secret],
        folder,
        stop=signal.SIGTERM,
    )
    _finished(making)
    settings = [word for name, value in POSTGRESQL.items() for word in ("-c", f"{name}={value}")]

    def begun(port: int) -> Command:
        program = binaries / "bin" / "postgres"
        return Command(
            [program, "-D", cluster, "-p", str(port), *settings], folder, stop=signal.SIGQUIT
        )

    server, port = _started(begun, "ready to accept connections")
    return server, f"postgresql://lawful:{password}@{HOST}:{port}/postgres"


def redis(binaries: Path, folder: Path) -> tuple[Command, str]:
    """Start a Redis server that keeps nothing; return it and its URL."""
    password = secrets.token_urlsafe(16)

    def begun(port: int) -> Command:
        given = REDIS.format(host=HOST, port=port, password=password, folder=folder)
        return Command((binaries / "redis-server", "-"), folder, stop=signal.SIGTERM, given=given)

    server, port = _started(begun, "Ready to accept connections")
    return server, f"redis://:{password}@{HOST}:{port}/0"


STARTS: Final = {"postgresql": postgresql, "redis": redis}


def _for_nobody(binaries: Path, folder: Path) -> Path:
    """Return binaries that ``nobody`` can run: PostgreSQL refuses to run as root.

    The folder is given to that user. Binaries in a place that is root's alone are copied there.
    """
    import pwd

    nobody = pwd.getpwnam("nobody")
    if not _open_to_all(binaries):
        package, copy = binaries.parent, folder / "installed"
        for place in (package, package.with_name(f"{package.name}.libs")):
            if place.is_dir():  # libraries that a wheel brings are found by where they are from it
                shutil.copytree(place, copy / place.name)
        binaries = copy / package.name / binaries.name
    for place in (folder, *(one for one in folder.rglob("*") if one.is_dir())):
        os.chown(place, nobody.pw_uid, nobody.pw_gid)
    return binaries


def _place() -> str | None:
    """Return where to make a folder that other users are led to: not below root's own."""
    if os.geteuid() == 0 and not _open_to_all(Path(tempfile.gettempdir())):
        return "/tmp"  # noqa: S108 - a folder of our own is made there
    return None


def _open_to_all(place: Path) -> bool:
    """Say whether every user can go there."""
    return all(folder.stat().st_mode & 0o001 for folder in (place, *place.parents))


def _write(file: Path, text: str) -> None:
    """Write a file that the owner of its folder alone can read."""
    file.touch(0o600)
    owner = file.parent.stat()
    os.chown(file, owner.st_uid, owner.st_gid)
    file.write_text(text, "utf-8")


def _finished(command: Command) -> None:
    try:
        command.until(None)
    except BaseException:
        command.end()
        raise


def _started(begun: Callable[[int], Command], sign: str) -> tuple[Command, int]:
    """Start a server on a port that is free, trying others where somebody was faster."""
    for left in reversed(range(PORTS_TRIED)):
        with socket.create_server((HOST, 0)) as free:
            port: int = free.getsockname()[1]
        server = begun(port)
        try:
            server.until(sign)
        except Failed:
            server.end()
            if not left or not server.says("in use"):
                raise
        except BaseException:
            server.end()
            raise
        else:
            return server, port
    raise AssertionError(sign)


def main(kind: str, binaries: Path) -> int:
    """Keep one server until our standard input ends.

    Args:
        kind: Which: a key of ``STARTS``.
        binaries: Where its binaries are.

    Returns:
        An exit code.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        # There is one way to end: with the parent. Ignored, they would be so by the server too.
        signal.signal(number, lambda *_: None)
    folder = ""
    try:
        folder = tempfile.mkdtemp(prefix=f"lawful-{kind}-", dir=_place())
        try:
            server, url = STARTS[kind](binaries, Path(folder))
        except (Failed, OSError) as error:
            json.dump({"error": str(error)}, sys.stdout)
            return 1
        try:
            json.dump({"url": url, "folder": folder}, sys.stdout)
            sys.stdout.flush()
            # The parent reads to the end; and whoever reads its output waits for no server.
            with Path(os.devnull).open("w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
            server.until(None)
        finally:
            server.end()
    except (Over, Failed):
        return 0
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

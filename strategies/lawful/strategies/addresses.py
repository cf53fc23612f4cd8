"""Where a server is, by its URL, and the same URL through a door of ours on the loopback."""

from __future__ import annotations

import socket
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from .turns import WireError

__all__ = ["LOOPBACK", "Address", "parse_address"]

LOOPBACK: Final = "127.0.0.1"

_PORTS: Final = {"postgresql": 5432, "redis": 6379}
_KINDS: Final = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "redis": "redis",
    "unix": "redis",
}
_ENCRYPTED: Final = frozenset({"require", "verify-ca", "verify-full"})
_PLACES: Final = frozenset({"host", "hostaddr", "port"})


class Address(NamedTuple):
    """Where a server is.

    Attributes:
        kind: What it is: ``postgresql`` or ``redis``.
        host: Its host; empty where it has a path.
        port: Its port.
        path: Its socket; empty where it has a host.
        user: What stands before the host in its URL, the ``@`` included.
        rest: What stands behind it: the database and other parameters.
    """

    kind: str
    host: str
    port: int
    path: str
    user: str
    rest: str

    def connect(self) -> socket.socket:
        """Connect to it.

        Raises:
            OSError: It is not there.
        """
        if self.path:
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.path)
            except BaseException:
                server.close()
                raise
            return server
        server = socket.create_connection((self.host, self.port))
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return server

    def through(self, port: int) -> str:
        """Return the URL that leads to it through a port of the loopback's."""
        return f"{self.kind}://{self.user}{LOOPBACK}:{port}{self.rest}"


def parse_address(url: str) -> Address:
    """Read a server's URL.

    Args:
        url: ``postgresql://``, ``redis://`` or ``unix://``, as psycopg and redis-py read it; it
            names one server, at a host or a socket.

    Raises:
        WireError: It can't be read, or nobody but the client can look into what it would send.
    """
    scheme, _, _ = url.partition("://")
    kind = _KINDS.get(scheme)
    if kind is None:
        allowed = ", ".join(f"{each}://" for each in _KINDS)
        raise WireError(f"a server's URL begins with {scheme!r}; expected one of {allowed}")
    parts = urlsplit(url)
    parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    mode = parameters.get("sslmode", "")
    if mode in _ENCRYPTED:
        raise WireError(
            f"the server's URL asks for sslmode={mode}: what is encrypted can't be held; give the "
            "address of a server that can be reached without"
        )
    user, at, place = parts.netloc.rpartition("@")
    database = parts.path
    if scheme == "unix":
        path, host, port = unquote(parts.path), "", 0
        database = f"/{parameters.pop('db', '0')}"
    else:
        host, port = _place(place, parameters, _PORTS[kind])
        path = ""
        if kind == "postgresql" and host.startswith("/"):
            path, host = f"{host}/.s.PGSQL.{port}", ""
    if "," in host or not (host or path):
        raise WireError(f"a server's URL must name one host or socket; got {place or path!r}")
    kept = {name: value for name, value in parameters.items() if name not in _PLACES}
    query = f"?{urlencode(kept, quote_via=quote)}" if kept else ""
    return Address(kind, host, port, path, f"{user}{at}", f"{database}{query}")


def _place(place: str, parameters: dict[str, str], usual: int) -> tuple[str, int]:
    """Return host and port; a parameter comes before what stands in the URL's middle."""
    if place.startswith("["):
        host, _, port = place[1:].partition("]")
        port = port.removeprefix(":")
    else:
        host, _, port = place.partition(":")
    host = parameters.get("hostaddr") or parameters.get("host") or unquote(host)
    port = parameters.get("port") or port
    if port and not (port.isdecimal() and 0 < int(port) < 65536):
        raise WireError(f"a server's URL has the port {port!r}; expected 1 to 65535")
    return host, int(port) if port else usual

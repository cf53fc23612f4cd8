"""Stores on a server that others use too: what each is called there, and when it is dropped.

A store belongs to a folder. When the folder is gone, so is the store: the next one to be opened
drops it, and what is left is dropped when the process ends. A server that was there before us is
left as it was found. Only this process's own stores are ever dropped: a folder that is not to be
seen from here may well be there for somebody else.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

__all__ = ["Namespaces"]


class _Place(NamedTuple):
    """Where a store is: on which server, and whose it is."""

    url: str
    folder: Path


class Namespaces:
    """This process's stores on servers of one kind.

    Args:
        drop: Drops some stores of a server, given its URL and their names, as this process's last
            deed there.
    """

    def __init__(self, drop: Callable[[str, Collection[str]], None]) -> None:
        self._drop = drop
        self._places: dict[str, _Place] = {}
        self._process = 0
        self._lock = threading.Lock()

    def enter(self, url: str, folder: Path) -> tuple[str, tuple[str, ...]]:
        """Name the store of a folder.

        Args:
            url: Where the server is. A store keeps the one that it was first opened at.
            folder: The store's folder.

        Returns:
            Its name, and the names of stores on that server whose folder is gone. They are the
            caller's to drop: they are handed out once.
        """
        where = folder.resolve()
        name = hashlib.sha256(os.fsencode(where)).hexdigest()[:16]
        with self._lock:
            self._owned()
            self._places.setdefault(name, _Place(url, where))
            gone = [
                other
                for other, place in self._places.items()
                if place.url == url and not place.folder.is_dir()
            ]
            for other in gone:
                del self._places[other]
            return name, tuple(gone)

    def leave(self) -> None:
        """Drop every store that is left."""
        with self._lock:
            if self._process != os.getpid():
                return  # they are those of the process that we were forked off
            places, self._places = self._places, {}
        for url in dict.fromkeys(place.url for place in places.values()):
            self._drop(url, [name for name, place in places.items() if place.url == url])

    def _owned(self) -> None:
        if self._process != os.getpid():
            self._process = os.getpid()
            self._places.clear()
            atexit.register(self.leave)

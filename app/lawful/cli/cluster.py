"""Who does the work: this process, or a Dask cluster of the user's."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lawful.spec.errors import LawfulError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

__all__ = ["Crew", "cluster"]

PATIENCE: Final = 10
"""How long a cluster is waited for, in seconds."""


class Crew(NamedTuple):
    """Who works.

    Attributes:
        executor: Who; None for this process.
        ahead: How many pieces of work to hand out at a time.
    """

    executor: Executor | None
    ahead: int = 1


@contextmanager
def cluster(address: str) -> Iterator[Crew]:
    """Connect to a Dask cluster.

    Raises:
        LawfulError: Dask is not installed, or no cluster with workers answers in time.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise LawfulError("--dask needs Dask: pip install 'lawful[dask]'") from error
    try:
        client: Any = Client(address, timeout=PATIENCE)  # Dask is typed in part
    except (OSError, ValueError, TypeError) as error:
        raise LawfulError(
            f"--dask {address}: no scheduler answers there within {PATIENCE} s; "
            "tcp://HOST:PORT is expected"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise LawfulError(f"--dask {address}: the cluster has no workers") from error
        # Equal calls are not the same call: a piece may have to be done again.
        executor = client.get_executor(pure=False)
        try:
            yield Crew(executor, 2 * sum(client.nthreads().values()))
        finally:
            executor.shutdown(wait=False)
    finally:
        client.close()

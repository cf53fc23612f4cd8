"""A trial's process: begun, waited for, and ended with everything that it has begun itself."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

from lawful.mutants.owned import owned, talk
from lawful.strategies.stores import store_folder

__all__ = ["tried"]


def tried(
    request: str, limit: float, store: str | None = None, environment: dict[str, str] | None = None
) -> str:
    """Run one trial in a process of its own, and wait for its answer.

    Everything it takes and gives is plain, so that any executor can be asked to do it.

    Args:
        request: What the trial reads, but for its folder: an object in JSON.
        limit: How long it may take, in seconds.
        store: Where stores are made; in memory by default, where that can be.
        environment: What its environment has besides.

    Returns:
        Its answer, an object in JSON: ``checks``, or ``error``, or ``ended`` for a process that
        has given no answer, or ``late`` for one that was ended at the limit; and ``seconds``.
    """
    began = time.perf_counter()
    answer = _answered(request, limit, store, environment or {})
    return json.dumps({**answer, "seconds": time.perf_counter() - began})


def _answered(
    request: str, limit: float, store: str | None, environment: dict[str, str]
) -> dict[str, object]:
    with store_folder(Path(store) if store else None) as folder:
        stores, errors = folder / "stores", folder / "errors"
        stores.mkdir()
        sent = json.dumps({**json.loads(request), "folder": str(stores)})
        command = [sys.executable, "-m", "lawful.mutants.planted.trial"]
        with owned(command, folder, errors, environment) as process:
            said, late = talk(process, sent + "\n", limit)
        if late:
            return {"late": limit}
        with suppress(ValueError):
            if isinstance(answer := json.loads(said), dict):
                return answer
        last = errors.read_text("utf-8", "replace").strip().rpartition("\n")[2]
        return {"ended": process.returncode, "said": last}

"""When garbage is collected: what was dropped without being closed keeps its locks until then."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["garbage_waits"]


@contextmanager
def garbage_waits() -> Iterator[None]:
    """Have garbage collected when it is asked for (``gc.collect()``), and at no other time.

    When it is must not depend on what else the process has allocated, or steps would differ from
    run to run. What is there by now is left alone, so that asking is cheap.
    """
    enabled = gc.isenabled()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
        gc.unfreeze()

"""mutmut, in a process of its own, in a workspace: it generates mutants, or tests them.

A result is a line of JSON on stdout as it is known. mutmut's own words go to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["main"]


def main() -> None:
    """Do what the arguments say: ``generate``, or ``test`` the mutants that are named on stdin."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    what, jobs = sys.argv[1], int(sys.argv[2])
    from mutmut import __main__ as mutmut

    if what == "generate":
        _generate(mutmut, jobs)
        return
    names = sys.stdin.read().split()
    register = mutmut._register_mutant_result

    def registered(result: Any, data: Any) -> None:  # mutmut's own types
        register(result, data)
        told = {"mutant": result.mutant_name, "code": result.exit_code, "seconds": result.duration}
        out.write(json.dumps(told) + "\n")

    mutmut._register_mutant_result = registered  # type: ignore[assignment] # its types are its own
    mutmut._run(tuple(names), jobs)


def _generate(mutmut: ModuleType, jobs: int) -> None:
    """Do what ``mutmut run`` does first."""
    mutmut.set_mutant_under_test("mutant_generation")
    mutmut.copy_src_dir()
    mutmut.copy_also_copy_files()
    mutmut.setup_source_paths()
    mutmut.create_mutants(jobs)


if __name__ == "__main__":
    main()

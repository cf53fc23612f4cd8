"""A module of which each function raises: whoever doesn't notice that tests something else."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Final, NoReturn

__all__ = ["TAIL", "VARIABLE", "silence"]

VARIABLE: Final = "LAWFUL_CANARY"
"""The environment variable that names the module."""

TAIL: Final = f"""
if __import__("os").environ.get("{VARIABLE}") == __name__:
    __import__("lawful.mutants.generic.canary", fromlist=["silence"]).silence(__name__)
"""
"""What a generated module ends with."""


class Canary(Exception):
    """Raised by each function of the module."""


def silence(name: str) -> None:
    """Have each function and method of a module raise."""
    module = sys.modules[name]
    for key, value in list(vars(module).items()):
        if getattr(value, "__module__", None) != name:
            continue
        if isinstance(value, FunctionType):
            setattr(module, key, _raising)
        elif isinstance(value, type):
            for attribute, function in list(vars(value).items()):
                if isinstance(function, FunctionType):
                    setattr(value, attribute, _raising)


def _raising(*_: object, **__: object) -> NoReturn:
    raise Canary("this function was broken on purpose")

"""The root of every error that lawful itself raises. What breaks a law is a finding, never one."""

from __future__ import annotations

__all__ = ["LawfulError", "SpecError"]


class LawfulError(Exception):
    """Something is wrong with what lawful was given, and the message says what to do next."""


class SpecError(LawfulError):
    """A table file is refused.

    Attributes:
        file: The file, as it was named.
        line: The line, counted from 1; None where the mistake has no line (a missing file).
        problem: One sentence: the value and what is allowed in its place.
        hint: The nearest right name, if one is near; else None.
    """

    def __init__(
        self, file: str, problem: str, *, line: int | None = None, hint: str | None = None
    ) -> None:
        self.file = file
        self.line = line
        self.problem = problem
        self.hint = hint
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {problem}" + (f" (did you mean {hint!r}?)" if hint else ""))

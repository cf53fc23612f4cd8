"""A status field, in two writings: one checks the word, one checks the move."""

from __future__ import annotations

from lawful.sut.gate.errors import IllegalMove, UnknownStatus
from lawful.sut.gate.system import Gate, GateWords

__all__ = ["Gate", "GateWords", "IllegalMove", "UnknownStatus"]

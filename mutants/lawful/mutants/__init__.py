"""Who checks the checks: faults that are planted on purpose, and the score of whoever finds them.

Three engines make mutants: of a table, of the code of the shipped stores, and (mutmut) of any
code. None of them ever changes the checkout.
"""

from __future__ import annotations

from .mutant import Fate, Mutant, Place, Result
from .score import Campaign, Score, Trust, score

__all__ = ["Campaign", "Fate", "Mutant", "Place", "Result", "Score", "Trust", "score"]

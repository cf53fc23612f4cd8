"""What must hold: one module for each family of laws, the runner, and the verdict.

Laws know a system through its adapter alone, and expect what the table says.
"""

from __future__ import annotations

from .judgement import Judgement, Verdict, judgement
from .law import Check, Law, Status
from .runner import Profile, Run, run
from .smoke import Smoke, smoke

__all__ = [
    "Check",
    "Judgement",
    "Law",
    "Profile",
    "Run",
    "Smoke",
    "Status",
    "Verdict",
    "judgement",
    "run",
    "smoke",
]

"""What is told of mutants: pure functions of campaigns and their verdict."""

from __future__ import annotations

from .badge import badge
from .html import html
from .junit import junit
from .schema import report_json
from .summary import summary
from .terminal import terminal
from .workflow import workflow_commands

__all__ = ["badge", "html", "junit", "report_json", "summary", "terminal", "workflow_commands"]

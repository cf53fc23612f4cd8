"""Reports: a run's stream, folded, and every face of it. Each face is a pure function."""

from .badge import badge
from .comparison import compare_terminal
from .document import from_json, json_text, load_schema, read_document, read_stream, to_json
from .html import compare_html, html
from .junit import junit
from .report import SCHEMA_VERSION, Gap, Report, ReportError, Row, events, fold
from .summary import summary
from .terminal import terminal
from .writing import WriteError, write

__all__ = [
    "SCHEMA_VERSION",
    "Gap",
    "Report",
    "ReportError",
    "Row",
    "WriteError",
    "badge",
    "compare_html",
    "compare_terminal",
    "events",
    "fold",
    "from_json",
    "html",
    "json_text",
    "junit",
    "load_schema",
    "read_document",
    "read_stream",
    "summary",
    "terminal",
    "to_json",
    "write",
]

"""What ``lawful init`` writes: an adapter to fill in, a test, and a CI workflow."""

from __future__ import annotations

from importlib import resources

__all__ = ["FILES", "text_of"]

FILES = {
    "lawful_adapter.py": "adapter.txt",
    "test_lawful.py": "test.txt",
    ".github/workflows/lawful.yml": "workflow.txt",
}
"""Where each file goes, below the folder, and the template that it is made from."""


def text_of(template: str) -> str:
    """Return a template's text."""
    return resources.files(__name__).joinpath(template).read_text(encoding="utf-8")

"""Faults of a table: generated, tested at the real judge, and proven where nobody can tell."""

from __future__ import annotations

from .engine import TableEngine

__all__ = ["TableEngine"]

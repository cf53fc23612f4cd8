"""What is right: lifecycles as tables, what each table says, and the words that test for it.

Imports the standard library alone, and never an implementation: an expectation that is read
from what it judges is always met.
"""

from .diagrams import dot, mermaid, svg
from .errors import LawfulError, SpecError
from .export import Json, load_schema, to_json
from .locate import KeyPath, locate
from .oracle import OPERATORS, Oracle, Outcome, Position, step
from .reader import find_table, parse_table, read_table, shipped_names, shipped_table
from .table import (
    Branch,
    Cell,
    CellKind,
    Condition,
    Counts,
    Event,
    Expiry,
    Guard,
    Lease,
    Letter,
    Name,
    Param,
    Params,
    Table,
    Value,
)
from .words import Edge, Word, cells, deep, histories, packed, reachable, shortest_paths

__all__ = [
    "OPERATORS",
    "Branch",
    "Cell",
    "CellKind",
    "Condition",
    "Counts",
    "Edge",
    "Event",
    "Expiry",
    "Guard",
    "Json",
    "KeyPath",
    "LawfulError",
    "Lease",
    "Letter",
    "Name",
    "Oracle",
    "Outcome",
    "Param",
    "Params",
    "Position",
    "SpecError",
    "Table",
    "Value",
    "Word",
    "cells",
    "deep",
    "dot",
    "find_table",
    "histories",
    "load_schema",
    "locate",
    "mermaid",
    "packed",
    "parse_table",
    "reachable",
    "read_table",
    "shipped_names",
    "shipped_table",
    "shortest_paths",
    "step",
    "svg",
    "to_json",
]

"""The parsed form: what the file says, one to one, and valid by the schema."""

import json
import tomllib
from copy import deepcopy
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from lawful.spec import load_schema, parse_table, shipped_names, shipped_table, to_json


@pytest.mark.parametrize("name", shipped_names())
def test_the_exported_form_is_the_file_s_own(name: str) -> None:
    text = (files("lawful.spec") / "tables" / f"{name}.toml").read_text("utf-8")
    exported = to_json(shipped_table(name))
    assert exported == {"version": 1, **tomllib.loads(text)}
    assert json.loads(json.dumps(exported)) == exported
    assert list(exported["table"]) == list(shipped_table(name).states)  # type: ignore[arg-type]  # a table


@pytest.mark.parametrize("name", shipped_names())
def test_the_exported_form_meets_the_schema(name: str) -> None:
    schema: Any = load_schema()  # Any: jsonschema's border
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(to_json(shipped_table(name)), schema)


ENUMS = """
format = "lawful-spec/1"
name = "triage"
version = 7
initial = "new"
terminal = ["low", "odd"]
events = ["sort", "look"]
counts = { legal = 2, noop = 1, refused = 3 }
[table]
new = ["?by", "new"]
low = ["-", "="]
odd = ["-", "-"]
[event.sort]
payload = { kind = ["a", "b"], sure = "bool" }
add = { sorted = 2 }
[guard.by]
when = [{ if = [["kind", "==", "a", "other"]], to = "low" }, { to = "odd", add = { odds = 1 } }]
"""


def test_payload_words_versions_and_additions_are_exported() -> None:
    exported = to_json(parse_table(ENUMS, "triage.toml"))
    assert exported == tomllib.loads(ENUMS)
    schema: Any = load_schema()  # Any: jsonschema's border
    jsonschema.validate(exported, schema)


LEASED = """
format = "lawful-spec/1"
name = "lent"
version = 1
initial = "in"
terminal = []
events = ["lend", "back"]
counts = { legal = 2, noop = 0, refused = 2 }
[table]
in = ["out", "-"]
out = ["-", "in"]
[lease]
granted_by = ["lend"]
needed_by = []
held_in = ["out"]
seconds = 5
expiry = "strict"
on_expiry = { event = "back" }
"""


def test_an_expiry_without_a_payload_is_exported_without_one() -> None:
    exported = to_json(parse_table(LEASED, "lent.toml"))
    assert exported == tomllib.loads(LEASED)
    schema: Any = load_schema()  # Any: jsonschema's border
    jsonschema.validate(exported, schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "lawful-spec/2"),
        (("name",), "Task"),
        (("version",), 0),
        (("events",), []),
        (("events",), ["start", "start"]),
        (("counts", "legal"), True),
        (("table", "running"), ["!"]),
        (("guard", "retry", "when", 0, "if", 0), ["retryable", "==", True]),
        (("guard", "retry", "when", 0, "if", 0), ["retryable", "=", True, "permanent"]),
        (("guard", "retry", "when", 0, "to"), "?retry"),
        (("event", "start", "add"), {"attempts": 0}),
        (("event", "fail", "payload"), {"retryable": "int"}),
        (("params", "max_attempts", "check"), [1, 1]),
        (("lease", "expiry"), "never"),
        (("lease", "on_expiry", "payload"), {"retryable": 1}),
        (("surprise",), 1),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(
    path: tuple[str | int, ...], value: object
) -> None:
    exported: Any = deepcopy(to_json(shipped_table("task")))  # Any: reached into by path
    inner = exported
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    schema: Any = load_schema()  # Any: jsonschema's border
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(exported, schema)

"""The JSON report, its schemas, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import (
    Draft202012Validator,
)

from lawful.reports.document import (
    from_json,
    json_text,
    load_schema,
    read_document,
    to_json,
)
from lawful.reports.report import ReportError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lawful.reports.report import Report


def test_both_schemas_are_schemas_and_closed() -> None:
    for schema in (load_schema("report"), load_schema("stream")):
        Draft202012Validator.check_schema(schema)
        objects = [each for each in (schema, *schema["$defs"].values()) if "properties" in each]
        assert objects
        assert all(each["additionalProperties"] is False for each in objects)


def test_a_report_with_every_status_survives_the_way_there_and_back(
    door: Report, undeclared_door: Report
) -> None:
    for report in (door, undeclared_door):
        document = to_json(report)
        Draft202012Validator(load_schema("report")).validate(document)
        assert read_document(json_text(report)) == report


def test_the_document_says_what_a_reader_needs(door: Report) -> None:
    document = to_json(door)
    assert document["schema_version"] == 1
    assert document["verdict"] == "unlawful"
    assert document["exit_code"] == 1
    assert document["counts"] == {
        "PASS": 5,
        "FAIL": 3,
        "ERROR": 1,
        "BLOCKED": 1,
        "UNSUPPORTED": 3,
        "NOT_YET": 1,
        "KNOWN": 1,
        "STALE": 1,
        "MOVED": 1,
        "NOT_RUN": 1,
    }
    assert document["checks"][2] == {
        "id": "cell/closed/shut",
        "status": "FAIL",
        "says": "'shut' on 'closed' is accepted and writes nothing",
        "expected": "no-op",
        "got": "version 1 -> 2",
        "trace": "shut@client shut@client",
        "replay": "lawful replay door:Door 'shut@client shut@client'",
        "cause": "",
        "triggers": 3,
        "controls": 0,
        "how": "clean",
        "findings": 3,
        "note": "",
        "trail": "",
        "python": "",
    }


def _set(*path: str | int, to: object) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to

    return change


def _drop(*path: str | int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("schema_version", to=2), r"report\.schema_version is 2; expected 1"),
        (_drop("headline"), r"report lacks 'headline'"),
        (_set("extra", to=1), r"report has an unknown name 'extra'"),
        (_set("checks", 0, "extra", to=1), r"report\.checks\[0\] has an unknown name 'extra'"),
        (_set("spec", to=[]), r"report\.spec is \[\]; expected an object"),
        (_set("checks", to={}), r"report\.checks is \{\}; expected an array"),
        (_set("checks", 1, to="x"), r"report\.checks\[1\] is 'x'; expected an object"),
        (_set("checks", 1, "status", to="OK"), r"checks\[1\]\.status is 'OK'; expected one of PA"),
        (_set("checks", 1, "how", to="magic"), r"checks\[1\]\.how is 'magic'; expected one of cl"),
        (_set("checks", 1, "says", to=None), r"checks\[1\]\.says is None; expected a string"),
        (_set("checks", 1, "triggers", to=-1), r"triggers is -1; expected an integer, 0 or more"),
        (_set("checks", 1, "triggers", to=True), r"triggers is True; expected an integer"),
        (_set("reasons", to=[1]), r"report\.reasons is \[1\]; expected an array of strings"),
        (_set("seconds", to="1"), r"report\.seconds is '1'; expected a number"),
        (_set("seconds", to=float("nan")), r"report\.seconds is nan; expected a finite number"),
        (_set("seconds", to=float("inf")), r"report\.seconds is inf; expected a finite number"),
        (_set("verdict", to="fine"), r"report\.verdict is 'fine'; expected one of lawful"),
        (_set("exit_code", to=0), r"report\.exit_code is 0; expected 1, since it is unlawful"),
        (_set("counts", "PASS", to=6), r"report\.counts\.PASS is 6; expected 5, as in `checks`"),
        (_set("counts", "FINE", to=6), r"report\.counts has an unknown name 'FINE'"),
        (_set("spec", "cells", "open", to=["legal"]), r"cells\.open is .*; expected one word for"),
        (_set("spec", "cells", "open", to=["legal", "maybe"]), r"expected only legal, no-op, ref"),
        (_set("implementation", "gaps", 0, "kind", to="no"), r"kind is 'no'; expected one of not"),
        (_set("coverage", "x", to={"cells": "3"}), r"coverage\.x\.cells is '3'; expected an int"),
        (_set("headline", to=["x" * 10_000]), r"headline is \['x{58}…; expected a string"),
    ],
)
def test_a_wrong_document_is_refused_with_the_place(
    door: Report, change: Callable[[Any], None], message: str
) -> None:
    document = to_json(door)
    change(document)
    with pytest.raises(ReportError, match=message):
        from_json(document)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ReportError, match="the report is not JSON"):
        read_document(text)


def test_a_report_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lawful.reports.document.LIMIT", 10)
    with pytest.raises(ReportError, match="has 11 characters; at most 10 are read"):
        read_document(" " * 11)


def test_an_enormous_number_is_read_as_a_number(door: Report) -> None:
    document = to_json(door) | {"seconds": 10**400}
    assert from_json(document).seconds == 10**400

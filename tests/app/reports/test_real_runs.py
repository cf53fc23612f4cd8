"""What two real runs write, through every schema and every face."""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import fromstring

from jsonschema import (
    Draft202012Validator,
)

from lawful.reports import (
    badge,
    fold,
    from_json,
    html,
    json_text,
    junit,
    load_schema,
    read_document,
    read_stream,
    summary,
    terminal,
    to_json,
)

PASSED = {"flags": 10, "reference": 56}


def test_every_event_and_the_document_meet_their_schemas(stream: Any) -> None:
    validator = Draft202012Validator(load_schema("stream"))
    for event in stream:
        validator.validate(event)
    Draft202012Validator(load_schema("report")).validate(to_json(fold(stream)))


def test_a_run_survives_the_way_there_and_back(stream: Any) -> None:
    report = fold(stream)
    assert from_json(to_json(report)) == report
    assert read_document(json_text(report)) == report
    assert read_stream("\n".join(json.dumps(event) for event in stream)) == report


def test_every_face_tells_the_same_count(stream: Any) -> None:
    report = fold(stream)
    passed = PASSED[report.name]
    said = f"{passed} of 56"
    text = terminal(report, colour=False, ascii=False)
    assert text.split("\n")[-2] == f"{said} cells pass"
    grid = text.split("\n")[3:11]
    assert sum(line.count("✓") for line in grid) == passed
    assert sum(line.count("✗") for line in grid) == 56 - passed
    assert max(map(len, grid)) <= 100
    assert f"{said} cells pass" in html(report)
    assert html(report).count(' data-id="cell/') == 56
    assert f"{said} cells pass" in summary(report)
    assert badge(report)["message"] == said
    cases = [
        case
        for case in fromstring(junit(report)).iter("testcase")
        if case.get("name", "").startswith("cell/") and not set(case.get("name", "")) & {"?", "@"}
    ]
    assert len(cases) == 56
    assert sum(case.find("failure") is None for case in cases) == passed

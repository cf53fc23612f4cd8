"""JUnit XML: one test case a check, named by its bare id, so that many runs merge."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from lawful.laws.judgement import Verdict
from lawful.laws.law import Status

from . import outline
from ._plain import printable
from .marks import MARKS

if TYPE_CHECKING:
    from lawful.laws.law import Check

    from .report import Report

__all__ = ["junit"]


def junit(report: Report) -> str:
    """Return a report as JUnit XML.

    FAIL, STALE and MOVED are failures, ERROR is an error, what was not judged is skipped. The
    case ``verdict`` fails where the run is incomplete, since skipping alone would look green.
    """
    suite = Element("testsuite", name=printable(f"lawful.{report.target}"))
    properties = SubElement(suite, "properties")
    for name, value in (
        ("implementation", report.name),
        ("spec", f"{report.spec_name} {report.spec_version}"),
        ("profile", report.profile),
        ("lawful", report.lawful),
        ("verdict", report.headline),
        ("cells", f"{report.passed} pass"),
    ):
        SubElement(properties, "property", name=name, value=printable(value))
    for check in report.checks:
        _case(suite, report, check)
    _verdict(suite, report)
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for name, count in counts.items():
        suite.set(name, str(count))
    suite.set("time", f"{report.seconds:.3f}")
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _case(suite: Element, report: Report, check: Check) -> None:
    family = check.id.partition("/")[0]
    case = SubElement(
        suite,
        "testcase",
        classname=printable(f"lawful.{report.target}.{family}"),
        name=printable(check.id),
    )
    match check.status:
        case Status.PASS:
            pass
        case Status.FAIL | Status.STALE | Status.MOVED:
            _broken(case, "failure", report, check)
        case Status.ERROR:
            _broken(case, "error", report, check)
        case _:
            word, why = MARKS[check.status].word, check.cause or check.note
            joint = " by " if check.status is Status.BLOCKED else ": "
            message = f"{word}{joint}{why}" if why else word
            SubElement(case, "skipped", message=printable(message))


def _broken(case: Element, tag: str, report: Report, check: Check) -> None:
    said = f"expected {check.expected}, got {check.got}" if check.expected else check.note
    message = said if check.status is Status.FAIL else f"{check.status}: {said}"
    found = SubElement(case, tag, message=printable(message), type=str(check.status))
    lines = [f"{fact.name}: {printable(fact.text)}" for fact in outline.facts(report, check)]
    if check.trail:
        lines += ["", printable(check.trail, lines=True)]
    found.text = "\n".join(lines)


def _verdict(suite: Element, report: Report) -> None:
    case = SubElement(
        suite, "testcase", classname=printable(f"lawful.{report.target}.verdict"), name="verdict"
    )
    if report.verdict is Verdict.INCOMPLETE:
        found = SubElement(case, "failure", message=printable(report.headline), type="incomplete")
        lines = [*report.reasons, *outline.lines_to_add(report)]
        found.text = "\n".join(printable(line) for line in lines)

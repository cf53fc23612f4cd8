"""Mutants as JUnit XML: a case each; one that nobody has found is a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from lawful.mutants.mutant import DETECTED, EXCLUDED, Fate
from lawful.mutants.verdict import Standing
from lawful.reports._plain import printable

from .words import headlines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lawful.mutants.mutant import Result
    from lawful.mutants.score import Campaign
    from lawful.mutants.verdict import Judged

__all__ = ["junit"]


def junit(campaigns: Sequence[Campaign], judged: Judged) -> str:
    """Return campaigns as JUnit XML.

    What is proven equivalent or set aside is skipped. The case ``verdict`` fails where there is no
    score, since skipping alone would look green.
    """
    root = Element("testsuites")
    for campaign in campaigns:
        suite = SubElement(root, "testsuite", name=f"lawful.mutants.{campaign.engine}")
        for result in campaign.results:
            _case(suite, result)
        _finish(suite, campaign.seconds)
    last = SubElement(root, "testsuite", name="lawful.mutants")
    case = SubElement(last, "testcase", classname="lawful.mutants", name="verdict")
    if judged.standing is not Standing.REACHED:
        lines = headlines(campaigns, judged)
        found = SubElement(case, "failure", message=printable(lines[-1]), type=judged.standing)
        found.text = "\n".join(map(printable, lines))
    _finish(last, sum(campaign.seconds for campaign in campaigns))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _case(suite: Element, result: Result) -> None:
    mutant = result.mutant
    case = SubElement(
        suite,
        "testcase",
        classname=printable(f"lawful.mutants.{mutant.engine}.{mutant.family}"),
        name=printable(mutant.id),
        time=f"{result.seconds:.3f}",
    )
    if result.fate in DETECTED:
        return
    if result.fate in EXCLUDED | {Fate.PENDING}:
        why = f"{result.fate}: {result.reason}" if result.reason else str(result.fate)
        SubElement(case, "skipped", message=printable(why))
        return
    found = SubElement(case, "failure", message=printable(mutant.says), type=result.fate)
    lines = [f"- {mutant.before}", f"+ {mutant.after}", result.reason]
    found.text = "\n".join(printable(line, lines=True) for line in lines if line)


def _finish(suite: Element, seconds: float) -> None:
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": 0,
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for name, count in counts.items():
        suite.set(name, str(count))
    suite.set("time", f"{seconds:.3f}")

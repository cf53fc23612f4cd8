"""The mutation testing report schema: JSON that dashboards and viewers of any language read.

The schema is version 2 of stryker-mutator's ``mutation-testing-report-schema``. Lines and columns
count from 1, and an end is behind the last character.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from lawful.mutants.mutant import Fate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lawful.mutants.mutant import Place, Result
    from lawful.mutants.score import Campaign

__all__ = ["report_json"]

STATUS: Final[Mapping[Fate, str]] = MappingProxyType(
    {
        Fate.KILLED: "Killed",
        Fate.TIMEOUT: "Timeout",
        Fate.SURVIVED: "Survived",
        Fate.UNREACHED: "NoCoverage",
        Fate.BROKEN: "RuntimeError",
        Fate.EQUIVALENT: "Ignored",
        Fate.SET_ASIDE: "Ignored",
        Fate.PENDING: "Pending",
    }
)
_LANGUAGES: Final = MappingProxyType({".py": "python", ".toml": "toml"})


def report_json(campaigns: Sequence[Campaign], least: Mapping[str, float]) -> str:
    """Return campaigns as the text of a mutation testing report.

    Args:
        campaigns: What was found out.
        least: The threshold of each engine, in percent.
    """
    low = int(min((least[campaign.engine] for campaign in campaigns), default=100))
    asked = {check for campaign in campaigns for check in campaign.checks}
    killers = {name for each in campaigns for result in each.results for name in result.killers}
    report: dict[str, Any] = {
        "schemaVersion": "2",
        "thresholds": {"high": 100, "low": low},
        "framework": {"name": "lawful", "version": version("lawful")},
        "files": _files(campaigns),
        "testFiles": {
            "lawful": {"tests": [{"id": name, "name": name} for name in sorted(asked | killers)]}
        },
    }
    return json.dumps(report, indent=1) + "\n"


def _files(campaigns: Sequence[Campaign]) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for campaign in campaigns:
        for result in campaign.results:
            name = result.mutant.place.file
            source = campaign.sources.get(name, "")
            suffix = name[name.rindex(".") :] if "." in name else ".toml"
            language = _LANGUAGES.get(suffix, "text")
            new = {"language": language, "source": source, "mutants": []}
            files.setdefault(name, new)["mutants"].append(_mutant(campaign, result, source))
    return files


def _mutant(campaign: Campaign, result: Result, source: str) -> dict[str, Any]:
    mutant = result.mutant
    row: dict[str, Any] = {
        "id": mutant.id,
        "mutatorName": f"{mutant.engine}/{mutant.family}",
        "description": mutant.says,
        "replacement": mutant.after,
        "location": _location(mutant.place, source),
        "status": STATUS[result.fate],
        "duration": round(result.seconds * 1000, 3),
        "static": campaign.engine == "table",
    }
    if result.killers:
        row["killedBy"] = list(result.killers)
    if result.reason:
        row["statusReason"] = result.reason
    return row


def _location(place: Place, source: str) -> dict[str, Any]:
    if place.line:
        start, end = (place.line, place.column), (place.end_line, place.end_column)
    else:
        start = _row_of(place.cell[0], source) if place.cell else (1, 1)
        end = start[0], start[1] + len(place.cell[0] if place.cell else "x")
    return {
        "start": {"line": start[0], "column": max(start[1], 1)},
        "end": {"line": end[0], "column": max(end[1], 1)},
    }


def _row_of(state: str, source: str) -> tuple[int, int]:
    """Return where a state's row begins in the text of a table."""
    inside = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.startswith("["):
            inside = line.strip() == "[table]"
        elif inside and line.split("=")[0].strip().strip('"') == state:
            return number, 1
    return 1, 1

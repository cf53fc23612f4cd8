"""Reports made by hand, with every status, and the streams of two real runs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from lawful.laws.judgement import Verdict
from lawful.laws.law import Check, Status
from lawful.laws.runner import Profile, run
from lawful.reports.report import Gap, Report, events
from lawful.strategies.adapter import describe
from lawful.strategies.seen import How

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = (
    Check("cell/open/shut", Status.PASS, "'shut' on 'open' leads to 'closed'", triggers=4),
    Check("cell/open/lock", Status.PASS, "'lock' on 'open' is refused", triggers=2),
    Check(
        "cell/closed/shut",
        Status.FAIL,
        "'shut' on 'closed' is accepted and writes nothing",
        expected="no-op",
        got="version 1 -> 2",
        trace="shut@client shut@client",
        triggers=3,
        findings=3,
    ),
    Check(
        "cell/closed/lock",
        Status.ERROR,
        "'lock' on 'closed' leads to 'locked'",
        expected="locked",
        got="raised KeyError",
        trace="shut@client lock@client",
        trail="Traceback (most recent call last):\n  File \"door.py\", line 7\nKeyError: 'bolt'",
    ),
    Check("cell/locked/shut", Status.BLOCKED, "refused", cause="cell/closed/lock"),
    Check("cell/locked/lock", Status.UNSUPPORTED, "refused", cause="locked, closed: look alike"),
    Check(
        "cell/closed/lock?rusty",
        Status.FAIL,
        "'lock' on 'closed' when rusty leads to 'stuck'",
        expected="stuck",
        got="locked",
        trace="shut@client lock(rusty=true)@client",
        how=How.PUT,
    ),
    Check("cell/open/shut@turns=1", Status.PASS, "leads to 'closed'", triggers=1),
    Check("cell/closed/shut@turns=1", Status.FAIL, "no-op", expected="no-op", got="written"),
    Check("silence/refusal", Status.PASS, "a refusal writes nothing", triggers=12),
    Check("silence/noop", Status.PASS, "a no-op writes nothing", triggers=3),
    Check("lease/holder", Status.UNSUPPORTED, "only the holder", cause="lease_owner: no leases"),
    Check("lease/zombie", Status.UNSUPPORTED, "not a zombie", cause="lease_owner: no leases"),
    Check("lease/heartbeat", Status.NOT_YET, "renews", cause="heartbeat: planned (#7)"),
    Check("replay/fold", Status.KNOWN, "folds", cause="rows are trimmed"),
    Check("replay/chain", Status.STALE, "one chain", note="pinned, and it passes now"),
    Check("replay/entry", Status.MOVED, "entries", expected="one", got="two", trace="shut@client"),
    Check("identity/apart", Status.NOT_RUN, "apart", note="its trigger never held"),
)

DOOR = Report(
    lawful="0.1.0",
    spec_name="door",
    spec_version=2,
    events=("shut", "lock"),
    kinds={
        "open": ("legal", "refused"),
        "closed": ("no-op", "legal"),
        "locked": ("refused", "refused"),
    },
    name="door",
    target="door:Door",
    system="doors",
    gaps=(
        Gap("claim", "unsupported", "nobody waits at a door"),
        Gap("heartbeat", "not yet", "planned", "#7"),
        Gap("lease_owner", "unsupported", "no leases"),
    ),
    reached=("door.Door.shut",),
    profile="quick",
    checks=CHECKS,
    verdict=Verdict.UNLAWFUL,
    headline="unlawful, 2 of 6 cells broken, 2 laws broken",
    reasons=(
        "cell/locked/shut is blocked by cell/closed/lock",
        "identity/apart was not run: its trigger never held",
    ),
    coverage={"cell/open/shut": {"cells": 3, "packed": 1}},
    seconds=1.25,
)


@pytest.fixture
def door() -> Report:
    """A report with every status."""
    return DOOR


@pytest.fixture
def lawful_door() -> Report:
    """The same door where all is well."""
    return replace(
        DOOR,
        checks=tuple(
            Check(check.id, Status.PASS, check.says, triggers=1)
            for check in CHECKS
            if "?" not in check.id and "@" not in check.id
        ),
        verdict=Verdict.LAWFUL,
        headline="lawful",
        reasons=(),
        gaps=(),
    )


@pytest.fixture
def undeclared_door(lawful_door: Report) -> Report:
    """The same door, whose adapter says nothing of heartbeats."""
    kept = [check for check in lawful_door.checks if check.id != "lease/heartbeat"]
    missing = Check("lease/heartbeat", Status.NOT_RUN, "renews", note="not offered")
    return replace(
        lawful_door,
        checks=(*kept, missing),
        verdict=Verdict.INCOMPLETE,
        headline="incomplete",
        reasons=("'heartbeat' is neither offered nor declared in `gaps`",),
        undeclared={"heartbeat": ("lease/heartbeat", "lease/expiry")},
    )


@pytest.fixture(scope="module", params=["flags", "reference"])
def stream(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The stream of a real run, as it comes back from its JSON lines."""
    folder: Path = tmp_path_factory.mktemp("stores")
    name: str = request.param
    made = events(
        run(describe(name), folder, profile=Profile.QUICK), name=name, profile=Profile.QUICK
    )
    return [json.loads(json.dumps(event)) for event in made]

"""The engine ``planted`` with real trials: what it finds, and what it does not believe."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from select import select
from typing import TYPE_CHECKING

import pytest

from lawful.laws.law import Status
from lawful.mutants import Fate, Trust, score
from lawful.mutants.campaign import mutate
from lawful.mutants.owned import end_all
from lawful.mutants.planted import Fault, Patch, PlantedEngine
from lawful.mutants.planted.answers import Answer, Asked, Request, read_answer, write_request
from lawful.mutants.planted.catalogue import FAULTS
from lawful.mutants.planted.process import tried
from lawful.mutants.planted.trusted import trusted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from lawful.mutants import Result
    from lawful.mutants.planted.trials import Course

MACHINE = "lawful.sut.reference.machine"
BY_ID = {fault.id: fault for fault in FAULTS}
CANCELLED = BY_ID["planted/guard/cancelled-enqueued"]


def fault(
    name: str, *patches: Patch, claims: tuple[str, ...] = ("cell/submitted/enqueue",)
) -> Fault:
    return Fault(id=f"planted/test/{name}", says=name, source="", patches=patches, claims=claims)


def became(*faults: Fault, patience: float = 120.0) -> dict[str, Result]:
    with PlantedEngine(faults, patience=patience) as engine:
        results = engine.test(engine.mutants(), matrix=False, killers={})
        return {result.mutant.id.rpartition("/")[2]: result for result in results}


def first(*statements: str) -> Patch:
    """Return a patch that has ``step`` do something before all else."""
    before = "check_payload(event, payload)"
    return Patch(MACHINE, "step", before, "\n".join((*statements, before)))


def test_what_cannot_be_judged_is_not_found_and_says_why() -> None:
    results = became(
        fault("unreadable", Patch(MACHINE, "step", "check_payload(event, payload)", "return (")),
        fault("moved-away", Patch(MACHINE, "stride", "check_payload(event, payload)", "")),
        fault("kills", first("import os", "os._exit(3)")),
        fault("not-imported", Patch(MACHINE, "", "from enum import StrEnum", "import nowhere")),
    )
    assert {result.fate for result in results.values()} == {Fate.BROKEN}
    assert "'return (' is no Python" in results["unreadable"].reason
    assert f"{MACHINE}:stride: there are 0 of stride" in results["moved-away"].reason
    assert "its process ended with code 3" in results["kills"].reason
    assert "needs 'nowhere'" in results["not-imported"].reason
    assert score(results.values()).adjusted == 0.0


def test_a_trial_that_comes_to_no_end_is_late() -> None:
    result = became(fault("hangs", first("while True: pass")), patience=0.5)["hangs"]
    assert result.fate is Fate.TIMEOUT
    assert result.reason == "no end within 0.5 s"
    assert result.tested == 0


def test_a_trial_is_ended_with_all_that_it_has_begun(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    begun = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    forks = first(
        "import os",
        f"pipe = os.open({str(fifo)!r}, os.O_WRONLY)",
        "os.fork()",
        "os.write(pipe, b'x')",
        "while True: pass",
    )
    request = write_request(Request("reference", (forks,), ("cell/submitted/enqueue",)), 60.0)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(tried, request, 600.0)
        heard = b""
        while len(heard) < 2:
            select([begun], [], [])
            heard += os.read(begun, 2)  # empty as long as nobody has opened it
        end_all()
        assert "ended with code -9" in read_answer(answer.result()).problem
    select([begun], [], [])
    assert os.read(begun, 1) == b""  # nobody is left who could write
    os.close(begun)


@pytest.mark.slow
def test_a_suite_that_asserts_nothing_finds_nothing() -> None:
    deaf = (
        Patch("lawful.laws.verdict", "Evidence._check", "best is None", "True"),
        Patch("lawful.laws.law", "conclude", "best is not None", "False"),
    )
    result = became(fault("deaf", *CANCELLED.patches, *deaf, claims=CANCELLED.claims))["deaf"]
    assert result.fate is Fate.SURVIVED
    assert result.killers == ()
    assert score([result]).adjusted == 0.0


def test_a_red_baseline_ends_it() -> None:
    flags = Fault(
        id="planted/test/flags",
        says="",
        source="",
        patches=(Patch("lawful.sut.flags", "", "x", "y"),),
        claims=("cell/submitted/enqueue", "absorption/terminal"),
        store="flags",
    )
    with PlantedEngine([flags]) as engine:
        campaign = mutate(engine)
    assert [result.fate for result in campaign.results] == [Fate.PENDING]
    baseline = campaign.distrusted[0]
    assert baseline.name == "baseline"
    assert baseline.told.startswith("flags: absorption/terminal: FAIL, expected ")


class Deaf:
    """Trials in which everybody passes, whatever is patched."""

    def run(self, courses: Iterable[Course[object]]) -> Iterator[object]:
        for course in courses:
            request = next(course)
            passed = tuple(Asked(name, Status.PASS, "", "") for name in request.checks or ())
            try:
                course.send(Answer(passed))
            except StopIteration as end:
                yield end.value


def test_there_is_no_score_if_everybody_always_passes() -> None:
    told = list(trusted([CANCELLED], Deaf()))  # type: ignore[arg-type]
    assert [trust for trust in told if not trust.holds] == [
        Trust("canary", False, "planted/canary/machine: nobody has found it")
    ]


def test_a_module_without_a_canary_is_not_believed() -> None:
    other = fault("other", Patch("lawful.sut.contract", "", "x", "y"))
    told = list(trusted([CANCELLED, other], Deaf()))  # type: ignore[arg-type]
    assert told[-1] == Trust(
        "workspace", False, "lawful.sut.contract is patched, and has no canary"
    )


def test_some_faults_are_found_and_the_score_is_believed() -> None:
    with PlantedEngine([CANCELLED]) as engine:
        campaign = mutate(engine)
    assert campaign.distrusted == ()
    assert [(trust.name, trust.holds) for trust in campaign.trust] == [
        ("baseline", True),
        ("baseline", True),
        ("null mutant", True),
        ("canary", True),
        ("workspace", True),
    ]
    (result,) = campaign.results
    assert result.fate is Fate.KILLED
    assert result.killers == ("cell/cancelled/enqueue", "absorption/terminal")
    assert result.trace == "cancel@client enqueue@client"


def test_a_fate_depends_on_the_store_and_on_all_that_judges_it() -> None:
    other = BY_ID["planted/transaction/postgresql-none"]
    with PlantedEngine([CANCELLED, other]) as engine:
        (here, judges), (there, same) = map(list, map(engine.depends, engine.mutants()))
    assert here != there
    assert judges == same


def test_a_fault_that_nobody_claims_is_none() -> None:
    with pytest.raises(ValueError, match="planted/test/unclaimed: nobody claims it"):
        fault("unclaimed", first("pass"), claims=())

"""The catalogue of planted faults: complete, well formed, and fitting today's source."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lawful.laws.catalogue import check_ids
from lawful.mutants.planted.catalogue import FAULTS
from lawful.mutants.planted.patching import patched
from lawful.mutants.planted.trusted import CANARIES, NULL
from lawful.spec.reader import shipped_table

if TYPE_CHECKING:
    from lawful.mutants.planted import Fault

CHECKS = frozenset(check_ids(shipped_table("task")))
DESIGN = Path(__file__).parents[3] / "DESIGN.md"

# The families that were asked for, and at least how many faults in all.
FAMILIES = {
    "guard",
    "counter",
    "transaction",
    "predicate",
    "reaper",
    "recovery",
    "history",
    "identity",
    "time",
    "order",
    "schema",
}
LEAST = 60

CLASSIC = {
    "planted/guard/cancelled-enqueued": "cancelled can be enqueued again",
    "planted/guard/attempts-at-most": "attempts <= max_attempts",
    "planted/predicate/version-not-checked": "the version check is dropped",
    "planted/predicate/holder-not-checked": "the check of the lease's holder is dropped",
    "planted/transaction/none": "all explicit transactions are dropped",
}


def test_the_catalogue_has_every_family_and_the_five_classic_faults() -> None:
    assert {fault.family for fault in FAULTS} == FAMILIES
    assert len(FAULTS) >= LEAST
    assert CLASSIC.keys() <= {fault.id for fault in FAULTS}


def test_no_two_faults_have_one_id_or_the_same_patches() -> None:
    assert max(Counter(fault.id for fault in FAULTS).values()) == 1
    assert max(Counter((fault.store, fault.patches) for fault in FAULTS).values()) == 1


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_says_what_it_is_and_who_finds_it_and_fits_the_source(fault: Fault) -> None:
    assert re.fullmatch(r"planted/[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", fault.id)
    assert fault.says
    assert fault.source
    assert fault.claims
    assert set(fault.claims) <= CHECKS
    assert patched(fault.patches).sources


@pytest.mark.parametrize("fault", CANARIES, ids=lambda fault: fault.id)
def test_each_canary_fits_the_source(fault: Fault) -> None:
    assert len(patched(fault.patches).sources) == 1


def test_each_patched_module_has_a_canary() -> None:
    modules = {patch.module for fault in FAULTS for patch in fault.patches}
    assert modules == {fault.patches[0].module for fault in CANARIES}
    assert patched([NULL]).sources


def test_a_fault_that_is_equivalent_on_one_store_is_found_on_another() -> None:
    # By hand: SQLite's one writer protects it; the twin's store has no such lock.
    twins = {
        "planted/predicate/written-by-id": "planted/predicate/postgresql-by-id-unlocked",
        "planted/predicate/rows-not-counted": "planted/predicate/postgresql-uncounted-unlocked",
        "planted/reaper/not-looked-at-again": "planted/reaper/redis-not-looked-at-again",
    }
    by_id = {fault.id: fault for fault in FAULTS}
    assert {fault.id for fault in FAULTS if fault.equivalent} == twins.keys()
    for twin in twins.values():
        assert not by_id[twin].equivalent
        assert by_id[twin].store != "reference"


def test_a_law_without_a_fault_of_its_own_is_explained_in_the_design() -> None:
    claimed = {check for fault in FAULTS for check in fault.claims}
    families = {check.partition("/")[0] for check in CHECKS}
    assert families == {check.partition("/")[0] for check in claimed}
    design = DESIGN.read_text("utf-8")
    laws = {check for check in CHECKS - claimed if not check.startswith("cell/")}
    assert {law for law in laws if f"`{law}`" not in design} == set()

"""The engine ``mutmut`` with real runs of mutmut, on projects of a few lines; fates are by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lawful.mutants import Fate, score
from lawful.mutants.campaign import mutate
from lawful.mutants.errors import MutationError
from lawful.mutants.generic import workspace
from lawful.mutants.generic.engine import MutmutEngine
from lawful.mutants.generic.reviewed import Review, stamp
from lawful.mutants.generic.workspace import Suite
from lawful.mutants.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lawful.mutants import Campaign

COUNT = """\
def fits(n, limit):
    return n <= limit


def price(n):
    return n * 3


def unused(n):
    return n + 1
"""
TESTS = """\
from stock.count import fits, price


def test_fits():
    assert fits(3, 3)
    assert not fits(4, 3)


def test_price():
    assert price(0) == 0
"""
# By hand: <= becomes <; * becomes /, 3 becomes 4; + becomes -, 1 becomes 2.
FATES = {
    "mutmut/comparison/stock.count.fits/1": Fate.KILLED,
    "mutmut/arithmetic/stock.count.price/1": Fate.SURVIVED,
    "mutmut/number/stock.count.price/2": Fate.SURVIVED,
    "mutmut/arithmetic/stock.count.unused/1": Fate.UNREACHED,
    "mutmut/number/stock.count.unused/2": Fate.UNREACHED,
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose folder one is in."""
    folder = tmp_path / "project"
    write(folder, {"stock/__init__.py": "", "stock/count.py": COUNT, "tests/test_it.py": TESTS})
    monkeypatch.chdir(folder)
    return folder


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def engine(project: Path, **named: object) -> MutmutEngine:
    return MutmutEngine(
        [Path("stock")],
        Suite((Path("tests"),)),
        project=project,
        **named,  # type: ignore[arg-type]
    )


def campaign(project: Path, memory: Memory | None = None, **named: object) -> Campaign:
    with engine(project, **named) as made:
        return mutate(made, memory=memory)


def fates(found: Campaign) -> dict[str, Fate]:
    return {result.mutant.id: result.fate for result in found.results}


def test_mutants_are_found_or_not_as_by_hand(project: Path) -> None:
    before = sorted(str(file) for file in project.rglob("*"))
    found = campaign(project)
    assert found.distrusted == ()
    assert fates(found) == FATES
    killed = found.results[0]
    assert killed.killers == ("tests/test_it.py::test_fits",)
    assert killed.reason.startswith("AssertionError: assert ")
    assert killed.mutant.place == ("stock/count.py", 2, 12, 2, 22, None)
    assert (killed.mutant.before, killed.mutant.after) == ("n <= limit", "n < limit")
    assert score(found.results).adjusted == 20.0
    assert [(trust.name, trust.holds) for trust in found.trust] == [
        ("baseline", True),
        ("workspace", True),
        ("null mutant", True),
        ("canary", True),
    ]
    assert sorted(str(file) for file in project.rglob("*")) == before  # nothing was written here


@pytest.mark.slow
def test_mutmuts_own_counts_are_the_same(project: Path) -> None:
    with engine(project) as made:
        results = list(made.test(made.mutants(), matrix=False, killers={}))
        counts = "from mutmut.__main__ import cli; cli(['export-cicd-stats'])"
        folder = made.workspace.folder
        subprocess.run([sys.executable, "-c", counts], cwd=folder, check=True, capture_output=True)
        theirs = json.loads((folder / "mutants" / "mutmut-cicd-stats.json").read_text())
    ours = score(results).fates
    assert theirs["total"] == len(results)
    assert theirs["killed"] == ours[Fate.KILLED] == 1
    assert theirs["survived"] == ours[Fate.SURVIVED] == 2
    assert theirs["no_tests"] == ours[Fate.UNREACHED] == 2


@pytest.mark.slow
def test_tests_that_assert_nothing_score_0_and_not_100(project: Path) -> None:
    asserts_nothing(project)
    found = campaign(project)
    assert Fate.KILLED not in fates(found).values()
    assert score(found.results).adjusted == 0.0


def asserts_nothing(project: Path) -> None:
    lines = TESTS.replace("assert not ", "").replace("assert ", "").replace(" == 0", "")
    write(project, {"tests/test_it.py": lines})


@pytest.mark.slow
def test_what_was_remembered_is_forgotten_once_every_assertion_is_gone(project: Path) -> None:
    memory = Memory()
    assert fates(campaign(project, memory)) == FATES
    again = campaign(project, Memory.read(written(project, memory)))
    assert fates(again) == FATES
    assert again.remembered == len(FATES)
    assert [trust.name for trust in again.trust] == ["memory"]
    asserts_nothing(project)
    emptied = campaign(project, memory)
    assert emptied.remembered == 0
    assert score(emptied.results).adjusted == 0.0


def written(project: Path, memory: Memory) -> Path:
    file = project / "memory.json"
    file.write_text(memory.text(), "utf-8")
    return file


@pytest.mark.slow
def test_one_function_that_has_changed_is_tested_again_and_no_other(project: Path) -> None:
    memory = Memory()
    campaign(project, memory)
    write(project, {"stock/count.py": COUNT.replace("n * 3", "n * 5")})
    again = campaign(project, memory)
    assert fates(again) == FATES
    assert again.remembered == 3  # price has two mutants


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "trust", "told"),
    [
        ({"tests/test_it.py": TESTS + "    assert price(1) == 4\n"}, "baseline", "test_price"),
        ({"tests/test_it.py": "import stock.count\n"}, "baseline", "no tests were collected"),
        ({"tests/test_it.py": "import nowhere\n"}, "baseline", "No module named 'nowhere'"),
        (
            {"tests/test_it.py": "def test_it():\n    import stock.count\n"},
            "canary",
            "stock.count is broken plainly, and nobody has found it",
        ),
        (
            {"tests/conftest.py": "import sys\nsys.path.insert(0, {project!r})\n"},
            "workspace",
            "stock was imported from elsewhere",
        ),
    ],
    ids=["red", "none", "unimportable", "deaf", "elsewhere"],
)
def test_what_cannot_be_believed_has_no_score(
    project: Path, files: dict[str, str], trust: str, told: str
) -> None:
    write(
        project,
        {name: text.replace("{project!r}", repr(str(project))) for name, text in files.items()},
    )
    found = campaign(project)
    assert set(fates(found).values()) == {Fate.PENDING}
    broken = found.distrusted[0]
    assert broken.name == trust
    assert told in broken.told


@pytest.mark.slow
def test_a_process_that_is_killed_is_no_kill(project: Path) -> None:
    kills = "import os\n\n\ndef spares(n):\n    if n == 0:\n        os.kill(os.getpid(), 9)\n"
    calls = "from stock.count import spares\n\n\ndef test_it():\n    spares(1)\n"
    write(project, {"stock/count.py": kills, "tests/test_it.py": calls})
    found = {result.mutant.id: result for result in campaign(project).results}
    # By hand: n != 0 kills for 1; n == 1 kills for 1 too.
    for name in ("comparison/stock.count.spares/1", "number/stock.count.spares/2"):
        assert found[f"mutmut/{name}"].fate is Fate.BROKEN
        assert found[f"mutmut/{name}"].reason == "its process was ended by signal 9"


@pytest.mark.slow
def test_a_mutant_that_comes_to_no_end_is_tried_again_alone_and_counts_as_found(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "LIMITS", {"timeout_multiplier": 1.0, "timeout_constant": 2.0})
    falls = "def falls(n):\n    while n > 0:\n        n -= 1\n    return n\n"
    calls = "from stock.count import falls\n\n\ndef test_it():\n    assert falls(3) == 0\n"
    write(project, {"stock/count.py": falls, "tests/test_it.py": calls})
    found = fates(campaign(project))
    assert found["mutmut/number/stock.count.falls/2"] is Fate.KILLED  # n > 1
    assert found["mutmut/assignment/stock.count.falls/3"] is Fate.TIMEOUT  # n = 1
    assert found["mutmut/assignment/stock.count.falls/4"] is Fate.TIMEOUT  # n += 1


@pytest.mark.slow
def test_a_matrix_names_every_test_that_finds_a_mutant(project: Path) -> None:
    more = TESTS + "\n\ndef test_fits_too():\n    assert fits(0, 0)\n"
    write(project, {"tests/test_it.py": more})
    with engine(project) as made:
        found = mutate(made, matrix=True)
    assert set(found.results[0].killers) == {
        "tests/test_it.py::test_fits",
        "tests/test_it.py::test_fits_too",
    }


@pytest.mark.slow
def test_who_has_found_a_mutant_before_is_asked_first(project: Path) -> None:
    more = TESTS + "\n\ndef test_fits_too():\n    assert fits(0, 0)\n"
    write(project, {"tests/test_it.py": more})
    name = "mutmut/comparison/stock.count.fits/1"
    for test in ("tests/test_it.py::test_fits", "tests/test_it.py::test_fits_too"):
        with engine(project) as made:
            some = [mutant for mutant in made.mutants() if mutant.id == name]
            (result,) = made.test(some, matrix=False, killers={name: [test]})
        assert result.killers == (test,)


@pytest.mark.slow
def test_a_survivor_is_reported_with_what_is_known_of_it(project: Path) -> None:
    function = "def price(n):\n    return n * 3"
    known = {
        "mutmut/number/stock.count.price/2": Review(stamp(function), "free of charge"),
        "mutmut/arithmetic/stock.count.price/1": Review("0123456789ab", "once so"),
        "mutmut/comparison/stock.count.fits/1": Review("0123456789ab", "never mind"),
    }
    told = {r.mutant.id: r.reason for r in campaign(project, reviewed=known).results}
    assert told["mutmut/number/stock.count.price/2"] == "reviewed: free of charge"
    assert told["mutmut/arithmetic/stock.count.price/1"].endswith("has changed since: once so")
    assert told["mutmut/comparison/stock.count.fits/1"].endswith("its line can go)")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda p: MutmutEngine([], Suite(), project=p), "no source matched"),
        (lambda p: MutmutEngine([p / "none"], Suite(), project=p), "no source matched"),
        (lambda p: MutmutEngine([p / "tests"], Suite(), project=p), "no tests"),
        (lambda p: MutmutEngine([p / "stock"], Suite((p / "no",)), project=p), "no such tests"),
        (lambda p: MutmutEngine([p / "stock"], Suite((Path("/"),)), project=p), "not below"),
        (lambda p: MutmutEngine([p.parent / "out"], Suite(), project=p), "can't be imported"),
    ],
    ids=["nothing", "missing", "no suite", "no tests", "elsewhere", "not importable"],
)
def test_what_cannot_be_mutated_is_told(
    project: Path, make: Callable[[Path], MutmutEngine], told: str
) -> None:
    write(project.parent, {"out/not-a-name.py": ""})
    with pytest.raises(MutationError, match=told), make(project):
        pass

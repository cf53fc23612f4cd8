"""The command line, run as its users run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import jsonschema
import pytest

from lawful.reports import load_schema, read_stream, to_json

if TYPE_CHECKING:
    from pathlib import Path

GATE_EVENTS = {"pending", "running", "done", "failed", "dropped"}

STRANGER = '''
from lawful.sut.gate import Gate

class Mine(Gate):
    """An adapter in a file that the project has never seen."""
    system = "lawful.sut.gate"
    {body}
'''


def lawful(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lawful", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def stranger(folder: Path, body: str = "pass") -> None:
    (folder / "mine.py").write_text(STRANGER.format(body=body))


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the only line of an error: no traceback, nothing on stdout."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


WORN = """
from lawful.sut.gate import Gate

class Mine(Gate):
    system = "lawful.sut.gate"

    def open(self, path, clock):
        super().open(path, clock)
        self.opened = path / "opened"
        with self.opened.open("a") as file:
            file.write(".")

    def fire(self, task, event, **call):
        if self.opened.stat().st_size > 3:
            raise RuntimeError("opened once too often")
        return super().fire(task, event, **call)
"""


# -- what is searched at random ------------------------------------------------------------------


def test_what_only_a_search_finds_is_kept_and_found_first_the_next_time(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WORN)
    search = ("check", "mine:Mine", "--effort", "dev", "--database", "kept", "--json", "-")
    first, second = (lawful(tmp_path, *search) for _ in range(2))
    assert (first.returncode, second.returncode) == (1, 1)
    again = {check["id"]: check for check in json.loads(second.stdout)["checks"]}
    for law in ("random/programs", "random/machine"):
        assert again[law]["trace"].split()[-1].partition("@")[0] in GATE_EVENTS
        opened = again[law]["trace"].count("REOPEN") + again[law]["trace"].count("SECOND")
        assert opened == 3  # the fourth opening is once too often
        assert again[law]["note"].startswith("2 examples ")  # the one that was kept, seen twice


def test_the_same_seed_finds_the_same(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WORN)
    search = ("check", "mine:Mine", "--effort", "dev", "--seed", "7", "--json", "-")
    runs = [json.loads(lawful(tmp_path, *search).stdout)["checks"] for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_database_for_what_is_the_same_in_each_run_is_refused(tmp_path: Path) -> None:
    line = one_line(lawful(tmp_path, "check", "gate", "--database", "kept"))
    assert line.startswith("lawful: --database needs --effort dev or nightly: ci searches the same")


# -- check ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every report of one unlawful run of an adapter that nobody has seen before."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "mine.py").write_text(
        "from lawful.sut.gate import GateWords\n"
        "class Mine(GateWords):\n"
        "    system = 'lawful.sut.gate'\n"
    )
    given = {
        name: f"out.{name}" for name in ("json", "html", "junit", "summary", "badge", "stream")
    }
    arguments = [word for name, file in given.items() for word in (f"--{name}", file)]
    done = lawful(folder, "check", "mine:Mine", *arguments)
    assert done.returncode == 1, done.stderr
    assert "mine:Mine: unlawful, 18 of 25 cells broken" in done.stdout.splitlines()[-1]
    return folder


def test_an_adapter_that_nobody_has_seen_is_judged_with_its_findings_in_json(
    reports: Path,
) -> None:
    document = json.loads((reports / "out.json").read_text())
    jsonschema.validate(document, load_schema("report"))
    assert (document["verdict"], document["exit_code"]) == ("unlawful", 1)
    broken = [c["id"] for c in document["checks"] if c["status"] == "FAIL"]
    assert "cell/pending/done" in broken
    (check,) = [c for c in document["checks"] if c["id"] == "cell/pending/done"]
    assert check["trace"] == "done@client"
    assert check["replay"] == "lawful replay mine:Mine done@client"


def test_every_report_says_the_same(reports: Path) -> None:
    document = json.loads((reports / "out.json").read_text())
    assert to_json(read_stream((reports / "out.stream").read_text())) == document
    assert "cell/pending/done" in (reports / "out.html").read_text()
    assert "cell/pending/done" in (reports / "out.junit").read_text()
    assert "pending" in (reports / "out.summary").read_text()
    assert json.loads((reports / "out.badge").read_text())["message"] == "7 of 25"


def test_the_replay_command_of_a_finding_shows_it_again(reports: Path) -> None:
    done = lawful(reports, "replay", "mine:Mine", "done@client")
    assert done.returncode == 1
    assert "UNLAWFUL claim: expected refused (illegal); got accepted" in done.stdout


def test_a_lawful_adapter_ends_in_zero(tmp_path: Path) -> None:
    stranger(tmp_path)
    done = lawful(tmp_path, "check", "mine:Mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["25 of 25 cells pass", "mine:Mine: lawful"]


def test_json_on_stdout_is_json_alone_whatever_the_adapter_prints(tmp_path: Path) -> None:
    stranger(
        tmp_path,
        "def close(self): print('hello'); __import__('os').write(1, b'below'); super().close()",
    )
    done = lawful(tmp_path, "check", "mine:Mine", "--json", "-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdict"] == "lawful"
    assert "hello" in done.stderr
    assert "below" in done.stderr


def test_what_is_piped_has_no_colour(tmp_path: Path) -> None:
    stranger(tmp_path)
    assert "\x1b" not in lawful(tmp_path, "check", "mine:Mine").stdout
    assert "\x1b" in lawful(tmp_path, "check", "mine:Mine", FORCE_COLOR="1", NO_COLOR="").stdout
    both = lawful(tmp_path, "check", "mine:Mine", FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b" not in both.stdout


def test_an_encoding_without_glyphs_gets_ascii(tmp_path: Path) -> None:
    stranger(tmp_path)
    done = lawful(tmp_path, "check", "mine:Mine", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def open(self, path, clock): raise OSError('disk on fire')", "open raised OSError: disk"),
        ("def read(self, task): return None", "read gave None; a Reading(state, ...) is expected"),
        (
            "states = {'pending': 'pendign'}",
            (
                "'pendign' is no state of gate (pending, running, done, failed, dropped); "
                "did you mean 'pending'?"
            ),
        ),
        ("read = None", "the method 'read' is missing"),
        ("fire = None", "nothing fires the event 'pending'"),
        ("gaps = {'heartbeet': 1}", "did you mean 'heartbeat'?"),
        ("system = ''", "`system` must name the package, module or service tested; got ''"),
        ("def submit(self, params, *, task=None): return None", "submit gave None"),
        ("def submit(self, params, *, task=None): return 7", "read raised"),
        ("def close(self): raise RuntimeError('no')", "close raised RuntimeError: no"),
        ("lifecycle = 'gait'", "did you mean 'gate'?"),
        ("def history(self, task): return 7", "history gave 7; a list of Entry is expected"),
    ],
)
def test_an_adapter_that_is_wrong_ends_in_two_and_one_plain_line(
    tmp_path: Path, body: str, says: str
) -> None:
    stranger(tmp_path, body)
    assert says in one_line(lawful(tmp_path, "check", "mine:Mine"))


def test_an_adapter_that_hangs_is_named_with_the_call(tmp_path: Path) -> None:
    stranger(tmp_path, "def read(self, task): __import__('threading').Event().wait()")
    line = one_line(lawful(tmp_path, "check", "mine:Mine", "--limit", "0.2"))
    assert line == "lawful: mine:Mine: read did not return within 0.2 s"


def test_an_adapter_that_cannot_be_imported_ends_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("1 / 0\n")
    line = one_line(lawful(tmp_path, "check", "mine:Mine"))
    assert line == "lawful: mine:Mine: importing mine raised ZeroDivisionError: division by zero"


def test_an_adapter_that_never_reaches_its_system_is_incomplete(tmp_path: Path) -> None:
    stranger(tmp_path, "system = 'xml.sax'")
    done = lawful(tmp_path, "check", "mine:Mine")
    assert done.returncode == 3
    assert "no code of 'xml.sax' was reached" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "--profile", "slow"), "invalid choice: 'slow'"),
        (("frobnicate",), "invalid choice: 'frobnicate'"),
        (("check", "reference", "--json", "nowhere/out.json"), "there is no folder nowhere"),
        (("check", "reference", "--limit", "0"), "a positive number of seconds is expected"),
        (("check", "reference", "--store", "nowhere"), "no store can be made in nowhere"),
        (("check", "reference", "--spec", "missing.toml"), "missing.toml"),
        (("check", "flags", "--record-known", "k.toml"), "needs --reason TEXT"),
        (("check", "gate", "--known", "k.toml"), "k.toml: can't be read"),
        (("explain", "cell/runing/cancel"), "did you mean 'cell/running/cancel'?"),
        (("replay", "flags", "enqeue"), "'enqeue': no such event"),
        (("compare", "gate"), "at least two"),
        (("compare", "gate", "old.json"), "old.json: can't be read"),
        (("init", "nowhere"), "nowhere is no folder"),
    ],
)
def test_wrong_usage_ends_in_two_and_says_what_to_do(
    tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = lawful(tmp_path, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_command_prints_the_help_and_ends_in_two(tmp_path: Path) -> None:
    done = lawful(tmp_path)
    assert done.returncode == 2
    assert "COMMAND" in done.stderr


def test_an_interrupted_run_writes_no_report_and_leaves_no_store(tmp_path: Path) -> None:
    # The adapter interrupts its own run, in the middle of a walk: no timing is involved.
    stranger(
        tmp_path,
        "def read(self, task):\n"
        "        import os, signal\n"
        "        global calls\n"
        "        calls = globals().get('calls', 0) + 1\n"
        "        if calls == 100: os.kill(os.getpid(), signal.SIGINT)\n"
        "        return super().read(task)",
    )
    stores = tmp_path / "stores"
    stores.mkdir()
    done = lawful(tmp_path, "check", "mine:Mine", "--json", "out.json", "--store", "stores")
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1].startswith("lawful: interrupted")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.json").exists()
    assert list(stores.iterdir()) == []
    assert signal.SIGINT


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m lawful spec show | true"
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


# -- known divergences ---------------------------------------------------------------------------


def test_known_divergences_are_recorded_and_read_back(tmp_path: Path) -> None:
    record = ("check", "gate-words", "--record-known", "known.toml", "--reason", "a word check")
    done = lawful(tmp_path, *record)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "gate-words: lawful, 20 known divergences"
    again = lawful(tmp_path, "check", "gate-words", "--known", "known.toml")
    assert again.returncode == 0
    cured = lawful(tmp_path, "check", "gate", "--known", "known.toml")
    assert cured.returncode == 1
    assert "20" in cured.stdout
    assert "remove its entry" in cured.stdout


# -- the other commands --------------------------------------------------------------------------


def test_smoke_says_what_is_offered_and_what_was_reached(tmp_path: Path) -> None:
    stranger(tmp_path)
    done = lawful(tmp_path, "smoke", "mine:Mine")
    assert done.returncode == 0
    assert "mine:Mine: fit to be judged by gate" in done.stdout
    assert "history" in done.stdout
    assert "reached in lawful.sut.gate: " in done.stdout


def test_replay_prints_a_pytest_function_that_shows_the_fault(tmp_path: Path) -> None:
    trace = "enqueue start@worker-1 cancel"
    done = lawful(tmp_path, "replay", "flags", trace, "--python")
    assert done.returncode == 0
    (tmp_path / "test_trace.py").write_text(done.stdout)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_trace.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "'cancelled' == 'cancelling'" in ran.stdout


def test_replay_of_a_lawful_trace_ends_in_zero(tmp_path: Path) -> None:
    trace = "enqueue start@worker-1 ADVANCE(31) REAP retry_due start@w2 succeed@w2[token=2]"
    done = lawful(tmp_path, "replay", "reference", trace, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["step"] for row in rows][-1] == "succeed@w2[token=2]"
    assert rows[-1]["tasks"][0]["state"] == "succeeded"


def test_explain_tells_a_cell_and_a_law(tmp_path: Path) -> None:
    cell = lawful(tmp_path, "explain", "cell/running/cancel").stdout
    assert "leads to 'cancelling'" in cell
    assert "enqueue start cancel" in cell
    law = lawful(tmp_path, "explain", "lease/zombie").stdout
    assert "procrastinate and RQ" in law
    every = lawful(tmp_path, "explain", "--spec", "gate").stdout
    assert "cell/pending/running\n" in every
    assert "lease/" not in every


def test_compare_sets_two_writings_side_by_side(tmp_path: Path) -> None:
    done = lawful(
        tmp_path, "compare", "gate", "gate-words", "--html", "out.html", "--json", "o.json"
    )
    assert done.returncode == 0, done.stderr
    assert "7 of 25 cells pass everywhere" in done.stdout
    assert (tmp_path / "out.html").exists()
    first, second = json.loads((tmp_path / "o.json").read_text())
    assert (first["verdict"], second["verdict"]) == ("lawful", "unlawful")
    (tmp_path / "old.json").write_text(json.dumps(second))
    again = lawful(tmp_path, "compare", "gate", "old.json")
    assert "7 of 25 cells pass everywhere" in again.stdout


def test_spec_shows_checks_and_draws(tmp_path: Path) -> None:
    assert "56 cells: 12 legal, 2 no-op, 42 refused" in lawful(tmp_path, "spec", "show").stdout
    table = json.loads(lawful(tmp_path, "spec", "show", "gate", "--json").stdout)
    assert table["counts"] == {"legal": 7, "noop": 0, "refused": 18}
    assert "stateDiagram-v2" in lawful(tmp_path, "spec", "diagram", "review").stdout
    done = lawful(tmp_path, "spec", "diagram", "--format", "svg", "-o", "task.svg")
    assert done.returncode == 0
    assert 'id="edge-running-cancel"' in (tmp_path / "task.svg").read_text()
    (tmp_path / "own.toml").write_text("format = 'lawful-spec/1'\nname = 7\n")
    line = one_line(lawful(tmp_path, "spec", "check", "own.toml"))
    assert line == "lawful: own.toml:1: key 'initial' is missing at the top"


def test_a_new_users_files_are_fit_and_are_not_written_over(tmp_path: Path) -> None:
    done = lawful(tmp_path, "init")
    assert done.returncode == 0
    assert lawful(tmp_path, "smoke", "lawful_adapter:Adapter").returncode == 0
    checked = lawful(tmp_path, "check", "lawful_adapter:Adapter")
    assert checked.returncode == 1
    assert "cell/submitted/cancel" in checked.stdout
    (tmp_path / "lawful_adapter.py").write_text("mine\n")
    again = lawful(tmp_path, "init")
    assert again.returncode == 2
    assert "lawful_adapter.py" in again.stderr
    assert (tmp_path / "lawful_adapter.py").read_text() == "mine\n"
    assert lawful(tmp_path, "init", "--force").returncode == 0
    adapter = (tmp_path / "lawful_adapter.py").read_text()
    code = [line for line in adapter.partition("class Adapter")[2].splitlines() if line.strip()]
    assert len(code) <= 25

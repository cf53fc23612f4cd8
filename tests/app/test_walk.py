"""``lawful check --walk``, run as its users run it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from lawful.cli.main import main
from lawful.laws.smoke import smoke
from lawful.reports import load_schema
from lawful.reports.campaign import CampaignReport, campaign_json, campaign_terminal
from lawful.strategies import describe
from lawful.strategies.campaign import Lost, campaign
from lawful.strategies.crew import Ended
from lawful.strategies.slices import slices
from lawful.strategies.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lawful.strategies.campaign import Campaign

README = Path(__file__).parents[2] / "README.md"


def lawful(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lawful", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def stranger(folder: Path, body: str = "pass") -> None:
    (folder / "mine.py").write_text(
        "import os, signal\n"
        "from lawful.sut.gate import Gate\n"
        "class Mine(Gate):\n"
        "    system = 'lawful.sut.gate'\n"
        f"    {body}\n"
    )


@pytest.fixture
def walked(folder: Path) -> Campaign:
    """A short campaign on a wrong implementation."""
    fit = smoke(describe("gate-words"), folder, Watch()).adapter
    return campaign(fit, slices(400, 0))


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


# -- what it prints ------------------------------------------------------------------------------


def test_a_lawful_implementation_is_walked_and_ends_in_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "gate", "--walk", "2000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"2,000 of 2,000 steps, [\d,]+ steps/s, seed 0", lines[0])
    assert lines[1:] == [
        "2 of 2 slices",
        "25 of 25 (state, letter) reached",
        "",
        "gate: nothing found in 2,000 steps",
    ]


def test_findings_come_with_their_trace_and_the_command_that_replays_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "gate-words", "--walk", "2000", "--seed", "5"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^\d+\. done in pending: claim \(\d+ times, slice \d+\)$", out, re.MULTILINE)
    assert "  expected  refused (illegal), a refusal writes nothing\n" in out
    assert "  trace     done@client\n  replay    lawful replay gate-words done@client\n" in out
    assert main(["replay", "gate-words", "done@client"]) == 1


def test_what_was_never_reached_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "reference", "--walk", "20"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\d+ of 176 \(state, attempts, letter\) reached$", out, re.MULTILINE)
    assert "never: " in out
    assert re.search(r"and \d+ more", " ".join(out.split()))


def test_the_command_that_replays_names_the_table_that_was_asked_for(walked: Campaign) -> None:
    report = CampaignReport(walked, 0, spec="own table.toml")
    assert report.replay(walked.findings[0]).endswith(" --spec 'own table.toml'")


def test_an_implementation_that_kills_its_process_is_unlawful(walked: Campaign) -> None:
    lost = replace(walked, findings=(), shapes=0, lost=(Lost(11, 1000, "BrokenProcessPool"),))
    report = CampaignReport(lost, 0)
    assert report.exit_code == 1
    shown = campaign_terminal(report, width=100, colour=False, ascii=True)
    assert "The slice with seed 11 can't be done" in shown
    assert shown.endswith("gate-words: 1 finding")


def test_nothing_walked_is_never_success(walked: Campaign) -> None:
    nothing = replace(walked, findings=(), shapes=0, steps=0, done=0, ended=Ended.BUDGET)
    report = CampaignReport(nothing, 0, budget=1.0)
    assert report.exit_code == 3
    shown = campaign_terminal(report, width=100, colour=False, ascii=True)
    assert "0 of 1 slices: the budget of 1 s is spent, 0% of the steps done" in shown
    assert shown.endswith("gate-words: incomplete, nothing was walked")


def test_a_broken_executor_is_never_success(walked: Campaign) -> None:
    part = replace(walked, findings=(), shapes=0, ended=Ended.BROKEN, cause="gone")
    report = CampaignReport(part, 0)
    assert (report.exit_code, report.reasons) == (3, ["the executor took no more slices: gone"])


def test_an_adapter_that_never_reaches_its_system_is_incomplete(tmp_path: Path) -> None:
    stranger(tmp_path, "system = 'xml.sax'")
    done = lawful(tmp_path, "check", "mine:Mine", "--walk", "100")
    assert done.returncode == 3
    assert "no code of 'xml.sax' was reached" in done.stdout


# -- JSON ----------------------------------------------------------------------------------------


def test_the_document_meets_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main(["check", "gate-words", "--walk", "2000", "--json", str(out)]) == 1
    assert "gate-words: " in capsys.readouterr().out
    document = json.loads(out.read_text())
    jsonschema.validate(document, load_schema("campaign"))
    assert document["steps"] == {"taken": 2000, "asked": 2000}
    assert document["places"] == {"reached": 25, "all": 25, "never": []}
    assert sum(document["hits"].values()) <= 2000
    found = {(one["state"], one["step"]): one for one in document["findings"]}
    assert found["pending", "done"]["replay"] == "lawful replay gate-words done@client"


@pytest.mark.parametrize("ended", list(Ended))
def test_a_campaign_that_ended_early_meets_the_schema_too(walked: Campaign, ended: Ended) -> None:
    lost = replace(walked, ended=ended, lost=(Lost(11, 1000, "gone"),))
    document = json.loads(campaign_json(CampaignReport(lost, 3, budget=2.5)))
    jsonschema.validate(document, load_schema("campaign"))
    assert document["exit_code"] == (130 if ended is Ended.INTERRUPTED else 1)


def test_json_on_stdout_is_json_alone_whatever_the_adapter_prints(tmp_path: Path) -> None:
    stranger(tmp_path, "def close(self): os.write(1, b'below'); super().close()")
    done = lawful(tmp_path, "check", "mine:Mine", "--walk", "200", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["headline"] == "nothing found in 200 steps"
    assert "below" in done.stderr


# -- wrong usage ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--walk", "0"), "--walk 0: a positive number of steps is expected"),
        (("--walk", "many"), "invalid int value: 'many'"),
        (("--walk", "10", "--budget", "-1"), "--budget -1: a positive number of seconds"),
        (("--walk", "10", "--budget", "nan"), "--budget nan: a positive number of seconds"),
        (("--walk", "10", "--limit", "0"), "--limit 0: a positive number of seconds"),
        (("--walk", "10", "--jobs", "0"), "--jobs 0: at least one process is needed"),
        (("--walk", "10", "--jobs", "2", "--dask", "x"), "one of them says who walks"),
        (("--walk", "10", "--html", "x.html"), "--html does not go with --walk"),
        (("--walk", "10", "--profile", "quick"), "--profile does not go with --walk"),
        (("--walk", "10", "--json", "nowhere/out.json"), "there is no folder nowhere"),
        (("--walk", "10", "--store", "nowhere"), "no store can be made in nowhere"),
        (("--budget", "10"), "--budget goes with --walk STEPS"),
        (("--jobs", "2"), "--jobs goes with --walk STEPS"),
        (("--dask", "x"), "--dask goes with --walk STEPS"),
    ],
)
def test_wrong_usage_ends_in_two_and_says_what_to_do(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code: object = main(["check", "gate", *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


def test_without_dask_one_line_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["check", "gate", "--walk", "10", "--dask", "tcp://127.0.0.1:1"]) == 2
    assert capsys.readouterr().err == "lawful: --dask needs Dask: pip install 'lawful[dask]'\n"


@pytest.mark.slow
@pytest.mark.parametrize("address", ["nonsense:x", "tcp://127.0.0.1:1"])
def test_an_address_where_no_cluster_is_ends_in_one_line(tmp_path: Path, address: str) -> None:
    # In a process of its own, with less patience than users have.
    code = (
        "import sys, lawful.cli.cluster as cluster; cluster.PATIENCE = 1\n"
        "from lawful.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "gate", "--walk", "10", "--dask", address],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"lawful: --dask {address}: no scheduler answers there within 1 s")


def test_help_shows_the_options_and_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from lawful.cli.main import main\n"
        "try:\n    main(['check', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(*sorted(sys.modules), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for option in ("--walk STEPS", "--budget SECONDS", "--jobs N", "--dask ADDRESS"):
        assert option in done.stdout
    heavy = {"lawful.laws", "lawful.strategies", "hypothesis", "distributed", "multiprocessing"}
    assert not heavy & set(done.stdout.splitlines())


# -- processes and clusters ----------------------------------------------------------------------


@pytest.mark.slow
def test_two_processes_print_the_same_as_one(tmp_path: Path) -> None:
    one, two = (
        lawful(tmp_path, "check", "gate-words", "--walk", "3000", "--json", "-", *more)
        for more in ((), ("--jobs", "2"))
    )
    assert (one.returncode, two.returncode) == (1, 1), two.stderr
    first, second = (json.loads(done.stdout) for done in (one, two))
    assert first | {"seconds": 0} == second | {"seconds": 0}


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a Dask cluster of two processes."""
    import distributed

    begin: Any = distributed.LocalCluster  # Dask is typed in part
    with begin(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        yield local.scheduler_address


@pytest.mark.slow
def test_a_cluster_prints_the_same_too(tmp_path: Path, address: str) -> None:
    arguments = ("check", "gate-words", "--walk", "3000", "--json", "-")
    here, there = (lawful(tmp_path, *arguments, *more) for more in ((), ("--dask", address)))
    assert (here.returncode, there.returncode) == (1, 1), there.stderr
    first, second = (json.loads(done.stdout) for done in (here, there))
    assert first | {"seconds": 0} == second | {"seconds": 0}


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--jobs", "2")])
def test_an_interrupted_walk_says_what_is_done_and_leaves_no_store(
    tmp_path: Path, folder: Path, more: tuple[str, ...]
) -> None:
    # The adapter interrupts the command, in the middle of a slice: no timing is involved.
    who = "os.getppid()" if more else "os.getpid()"
    stranger(
        tmp_path,
        "def read(self, task):\n"
        "        global calls\n"
        "        calls = globals().get('calls', 0) + 1\n"
        f"        if calls == 4000: os.kill({who}, signal.SIGINT)\n"
        "        return super().read(task)",
    )
    done = lawful(tmp_path, "check", "mine:Mine", "--walk", "100000", "--store", str(folder), *more)
    assert done.returncode == 130, done
    assert "interrupted" in done.stdout
    assert "Traceback" not in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_what_the_readme_shows_is_what_is_printed(tmp_path: Path) -> None:
    text = README.read_text(encoding="utf-8")
    shown = r"```console\n(lawful check reference --walk .*?)\n```\n\n```text\n(.*?)```"
    ((command, claimed),) = re.findall(shown, text, re.DOTALL)
    done = lawful(tmp_path, *command.split()[1:])
    assert done.returncode == 0, done.stderr
    rate = re.compile(r"[\d,]+ steps/s")
    assert rate.sub("", done.stdout) == rate.sub("", claimed)

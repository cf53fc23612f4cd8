"""``lawful mutate`` as a user meets it."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from lawful.cli.main import main
from lawful.mutants.table.engine import TableEngine
from lawful.spec.reader import table_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_every_fault_of_the_table_is_found_and_the_exit_code_is_0(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["mutate", "--engine", "table"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-2:] == [
        "table: task: 100.0 % (1,350 of 1,350 that can be found; raw 99.7 % of 1,353)",
        "every threshold is reached",
    ]


def test_a_table_of_ones_own_is_named_by_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    text, _ = table_text("review")
    file.write_text(text.replace('name = "review"', 'name = "mine"').replace("[1, 2, 3]", "[2]"))
    assert main(["mutate", "--spec", str(file)]) == 1
    said = capsys.readouterr().out
    assert "table/guard/rework/1/exhausted/against 2: survived" in said
    assert "it shows only with max_rounds=3, which no suite runs with: add it to `check`" in said
    assert said.splitlines()[-1] == "below the threshold"


def test_reports_are_written_beside_the_terminals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {
        "--json": "m.json",
        "--junit": "m.xml",
        "--html": "m.html",
        "--summary": "m.md",
        "--badge": "b.json",
    }
    given = [word for option, name in names.items() for word in (option, str(tmp_path / name))]
    assert main(["mutate", "--spec", "gate", *given]) == 0
    assert {each.name for each in tmp_path.iterdir()} == set(names.values())
    report = json.loads((tmp_path / "m.json").read_text())
    assert len(report["files"]["gate"]["mutants"]) == 380  # by hand: tests/mutants/table
    assert json.loads((tmp_path / "b.json").read_text())["message"] == "100.0 %"


def test_a_dash_prints_the_report_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", "--spec", "gate", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["framework"]["name"] == "lawful"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--threshold", "101"], "lawful: --threshold 101: a percentage from 0 to 100 is expected"),
        (["--shard", "5/4"], "lawful: --shard 5/4: K/N with K from 1 to N is expected"),
        (["--merge", "none.json"], "lawful: none.json: can't be read: No such file"),
        (["--spec", "tusk"], "lawful: tusk: no table of this name comes with lawful"),
        (["--json", "no/such/folder/m.json"], "can't be written: there is no folder"),
        (["--engine", "steam"], "invalid choice: 'steam'"),
        (["--engine", "mutmut", "--source", "none"], "lawful: --source none: no source matched"),
        (["--engine", "mutmut", "--source", "sut"], "lawful: no tests: name --tests, or an"),
        (["--jobs", "0"], "lawful: --jobs 0: at least one process is needed"),
        (["--jobs", "2", "--dask", "x"], "lawful: --jobs and --dask: one of them says who tries"),
        (["--dask", "tcp://127.0.0.1:1"], "lawful: --dask tries planted faults alone; --shard"),
        (["--since", "nowhere"], "lawful: --since nowhere: "),
        (["--cache", "README.md"], "lawful: README.md: no cache of `lawful mutate` (JSONDecodeErr"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    given: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["mutate", *given])
    except SystemExit as exited:
        code = int(str(exited.code))
    assert code == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.out == ""


def test_what_cannot_be_believed_has_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(TableEngine, "_canary", property(lambda _: EQUIVALENT))
    assert main(["mutate", "--spec", "review"]) == 3
    said = capsys.readouterr().out
    assert f"canary does NOT hold: {EQUIVALENT}: nobody has found it" in said
    assert said.splitlines()[-1] == "not established"


EQUIVALENT = "table/guard/rework/1/exhausted/!="


def test_ctrl_c_keeps_what_is_done_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tested = TableEngine.test

    def interrupted(*given: object, **named: object) -> Iterator[object]:
        for number, result in enumerate(tested(*given, **named)):  # type: ignore[arg-type]
            if number == 5:
                raise KeyboardInterrupt
            yield result

    monkeypatch.setattr(TableEngine, "test", interrupted)
    store = tmp_path / "stores"
    store.mkdir()
    assert main(["mutate", "--spec", "gate", "--store", str(store)]) == 130
    said = capsys.readouterr().out
    assert "table: 375 mutants are not tested: it was interrupted" in said
    assert list(store.iterdir()) == []
    shutil.rmtree(store)


def test_parts_of_a_campaign_are_put_together_by_their_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / f"part-{number}.json") for number in (1, 2)]
    for number, file in enumerate(files, 1):
        given = ["--spec", "gate", "--shard", f"{number}/2", "--results", file]
        assert main(["mutate", *given]) == 0
    capsys.readouterr()
    assert main(["mutate", "--merge", *files]) == 0
    last = capsys.readouterr().out.splitlines()[-2]
    assert last == "table: gate: 100.0 % (380 of 380 that can be found; raw 100.0 % of 380)"
    assert main(["mutate", "--merge", files[0]]) == 2
    assert capsys.readouterr().err == "lawful: table: gate: part 2/2 is missing\n"
    assert main(["mutate", "--merge", *files, "--shard", "1/2"]) == 2
    assert "--shard has no place beside it" in capsys.readouterr().err


def test_planted_faults_are_chosen_by_what_their_ids_begin_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.json"
    only = ["--only", "planted/guard/attempts-at", "--only", "planted/order/version"]
    assert main(["mutate", "--engine", "planted", *only, "--json", str(file)]) == 0
    last = capsys.readouterr().out.splitlines()[-2]
    assert last.startswith("planted: the shipped stores: 100.0 % (2 of 2 that can be found;")
    files = json.loads(file.read_text())["files"]
    assert {mutant["id"] for each in files.values() for mutant in each["mutants"]} == {
        "planted/guard/attempts-at-most",
        "planted/order/version-before-known",
    }
    assert all(each["mutants"] for each in files.values())


@pytest.mark.slow
def test_a_cluster_tries_planted_faults_too(capsys: pytest.CaptureFixture[str]) -> None:
    import distributed

    begin: Any = distributed.LocalCluster  # Dask is typed in part
    given = ["--engine", "planted", "--only", "planted/order"]
    with begin(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        assert main(["mutate", *given, "--dask", local.scheduler_address]) == 0
    last = capsys.readouterr().out.splitlines()[-2]
    assert last.startswith("planted: the shipped stores: 100.0 % (4 of 4 that can be found;")


def test_nothing_of_that_name_is_wrong_usage_and_names_the_families(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["mutate", "--only", "table/steam"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        "lawful: no mutant's id begins with 'table/steam'; there are table/transfer"
    )


@pytest.mark.slow
def test_source_of_ones_own_is_mutated_remembered_and_annotated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "stock.py").write_text("def price(n):\n    return n * 3\n")
    (tmp_path / "test_stock.py").write_text(
        "from stock import price\n\n\ndef test_price():\n    assert price(0) == 0\n"
    )
    monkeypatch.chdir(tmp_path)
    given = ["mutate", "--engine", "mutmut", "--source", "src", "--tests", "test_stock.py"]
    given += ["--cache", "memory.json", "--annotate"]
    # By hand: * becomes /, and 3 becomes 4; neither shows for nothing.
    assert main(given) == 1
    said = capsys.readouterr()
    assert "mutmut: src: 0.0 % (0 of 2 that can be found; raw 0.0 % of 2)" in said.out
    assert "number changed in price (stock.py:2)" in said.out
    place = "file=src/stock.py,line=2,endLine=2,col=16,endColumn=17"
    told = "number changed in price: 3 -> 4 (mutmut/number/stock.price/2)"
    assert f"::warning {place},title=mutant survived::{told}\n" in said.err
    assert main(given) == 1
    assert "2 of 2 remembered" in capsys.readouterr().out


def test_where_nothing_has_changed_there_is_no_score(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = {"README.md": [range(9)]}
    monkeypatch.setattr("lawful.mutants.changes.changed_lines", lambda *_: changed)
    assert main(["mutate", "--engine", "planted", "--since", "HEAD"]) == 3
    said = capsys.readouterr().out
    assert "chosen does NOT hold: none of 108 mutants is in what was asked for" in said

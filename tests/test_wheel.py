"""What is shipped: our package and nothing else, tables and templates included."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
    )
    return folder


@pytest.mark.slow
def test_the_wheel_holds_lawful_and_its_metadata_alone(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"lawful", "lawful-0.1.0.dist-info"}
    assert {
        "lawful/spec/tables/task.toml",
        "lawful/spec/tables/gate.toml",
        "lawful/spec/tables/review.toml",
        "lawful/spec/tables/litequeue.toml",
        "lawful/spec/schemas/table.schema.json",
        "lawful/reports/schemas/report.schema.json",
        "lawful/reports/schemas/stream.schema.json",
        "lawful/scaffold/adapter.txt",
        "lawful/mutants/py.typed",
        "lawful/mutants/table/equivalent/task.toml",
        "lawful/plugin.py",
        "lawful/spec/py.typed",
        "lawful/sut/py.typed",
        "lawful/strategies/py.typed",
        "lawful/laws/py.typed",
    } <= set(names)
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


@pytest.mark.slow
def test_the_sdist_holds_the_tests_and_no_litter(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "tests/test_wheel.py"} <= names
    assert not [name for name in names if "__pycache__" in name or ".coverage" in name]

"""What a project says of its mutants: settings, reviews, and where its source is imported from."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawful.mutants.errors import MutationError
from lawful.mutants.generic.layout import layout_of
from lawful.mutants.generic.reviewed import Review, read_reviews
from lawful.mutants.generic.settings import Settings, read_settings
from lawful.mutants.generic.workspace import Suite, Workspace

ROOT = Path(__file__).parents[3]
SETTINGS = '[tool.mutmut]\nsource_paths = ["x"]\n[tool.pytest.ini_options]\nx = "y"\n'


def test_settings_are_read_from_the_project(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()
    text = '[tool.lawful.mutmut]\nsource = ["a"]\ntests = ["t/x.py"]\nreviewed = "r.toml"\n'
    (tmp_path / "pyproject.toml").write_text(text)
    assert read_settings(tmp_path) == Settings(
        (tmp_path / "a",), (tmp_path / "t/x.py",), "", tmp_path / "r.toml"
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('source = "a"', "source: a list of texts is expected"),
        ("tests = [1]", "tests: a list of texts is expected"),
        ("implementation = 1", "implementation: a text is expected"),
        ("reviewed = []", "reviewed: a file's name is expected"),
        ("sauce = []", "sauce: unknown; there are source, tests, implementation, reviewed"),
        ("source = [", "can't be read as TOML"),
    ],
)
def test_a_setting_that_is_none_is_told(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.lawful.mutmut]\n{line}\n")
    with pytest.raises(MutationError, match=told):
        read_settings(tmp_path)


def test_every_review_of_the_reference_can_be_read() -> None:
    reviews = read_reviews(ROOT / "mutants" / "reviewed.toml")
    assert all(name.startswith("mutmut/") for name in reviews)
    assert all(len(review.function) == 12 for review in reviews.values())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "no TOML"),
        ("a = 1", "are expected"),
        ('[a]\nfunction = "x"', "are expected"),
        ('[a]\nfunction = "x"\nreason = " "', "are expected"),
        ('[a]\nfunction = "x"\nreason = "y"\nmore = 1', "are expected"),
    ],
)
def test_a_review_that_is_none_is_told(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "reviewed.toml"
    file.write_text(text)
    with pytest.raises(MutationError, match=told):
        read_reviews(file)
    file.write_text('[a]\nfunction = "x"\nreason = "y"\n')
    assert read_reviews(file) == {"a": Review("x", "y")}
    with pytest.raises(MutationError, match="can't be read"):
        read_reviews(tmp_path / "none.toml")


def test_a_package_in_a_namespace_is_copied_alone() -> None:
    layout = layout_of([ROOT / "sut/lawful/sut/reference/machine.py"])
    assert layout.modules[0].name == "lawful.sut.reference.machine"
    assert layout.modules[0].path == "lawful/sut/reference/machine.py"
    assert layout.roots == {"lawful.sut": ROOT / "sut/lawful/sut"}


def test_packages_below_src_and_modules_alone_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "src/stock/__init__.py",
        "src/stock/deep/__init__.py",
        "src/stock/deep/a.py",
        "b.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    layout = layout_of([Path("src/stock/deep"), Path("b.py")])
    assert [module.name for module in layout.modules] == ["b", "stock.deep", "stock.deep.a"]
    assert layout.roots == {"stock": tmp_path / "src/stock", "b": tmp_path / "b.py"}


def test_a_workspace_has_the_projects_settings_with_ours_for_mutmut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, folder = tmp_path / "project", tmp_path / "workspace"
    folder.mkdir()
    for name, text in {
        "b.py": "",
        "tests/test_b.py": "",
        "tests/conftest.py": "",
        "pyproject.toml": SETTINGS,
    }.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    monkeypatch.chdir(project)
    Workspace(folder, layout_of([Path("b.py")]), Suite((Path("tests/test_b.py"),)), project)
    written = (folder / "pyproject.toml").read_text()
    assert '[tool.pytest.ini_options]\nx = "y"' in written
    assert written.count("[tool.mutmut]") == 1
    assert 'source_paths = ["b.py"]' in written
    assert 'pytest_add_cli_args_test_selection = ["tests/test_b.py"]' in written
    assert (folder / "tests" / "conftest.py").is_file()
    assert (folder / "mutants").is_dir()

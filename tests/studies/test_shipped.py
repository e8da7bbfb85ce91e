"""Shipped studies by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.studies import shipped
from convergebench.studies.shipped import find_study, shipped_studies
from convergebench.studies.spec import read_spec


def test_every_study_file_of_the_checkout_is_shipped() -> None:
    here = Path(__file__).parents[2] / "studies"
    assert set(shipped_studies()) == {path.stem for path in here.glob("*.toml")}
    assert {"demo", "demo-light", "restoration-quick"} <= set(shipped_studies())


def test_an_installed_package_looks_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.toml").write_text("")
    monkeypatch.setattr(shipped, "INSTALLED", tmp_path)
    assert shipped_studies() == {"mine": tmp_path / "mine.toml"}


def test_a_file_wins_over_a_shipped_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_study(Path("demo")) == shipped_studies()["demo"] == find_study(Path("demo.toml"))
    (tmp_path / "demo").mkdir()
    assert find_study(Path("demo")) == shipped_studies()["demo"], "a folder is no study file"
    (tmp_path / "demo.toml").write_text("")
    assert find_study(Path("demo.toml")) == Path("demo.toml")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("demmo", "no study file at demmo; did you mean 'demo'?"),
        ("studies/demo.toml", "the package has a study of that name: cbench run demo"),
        ("zzzzzzzz", "cbench list studies"),
        ("here", "here is a folder, not a study file; name a file in it, such as here/study.toml"),
    ],
)
def test_what_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "study.toml").write_text("")
    with pytest.raises(StudyError) as raised:
        find_study(Path(given))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", sorted(shipped_studies()))
def test_every_shipped_study_can_be_read(name: str) -> None:
    assert read_spec(shipped_studies()[name]).title

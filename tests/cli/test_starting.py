"""`cbench init`: what it lays out runs at once, and it never writes over anything."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from convergebench.conductor import starting
from convergebench.conductor.starting import STUDIES, lay_out
from convergebench.errors import StudyError
from tests.cli.in_process import cbench
from tests.cli.inside import run_inside


@pytest.mark.parametrize(
    "study", [pytest.param(name, marks=pytest.mark.slow) if name == "factory" else name for name in STUDIES]
)
def test_what_is_laid_out_runs_at_once(tmp_path: Path, study: str) -> None:
    environment = {**os.environ, "PYTHONPATH": ""}  # modules that are found by it are forgotten after each command
    made = run_inside(["init", "mine", "--study", study], tmp_path, environment)
    assert made.returncode == 0, made.stderr
    assert made.stdout.splitlines()[-1] == "next    cd mine && cbench run study.toml"
    pages = [] if study == "audit" else ["--no-report"]
    done = run_inside(["run", "study.toml", *pages], tmp_path / "mine", environment)
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    assert run_inside(["show", "runs/study"], tmp_path / "mine", environment).returncode == 0


def test_the_files_say_what_they_are_and_whose_the_pictures_are(tmp_path: Path) -> None:
    names = lay_out(tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"], "nothing is left beside it"
    readme = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) == 3
    assert readme.count("CC0-1.0") >= 2
    assert {"study.toml", "pairs.toml", "editor.py", "images/coffee-cup.png"} <= set(names)
    assert all((tmp_path / "mine" / name).is_file() for name in names)
    pairs = tomllib.loads((tmp_path / "mine" / "pairs.toml").read_text(encoding="utf-8"))["pair"]
    assert set(pairs[0]) == {"id", "forward", "backward"}
    assert len(pairs) == 2
    assert (tmp_path / "mine").stat().st_mode & 0o077 == 0o777 & ~starting._umask() & 0o077


def test_a_folder_with_files_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    done = cbench("init", tmp_path / "mine")
    assert done.code == 2
    assert done.err == f"error: {tmp_path}/mine is not empty; name a new folder, e.g. {tmp_path}/mine-2\n"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    (tmp_path / "file").write_text("")
    assert "is a file or a link" in cbench("init", tmp_path / "file").err


def test_an_empty_folder_is_used_and_stays_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    before = (tmp_path / "here").stat().st_ino
    done = cbench("init", ".")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "next    cbench run study.toml"
    assert (tmp_path / "here").stat().st_ino == before
    assert Path("study.toml").is_file()


def test_an_unknown_study_is_named_with_the_nearest(tmp_path: Path) -> None:
    done = cbench("init", tmp_path / "x", "--study", "roundtip")
    assert done.code == 2
    assert "did you mean 'roundtrip'?" in done.err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("there", [False, True])
def test_nothing_stays_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    if there:
        (tmp_path / "mine").mkdir()
    real, count = Path.rename, [0]

    def full(self: Path, target: Path) -> Path:
        count[0] += 1
        if (there and count[0] == 3) or not there:
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(StudyError, match="cannot be written: No space left"):
        lay_out(tmp_path / "mine")
    left = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")]
    assert left == (["mine"] if there else [])

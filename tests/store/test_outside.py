"""File names and rubric paths in a run's records cannot lead out of its folder, however they are spelt."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from convergebench.errors import StudyError
from convergebench.store import rubrics
from convergebench.store.outside import require_inside

SPELLINGS = st.lists(
    st.sampled_from(["..", ".", "/", "//", "images", "a.png", "\\", "C:", "%2e%2e", "\0", " ", "…", "~"]), min_size=1
).map("".join)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("run")
    with closing(sqlite3.connect(root / "run.sqlite")) as connection:
        connection.execute("create table images (id text primary key, file)")
        connection.execute("insert into images values ('i1:0', 'images/00/0.png')")
        connection.commit()
    return root


def renamed(run: Path, file: object) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        connection.execute("update images set file = ?", (file,))
        connection.commit()


@settings(deadline=None, max_examples=60)
@given(SPELLINGS)
@example("..")
@example("/etc/passwd")
@example("a/../..")
@example("images/ab/cd.png")
def test_a_name_that_is_let_through_stays_inside(run: Path, file: str) -> None:
    renamed(run, file)
    try:
        require_inside(run)
    except StudyError:
        assert file != "images/ab/cd.png"
        return
    inside = os.path.normpath(run)
    assert os.path.normpath(run / file) == inside or os.path.normpath(run / file).startswith(inside + os.sep)
    assert not any(letter in file for letter in "\\:\0")


@pytest.mark.parametrize("file", [b"../x", 7, 1.5])
def test_a_name_is_text(run: Path, file: object) -> None:
    renamed(run, file)
    with pytest.raises(StudyError, match="nothing was read"):
        require_inside(run)


def test_a_run_whose_database_cannot_be_read_is_left_to_whoever_reads_it(tmp_path: Path) -> None:
    require_inside(tmp_path)
    (tmp_path / "run.sqlite").write_bytes(b"no database" * 1000)
    require_inside(tmp_path)


def test_a_pipe_in_a_run_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "left-out.txt")
    with pytest.raises(StudyError, match="not a plain file"):
        require_inside(tmp_path)


def test_a_link_inside_the_run_is_fine_and_one_beside_it_of_like_name_is_not(tmp_path: Path) -> None:
    (tmp_path / "run" / "report").mkdir(parents=True)
    (tmp_path / "run-of-mine").mkdir()
    (tmp_path / "run" / "latest").symlink_to("report")
    require_inside(tmp_path / "run")
    (tmp_path / "run" / "other").symlink_to(tmp_path / "run-of-mine")
    with pytest.raises(StudyError, match="leads out"):
        require_inside(tmp_path / "run")


@given(st.one_of(SPELLINGS, st.text()).map(lambda text: f"{text}.toml"))
@example("/a/../../b.toml")
@example("\\\\server\\share\\mood.toml")
def test_a_rubric_of_any_path_is_looked_for_in_the_runs_own_folder(name: str) -> None:
    copy = rubrics.copy_of(Path("run"), name)
    assert copy.parent == Path("run/rubrics")
    assert copy.name.removesuffix(".toml").removesuffix(".json").replace("-", "").isalnum()
    with pytest.raises(StudyError) as caught:
        rubrics.readable(Path("run"), name)
    assert "\n" not in str(caught.value)


def test_two_rubrics_of_one_file_name_have_a_copy_each_under_the_name_of_the_manifest(tmp_path: Path) -> None:
    names = [str(tmp_path / folder / "mood.toml") for folder in ("a", "b")]
    for name in names:
        Path(name).parent.mkdir()
        Path(name).write_text(name)
    rubrics.keep(tmp_path / "run", [*names, "ssim"])
    for name in names:
        copy = rubrics.readable(tmp_path / "run", name)
        assert Path(copy).read_text() == name
        assert rubrics.key_of(tmp_path / "run", [*names, "ssim"], copy) == name
    assert rubrics.readable(tmp_path / "run", "ssim") == "ssim"


def test_a_copy_that_is_a_link_or_without_end_is_not_read(tmp_path: Path) -> None:
    copy = rubrics.copy_of(tmp_path, "/mood.toml")
    copy.parent.mkdir()
    copy.write_bytes(b"#" * (rubrics.MOST + 1))
    with pytest.raises(StudyError, match="allowed for a rubric"):
        rubrics.readable(tmp_path, "/mood.toml")
    copy.unlink()
    copy.symlink_to("/etc/hostname")
    with pytest.raises(StudyError, match="has no copy of it"):
        rubrics.readable(tmp_path, "/mood.toml")

"""A received run has no file read, written or imported outside its folder, by whatever name it has for it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from convergebench.store.rubrics import copy_of
from tests.cli.received.parts import OUTSIDE, SECRETS, STRANGE, change_database, rewrite, typed
from tests.cli.received.watching import watching
from tests.cli.test_own_rubric import RUBRIC
from tests.roles.server import MODEL, message, serving

PATHS = ["{a}/{o}/private.png", "images/../../{o}/private.png", "images/ab/../../../{o}/private.png"]
COMMANDS = ["report", "show", "measure", "audit", "export", "examine", "reuse", "verify", "run"]
HIDDEN = [
    "insert into images select 'i1:0', cast(x'2e2e2fff' as text), mime, width, height, bytes from images limit 1",
    "alter table images rename to kept; create view images as select * from kept",
    "create trigger t after insert on steps begin update images set file = '../x'; end",
    "create virtual table extra using fts5(words)",
    "update images set file = cast(file as blob)",
    "update images set file = 'C:/private.png'",
    "update images set file = 'images\\..\\..\\private.png'",
    "update images set file = '..'",
]


@pytest.mark.parametrize("command", ["report", "show", "measure", "audit"])
def test_a_run_does_not_choose_which_files_are_read(run: Path, made: Path, command: str) -> None:
    path = str(made / OUTSIDE / "mood.toml")
    with watching(SECRETS, OUTSIDE) as witness:
        rewrite(run, lambda content: content["metrics"].update({path: "mood@1"}))
        rewrite(run, lambda content: content["spec"].update(audit={"metrics": [path]}))
        rewrite(run, lambda content: content.update(study="audit"))
        said = typed(command, run)
    assert witness.nothing
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert f"cp {path} {copy_of(run, path)}" in said.err


def test_a_rubric_that_the_user_measured_with_is_kept_in_the_run(run: Path, tmp_path: Path) -> None:
    mood = tmp_path / "mood.toml"
    mood.write_text(RUBRIC)
    with serving(message('{"merry": 40}')) as own:
        (tmp_path / "roles.toml").write_text(
            f'[roles.rater]\nkind = "served"\nbase_url = "{own.base_url}"\nmodel = "{MODEL}"\n'
        )
        asked = ("--roles", tmp_path / "roles.toml")
        said = typed("measure", run, "-m", mood, *asked)
        assert said.code == 0, said.err
        mood.unlink()
        moved = run.rename(tmp_path / "moved")
        heard = len(own.requests)
        again = typed("measure", moved, *asked)
        assert again.code == 0, again.err
        assert len(own.requests) == heard, "every answer is there"
    names = json.loads((moved / "manifest.json").read_text())["metrics"]
    assert [name for name in names if name.endswith(".toml")] == [str(mood)]
    assert typed("show", moved).code == 0
    sorted((moved / "images").rglob("*.png"))[0].unlink()
    assert typed("recover", moved, "--out", tmp_path / "rebuilt").code == 0
    assert [path.name for path in (tmp_path / "rebuilt" / "rubrics").iterdir()] == [copy_of(moved, str(mood)).name]


def test_a_command_that_the_user_may_copy_holds_a_strangers_words_in_quotes(run: Path) -> None:
    rewrite(run, lambda content: content["metrics"].update({"/x; rm -rf ~ #\n\x1b[2J.toml": "mood@1"}))
    said = typed("show", run)
    assert "cp '/x; rm -rf ~ #��[2J.toml' " in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "path"),
    [*((command, "../{o}/private.png") for command in COMMANDS), *(("report", path) for path in PATHS)],
)
def test_a_picture_outside_the_run_is_not_read(run: Path, made: Path, tmp_path: Path, command: str, path: str) -> None:
    shutil.copytree(made / OUTSIDE, tmp_path / OUTSIDE)
    change_database(run, f"update images set file = '{path.format(a=tmp_path, o=OUTSIDE)}'")
    words: Mapping[str, tuple[str | Path, ...]] = {
        "export": ("export", run, "--as", "imagefolder", "--out", tmp_path / "set"),
        "reuse": ("run", made / "study.toml", "--run", tmp_path / "new", "--reuse", run, "--no-report"),
        "run": ("run", made / "study.toml", "--run", run, "--rounds", "2", "--no-report"),
    }
    with watching(SECRETS, OUTSIDE) as witness:
        said = typed(*words.get(command, (command, run)))
    assert witness.nothing
    assert said.code in (1, 2), said
    assert "private.png" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("statements", HIDDEN)
def test_no_trick_of_a_database_hides_a_name(run: Path, statements: str) -> None:
    parts = [statements] if "begin" in statements else statements.split(";")
    change_database(run, *parts)
    said = typed("show", run)
    assert said.code == 2
    assert "nothing was read" in said.err


@pytest.mark.parametrize("name", ["report", "tables", "images", "run.lock", "evidence", "report/thumbs"])
def test_a_link_out_of_the_run_is_neither_followed_nor_written_through(run: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / OUTSIDE
    target.mkdir()
    link = run / name
    link.parent.mkdir(exist_ok=True)
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    said = typed("report", run)
    assert said.code == 2
    assert str(link) in said.err
    assert list(target.iterdir()) == []
    link.unlink()
    (tmp_path / "whole").symlink_to(run)
    if name != "images":
        assert typed("show", tmp_path / "whole").code == 0, "a link to the whole run is the user's own"


def test_a_label_of_the_run_has_no_module_imported(run: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        ((editor, case),) = connection.execute('select editor, "case" from chains').fetchall()
        values = ("l1:x", editor, case, f"{STRANGE}:thing", "", 1, 1, "rule", "x@1", "", "2026-01-01T00:00:00+00:00")
        connection.execute(
            'insert into labels (id, editor, "case", mode, level, present, step, source, "by", detail, made) '
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        connection.commit()
    with watching(SECRETS, STRANGE) as witness:
        assert typed("label", run, "--template", tmp_path / "list.csv").code == 0
        head, row, *_ = (tmp_path / "list.csv").read_text().splitlines()
        cells = dict(zip(head.split(","), row.split(","), strict=True)) | {"present": "yes", "by": "me", "step": "1"}
        (tmp_path / "list.csv").write_text(f"{','.join(cells)}\n{','.join(cells.values())}\n")
        assert typed("label", run, tmp_path / "list.csv").code == 2
    assert witness.nothing

"""`cbench runs` and `cbench open`: many folders, some of them damaged, none of them changed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
import webbrowser
from pathlib import Path

import pytest

from convergebench.store.overview import overview
from tests.cli.conftest import make_world
from tests.cli.in_process import cbench


def files(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run with a report and one that stopped early."""
    world = make_world(tmp_path_factory.mktemp("world"))
    world.cbench("run", "study.toml", "--run", "runs/whole")
    world.cbench("run", "study.toml", "--editor", "paid", "--run", "runs/part", "--max-cost", "0.30", ok=False)
    return world.root / "runs"


@pytest.fixture
def runs(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The two, and folders that are not sound runs."""
    folder = tmp_path / "runs"
    shutil.copytree(made, folder)
    (folder / "notes").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "run.sqlite").write_bytes(b"not a database" * 100)
    (folder / "broken" / "manifest.json").write_text((folder / "whole" / "manifest.json").read_text())
    (folder / "torn").mkdir()
    shutil.copy(folder / "whole" / "run.sqlite", folder / "torn")
    (folder / "torn" / "manifest.json").write_text('{"study": 3, "name": "\\u001b[2J"}')
    (folder / "half").mkdir()
    (folder / "half" / "manifest.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return folder


def test_every_folder_is_a_line_and_nothing_is_touched(runs: Path) -> None:
    before = files(runs)
    done = cbench("runs")
    assert done.code == 0, done.err
    assert files(runs) == before
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["run", "study", "editors", "chains", "dollars", "changed"]
    said = {line.split()[0].rstrip(":"): line for line in lines[1:] if not line.startswith(" ")}
    assert said["whole"].split()[1:6] == ["roundtrip", "sim-perfect", "+1", "8/8", "0.00"]
    assert said["part"].split()[3:5] == ["0/4", "0.28"]
    assert said["notes"] == "notes: not a run"
    assert "broken: cannot be read: file is not a database" in done.out
    assert "its manifest.json is damaged" in said["torn"]
    assert "half: has no run.sqlite" in done.out
    assert any(line.startswith("  ") and "sim-perfect" in line for line in lines), "the finding"


def test_as_json(runs: Path) -> None:
    rows = {Path(row["run"]).name: row for row in json.loads(cbench("runs", runs, "--json").out)}
    assert set(rows) == {"whole", "part", "notes", "broken", "torn", "half"}
    assert rows["whole"]["editors"] == ["sim-perfect", "sim-tint"]
    assert rows["whole"]["finding"].startswith("sim-")
    assert rows["part"]["dollars"] == pytest.approx(0.28)
    assert rows["broken"]["problem"]
    (alone,) = json.loads(cbench("runs", runs / "whole", "--json").out)
    assert alone == rows["whole"]


def test_a_report_that_is_older_than_its_run_is_told(runs: Path) -> None:
    old = time.time() - 3600
    os.utime(runs / "whole" / "report" / "index.html", (old, old))
    assert "the report is older than the run" in cbench("runs", runs).out


def test_a_database_that_would_take_forever_is_given_up(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convergebench.store.overview.MOST_SECONDS", 0.3)
    slow = runs / "slow"
    slow.mkdir()
    shutil.copy(runs / "whole" / "manifest.json", slow)
    with sqlite3.connect(slow / "run.sqlite") as database:
        database.execute(
            "create view chains as with recursive n(i) as (select 1 union all select i + 1 from n) "
            "select i as editor, 'x' as status from n"
        )
    database.close()
    begun = time.monotonic()
    assert "slow: cannot be read: interrupted" in cbench("runs", runs).out
    assert time.monotonic() - begun < 20


def test_hundreds_of_runs_take_a_moment(runs: Path) -> None:
    many = runs.parent / "many"
    for index in range(200):
        (many / f"run-{index}").mkdir(parents=True)
        for name in ("manifest.json", "run.sqlite"):
            os.link(runs / "whole" / name, many / f"run-{index}" / name)
    used = time.process_time()
    assert len(overview(many)) == 200
    assert time.process_time() - used < 2


def test_no_runs_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cbench("runs").err.startswith("error: there is no folder runs; runs are made by: cbench run")
    (tmp_path / "runs").mkdir()
    assert cbench("runs").out.startswith("no runs in runs")


def test_open_opens_the_page_or_prints_where_it_is(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def browse(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    page = runs / "whole" / "report" / "index.html"
    assert cbench("open", "runs/whole", "--print").out == "runs/whole/report/index.html\n"
    assert opened == []
    assert cbench("open", "runs/whole").code == 0
    assert opened == [page.as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert cbench("open", "runs/whole").err == f"error: no browser could be started; open {page} yourself\n"


def test_open_without_a_page_says_what_to_type(runs: Path, tmp_path: Path) -> None:
    shutil.rmtree(runs / "whole" / "report")
    assert cbench("open", "runs/whole").err == "error: runs/whole has no report yet; type: cbench report runs/whole\n"
    assert "is not a run" in cbench("open", "runs/notes").err
    assert cbench("open", "runs/nothing").code == 2
    outside = tmp_path / "private.html"
    outside.write_text("<h1>private</h1>")
    (runs / "whole" / "report").mkdir()
    (runs / "whole" / "report" / "index.html").symlink_to(outside)
    assert cbench("open", "runs/whole", "--print").code == 2
    assert "private" not in cbench("runs").out

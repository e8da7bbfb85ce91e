"""`cbench suite` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.in_process import cbench


@pytest.fixture
def nothing_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")


@pytest.mark.usefixtures("nothing_fetched")
def test_the_list_says_how_many_pictures_a_suite_has_and_how_many_are_to_be_fetched() -> None:
    rows = {row["suite"]: row for row in json.loads(cbench("suite", "list", "--json").out)}
    assert (rows["quick"]["pictures"], rows["quick"]["to be fetched"]) == ("12", "0")
    assert rows["builtin"]["pictures"] == "100"
    assert 0 < int(rows["portraits-512"]["to be fetched"]) <= int(rows["builtin"]["to be fetched"]) < 30
    assert rows["scenes-1024"]["what is in it"] == (
        "The scenes of builtin that are large enough, as squares of 1024 pixels."
    )
    assert rows == {row["suite"]: row for row in json.loads(cbench("list", "suites", "--json").out)}


@pytest.mark.usefixtures("nothing_fetched")
def test_showing_a_suite_names_what_is_not_here() -> None:
    lines = cbench("suite", "show", "builtin").out.splitlines()
    assert lines[1].startswith("old-man-in-riga ")
    assert lines[-2].endswith(", version 2")
    assert "of the 100 images of the suite 'builtin' are not here: " in lines[-1]
    assert lines[-1].endswith("; type: cbench suite fetch builtin")


def test_fetching_what_no_suite_is_called_ends_with_a_suggestion() -> None:
    done = cbench("suite", "fetch", "bultin")
    assert done.code == 2
    assert "unknown suite 'bultin'; did you mean 'builtin'?" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("nothing_fetched")
def test_a_run_that_needs_pictures_that_are_not_here_says_what_to_type_and_begins_nothing(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'study = "roundtrip"\neditors = ["sim-jpeg"]\nimages = { suite = "builtin", kinds = ["face"] }\n'
        'edits = { pairs = ["flip-horizontal"] }\nmeasure = { metrics = ["psnr"] }\nroundtrip = { rounds = 1 }\n',
        encoding="utf-8",
    )
    done = cbench("run", study, "--run", tmp_path / "run")
    assert done.code != 0
    assert "type: cbench suite fetch builtin, or leave them out: --partial" in done.err
    assert not (tmp_path / "run").exists()
    planned = cbench("run", study, "--run", tmp_path / "run", "--partial", "--dry-run")
    assert planned.code == 0, planned.err
    assert "left out: " in planned.out
    assert "are not here: " in planned.out

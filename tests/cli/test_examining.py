"""`cbench examine` and `cbench label`: what a person types and reads."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from convergebench.cli.main import main
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from tests.engine.parts import faults, query
from tests.measuring.brightening import brightened

BRIGHTER, UNSURE, SLIPS = (f"tests.failures.looking:{name}" for name in ("brighter", "unsure", "slips"))


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Type = Callable[..., Answer]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = brightened(tmp_path_factory.mktemp("walked") / "run")
    assert faults(root, "counting@1") == []  # writes a manifest too
    return root


@pytest.fixture
def root(walked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(walked, tmp_path / "run"))


@pytest.fixture
def cbench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Type a command; its exit code and what it said."""

    def type_it(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["cbench", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return Answer(int(ended.value.code or 0), *capsys.readouterr())

    return type_it


def test_examining_tells_what_was_seen_and_records_the_command(root: Path, cbench: Type) -> None:
    said = cbench("examine", root, "-d", BRIGHTER, "--detector", UNSURE, "--workers", 1)
    assert said.code == 0, said.err
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "failure seen not seen undecided" in lines
    assert "brighter 4 0 0" in lines
    assert "unsure 0 0 4" in lines
    assert f"8 labels added, 4 of them failures (next: cbench report {root})" in lines
    assert "examine" in read_manifest(root / "manifest.json").sessions[-1]["command"]
    again = cbench("examine", root, "-d", BRIGHTER, "--workers", 1)
    assert "0 labels added" in again.out
    assert "brighter" in again.out, "what stands is told again"


def test_a_slip_ends_with_one_line_after_all_else_is_kept(root: Path, cbench: Type) -> None:
    said = cbench("examine", root, "-d", SLIPS, "-d", BRIGHTER, "--workers", 1)
    assert said.code == 2
    assert "6 labels added" in said.out
    assert said.err == (
        f"error: detector '{SLIPS}' failed on counting, first/plus/0: ZeroDivisionError: division by zero "
        "(and 1 more); everything else is kept. Fix it and examine again, or leave it out\n"
    )


def test_an_unknown_detector_and_a_folder_that_is_no_run_are_one_line(root: Path, cbench: Type, tmp_path: Path) -> None:
    assert "unknown detector 'latice'; did you mean 'lattice'?" in cbench("examine", root, "-d", "latice").err
    assert "is not a run" in cbench("examine", tmp_path / "none").err
    assert read_manifest(root / "manifest.json").sessions == [], "nothing was done, nothing is recorded"


def test_a_template_is_filled_in_and_read_back_and_people_overrule_rules(
    root: Path, cbench: Type, tmp_path: Path
) -> None:
    cbench("examine", root, "-d", BRIGHTER, "--workers", 1)
    file = tmp_path / "fill.csv"
    said = cbench("label", root, "--template", file)
    assert said.out == f"{file}: 4 rows to fill in (next: cbench label {root} {file})\n"
    with file.open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["mode"] for row in rows] == ["brighter"] * 4
    rows[0] |= {"present": "no", "by": "anna", "note": "looks the same, to me"}
    rows[1] |= {"present": "yes", "step": "3", "by": "anna", "x": "0", "y": "0", "width": "0.5", "height": "0.5"}
    with file.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    said = cbench("label", root, file)
    assert said.out == f"2 labels by anna added; 2 rows without yes or no skipped (next: cbench report {root})\n"
    assert "2 already known" in cbench("label", root, file).out
    assert " ".join(cbench("examine", root, "-d", BRIGHTER).out.split()).count("brighter 3 1 0") == 1
    frames = RunFrames(root)
    people = frames.labels().filter(source="person")
    frames.close()
    assert people.select("present", "step", "by", "detail").sort("present").rows() == [
        (False, None, "anna", "looks the same, to me"),
        (True, 3, "anna", ""),
    ]
    assert all((root / name).exists() for name in people["evidence"].drop_nulls())
    assert cbench("verify", root).code == 0
    assert [one["command"].split()[1] for one in read_manifest(root / "manifest.json").sessions] == [
        "examine", "label", "examine",
    ]  # fmt: skip


def test_a_fault_in_a_list_writes_nothing_at_all(root: Path, cbench: Type, tmp_path: Path) -> None:
    cbench("examine", root, "-d", BRIGHTER, "--workers", 1)
    file = tmp_path / "list.csv"
    start = "counting,first/plus/0"
    heading = "editor,case,mode,present,step,last,x,y,width,height,by,note"
    file.write_text(f"{heading}\n{start},brighter,yes,1,,,,,,anna,\n{start},brighter,yes,99,,,,,,ben,\n")
    said = cbench("label", root, file)
    assert (said.code, said.err) == (
        2,
        f"error: {file}, row 3, column step: '99': give a whole number from 1 to 6\n",
    )
    assert query(root, "select count(*) from labels where source = 'person'") == [(0,)]


def test_a_template_in_a_folder_that_is_not_there_is_one_line(root: Path, cbench: Type, tmp_path: Path) -> None:
    said = cbench("label", root, "--template", tmp_path / "none" / "fill.csv")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert "there is no folder" in said.err
    assert not (tmp_path / "none").exists()


def test_label_wants_a_file_or_a_template_and_not_both(root: Path, cbench: Type, tmp_path: Path) -> None:
    for words in ((), (tmp_path / "a.csv", "--template", tmp_path / "b.csv")):
        said = cbench("label", root, *words)
        assert said.code == 2
        assert "FILE.csv to add labels, or use --template FILE.csv" in said.err

"""A run that was begun with an earlier version of a suite: readable as it was, never mixed with the new pictures.

`recorded/suite-version-1.tar.xz` was recorded when `quick` had drawings among its pictures: `cbench run old.toml` with
`sim-jpeg`, the scenes `rocket` and `room`, one round of `red-ball`, PSNR and SSIM.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import polars as pl
import pytest

from convergebench.store.run import Run
from convergebench.store.tables import CaseRow
from tests.cli.in_process import cbench

RECORDED = Path(__file__).parent / "recorded" / "suite-version-1.tar.xz"
STUDY = """
study = "roundtrip"
editors = ["sim-jpeg"]
images = { suite = "quick", kinds = ["scene"], limit = 2 }
edits = { pairs = ["red-ball"] }
measure = { metrics = ["psnr", "ssim"] }
roundtrip = { rounds = 1 }
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with tarfile.open(RECORDED) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "suite-version-1"


def test_its_pictures_are_whole_and_can_be_measured_and_reported(old: Path) -> None:
    assert cbench("verify", old).code == 0
    assert cbench("measure", old, "--metric", "rmse", "--workers", 1).code == 0
    done = cbench("report", old, "--plots", "none")
    assert done.code == 0, done.err
    page = (old / "report" / "index.html").read_text(encoding="utf-8")
    assert "drawn: recipe room, seed 1, renderer 2" in page, "what was credited then is credited now"
    values = pl.read_parquet(old / "tables" / "measurements.parquet")
    assert set(values["case"]) == {"rocket/red-ball/0", "room/red-ball/0"}
    assert values.filter(pl.col("metric") == "rmse")["value"].null_count() == 0


def test_running_it_on_says_in_one_line_that_the_suite_has_other_pictures_now(old: Path) -> None:
    (old.parent / "study.toml").write_text(STUDY, encoding="utf-8")
    before = (old / "manifest.json").read_bytes()
    done = cbench("run", old.parent / "study.toml", "--run", old, "--no-report")
    assert done.code != 0
    (line,) = [line for line in done.err.splitlines() if "earlier version" in line]
    assert line.endswith(
        "run 'quick-1' was started with an earlier version of the suite 'quick', and version 2 has other images: use "
        "another --run. This run keeps its own images and can still be measured, reported and exported"
    )
    assert (old / "manifest.json").read_bytes() == before
    with Run.existing(old) as run:
        assert {row.source for row in run.journal.table(CaseRow)} == {"rocket", "room"}

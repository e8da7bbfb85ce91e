"""Measuring: a value is written down only when it is the image's own."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from convergebench.engine import chain_values as room
from convergebench.engine import measure as parent
from convergebench.engine.measure import measure
from convergebench.errors import StudyError
from convergebench.metrics.base import Item, metric
from convergebench.store.run import Run
from tests.engine.parts import CountingEditor, query, walk


@metric("slipping", kind="full-reference", better="lower", range=(0.0, 1.0))
def slipping(item: Item) -> float:
    """Divides by zero."""
    return 1 / 0


@metric("lost", kind="full-reference", better="lower", range=(0.0, 1.0))
def lost(item: Item) -> float:
    """Has no idea."""
    return math.nan


@pytest.fixture(autouse=True)
def nothing_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test begins like a new process."""
    monkeypatch.setattr(room, "_shelf", room._Shelf())
    room._known.clear()


def fill_in(root: Path, *metrics: str) -> int:
    with Run.create(root) as run:
        return measure(run, metrics, align_mode="strict", workers=1)


def test_what_has_a_value_is_not_measured_again(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    assert fill_in(tmp_path / "run", "psnr") == 8
    assert fill_in(tmp_path / "run", "psnr") == 0


def test_a_file_that_cannot_be_read_today_leaves_no_row_and_is_measured_tomorrow(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    ((file,),) = query(
        tmp_path / "run",
        "select file from images where id = (select min(subject) from comparisons where role = 'return')",
    )
    path = tmp_path / "run" / file
    path.rename(path.with_suffix(".away"))
    with pytest.raises(StudyError, match="cbench verify") as caught:
        fill_in(tmp_path / "run", "psnr")
    assert file in str(caught.value)
    path.with_suffix(".away").rename(path)
    fill_in(tmp_path / "run", "psnr")
    assert query(tmp_path / "run", "select distinct status, count(*) from measurements") == [("ok", 8)]


def test_a_metrics_slip_is_one_line_and_leaves_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    for side in (room, parent):
        monkeypatch.setattr(side, "load_metric", lambda name: slipping)
    room._metric.cache_clear()
    with pytest.raises(StudyError, match=r"metric 'slipping' failed on .*ZeroDivisionError: division by zero"):
        fill_in(tmp_path / "run", "slipping")
    room._metric.cache_clear()
    assert query(tmp_path / "run", "select * from measurements") == []


def test_no_number_is_no_value_and_not_an_empty_one_that_is_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    for side in (room, parent):
        monkeypatch.setattr(side, "load_metric", lambda name: lost)
    room._metric.cache_clear()
    fill_in(tmp_path / "run", "lost")
    room._metric.cache_clear()
    assert query(tmp_path / "run", "select distinct value, status from measurements") == [(None, "not-finite")]

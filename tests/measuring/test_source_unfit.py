"""Whose doing a missing value is: the editor's, or the source's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from convergebench.images.align import AlignMode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.measuring import worker as room
from convergebench.measuring.files import PlainFiles
from convergebench.measuring.task import Comparison, MeasuringTask
from convergebench.measuring.worker import measure_task
from convergebench.metrics.base import Reading


@pytest.fixture(autouse=True)
def nothing_decoded() -> None:
    """Every test begins like a new process."""
    room.forget()
    room._fit.clear()


def patterned(side: int, seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (side // 8, side // 8, 3), np.uint8).repeat(8, 0).repeat(8, 1)


def grey(side: int) -> Pixels:
    return np.full((side, side, 3), 128, np.uint8)


def measured(
    folder: Path, metric: str, *, source: Pixels, subject: Pixels, align: AlignMode = "auto", reference: str = "source"
) -> Reading:
    """What a row of a run says of this subject, whose chain began at this source."""
    first = patterned(64, seed=5)
    for name, pixels in (("source", source), ("subject", subject), ("first", first)):
        (folder / f"{name}.png").write_bytes(encode_png(pixels))
    row = Comparison("k", "return", "subject", reference, None, None, "", "", "", (metric,))
    files = {name: str(folder / f"{name}.png") for name in ("source", "subject", "first")}
    ((_, _, reading),) = measure_task(MeasuringTask(PlainFiles(), align, "source", (row,), files)).values
    return reading


def test_a_picture_that_the_editor_made_even_grey_is_the_editors_doing(tmp_path: Path) -> None:
    reading = measured(tmp_path, "gist", source=patterned(64), subject=grey(64))
    assert (reading.value, reading.status) == (None, "featureless")


def test_an_even_grey_source_is_not(tmp_path: Path) -> None:
    reading = measured(tmp_path, "gist", source=grey(64), subject=patterned(64))
    assert (reading.value, reading.status) == (None, "source-unfit")
    assert reading.detail.startswith("featureless: ")


@pytest.mark.parametrize(("side", "status"), [(256, "too-small"), (40, "source-unfit")])
def test_a_picture_that_became_too_small_is_the_editors_doing_unless_the_source_was(
    tmp_path: Path, side: int, status: str
) -> None:
    assert measured(tmp_path, "niqe", source=patterned(side), subject=patterned(32)).status == status


def test_another_size_under_strict_is_the_editors_doing(tmp_path: Path) -> None:
    reading = measured(tmp_path, "ssim", source=patterned(64), subject=patterned(56), align="strict")
    assert reading.status == "size"


def test_a_row_against_another_picture_asks_the_source_too(tmp_path: Path) -> None:
    """The first step was made of the source; if the source has nothing to measure, no later row blames the editor."""
    reading = measured(tmp_path, "gist", source=grey(64), subject=grey(64), reference="first")
    assert reading.status == "source-unfit"


def test_a_picture_that_cannot_be_read_is_the_editors_doing(tmp_path: Path) -> None:
    measured(tmp_path, "ssim", source=patterned(64), subject=patterned(64))
    (tmp_path / "subject.png").write_bytes(b"no picture")
    row = Comparison("k", "return", "other", "source", None, None, "", "", "", ("ssim",))
    files = {"source": "source.png", "other": "subject.png"}
    ((_, _, reading),) = measure_task(MeasuringTask(PlainFiles(), "auto", "source", (row,), files)).values
    assert reading.status == "unreadable"


def test_what_was_done_to_a_pictures_size_stands_beside_its_value(tmp_path: Path) -> None:
    whole = patterned(128)
    cut = np.ascontiguousarray(whole[:, :120])
    assert measured(tmp_path, "ssim", source=whole, subject=cut).value == pytest.approx(1)
    room._known.clear()
    assert measured(tmp_path, "ssim", source=whole, subject=cut).detail.startswith(
        "registered: scale x 1, scale y 1, shift x 4, shift y 0, crop 0.0625,"
    )


def test_nothing_is_said_where_nothing_was_done(tmp_path: Path) -> None:
    assert measured(tmp_path, "ssim", source=patterned(64), subject=patterned(64, seed=1)).detail == ""

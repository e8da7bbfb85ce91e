"""The same picture scored again: elsewhere, and after a trip through a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.measuring.repeatability import CHECKS, GONE, NOWHERE, OK, Sample, repeats, samples_of, versions
from tests.engine.audited_run import make_run, make_suite


def test_scores_repeat_and_what_they_hang_on_is_told(tmp_path: Path) -> None:
    suite = make_suite(tmp_path, 1)
    (tmp_path / "small.png").write_bytes(encode_png(np.full((12, 12, 3), 90, np.uint8)))
    samples = [Sample("scene", suite / "scene/scene-0.png"), Sample("small", tmp_path / "small.png")]
    rows = repeats(samples, ["brisque"])
    assert [(row.picture, row.check) for row in rows] == [
        (one, check) for one in ("scene", "small") for check in CHECKS
    ]
    found = {row.check: row for row in rows if row.picture == "scene"}
    for check in ("twice", "process", "threads", "png"):
        assert found[check].status == OK
        assert found[check].first == found[check].second
    assert found["half"].first != found["half"].second
    assert found["jpeg"].first != found["jpeg"].second
    assert (found["device"].status, found["device"].second) == (NOWHERE, None)
    assert {row.status for row in rows if row.picture == "small"} == {GONE, NOWHERE}, "too small to be scored"


def test_pictures_are_taken_in_turn_untouched_and_last(tmp_path: Path) -> None:
    root = make_run(tmp_path)
    assert samples_of({"run": root}, 0) == []
    names = [sample.name for sample in samples_of({"run": root}, 4)]
    assert names[0] == "run: scene-0, untouched"
    assert names[1].endswith(", step 4")
    assert names[2] == "run: scene-1, untouched"
    assert len(set(names)) == 4
    many = samples_of({"run": root}, 1000)
    assert len({sample.file for sample in many}) == len(many)
    assert all((root / sample.file).is_file() for sample in many)


def test_a_trip_through_png_changes_nothing_and_half_is_half(tmp_path: Path) -> None:
    pixels = decode((make_suite(tmp_path, 1) / "scene/scene-0.png").read_bytes()).pixels
    made = versions(pixels)
    assert np.array_equal(made["png"], pixels)
    assert not np.array_equal(made["jpeg"], pixels)
    assert made["half"].shape == (48, 48, 3)


def test_what_goes_wrong_elsewhere_is_told_here(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"another process failed: .*absent\.png"):
        repeats([Sample("absent", tmp_path / "absent.png")], ["brisque"])

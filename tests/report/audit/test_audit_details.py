"""The two details of a contradiction: the same place in both pictures, or none."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from convergebench.images.frame import Pixels
from convergebench.report.audit.details import details
from tests.report.pictures import draw, store


def detailed(folder: Path, before: Pixels, after: Pixels) -> tuple[Pixels, Pixels] | None:
    """The two details as they are shown."""
    paths = [folder / store(folder, picture) for picture in (before, after)]
    found = details(*(path.read_bytes() for path in paths))
    if found is None:
        return None
    shown = [cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) for data in found]
    assert shown[0] is not None
    assert shown[1] is not None
    return np.asarray(shown[0], np.uint8), np.asarray(shown[1], np.uint8)


def test_the_detail_is_where_two_pictures_differ(tmp_path: Path) -> None:
    before = draw("face", 400, seed=1)
    after = before.copy()
    after[300:380, 20:100] = 0
    found = detailed(tmp_path, before, after)
    assert found is not None
    assert (found[1].max(axis=2) < 20).mean() > 0.6  # the black square fills most of it
    assert (found[0].max(axis=2) < 20).mean() < 0.1


def blocks(size: int = 400) -> Pixels:
    """A picture in which every place looks like no other."""
    coarse = np.random.default_rng(4).integers(0, 256, (size // 16, size // 16, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (size, size), interpolation=cv2.INTER_CUBIC), np.uint8)


def agreement(one: Pixels, other: Pixels) -> float:
    size = min(one.shape[0], other.shape[0])
    a, b = (np.asarray(cv2.resize(each, (size, size)), float).ravel() for each in (one, other))
    return float(np.corrcoef(a, b)[0, 1])


@pytest.mark.parametrize("how", ["shifted", "cropped", "resized", "smaller"])
def test_the_two_details_are_the_same_place_though_the_editor_moved_it(tmp_path: Path, how: str) -> None:
    """Its editor shifts by 14 pixels, cuts a border off or returns another size: cut at one spot, they would differ."""
    before = blocks()
    late = {
        "shifted": np.roll(before, (14, -9), axis=(0, 1))[14:, :-9],
        "cropped": cv2.resize(before[16:384, 16:384], (400, 400), interpolation=cv2.INTER_AREA),
        "resized": cv2.resize(before, (360, 360), interpolation=cv2.INTER_AREA),
        "smaller": before[8:],
    }[how]
    noise = np.random.default_rng(1).normal(0, 12, late.shape)
    found = detailed(tmp_path, before, np.clip(late + noise, 0, 255).astype(np.uint8))
    assert found is not None
    assert found[0].shape == found[1].shape
    assert agreement(*found) > 0.9


def test_pictures_that_cannot_be_registered_have_no_detail(tmp_path: Path) -> None:
    before, other = draw("face", 400, seed=1), draw("scene", 400, seed=9)
    assert detailed(tmp_path, before, other) is None
    assert detailed(tmp_path, before, np.full_like(before, 128)) is None, "a flat picture lies nowhere"


def test_parts_that_moved_against_each_other_have_no_detail_where_they_did(tmp_path: Path) -> None:
    """Two thirds of the picture stay and the rest slides by 40 pixels: the detail is of what stayed."""
    before = blocks(480)
    after = before.copy()
    after[:, 320:] = np.roll(before[:, 320:], 40, axis=0)
    after = after[6:]  # and a few rows are gone, so that the pictures must be registered
    found = detailed(tmp_path, before, after)
    assert found is not None
    middle = slice(found[0].shape[0] // 4, -found[0].shape[0] // 4)
    assert agreement(*(shown[middle, middle] for shown in found)) > 0.9

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from convergebench.failures._aligned_pair import Tile, aligned_to_source, box_as_returned
from convergebench.failures.base import Box
from convergebench.images.frame import Pixels
from convergebench.metrics.operations import GEOMETRIC
from convergebench.types import Operation
from tests.failures.planted import astronaut, chain


def _resized(pixels: Pixels, factor: float) -> Pixels:
    size = round(pixels.shape[1] * factor), round(pixels.shape[0] * factor)
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS))


def test_pictures_in_place_are_taken_as_they_are() -> None:
    source = astronaut()
    pair = aligned_to_source(chain([source, source]), 1)
    assert pair is not None
    assert pair.part == Box(0, 0, 1, 1)
    assert np.array_equal(pair.step.pixels, source)
    assert np.array_equal(pair.source.pixels, source)


def test_a_crop_is_cut_from_the_source_too() -> None:
    source = astronaut()
    pair = aligned_to_source(chain([source, source[24:, 8:-8]]), 1)
    assert pair is not None
    assert np.array_equal(pair.step.pixels, pair.source.pixels)


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.5, 2.0])
def test_the_finer_one_is_reduced_to_the_coarser(factor: float) -> None:
    source = astronaut()
    pair = aligned_to_source(chain([source, _resized(source, factor)]), 1)
    assert pair is not None
    assert pair.step.size == pair.source.size
    assert pair.step.width == pytest.approx(256 * min(1, factor), abs=2)
    assert pair.scale == pytest.approx(max(1, factor), rel=0.01)
    assert np.abs(pair.step.pixels.astype(int) - pair.source.pixels).mean() < 3


@pytest.mark.parametrize("size", [(256, 200), (384, 270)])
def test_the_common_part_is_told_in_shares_of_the_step(size: tuple[int, int]) -> None:
    whole = astronaut()[:200]
    step = np.asarray(Image.fromarray(whole).resize(size, Image.Resampling.LANCZOS))
    pair = aligned_to_source(chain([whole[20:, 40:], step]), 1)
    assert pair is not None
    assert pair.part == pytest.approx(Box(40 / 256, 20 / 200, 216 / 256, 180 / 200), abs=0.004)


@pytest.mark.parametrize(("cut", "resampled"), [(2, False), (10, True)])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_picture_zoomed_by_a_hundredth_is_not_resampled(cut: int, resampled: bool, axis: int) -> None:
    """Resampling would cost it more fine detail than the zoom does."""
    source = astronaut()
    part = source[cut : 256 - cut] if axis == 0 else source[:, cut : 256 - cut]
    zoomed = np.asarray(Image.fromarray(part).resize((256, 256), Image.Resampling.LANCZOS))
    pair = aligned_to_source(chain([source, zoomed]), 1)
    assert pair is not None
    assert (pair.scale > 1) is resampled
    height, width = pair.step.pixels.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(zoomed, (height, width, 3))[:, :, 0]
    as_it_was = any(np.array_equal(pair.step.pixels, window) for row in windows for window in row)
    assert as_it_was is not resampled


def test_pictures_that_cannot_be_registered_are_laid_over_each_other() -> None:
    source = astronaut()
    noise = np.random.default_rng(0).integers(0, 256, source.shape).astype(np.uint8)
    pair = aligned_to_source(chain([source, noise]), 1)
    assert pair is not None
    assert np.array_equal(pair.step.pixels, noise)


def test_too_little_in_common_is_none() -> None:
    assert aligned_to_source(chain([astronaut(), astronaut()[:40, :40]]), 1) is None


def test_tiles_leave_out_what_was_added() -> None:
    source = astronaut()
    added = source.copy()
    cv2.circle(added, (64, 64), 40, (20, 250, 60), -1)
    pair = aligned_to_source(chain([source, added], compared="around"), 1)
    assert pair is not None
    tops = [(tile.top, tile.left) for tile in pair.tiles(32, 100)]
    assert (32, 32) not in tops
    assert (192, 192) in tops
    assert not pair.untouched()[64, 64]
    assert pair.untouched()[200, 200]


def test_tiles_are_spread_over_the_picture() -> None:
    pair = aligned_to_source(chain([astronaut()] * 2), 1)
    assert pair is not None
    some = pair.tiles(32, 8)
    assert len(some) == 8
    assert {some[0].top, some[-1].top} == {0, 224}


@pytest.mark.parametrize("operation", list(GEOMETRIC))
def test_a_box_is_told_in_the_picture_as_it_came(operation: Operation) -> None:
    upright = np.zeros((40, 60, 3), np.uint8)
    upright[4:10, 12:27] = 255
    box = box_as_returned(Box(12 / 60, 4 / 40, 15 / 60, 6 / 40), operation)
    came = GEOMETRIC[operation](upright)
    height, width = came.shape[:2]
    rows = slice(round(box.y * height), round((box.y + box.height) * height))
    columns = slice(round(box.x * width), round((box.x + box.width) * width))
    assert came[rows, columns].min() == 255
    assert came.astype(int).sum() == came[rows, columns].astype(int).sum()


def test_a_tile_of_a_crop_lies_where_it_lies_in_the_step() -> None:
    source = astronaut()
    pair = aligned_to_source(chain([source[40:], source]), 1)  # the step shows more than the source
    assert pair is not None
    box = pair.box(Tile(0, 0, 64))
    assert box.y == pytest.approx(40 / 256, abs=0.01)
    assert box.height == pytest.approx(64 / 256, abs=0.01)

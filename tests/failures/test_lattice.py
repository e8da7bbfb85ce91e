from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from convergebench.failures.lattice import lattice
from convergebench.images.frame import Pixels
from tests.failures.planted import FROM, astronaut, chain, found, grid, planted, whole
from tests.metrics.pictures import jpeg


def _waves(pixels: Pixels, step: int, *, period: float, height: float, down: bool = False) -> Pixels:
    rows, columns = np.mgrid[0 : pixels.shape[0], 0 : pixels.shape[1]]
    return whole(pixels + (height * np.cos((rows if down else columns) * (2 * np.pi / period)))[..., None])


def _shaded() -> Pixels:
    """A ball on a plain ground: nothing in it repeats."""
    rows, columns = np.mgrid[0:256, 0:256] / 256
    ball = 90 * np.sqrt(np.maximum(0, 0.16 - (rows - 0.5) ** 2 - (columns - 0.45) ** 2))
    grain = np.random.default_rng(3).normal(0, 1.5, rows.shape)
    return whole(np.stack([80 + 60 * rows + 4 * ball + grain, 120 + ball + grain, 140 - 30 * columns + grain], axis=-1))


@pytest.mark.parametrize("period", [8, 16])
def test_patches_that_disagree_are_found_with_their_period(period: int) -> None:
    result = lattice(planted(partial(grid, period=period)))
    assert found(result) == FROM
    assert result.probes["period"][FROM] == period
    assert "seams" in result.findings[0].detail


@pytest.mark.parametrize("period", [4, 8, 16, 21.3])
@pytest.mark.parametrize("down", [False, True])
def test_waves_are_found_with_their_period_and_direction(period: float, down: bool) -> None:
    result = lattice(planted(partial(_waves, period=period, height=4.0, down=down), _shaded()))
    assert found(result) == FROM
    assert result.probes["period"][FROM] == pytest.approx(period, rel=0.03)
    assert result.probes["direction"][FROM] == (90 if down else 0)
    assert ("down" if down else "across") in result.findings[0].detail


def test_the_blocks_of_coarse_jpeg_are_found() -> None:
    result = lattice(planted(lambda pixels, step: jpeg(pixels, 15)))
    assert found(result) == FROM
    assert result.probes["period"][FROM] == 8


def test_a_pattern_that_the_source_has_does_not_count() -> None:
    tiled = grid(astronaut(), 0)
    assert found(lattice(planted(lambda pixels, step: pixels, tiled))) is None


def test_a_pattern_nobody_sees_is_left_alone() -> None:
    assert found(lattice(planted(partial(_waves, period=8, height=0.2)))) is None


def test_the_period_is_told_in_the_pixels_of_a_step_larger_than_its_source() -> None:
    source = astronaut()
    larger = np.asarray(np.kron(source, np.ones((2, 2, 1))), np.uint8)
    result = lattice(chain([source, *[_waves(larger, 1, period=16, height=6)] * 4]))
    assert found(result) == 1
    assert result.probes["period"][1] == pytest.approx(16, rel=0.03)

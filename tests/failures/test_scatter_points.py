from __future__ import annotations

import cv2
import numpy as np

from convergebench.failures.scatter_points import scatter_points
from convergebench.images.frame import Pixels
from tests.failures.planted import FROM, astronaut, chain, found, planted, specks


def test_specks_of_another_colour_alone_are_found() -> None:
    plain = np.full((256, 256, 3), (120, 120, 120), np.uint8)
    cv2.rectangle(plain, (60, 60), (180, 180), (90, 100, 160), -1)

    def coloured(pixels: Pixels, step: int) -> Pixels:
        out = pixels.copy()
        for row, column in np.random.default_rng(step).integers(4, 250, (60, 2)):
            out[row : row + 2, column : column + 2] = (170, 95, 120)  # as bright as the grey around it
        return out

    assert found(scatter_points(planted(coloured, plain))) == FROM


def test_specks_that_the_source_has_are_not_new() -> None:
    starry = specks(astronaut(), 0)
    assert found(scatter_points(planted(lambda pixels, step: pixels, starry))) is None


def test_specks_elsewhere_in_equal_number_are_a_texture_drawn_anew() -> None:
    source = specks(astronaut(), 0)
    result = scatter_points(chain([source, *(specks(astronaut(), step) for step in range(1, 6))]))
    assert found(result) is None
    assert result.probes["new"][1] > 100
    assert abs(result.probes["specks"][1]) < result.probes["new"][1] / 2


def test_where_lines_cross_there_is_no_speck() -> None:
    plain = np.full((256, 256, 3), 150, np.uint8)

    def tiled(pixels: Pixels, step: int) -> Pixels:
        out = pixels.copy()
        out[::24] = out[:, ::24] = 100
        out[::24, ::24] = 80
        return out

    assert found(scatter_points(chain([plain, *(tiled(plain, step) for step in range(1, 6))]))) is None


def test_the_count_is_to_the_megapixel_and_the_square_is_where_most_are() -> None:
    source = np.full((256, 256, 3), 128, np.uint8)
    dotted = source.copy()
    dotted[200:250:10, 130:190:10] = 30
    result = scatter_points(chain([source, *[dotted] * 5]))
    assert result.probes["new"][3] == 30 / (256 * 256 / 1e6)
    region = result.findings[0].region
    assert region is not None
    assert (region.x, region.y, region.width) == (0.5, 0.75, 0.25)

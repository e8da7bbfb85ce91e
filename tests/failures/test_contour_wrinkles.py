from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from convergebench.failures.contour_wrinkles import contour_wrinkles
from convergebench.images.frame import Pixels
from tests.failures.planted import FROM, Change, astronaut, chain, found, meander, planted, ripples, soft


def _circles(swing: float = 0.0) -> Pixels:
    """Rings whose outline swings to and fro by some pixels, eight times a quarter turn."""
    rows, columns = np.mgrid[0:256, 0:256] - 127.5
    radius, angle = np.hypot(rows, columns), np.arctan2(rows, columns)
    rings = 128 + 80 * np.sign(np.sin((radius + swing * np.sin(32 * angle)) * (2 * np.pi / 80)))
    return np.asarray(cv2.GaussianBlur(np.repeat(rings[..., None], 3, axis=2), (0, 0), 1.0), np.uint8)


@pytest.mark.parametrize("change", [ripples, meander])
@pytest.mark.parametrize("source", [astronaut, _circles])
def test_ripples_and_outlines_that_meander_are_found(change: Change, source: Callable[[], Pixels]) -> None:
    assert found(contour_wrinkles(planted(change, source()))) == FROM


def test_the_probe_grows_with_the_swing() -> None:
    swings = [0.0, 0.5, 1.0, 2.0]
    probe = contour_wrinkles(chain([_circles(), *(_circles(swing) for swing in swings)])).probes["meander"]
    assert list(probe.values()) == sorted(probe.values())
    assert probe[1] == 0
    assert probe[4] > 0.15


def test_softer_outlines_are_no_wrinkles() -> None:
    assert found(contour_wrinkles(planted(soft))) is None
    assert found(contour_wrinkles(chain([_circles(), *[soft(_circles(), 1)] * 4]))) is None


def test_outlines_that_moved_as_a_whole_are_no_wrinkles() -> None:
    moved = [np.roll(astronaut(), step % 3, (0, 1)) for step in range(1, 7)]
    assert found(contour_wrinkles(chain([astronaut(), *moved]))) is None


def test_the_square_that_is_shown_lies_where_the_outline_wrinkles() -> None:
    source = np.full((256, 256, 3), 60, np.uint8)
    source[:, 64:192] = 180  # two upright edges
    source = np.asarray(cv2.GaussianBlur(source, (0, 0), 1.0), np.uint8)
    wrinkled = source.copy()
    for row in range(256):
        wrinkled[row, 150:] = np.roll(source[row], round(2 * np.sin(row)), axis=0)[150:]
    region = contour_wrinkles(chain([source, *[wrinkled] * 4])).findings[0].region
    assert region is not None
    assert region.x + region.width / 2 == pytest.approx(0.75, abs=0.1)


def test_a_picture_without_outlines_does_not_let_one_tell() -> None:
    shade = np.repeat(np.linspace(80, 120, 256)[None, :, None], 256, axis=0).repeat(3, axis=2).astype(np.uint8)
    assert contour_wrinkles(chain([shade] * 5)).cannot_tell

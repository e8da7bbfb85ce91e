"""Aspect ratio: the picture keeps its shape and shows what it showed; another size is no failure."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PIL import Image

from convergebench.failures.aspect_ratio import aspect_ratio, framing
from convergebench.images.frame import Frame, Pixels
from tests.failures.chains import COPY, NOISE, TURN, asked, drawn, picture, simulated


def resized(pixels: Pixels, width: int, height: int) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS), np.uint8)


def test_the_published_crop_is_found_at_the_first_step_with_its_numbers() -> None:
    """5632×3072 → 2816×1504: height over width 0.545 → 0.534, here at a sixteenth of the size."""
    source = resized(picture("motorcycle")[40:230], 352, 192)
    cut = resized(source[2:190], 176, 94)
    (finding,) = aspect_ratio(drawn([source, cut, cut], "replicate")).findings
    assert finding.step == 1
    assert finding.last is None
    assert "0.545 → 0.534" in finding.detail
    assert re.search(r"cut off: (0\.9|1\.0|1\.1)% top, (0\.9|1\.0|1\.1)% bottom", finding.detail)


@pytest.mark.parametrize("size", [(160, 160), (640, 640), (319, 320)])
def test_another_size_alone_is_no_failure(size: tuple[int, int]) -> None:
    assert aspect_ratio(drawn([picture(), resized(picture(), *size)], "replicate")).findings == ()


@pytest.mark.parametrize("kind", ["noise", "blur", "wrinkle", "simplify", "jpeg", "contract"])
def test_wear_is_not_taken_for_a_crop(kind: str) -> None:
    assert aspect_ratio(simulated([asked(COPY, "replicate", wear=[{"kind": kind}]) for _ in range(3)])).findings == ()


def test_an_addition_is_not_taken_for_a_crop() -> None:
    assert aspect_ratio(simulated([asked("Add a chair.", "add", wear=NOISE) for _ in range(3)])).findings == ()


def test_a_squeezed_picture_is_told_from_a_cut_one() -> None:
    (finding,) = aspect_ratio(drawn([picture(), resized(picture(), 320, 308)], "replicate")).findings
    assert "squeezed" in finding.detail


def test_a_zoom_in_the_same_size_is_a_crop() -> None:
    zoomed = resized(picture("motorcycle")[8:312, 8:312], 320, 320)
    (finding,) = aspect_ratio(drawn([picture("motorcycle"), zoomed], "replicate")).findings
    assert "cut off" in finding.detail
    assert framing(Frame(zoomed), Frame(picture("motorcycle"))).lost == pytest.approx(1 - 0.95**2, abs=0.015)


def test_what_is_drawn_around_the_picture_is_found() -> None:
    inner = picture("motorcycle")[20:300, 20:300]
    (finding,) = aspect_ratio(drawn([np.ascontiguousarray(inner), picture("motorcycle")], "replicate")).findings
    assert "drawn around it" in finding.detail


def test_a_slow_zoom_is_found_once_it_adds_up_and_again_when_it_doubles() -> None:
    """No single step cuts 3 % of the area; after a few the sum does."""
    frames = [resized(picture("motorcycle")[cut : 320 - cut, cut : 320 - cut], 320, 320) for cut in range(8)]
    findings = aspect_ratio(drawn(frames, "replicate")).findings
    assert [one.step for one in findings] == [3, 6]


def test_a_crop_that_comes_back_after_another_change_of_shape_is_not_found_again() -> None:
    """Cut, then whole but squeezed, then cut and squeezed: the third picture shows nothing new."""
    whole, part = picture("motorcycle"), picture("motorcycle")[16:304, 16:304]
    frames = [whole, resized(part, 320, 320), resized(whole, 320, 308), resized(part, 320, 308)]
    findings = aspect_ratio(drawn(frames, "replicate")).findings
    assert [one.step for one in findings] == [1, 2]


def test_a_turn_done_or_not_done_is_no_change_of_shape() -> None:
    wide = np.ascontiguousarray(picture("motorcycle")[:240])
    for unturned in (0, 1):
        chain = simulated([asked(TURN, "rotate-90", unturned=unturned) for _ in range(2)], source=wide)
        assert aspect_ratio(chain).findings == ()


def test_confidence_is_a_half_at_the_threshold_and_grows() -> None:
    source = resized(picture("motorcycle"), 400, 400)
    sure = [aspect_ratio(drawn([source, source[:rows]], "replicate")).findings for rows in (399, 397, 390, 380)]
    assert sure[0] == ()
    values = [found[0].confidence for found in sure[1:]]
    assert values == sorted(set(values))
    assert 0.5 <= values[0] < 0.75


def test_pictures_that_cannot_be_registered_are_still_judged_by_their_shape() -> None:
    flat = np.full((300, 320, 3), 90, np.uint8)
    (finding,) = aspect_ratio(drawn([picture(), flat], "patches")).findings
    assert "cannot be told" in finding.detail

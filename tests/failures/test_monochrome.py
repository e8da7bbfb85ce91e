"""Monochrome: strict greyscale, apart from what rounding, codecs and noise leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convergebench.failures.monochrome import monochrome
from tests.failures.chains import COPY, GREY, asked, drawn, picture, simulated


@pytest.mark.parametrize(
    "wear",
    [
        [],
        [{"kind": "jpeg", "quality": 10}],
        [{"kind": "noise", "sigma": 8 / 255}],
        [{"kind": "scatter", "share": 0.005}],
    ],
)
def test_greyscale_stays_greyscale_under_codecs_and_coloured_noise(wear: list[dict[str, Any]]) -> None:
    found = monochrome(simulated([asked(GREY, "monochrome", wear=wear)]))
    assert found.findings == ()
    assert found.probes["chroma"][1] < 1


def test_colour_that_is_left_is_found_with_its_share_and_chroma() -> None:
    (finding,) = monochrome(simulated([asked(GREY, "monochrome", colour_rest=0.3)])).findings
    assert finding.step == 1
    assert "mean chroma" in finding.detail
    assert "0 of 1 such steps gave greyscale" in finding.detail


def test_confidence_grows_with_the_colour_left() -> None:
    sure = [
        monochrome(simulated([asked(GREY, "monochrome", colour_rest=rest)], source=picture("chelsea")))
        .findings[0]
        .confidence
        for rest in (0.08, 0.1, 0.12)
    ]
    assert sure == sorted(set(sure))
    assert 0.5 <= sure[0] < 0.95


def test_one_thing_left_in_colour_is_found_and_shown() -> None:
    grey = np.repeat(picture("motorcycle").mean(axis=2, keepdims=True).astype(np.uint8), 3, axis=2)
    grey[100:150, 200:260] = (220, 30, 30)
    (finding,) = monochrome(drawn([picture("motorcycle"), grey], "monochrome")).findings
    assert finding.region is not None
    assert finding.region.x == pytest.approx(200 / 320, abs=0.05)
    assert finding.region.height == pytest.approx(50 / 320, abs=0.06)


def test_a_tint_of_one_hue_is_called_one() -> None:
    grey = picture("motorcycle").mean(axis=2, keepdims=True)
    sepia = np.clip(grey * (1.08, 1.0, 0.82), 0, 255).astype(np.uint8)
    (finding,) = monochrome(drawn([picture("motorcycle"), sepia], "monochrome")).findings
    assert "a tint" in finding.detail


def test_only_steps_that_were_to_be_monochrome_are_looked_at() -> None:
    assert monochrome(simulated([asked(COPY, "replicate")])).does_not_apply

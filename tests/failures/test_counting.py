"""Counting: one thing was asked for; none came, or a whole row."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.failures.base import Box, ChainView, StepView
from convergebench.failures.counting import counting
from convergebench.images.frame import Frame, Pixels
from tests.failures.chains import APPLE, COPY, NOISE, asked, drawn, picture, simulated
from tests.failures.told_network import ToldNetwork


def with_discs(middles: list[tuple[int, int]], colour: tuple[int, int, int] = (200, 30, 30)) -> Pixels:
    pixels = picture().copy()
    for middle in middles:
        cv2.circle(pixels, middle, 20, colour, -1, cv2.LINE_AA)
    return pixels


@pytest.mark.parametrize("wear", [[], NOISE, [{"kind": "blur"}], [{"kind": "tint", "green": 4}]])
def test_one_apple_at_every_step_is_no_failure(wear: list[dict[str, Any]]) -> None:
    found = counting(simulated([asked(APPLE, "add", wear=wear) for _ in range(4)]))
    assert found.findings == ()
    assert set(found.probes["things"].values()) == {1.0}


def test_steps_in_a_row_that_add_nothing_are_one_finding() -> None:
    chain = simulated([asked(APPLE, "add", wear=NOISE, skip_from=2, skip_for=3) for _ in range(6)])
    (finding,) = counting(chain).findings
    assert (finding.step, finding.last) == (2, 4)
    assert finding.confidence > 0.9
    assert "3 steps in a row" in finding.detail


def test_a_whole_row_at_once_is_found_and_shown() -> None:
    steps = [asked(APPLE, "add", wear=NOISE, row_at=3, row_of=4) for _ in range(4)]
    chain = simulated(steps, source=picture("motorcycle"))
    (finding,) = counting(chain).findings
    assert (finding.step, finding.last) == (3, 3)
    assert finding.detail.startswith("4 things alike")
    assert finding.region is not None
    assert finding.region.width > 0.6


def test_stuck_and_then_a_row_are_two_findings() -> None:
    chain = simulated([asked(APPLE, "add", skip_from=2, skip_for=2, row_at=4, row_of=3) for _ in range(5)])
    assert [(one.step, one.last) for one in counting(chain).findings] == [(2, 3), (4, 4)]


def test_three_things_that_touch_are_told_apart() -> None:
    row = with_discs([(100, 200), (143, 200), (186, 200)])
    (finding,) = counting(drawn([picture(), row], "add")).findings
    assert finding.detail.startswith("3 things")


def test_two_things_of_different_colour_are_not_several_of_one_kind() -> None:
    """An editor that adds an apple and takes a plum away changed two places but added one thing."""
    before = with_discs([(80, 200)], (60, 20, 90))
    after = with_discs([(240, 200)])
    assert counting(drawn([before, after], "add")).findings == ()


def test_confidence_is_a_half_for_two_and_grows_with_their_number() -> None:
    discs = [(60, 200), (130, 200), (200, 200), (270, 200)]
    sure = [
        counting(drawn([picture(), with_discs(discs[:count])], "add")).findings[0].confidence for count in (2, 3, 4)
    ]
    assert sure[0] == pytest.approx(0.5)
    assert sure == sorted(set(sure))


def test_a_missing_addition_is_less_sure_the_more_the_rest_changed() -> None:
    faint = picture().copy()
    faint[190:230, 140:180] = np.clip(faint[190:230, 140:180].astype(int) + 9, 0, 255)
    plain, nearly = (counting(drawn([picture(), pixels], "add")).findings[0] for pixels in (picture(), faint))
    assert 0.5 < nearly.confidence < plain.confidence


def test_a_crop_is_not_taken_for_an_addition() -> None:
    cut = np.ascontiguousarray(picture()[12:])
    (finding,) = counting(drawn([picture(), cut], "add")).findings
    assert "added none" in finding.detail


def test_a_picture_redrawn_altogether_is_left_open() -> None:
    static = np.random.default_rng(1).integers(0, 256, (40, 40, 3), np.uint8)
    other = np.asarray(cv2.resize(static, (320, 320), interpolation=cv2.INTER_NEAREST), np.uint8)
    found = counting(drawn([picture(), other], "add"))
    assert found.findings == ()
    assert "too much of the picture" in found.cannot_tell


def test_a_chain_without_additions_has_nothing_to_count() -> None:
    assert counting(simulated([asked(COPY, "replicate")])).does_not_apply


ON_THE_LEFT, ON_THE_RIGHT = Box(0.1, 0.5, 0.2, 0.2), Box(0.6, 0.5, 0.2, 0.2)


def asked_for_an_apple(after: Pixels) -> ChainView:
    steps = [StepView(0, lambda: Frame(picture())), StepView(1, lambda: Frame(after), APPLE, "add", parent=0)]
    return ChainView("editor", "case", "source", "variant", "family", steps)


def test_an_apple_that_the_network_sees_was_added_though_no_patch_stands_out(network: ToldNetwork) -> None:
    faint = picture().copy()
    faint[190:230, 140:180] = np.clip(faint[190:230, 140:180].astype(int) + 9, 0, 255)
    assert counting(asked_for_an_apple(faint)).findings[0].step == 1
    network.shows(faint, ("apple", 0.7, ON_THE_LEFT))
    found = counting(asked_for_an_apple(faint))
    assert found.findings == ()
    assert found.probes["seen"] == {1: 1.0}


def test_one_thing_in_two_parts_is_one_if_the_network_sees_one(network: ToldNetwork) -> None:
    pair = with_discs([(80, 200), (240, 200)])
    network.shows(pair, ("apple", 0.7, ON_THE_LEFT), ("chair", 0.9, ON_THE_RIGHT))
    assert counting(asked_for_an_apple(pair)).findings == ()
    network.shows(pair, ("apple", 0.7, ON_THE_LEFT), ("orange", 0.26, ON_THE_RIGHT))  # perhaps a second one
    assert counting(asked_for_an_apple(pair)).findings[0].detail.startswith("2 things")


def test_apples_that_the_network_counts_are_several_though_no_patches_stand_out(network: ToldNetwork) -> None:
    plain = picture().copy()
    plain[0, 0] = 255 - plain[0, 0]
    network.shows(plain, ("apple", 0.7, ON_THE_LEFT), ("apple", 0.6, ON_THE_RIGHT))
    (finding,) = counting(asked_for_an_apple(plain)).findings
    assert finding.detail == "2 things of the kind that was asked for were added at once; one was asked for"
    assert finding.region is None


def test_what_the_network_only_suspects_does_not_count(network: ToldNetwork) -> None:
    plain = picture().copy()
    plain[0, 0] = 255 - plain[0, 0]
    network.shows(plain, ("apple", 0.7, ON_THE_LEFT), ("orange", 0.26, ON_THE_RIGHT))
    assert "added none" in counting(asked_for_an_apple(plain)).findings[0].detail


def test_an_apple_that_was_there_before_is_not_counted(network: ToldNetwork) -> None:
    before = network.shows(picture(), ("apple", 0.7, ON_THE_LEFT))
    same = before.copy()
    same[0, 0] = 255 - same[0, 0]
    network.shows(same, ("apple", 0.7, ON_THE_LEFT))
    assert "added none" in counting(asked_for_an_apple(same)).findings[0].detail

"""The measuring judge on editors that do the same whatever they are told."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from convergebench.images.frame import Frame, Pixels
from convergebench.roles.edit_judge.evidence import evidence
from convergebench.roles.edit_judge.recolouring import recoloured
from tests.metrics.pictures import photograph
from tests.roles.test_edit_judge import TABLE, judged, score

STYLE_TYPES = ("art-style", "cartoon-or-sketch")


@pytest.fixture(scope="module")
def cup() -> Pixels:
    return photograph("coffee", 320, 213)


@pytest.fixture(scope="module")
def face() -> Pixels:
    return photograph("astronaut", 320, 320)


def darker(pixels: Pixels) -> Pixels:
    return np.asarray(pixels * 0.65, np.uint8)


def brown(pixels: Pixels) -> Pixels:
    return np.asarray(pixels * np.array([1.0, 0.8, 0.6]), np.uint8)


def grey(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8)


def blue_in_the_middle(pixels: Pixels) -> Pixels:
    """A soft blue oval over a quarter of the picture."""
    height, width = pixels.shape[:2]
    mask = np.zeros((height, width), np.float32)
    cv2.ellipse(mask, (width // 2, height // 2), (width // 4, round(height * 0.3)), 0, 0, 360, 0.6, -1)
    soft = cv2.GaussianBlur(mask, (0, 0), 0.02 * min(height, width))[..., None]
    return np.asarray(pixels * (1 - soft) + np.array([60, 90, 200]) * soft, np.uint8)


def sticker(pixels: Pixels, centre: tuple[int, int], radius: int = 35) -> Pixels:
    stuck = pixels.copy()
    cv2.circle(stuck, centre, radius, (30, 190, 40), -1, cv2.LINE_AA)
    return stuck


@pytest.mark.parametrize("cheat", [darker, brown, grey], ids=lambda one: one.__name__)
def test_a_mapping_of_colours_is_no_style_and_no_expression(
    cup: Pixels, face: Pixels, cheat: Callable[[Pixels], Pixels]
) -> None:
    for edit_type in STYLE_TYPES:
        assert score(cheat(cup), cup, edit_type, "Paint it.") <= TABLE.threshold, edit_type
    for edit_type in ("expression", "anime-person", "sticker-person", "clothing"):
        assert score(cheat(face), face, edit_type, "Change the person.") <= TABLE.threshold, edit_type


def test_what_is_drawn_anew_is_still_a_style(cup: Pixels) -> None:
    drawn = np.asarray(cv2.stylization(cv2.edgePreservingFilter(cup, flags=1, sigma_s=40, sigma_r=0.5)), np.uint8)
    lines = np.asarray(cv2.pencilSketch(cup, sigma_s=30, sigma_r=0.1, shade_factor=0.05)[0], np.uint8)
    sketched = np.repeat(lines[..., None], 3, axis=2)
    for after in (drawn, sketched):
        assert evidence(Frame(after), Frame(cup)).redrawn > 0.45
    assert score(sketched, cup, "cartoon-or-sketch", "Turn it into a pencil sketch.") > TABLE.threshold


def test_brightness_alone_is_no_tone_no_season_and_no_vintage_look(cup: Pixels) -> None:
    asked = (
        ("color-tone", "Make the tone cooler."),
        ("color-tone", "Make the tone warmer."),
        ("change-season", "Make it spring."),
        ("film-grain", "Apply a vintage filter."),
        ("modern-or-historical", "Make it look historical."),
    )
    for edit_type, words in asked:
        assert score(darker(cup), cup, edit_type, words) <= TABLE.threshold, words
    assert score(brown(cup), cup, "modern-or-historical", "Turn it into an old sepia photograph.") > TABLE.threshold
    assert score(darker(cup), cup, "change-lighting", "Make it night.") > TABLE.threshold


@pytest.mark.parametrize(
    ("edit_type", "words"),
    [
        ("color-tone", "Make the tone cooler."),
        ("change-weather", "Let it rain."),
        ("change-lighting", "Light it with moonlight."),
        ("art-style", "Paint it in the style of Monet."),
        ("film-grain", "Apply a vintage filter."),
    ],
)
def test_a_change_of_the_whole_picture_reaches_most_of_it(cup: Pixels, edit_type: str, words: str) -> None:
    assert score(blue_in_the_middle(cup), cup, edit_type, words) <= TABLE.threshold


def test_a_sticker_removes_moves_reshapes_and_recolours_nothing(cup: Pixels) -> None:
    for centre in ((80, 60), (160, 110)):
        after = sticker(cup, centre)
        assert score(after, cup, "add-object", "Add a green disc.") > TABLE.threshold
        for edit_type, words in (
            ("remove-object", "Remove the thing."),
            ("relocate-object", "Move the thing to the left."),
            ("reshape-object", "Make the thing wider."),
            ("change-attribute", "Paint the thing green."),
        ):
            assert score(after, cup, edit_type, words) <= TABLE.threshold, (edit_type, centre)


def test_a_thing_that_is_gone_and_one_of_another_colour_are_accepted(cup: Pixels) -> None:
    before = sticker(cup, (80, 60))
    assert score(cup, before, "remove-object", "Remove the green disc.") > TABLE.threshold
    assert score(before, cup, "remove-object", "Remove the green disc.") <= TABLE.threshold
    painted = cup.copy()
    region = np.zeros(cup.shape[:2], np.float32)
    cv2.circle(region, (160, 110), 45, 1, -1)
    soft = cv2.GaussianBlur(region, (0, 0), 1.5)[..., None]
    painted = np.asarray(cup * (1 - soft) + cup[..., [2, 0, 1]] * soft, np.uint8)
    assert score(painted, cup, "change-attribute", "Paint it blue.") > TABLE.threshold


def test_what_cannot_be_read_or_found_is_not_accepted(cup: Pixels) -> None:
    after = sticker(cup, (80, 60))
    assert score(after, cup, "add-text", 'Write "WELCOME" here.') <= TABLE.threshold
    assert score(after, cup, "replace-text", 'Make the sign say "OPEN".') <= TABLE.threshold
    assert score(after, cup, "expression", "Let the man smile.") <= TABLE.threshold
    assert "nothing can be read" in judged(after, cup, "add-text", 'Write "WELCOME" here.')["reason"]


def test_a_mapping_of_colours_is_found_again_also_in_an_area(cup: Pixels) -> None:
    after = cup.copy()
    after[:100] = darker(cup)[:100]
    area = np.zeros(cup.shape[:2], np.bool_)
    area[:100] = True
    found = recoloured(Frame(cup), Frame(after), area).pixels[:95].astype(int)
    assert np.abs(found - after[:95]).max() <= 3
    assert np.abs(recoloured(Frame(cup), Frame(cup)).pixels.astype(int) - cup).max() <= 1

"""The explorer in real Chromium against the real server: each mode shows the right pixels, each key does its work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.serve.view.drawn_runs import LOSS, address
from tests.serve.view.look import Looker, looking

pytestmark = pytest.mark.browser

LEFT, RIGHT = 160, 240
"""Levels of the two halves of the first picture."""
ZOOM = "zoom=32,32,4"
"""Four screen pixels per image pixel, the middle of the picture in the middle of the pane."""
BLACK = (0, 0, 4)
"""The first colour of the map."""


@pytest.fixture
def looker(browser: Any, viewer: Any) -> Iterator[Looker]:
    with looking(browser, viewer.base) as found:
        yield found


def middle(looker: Looker, place: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The colours 20 screen pixels left and right of the middle of a pane."""
    found = looker.pixels(".pane", place)
    y, x = found.shape[0] // 2 + 20, found.shape[1] // 2
    return found[y, x - 20], found[y, x + 20]


def test_side_by_side_shows_the_source_and_the_step(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", f"step=2&{ZOOM}"))
    looker.shown(2)
    assert [tuple(one) for one in middle(looker)] == [(LEFT,) * 3, (RIGHT,) * 3]
    assert [tuple(one) for one in middle(looker, 1)] == [(LEFT - 2 * LOSS,) * 3, (RIGHT - 2 * LOSS,) * 3]
    assert looker.texts(".pane .name:not([hidden])") == ["source", "darker: step 2"]


def test_pixels_are_not_smoothed_from_100_percent_on(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", "step=1&zoom=32,32,8"))
    looker.shown(1)
    row = looker.pixels(".pane")[-40]
    assert {tuple(one) for one in row[100:-100]} == {(LEFT,) * 3, (RIGHT,) * 3}  # nothing between the two
    looker.press("0")
    looker.until("document.querySelector('.zoom output').textContent === '100 %'")
    looker.page.wait_for_timeout(100)
    whole = looker.pixels(".pane")
    bright = (whole == RIGHT).all(axis=2).any(axis=0)
    assert bright.sum() == 32  # half of 64 image pixels is 32 screen pixels


def test_the_wipe_shows_both_and_its_divider_moves(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", f"step=2&mode=wipe&{ZOOM}"))
    looker.shown(2, "wipe")
    assert [tuple(one) for one in middle(looker)] == [(LEFT,) * 3, (RIGHT - 2 * LOSS,) * 3]
    looker.page.locator(".divider").focus()
    looker.press("End")
    looker.until("location.search.includes('wipe=1')")
    looker.page.wait_for_timeout(100)
    assert [tuple(one) for one in middle(looker)] == [(LEFT,) * 3, (RIGHT,) * 3]
    assert looker.page.locator(".divider").get_attribute("aria-valuenow") == "100"


def test_blink_swaps_by_hand_where_motion_is_not_wanted(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", f"step=2&mode=blink&{ZOOM}"))
    looker.shown(2, "blink")
    seen = [tuple(middle(looker)[0])]
    looker.press(" ")
    looker.page.wait_for_timeout(100)
    seen.append(tuple(middle(looker)[0]))
    assert seen == [(LEFT - 2 * LOSS,) * 3, (LEFT,) * 3]
    assert looker.text(".pane .name") == "source"


def test_the_difference_of_equal_images_is_black(looker: Looker, viewer: Any) -> None:
    looker.open(address("copy", f"step=2&mode=difference&{ZOOM}"))
    looker.shown(2, "difference")
    assert [tuple(one) for one in middle(looker)] == [BLACK, BLACK]
    looker.until("document.querySelector('.scale').innerText.includes('mean 0')")


def test_a_difference_is_amplified_and_its_scale_printed(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", f"step=1&mode=difference&gain=1&{ZOOM}"))
    looker.shown(1, "difference")
    weak = middle(looker)[0].astype(int).sum()
    looker.until("document.querySelector('.scale').innerText.includes('255')")
    looker.press("]", "]", "]")
    looker.until("document.querySelector('.scale').innerText.includes('amplified × 8')")
    looker.until("location.search.includes('gain=8')")
    looker.shown(1, "difference")
    looker.page.wait_for_timeout(400)
    assert middle(looker)[0].astype(int).sum() > weak + 200


def test_the_ssim_map_of_equal_images_is_the_colour_of_no_loss(looker: Looker, viewer: Any) -> None:
    looker.open(address("copy", f"step=2&mode=ssim&{ZOOM}"))
    looker.shown(2, "ssim")
    assert [tuple(one) for one in middle(looker)] == [BLACK, BLACK]
    assert "SSIM" in looker.text(".scale")


def test_keys_scrub_steps_rounds_and_modes(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker"))
    looker.shown(0)
    for key, step in (("ArrowRight", 1), ("ArrowUp", 2), ("ArrowUp", 4), ("ArrowLeft", 3), ("End", 6), ("Home", 0)):
        looker.press(key)
        looker.shown(step)
    for key, mode in (("2", "wipe"), ("3", "blink"), ("4", "difference"), ("5", "ssim"), ("1", "side")):
        looker.press(key)
        looker.shown(0, mode)
    looker.press("ArrowRight", "r")
    looker.shown(1, against="previous")
    looker.page.go_back()
    looker.shown(1)


def test_play_ends_at_the_last_step(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", "step=4"))
    looker.shown(4)
    looker.press(" ")
    looker.shown(6)
    looker.until("document.querySelector('.play').getAttribute('aria-label') === 'play the steps'")


def test_other_editors_stand_beside_it_with_one_zoom(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", "step=2"))
    looker.shown(2)
    looker.press("a")
    looker.until("document.querySelectorAll('.pane').length === 4")
    names = looker.texts(".pane .name:not([hidden])")
    assert names[0] == "source"
    assert sorted(names[1:]) == ["balks: step 2", "copy: step 2", "darker: step 2"]
    looker.until("[...document.querySelectorAll('.pane')].every(one => one.dataset.drawn)")
    box = looker.page.locator(".pane").nth(1).bounding_box()
    looker.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    looker.page.mouse.wheel(0, -400)
    looker.until("location.search.includes('zoom=')")
    looker.page.wait_for_timeout(600)
    widths = {int((looker.pixels(".pane", place)[5] >= RIGHT - 2 * LOSS).all(axis=1).sum()) for place in (0, 1, 2)}
    assert max(widths) - min(widths) <= 2
    assert min(widths) > 20


def test_a_link_opens_the_same_view_in_a_fresh_tab(looker: Looker, viewer: Any, browser: Any) -> None:
    looker.open(address("darker", "step=3"))
    looker.shown(3)
    looker.press("2", "0", "+")
    looker.until("location.search.includes('zoom=')")
    looker.shown(3, "wipe")
    before = looker.pixels(".pane")
    with looking(browser, viewer.base) as other:
        other.page.goto(looker.page.url)
        other.shown(3, "wipe")
        assert other.text(".zoom output") == looker.text(".zoom output") == "200 %"
        assert np.abs(other.pixels(".pane").astype(int) - before).mean() < 0.5


def test_the_scale_stays_when_a_pane_gets_another_size(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", "step=3"))
    looker.shown(3)
    looker.press("0", "+")
    looker.until("document.querySelector('.zoom output').innerText === '200 %'")
    looker.press("2")  # one pane of twice the width instead of two
    looker.shown(3, "wipe")
    looker.page.set_viewport_size({"width": 900, "height": 700})
    looker.page.wait_for_timeout(300)
    looker.press("-")
    assert looker.text(".zoom output") == "100 %"  # the step before 200 %


def test_what_was_said_and_measured_stands_beside_it(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker", "step=2"))
    looker.shown(2)
    assert looker.text("aside h2") == "Step 2 of 6"
    assert "flip" in looker.text("blockquote").lower() or "mirror" in looker.text("blockquote").lower()
    assert "Less <light>." in looker.text("aside")  # as text: it is no markup of ours
    looker.until("document.querySelector('[data-metric=ssim] td').innerText.match(/^0\\.\\d+/)")
    looker.press("ArrowRight")
    looker.shown(3)
    assert "not measured here" in looker.text("[data-metric=ssim] td")


def test_a_refused_chain_says_why(looker: Looker, viewer: Any) -> None:
    looker.open(address("balks", "step=3"))
    looker.until("document.body.dataset.shown")
    assert "<b>this picture</b>" in looker.text(".badges")
    assert looker.page.locator(".badges b").count() == 0


def test_a_large_image_comes_in_tiles(looker: Looker, viewer: Any) -> None:
    asked: list[str] = []
    looker.page.on("request", lambda request: asked.append(request.url))
    looker.open(address("darker", "step=1&zoom=1050,1050,1", run="large"))
    looker.shown(1)
    assert [tuple(one) for one in middle(looker, 1)] == [(LEFT - LOSS,) * 3, (RIGHT - LOSS,) * 3]  # lossless
    assert any("/tile/" in one for one in asked)
    assert not any("/image/" in one for one in asked)


def test_help_lists_the_keys_and_goes_away(looker: Looker, viewer: Any) -> None:
    looker.open(address("darker"))
    looker.press("?")
    assert "side by side" in looker.text("#keys")
    looker.press("Escape")
    assert not looker.page.locator("#keys").is_visible()


def test_no_serious_violation(looker: Looker, viewer: Any) -> None:
    for query in ("step=2", "step=2&mode=wipe", "step=2&mode=difference"):
        looker.open(address("darker", query))
        looker.until("document.body.dataset.shown")
        assert looker.violations() == []


@pytest.mark.parametrize("mode", ["side", "wipe", "difference"])
def test_a_phone_in_the_dark(browser: Any, viewer: Any, mode: str) -> None:
    with looking(browser, viewer.base, width=390, height=844, dark=True) as looker:
        looker.open(address("darker", f"step=2&mode={mode}"))
        looker.until("document.body.dataset.shown")
        assert looker.overflow <= 0
        assert looker.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"


def test_what_is_not_there_is_said_in_one_line(looker: Looker, viewer: Any) -> None:
    looker.open("/run/drawn/chain/nothing")
    assert "no such chain" in looker.text("[role=alert]").lower()
    looker.errors.clear()  # the browser reports the 404

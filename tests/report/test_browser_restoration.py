"""The pictures of a restoration run in real Chromium: one zoom for all, wiped and blinked, by keyboard and by mouse."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.report.chromium import Keys, errors, until

pytestmark = pytest.mark.browser

SIZES = "return [...document.querySelectorAll('dialog .view')].map(v => v.getBoundingClientRect().width)"
PLACES = (
    "return [...document.querySelectorAll('dialog .pane')].map(p => { const v = p.querySelector('.view')"
    ".getBoundingClientRect(), b = p.getBoundingClientRect(); return [v.left - b.left, v.top - b.top] })"
)
WHEEL = """
const b = document.querySelectorAll("dialog .pane")[1].getBoundingClientRect();
const x = b.left + b.width / 2 + 16, y = b.top + b.height / 2 + 8;
const under = () => {
  const r = document.querySelectorAll("dialog .view")[1].getBoundingClientRect();
  return [(x - r.left) / r.width, (y - r.top) / r.height];
};
const before = under();
const turn = { deltaY: -100, clientX: x, clientY: y, bubbles: true, cancelable: true };
document.elementFromPoint(x, y).dispatchEvent(new WheelEvent("wheel", turn));
return [before, under()];
"""
"""Turns the wheel off the middle of the second picture; the image point under the pointer before and after."""
PINCH = """
const pane = document.querySelector("dialog .pane"), b = pane.getBoundingClientRect(), y = b.top + b.height / 2;
const send = (kind, pointerId, x) =>
  pane.dispatchEvent(new PointerEvent(kind, { pointerId, clientX: b.left + x, clientY: y, bubbles: true }));
send("pointerdown", 1, 40); send("pointerdown", 2, 80); send("pointermove", 2, 100);
send("pointerup", 1, 40); send("pointerup", 2, 100);
"""
"""Two fingers 40 pixels apart move to 60 pixels apart."""
NAMES = "return [...document.querySelectorAll('dialog .pane .name')].map(n => n.textContent)"


def visit(browser: Any, page: Path) -> None:
    browser.get("about:blank")
    errors(browser)  # what the page before had left to say
    browser.get(page.as_uri())


def enlarge(browser: Any, report: Path) -> Any:
    """Open the first strip of the section by its second picture; returns the stage."""
    visit(browser, report / "index.html")
    browser.execute_script("document.querySelectorAll('#restoration-panels [data-full]')[1].click()")
    until(lambda: browser.execute_script("return document.querySelector('dialog').open"))
    loaded = "return [...document.querySelectorAll('dialog img')].every(i => i.complete && i.naturalWidth == 64)"
    assert until(lambda: browser.execute_script(loaded)), "whole pictures, not small copies"
    return browser.find_element("css selector", "dialog .stage")


def test_all_pictures_have_one_zoom_that_is_pixel_exact(browser: Any, restored_report: Path) -> None:
    stage = enlarge(browser, restored_report)
    assert len(browser.execute_script(SIZES)) == 5, "input, three methods, clean picture"
    stage.send_keys("0")
    assert browser.execute_script(SIZES) == [64] * 5
    stage.send_keys("+")
    assert browser.execute_script(SIZES) == [128] * 5
    style = "return getComputedStyle(document.querySelector('dialog .view img')).imageRendering"
    assert browser.execute_script(style) == "pixelated"
    assert len({tuple(place) for place in browser.execute_script(PLACES)}) == 1
    assert errors(browser) == []


def test_what_is_moved_in_one_moves_in_all(browser: Any, restored_report: Path) -> None:
    stage = enlarge(browser, restored_report)
    stage.send_keys("0")
    before = browser.execute_script(PLACES)
    pane = browser.find_elements("css selector", "dialog .pane")[2]
    box, mouse = pane.handle.bounding_box(), browser.page.mouse
    x, y = round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 20, y - 12)
    mouse.up()
    after = browser.execute_script(PLACES)
    assert after[0] == [before[0][0] + 20, before[0][1] - 12]
    assert len({tuple(place) for place in after}) == 1
    stage.send_keys(Keys.ARROW_LEFT)
    assert browser.execute_script(PLACES)[4][0] > after[4][0]
    stage.send_keys("f")
    assert browser.execute_script(PLACES)[0] != after[0]


def test_the_wheel_zooms_at_the_pointer(browser: Any, restored_report: Path) -> None:
    stage = enlarge(browser, restored_report)
    stage.send_keys("0")
    turned = browser.execute_script(WHEEL)
    assert browser.execute_script(SIZES) == [128] * 5
    assert turned[1] == pytest.approx(turned[0], abs=0.01), "the point under the pointer stays there"


def test_two_fingers_zoom(browser: Any, restored_report: Path) -> None:
    stage = enlarge(browser, restored_report)
    stage.send_keys("0")
    browser.execute_script(PINCH)
    assert browser.execute_script(SIZES) == pytest.approx([96] * 5)


def test_wipe_and_blink_show_two_of_them(browser: Any, restored_report: Path) -> None:
    stage = enlarge(browser, restored_report)
    stage.send_keys("2")
    first, second = browser.execute_script(NAMES)
    assert first.startswith("input")
    assert second.startswith("instant")
    assert "inset(0" in browser.execute_script("return document.querySelectorAll('dialog .view img')[1].style.clipPath")
    stage.send_keys("e")
    assert browser.execute_script(NAMES)[1] != second
    stage.send_keys("3")
    stage.send_keys(" ")
    hidden = "return document.querySelectorAll('dialog .view img')[1].style.visibility"
    before, name = browser.execute_script(hidden), browser.execute_script(NAMES)
    stage.send_keys(" ")
    assert browser.execute_script(hidden) != before
    assert browser.execute_script(NAMES) != name, "the name says which of the two is seen"
    assert errors(browser) == []


def test_everything_is_reached_by_keyboard(browser: Any, restored_report: Path) -> None:
    visit(browser, restored_report / "index.html")
    browser.execute_script("document.querySelector('#restoration-panels [data-open]').focus()")
    browser.active_element.send_keys(Keys.ENTER)
    until(lambda: browser.execute_script("return document.querySelector('dialog').open"))
    assert browser.execute_script("return document.activeElement.classList.contains('stage')")
    title = "return document.querySelector('dialog h2').textContent"
    before = browser.execute_script(title)
    browser.active_element.send_keys("n")
    assert browser.execute_script(title) != before
    browser.active_element.send_keys(Keys.ESCAPE)
    until(lambda: not browser.execute_script("return document.querySelector('dialog').open"))
    assert "data-open" in browser.execute_script("return document.activeElement.outerHTML"), "back where one came from"


def test_a_panel_that_is_loaded_later_can_be_enlarged_too(browser: Any, restored_report: Path) -> None:
    visit(browser, restored_report / "index.html")
    browser.execute_script("document.querySelectorAll('#restoration-panels .switch button')[1].click()")
    until(lambda: browser.execute_script("return document.querySelector('#restoration-panel-2 [data-full]') !== null"))
    browser.execute_script("document.querySelector('#restoration-panel-2 [data-full]').click()")
    until(lambda: browser.execute_script("return document.querySelector('dialog').open"))
    assert errors(browser) == []


def test_a_report_without_its_run_still_shows_small_copies(browser: Any, restored_report: Path, tmp_path: Path) -> None:
    shutil.copytree(restored_report, tmp_path / "moved")
    visit(browser, tmp_path / "moved" / "index.html")
    browser.execute_script("document.querySelectorAll('#restoration-panels [data-full]')[1].click()")
    note = "return document.querySelector('dialog [role=status]').textContent"
    assert "Small copies only" in until(lambda: browser.execute_script(note))
    seen = "return [...document.querySelectorAll('dialog img')].every(i => i.naturalWidth > 0)"
    assert until(lambda: browser.execute_script(seen))
    assert all("ERR_FILE_NOT_FOUND" in message for message in errors(browser))


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_page_fits_the_screen(browser: Any, restored_report: Path, width: int) -> None:
    browser.resize(width)
    visit(browser, restored_report / "index.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    smallest = browser.execute_script(
        "return Math.min(99, ...[...document.querySelectorAll('svg.chart text')].filter(t => t.getClientRects().length)"
        ".map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))"
    )
    assert smallest >= 9.5
    browser.execute_script("document.querySelectorAll('#restoration-panels [data-full]')[1].click()")
    inside = "const s = document.querySelector('dialog .stage').getBoundingClientRect(); return [s.width, s.height]"
    assert min(browser.execute_script(inside)) > 200
    assert errors(browser) == []
    browser.resize()

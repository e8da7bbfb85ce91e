"""The pages in real Chromium, opened from disk."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from convergebench.report.chains import chain_key
from tests.report.chromium import errors, until
from tests.report.synthetic import make_run

pytestmark = pytest.mark.browser

NOISE = chain_key("sim-noise", "scene-2×night")


def open_viewer(browser: Any, report: Path, address: str) -> None:
    browser.get("about:blank")
    browser.get(f"{(report / 'viewer.html').as_uri()}#{address}")
    until(lambda: browser.execute_script("return document.body.dataset.ready"))


def press(browser: Any, key: str) -> None:
    browser.execute_script(
        "delete document.body.dataset.ready;"
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))",
        key,
    )


def ready(browser: Any) -> str:
    return str(until(lambda: browser.execute_script("return document.body.dataset.ready")))


def pixels(browser: Any) -> Any:
    import cv2
    import numpy as np

    return cv2.imdecode(np.frombuffer(browser.get_screenshot_as_png(), np.uint8), cv2.IMREAD_COLOR)


def pane_pixels(browser: Any) -> Any:
    """What is really painted in the middle of the first image."""
    time.sleep(0.3)
    box = browser.execute_script(
        "const b = document.querySelector('.view').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]"
    )
    x, y, w, h = (round(value) for value in box)
    top, left = max(0, y) + 10, max(0, x) + 10
    return pixels(browser)[top : min(890, y + h) - 60, left : min(1270, x + w) - 10]


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_report_fits_the_screen(browser: Any, report: Path, width: int) -> None:
    browser.resize(width)
    browser.get((report / "index.html").as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    smallest = browser.execute_script(
        "return Math.min(...[...document.querySelectorAll('svg.chart text')].filter(t => t.getClientRects().length)"
        ".map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))"
    )
    assert smallest >= 9.5
    assert errors(browser) == []
    browser.resize()


def test_the_metric_can_be_switched(browser: Any, report: Path) -> None:
    browser.get((report / "index.html").as_uri())
    shown = "return [...document.querySelectorAll('#curves .panel')].map(p => !p.hidden)"
    assert browser.execute_script(shown)[:2] == [True, False]
    browser.execute_script("document.getElementById('curves').scrollIntoView({behavior: 'instant'})")
    browser.execute_script("document.querySelectorAll('#curves .switch button')[1].click()")
    assert browser.execute_script(shown)[:2] == [False, True]
    until(
        lambda: browser.execute_script("return document.querySelector('#metric-2 .live')?.getAttribute('aria-label')")
    )
    assert errors(browser) == []


def test_dark_is_chosen_by_the_button(browser: Any, report: Path) -> None:
    browser.get((report / "index.html").as_uri())
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(ground) == "rgb(255, 253, 249)"
    browser.execute_script("document.getElementById('theme').click()")
    assert browser.execute_script(ground) == "rgb(21, 23, 27)"
    browser.execute_script("document.getElementById('theme').click()")


def test_the_chain_list_loads_on_demand_and_filters(browser: Any, report: Path) -> None:
    browser.get((report / "index.html").as_uri())
    assert not browser.execute_script("return CB.listed")
    browser.execute_script("document.querySelector(\"nav.contents a[href='#chains']\").click()")
    rows = "return [...document.querySelectorAll('#chain-table tbody tr')].map(r => r.innerText)"
    until(lambda: len(browser.execute_script(rows)) == 16)
    assert "sim-noise" in browser.execute_script(rows)[0]  # worst first
    cell = "document.querySelector('#breakdown th[data-filter*=geometry]').cellIndex"
    browser.execute_script(f"document.querySelector('#breakdown table.heat tbody tr').cells[{cell}].firstChild.click()")
    until(lambda: len(browser.execute_script(rows)) == 1)
    assert "geometry" in browser.execute_script(rows)[0]


def test_arrow_keys_walk_through_the_chain(browser: Any, report: Path) -> None:
    open_viewer(browser, report, f"c={NOISE}&s=0")
    press(browser, "ArrowRight")
    assert ready(browser).split(":")[1] == "1"
    assert browser.execute_script("return document.getElementById('instruction').textContent") == "Make it night"
    press(browser, "ArrowUp")
    assert ready(browser).split(":")[1] == "2"
    assert "0." in browser.execute_script("return document.querySelector('#metrics tr').innerText")
    press(browser, "End")
    assert ready(browser).split(":")[1] == "10"
    assert errors(browser) == []


def test_only_the_end_of_a_round_is_named_after_it(browser: Any, report: Path) -> None:
    open_viewer(browser, report, f"c={NOISE}&s=0")
    film = browser.execute_script("return [...document.querySelectorAll('#film button')].map(b => b.innerText.trim())")
    assert film[:5] == ["source", "1", "2 · n=1", "3", "4 · n=2"]


def test_a_report_moved_without_its_run_shows_thumbnails_and_says_so(
    browser: Any, report: Path, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(report, tmp_path / "elsewhere" / "report"))
    open_viewer(browser, moved, f"c={NOISE}&s=2")
    until(lambda: browser.execute_script("return document.querySelectorAll('#moved').length") == 1)
    shown = "return [...document.querySelectorAll('#stage img')].map(i => i.complete && i.naturalWidth)"
    assert until(lambda: all(browser.execute_script(shown)))
    assert all("ERR_FILE_NOT_FOUND" in line and "/images/" in line for line in errors(browser))


def test_a_missing_value_says_why(browser: Any, report: Path) -> None:
    open_viewer(browser, report, f"c={NOISE}&s=4")
    assert "missing: size" in browser.execute_script("return document.getElementById('metrics').innerText")


def test_difference_is_dark_for_equal_images_and_glows_for_noise(browser: Any, report: Path) -> None:
    open_viewer(browser, report, f"c={NOISE}&s=10&a=step+10&m=difference")
    assert pane_pixels(browser).max() <= 6
    open_viewer(browser, report, f"c={NOISE}&s=10&a=source&m=difference&g=4")
    assert pane_pixels(browser).mean() > 20
    assert "64 of 255 levels" in browser.execute_script("return document.getElementById('scale').textContent")
    press(browser, "]")
    ready(browser)
    assert "32 of 255 levels" in browser.execute_script("return document.getElementById('scale').textContent")


def test_ssim_map_works_from_disk(browser: Any, report: Path) -> None:
    mean = "return document.querySelector('canvas')?.dataset.mean"
    open_viewer(browser, report, f"c={NOISE}&s=10&a=step+10&m=SSIM+map")
    assert float(until(lambda: browser.execute_script(mean))) == pytest.approx(1.0)
    open_viewer(browser, report, f"c={NOISE}&s=10&a=source&m=SSIM+map")
    assert float(until(lambda: browser.execute_script(mean))) < 0.8
    assert errors(browser) == []


def test_zoom_is_pixel_exact_and_synced(browser: Any, report: Path) -> None:
    open_viewer(browser, report, f"c={NOISE}&s=4")
    sizes = "return [...document.querySelectorAll('.view')].map(v => v.getBoundingClientRect().width)"
    browser.execute_script("document.getElementById('full').click()")
    assert browser.execute_script(sizes) == [64, 64]
    press(browser, "+")
    assert browser.execute_script(sizes) == [128, 128]
    style = "return getComputedStyle(document.querySelector('.view img')).imageRendering"
    assert browser.execute_script(style) == "pixelated"


def test_two_editors_are_compared_on_the_same_case(browser: Any, report: Path) -> None:
    rival = chain_key("sim-jpeg", "scene-2×night")
    open_viewer(browser, report, f"c={NOISE}&s=6&a=editor:{rival}")
    names = browser.execute_script("return [...document.querySelectorAll('.pane .name')].map(n => n.textContent)")
    assert names == ["sim-jpeg: step 6, round 3, backward", "step 6, round 3, backward"]


def test_wipe_and_blink_show_both_images(browser: Any, report: Path) -> None:
    open_viewer(browser, report, f"c={NOISE}&s=10&m=wipe")
    assert "inset(0" in browser.execute_script("return document.querySelectorAll('.view img')[1].style.clipPath")
    open_viewer(browser, report, f"c={NOISE}&s=10&m=blink")
    hidden = "return document.querySelectorAll('.view img')[1].style.visibility"
    press(browser, " ")
    before = browser.execute_script(hidden)
    press(browser, " ")
    assert browser.execute_script(hidden) != before


def test_a_prompt_with_markup_shows_as_text(browser: Any, tmp_path: Path) -> None:
    import polars as pl

    from convergebench.report.html import write_report

    given = make_run(tmp_path, ("sim-blur",), sources=1, rounds=1)
    evil = "<img src=x onerror=\"document.title='broken'\">"
    changed = given.steps.with_columns(pl.lit(evil).alias("instruction"))
    object.__setattr__(given, "steps", changed)
    report = write_report(given, tmp_path / "report").parent
    open_viewer(browser, report, "s=1")
    assert browser.execute_script("return document.getElementById('instruction').textContent") == evil
    assert browser.title != "broken"

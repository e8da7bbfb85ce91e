"""Charts in real Chromium, opened from disk: hover, hide, zoom and download, by mouse and by keys."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.report.html import write_report
from tests.browser import BrowserPage, chromium
from tests.report.synthetic import make_run

pytestmark = pytest.mark.browser

BOX = "#curves .panel:not([hidden]) .vega"
LINES = f"""() => [...document.querySelectorAll("{BOX} .live .mark-line path")]
  .filter(one => one.getAttribute("opacity") !== "0").length"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with enough images for intervals."""
    run = tmp_path_factory.mktemp("charts")
    return write_report(make_run(run, sources=6), run / "report").parent


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[BrowserPage]:
    """The report with its first curve drawn."""
    one = BrowserPage(browser)
    one.page.goto((report / "index.html").as_uri())
    one.page.locator("#curves").scroll_into_view_if_needed()
    one.page.wait_for_selector(f"{BOX}.is-live")
    yield one
    assert one.errors == []
    one.close()


def middle_of_the_plot(page: Any) -> tuple[float, float]:
    box = page.locator(f"{BOX} .live svg").bounding_box()
    return box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"]


def first_ticks(page: Any) -> list[str]:
    found: list[str] = page.locator(f"{BOX} .live .role-axis-label").nth(1).locator("text").all_text_contents()
    return sorted(found)


def test_the_live_chart_takes_the_place_of_the_static_one_and_says_the_same(opened: BrowserPage) -> None:
    page = opened.page
    twin = page.locator(f"{BOX} > svg.wide")
    assert not twin.is_visible()
    assert page.locator(f"{BOX} .live").get_attribute("aria-label") == twin.get_attribute("aria-label")
    texts = "one => [...one.querySelectorAll('text')].map(text => text.textContent)"
    assert page.locator(f"{BOX} .live svg").evaluate(texts) == twin.evaluate(texts)
    assert page.locator(f"{BOX} .live").get_attribute("role") == "img"


def test_hovering_lists_the_value_the_interval_and_n_of_every_line(opened: BrowserPage) -> None:
    opened.page.mouse.move(*middle_of_the_plot(opened.page))
    tip = opened.page.locator(".tip")
    tip.wait_for(state="visible")
    words = tip.inner_text()
    assert words.startswith("after ")
    assert "sim-noise: 0." in words
    assert ", n = " in words
    assert " to 0." in words


def test_a_click_on_a_name_hides_its_line_and_the_box_says_so(opened: BrowserPage) -> None:
    page = opened.page
    before = page.evaluate(LINES)
    page.locator(f"{BOX} .live [class*=label_] text").first.click()
    page.wait_for_function(f"({LINES})() === {before - 1}")
    page.locator(f"{BOX} .tools summary").click()
    boxes = page.locator(f"{BOX} .tools input")
    assert [boxes.nth(place).is_checked() for place in range(boxes.count())].count(False) == 1
    boxes.nth([boxes.nth(place).is_checked() for place in range(boxes.count())].index(False)).check()
    page.wait_for_function(f"({LINES})() === {before}")


def test_a_frame_zooms_in_and_a_double_click_back(opened: BrowserPage) -> None:
    page = opened.page
    ticks = first_ticks(page)
    x, y = middle_of_the_plot(page)
    page.mouse.move(x - 80, y - 60)
    page.mouse.down()
    page.mouse.move(x + 80, y + 60, steps=4)
    page.mouse.up()
    page.wait_for_timeout(200)
    assert first_ticks(page) != ticks
    page.mouse.dblclick(x, y)
    page.wait_for_timeout(200)
    assert first_ticks(page) == ticks


def test_the_wheel_scrolls_the_page_unless_ctrl_is_held(opened: BrowserPage) -> None:
    page = opened.page
    ticks = first_ticks(page)
    page.mouse.move(*middle_of_the_plot(page))
    page.mouse.wheel(0, 50)
    page.wait_for_timeout(150)
    assert first_ticks(page) == ticks
    page.mouse.move(*middle_of_the_plot(page))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_timeout(200)
    assert first_ticks(page) != ticks


def test_tools_can_be_used_by_keys_alone(opened: BrowserPage) -> None:
    page = opened.page
    ticks = first_ticks(page)
    summary = page.locator(f"{BOX} .tools summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator(f"{BOX} .tools").evaluate("one => one.open")
    for _ in range(page.locator(f"{BOX} .tools input").count() + 1):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "zoom in"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", "focus can be seen"
    page.keyboard.press("Enter")
    page.wait_for_timeout(200)
    assert first_ticks(page) != ticks


@pytest.mark.parametrize("kind", ["SVG", "PNG", "CSV"])
def test_a_chart_can_be_downloaded(opened: BrowserPage, kind: str) -> None:
    page = opened.page
    page.locator(f"{BOX} .tools summary").click()
    with page.expect_download() as waiting:
        page.locator(f"{BOX} .tools button", has_text=kind).click()
    data = Path(waiting.value.path()).read_bytes()
    assert waiting.value.suggested_filename.endswith(f".{kind.lower()}")
    if kind == "CSV":
        head, *rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
        assert head == ["name", "round trips", "ssim (↑ better)", "low", "high", "n"]
        assert rows[0][:3] == ["sim-blur", "0", "1"] or rows[0][1:3] == ["0", "1"]
        assert len(rows) > 10
    elif kind == "SVG":
        assert b"var(" not in data, "colours are written out"
        assert b"#0072B2" in data
    else:
        assert data.startswith(b"\x89PNG")
        assert len(data) > 5000


def test_colours_follow_the_theme_without_drawing_anew(opened: BrowserPage) -> None:
    page = opened.page
    stroke = f"() => getComputedStyle(document.querySelector('{BOX} .live .mark-line path')).stroke"
    light = page.evaluate(stroke)
    page.locator("#theme").click()
    assert page.evaluate(stroke) != light


def test_without_scripts_and_without_the_library_the_chart_is_there(browser: Any, report: Path, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((report / "index.html").as_uri())
    assert page.locator("#curves svg.chart.wide").first.is_visible()
    context.close()
    moved = Path(shutil.copytree(report.parent, tmp_path / "run")) / report.name
    (moved / "vega.js").unlink()
    one = BrowserPage(browser)
    one.page.goto((moved / "index.html").as_uri())
    one.page.locator("#curves").scroll_into_view_if_needed()
    one.page.wait_for_selector(f"{BOX}[data-failed]")
    assert one.page.locator("#curves svg.chart.wide").first.is_visible()
    one.page.locator("#curves .switch button").nth(1).click()
    one.page.wait_for_selector("#metric-2 p.empty")
    assert "vega.js" in one.page.locator("#metric-2 p.empty").inner_text()
    one.close()


def test_a_phone_gets_the_narrow_chart(browser: Any, report: Path) -> None:
    one = BrowserPage(browser, width=390, height=800)
    one.page.goto((report / "index.html").as_uri())
    one.page.locator("#curves").scroll_into_view_if_needed()
    one.page.wait_for_selector(f"{BOX}[data-drawn=narrow]")
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert one.errors == []
    one.close()

"""The audit's page in real Chromium: its switches load what was left out, and nothing sticks out on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from convergebench.report.audit.write import write_audit
from tests.report.audit.sample import make_audit
from tests.report.chromium import errors, until
from tests.report.test_browser_folds import MOST_PAGES, is_open, load, printed_pages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    run = tmp_path_factory.mktemp("audited")
    names = ("sim-noise", "sim-jpeg-with-a-name-that-is-much-too-long-for-any-phone-in-the-world" + "x" * 150)
    given = make_audit(run, metrics=21, editors=names, images=[f"a-picture-with-a-long-name-{n}" for n in range(8)])
    return write_audit(given, run / "audit", plots=False).as_uri()


def press(browser: Any, selector: str) -> None:
    """Click without scrolling there, which the page does smoothly and the driver does not wait for."""
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def test_switches_show_the_heatmap_of_a_gap_and_of_an_editor(browser: Any, page: str) -> None:
    browser.get(page)
    press(browser, '[data-view="1"]')
    until(lambda: "Δ5" in browser.find_element("id", "heat-4").get_attribute("innerHTML"))
    assert not browser.find_element("id", "heat-1").is_displayed()
    browser.execute_script(
        "const s=document.getElementById('heat-editor');s.value='1';s.dispatchEvent(new Event('change',{bubbles:true}))"
    )
    until(lambda: browser.find_element("id", "heat-5").find_elements("css selector", "td"))
    assert "sim-jpeg" not in browser.find_element("id", "heat-5").text
    press(browser, '[data-panel="trace-2"]')
    browser.execute_script(
        "for (const fold of document.querySelectorAll('details')) fold.open = true;"
        "document.getElementById('trace-2').scrollIntoView({behavior: 'instant'})"
    )
    until(lambda: browser.find_element("id", "trace-2").find_elements("css selector", ".live svg"))
    assert errors(browser) == []


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_nothing_is_wider_than_the_window(browser: Any, page: str, width: int) -> None:
    browser.resize(width)
    browser.get(page)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.resize()


CONTRAST = """
const canvas = document.createElement("canvas"); canvas.width = canvas.height = 1;
const context = canvas.getContext("2d", { willReadFrequently: true });
const pixel = text => { context.clearRect(0, 0, 1, 1); context.fillStyle = text; context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data]; };
const light = colour => { const [r, g, b] = colour.slice(0, 3).map(v => v / 255).map(
  v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
const ground = element => { for (let one = element; one; one = one.parentElement) {
  const found = pixel(getComputedStyle(one).backgroundColor); if (found[3] === 255) return found; } };
return [...document.querySelectorAll("table b, table small, table td, .verdict, .badge")].filter(
  one => one.offsetWidth && [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())).map(one => {
    const [a, z] = [light(pixel(getComputedStyle(one).color)), light(ground(one))].sort();
    return [(Math.max(a, z) + .05) / (Math.min(a, z) + .05), one.className, one.textContent]; }
  ).filter(([ratio]) => ratio < 4.5);
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_in_coloured_cells_can_be_read(browser: Any, page: str, theme: str) -> None:
    browser.get(page)
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    browser.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert browser.execute_script(CONTRAST) == []


def test_links_to_a_card_open_its_fold_and_paper_has_the_essentials_only(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = tmp_path_factory.mktemp("printed")
    page = write_audit(make_audit(run), run / "audit", plots=False)
    load(browser, page)
    assert printed_pages(browser) <= MOST_PAGES
    assert not is_open(browser, "cards")
    press(browser, "#advice a.metric")
    until(lambda: is_open(browser, "cards"))
    assert errors(browser) == []

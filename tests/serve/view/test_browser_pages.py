"""All runs, one run and its curves in real Chromium: what is found, chosen and hidden is in the address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.view.look import Looker, looking

pytestmark = pytest.mark.browser

PAGES = ("/", "/run/drawn", "/run/drawn?tab=images", "/run/drawn?tab=images&view=grid", "/run/drawn?tab=chains", "/try")
DRAWN = "document.querySelector('figure[data-drawn]')"


@pytest.fixture
def looker(browser: Any, viewer: Any) -> Iterator[Looker]:
    with looking(browser, viewer.base) as found:
        yield found


def test_the_first_page_lists_every_run(looker: Looker) -> None:
    looker.open("/")
    rows = looker.texts("table.runs tbody tr")
    assert len(rows) == 2
    assert any(row.startswith("drawn") for row in rows)
    assert any(row.startswith("large") for row in rows)
    assert any("4 of 6" in row and "2 failed" in row for row in rows)


def test_runs_are_searched_and_sorted_by_the_address(looker: Looker) -> None:
    looker.open("/")
    looker.press("/")
    looker.page.keyboard.type("large")
    looker.until("document.querySelectorAll('table.runs tbody tr').length === 1")
    assert "find=large" in looker.page.url
    looker.open("/?sort=steps")
    assert looker.page.locator("th[aria-sort=ascending]").inner_text().startswith("steps")
    steps = [int(one) for one in looker.texts("table.runs td[data-of=steps]")]
    assert steps == sorted(steps)
    looker.page.get_by_role("button", name="steps").click()
    looker.until("location.search === '?sort=-steps'")
    looker.page.go_back()
    looker.until("location.search === '?sort=steps'")


def test_a_run_opens_with_its_finding_and_its_curve(looker: Looker) -> None:
    looker.open("/")
    looker.page.locator("table.runs td.name a", has_text="drawn").first.click()
    looker.until("document.body.dataset.ready === 'run'")
    assert "copy" in looker.text("h1.finding")
    looker.until(DRAWN)
    labels = looker.page.evaluate("[...document.querySelectorAll('.vega svg text')].map(one => one.textContent)")
    assert {"copy", "darker"} <= set(labels)  # names at the ends of the lines
    assert any("higher is better" in label for label in labels)
    assert "How it was made" in looker.text("main")


def test_the_legend_hides_an_editor_and_the_address_knows(looker: Looker) -> None:
    looker.open("/run/drawn")
    looker.until(DRAWN)
    lines = "document.querySelectorAll('.vega .mark-line path').length"
    before = looker.page.evaluate(lines)
    looker.page.locator(".legend button", has_text="darker").click()
    looker.until("location.search.includes('hide=darker')")
    looker.until(f"{lines} === {before - 1}")
    looker.open("/run/drawn?hide=darker")
    looker.until(f"{lines} === {before - 1}")
    assert looker.page.locator(".legend [aria-pressed=false]").inner_text() == "darker"


def test_another_metric_is_one_press_away_and_back_returns(looker: Looker) -> None:
    looker.open("/run/drawn")
    looker.until(DRAWN)
    looker.page.locator(".switch button", has_text="psnr").first.click()
    looker.until("document.querySelector('figure').dataset.drawn.includes('psnr')")
    assert "metric=psnr" in looker.page.url
    looker.page.go_back()
    looker.until("document.querySelector('figure').dataset.drawn === 'ssim'")


@pytest.mark.parametrize(("name", "begins"), [("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("data", b"editor,x,value")])
def test_a_chart_can_be_taken_away(looker: Looker, tmp_path: Path, name: str, begins: bytes) -> None:
    looker.open("/run/drawn")
    looker.until(DRAWN)
    with looker.page.expect_download() as waiting:
        looker.page.locator(".files button", has_text=name).click()
    waiting.value.save_as(tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    assert content.startswith(begins)
    assert b"var(--" not in content  # colours are filled in: a file knows no theme
    if name == "data":
        assert b"darker,1," in content


def test_hovering_a_point_says_its_value(looker: Looker) -> None:
    looker.open("/run/drawn")
    looker.until(DRAWN)
    box = looker.page.locator(".vega svg").bounding_box()
    looker.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 120)
    looker.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 140)
    looker.until("!document.querySelector('.tip').hidden")
    assert "round" in looker.text(".tip")


def test_the_theme_is_that_of_the_reports(browser: Any, viewer: Any) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    with looking(browser, viewer.base, dark=True) as looker:
        looker.open("/")
        assert looker.page.evaluate(paper) == "rgb(21, 23, 27)"
        looker.page.locator("#theme").click()
        assert looker.page.evaluate(paper) == "rgb(255, 253, 249)"
        assert looker.page.evaluate("localStorage.getItem('convergebench-theme')") == "light"
        looker.open("/run/drawn")
        assert looker.page.evaluate(paper) == "rgb(255, 253, 249)"


def test_no_page_has_a_serious_violation_light_or_dark(browser: Any, viewer: Any) -> None:
    for dark, paths in ((False, PAGES), (True, PAGES[1:3])):
        with looking(browser, viewer.base, dark=dark) as looker:
            for path in paths:
                looker.open(path)
                looker.page.wait_for_timeout(150)
                assert (path, looker.violations()) == (path, [])


def test_a_phone_needs_no_sideways_scrolling(browser: Any, viewer: Any) -> None:
    with looking(browser, viewer.base, width=390, height=844) as looker:
        for path in PAGES:
            looker.open(path)
            looker.page.wait_for_timeout(150)
            assert (path, looker.overflow) == (path, 0)


def test_everything_can_be_reached_with_the_keyboard(looker: Looker) -> None:
    looker.open("/")
    seen = []
    for _ in range(14):
        looker.press("Tab")
        seen.append(looker.page.evaluate("document.activeElement.textContent.trim().slice(0, 30)"))
        outline = looker.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", seen
    assert "Skip to the content" in seen
    assert "try it" in seen


def test_a_run_that_is_not_there_is_said_in_one_line(looker: Looker) -> None:
    looker.open("/run/nothing")
    assert "no such run" in looker.text("[role=alert]").lower()
    looker.errors.clear()  # the browser reports the 404

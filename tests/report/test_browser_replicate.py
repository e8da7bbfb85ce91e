"""The pages of a replicate run in real Chromium, opened from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convergebench.report.chains import chain_key
from tests.report.chromium import errors, until

pytestmark = pytest.mark.browser

READY = "return document.body.dataset.ready"


def visit(browser: Any, page: Path, address: str = "") -> None:
    browser.get("about:blank")
    browser.get(page.as_uri() + (f"#{address}" if address else ""))


def choose(browser: Any, select: str, value: str) -> None:
    browser.execute_script(
        "delete document.body.dataset.ready; const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('change'))",
        select,
        value,
    )


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("name", ["index.html", "wall.html", "traces.html", "failures.html"])
def test_the_pages_fit_the_screen(browser: Any, copied: Path, name: str, width: int) -> None:
    browser.resize(width)
    visit(browser, copied / name)
    if name == "traces.html":
        until(lambda: browser.execute_script(READY))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    smallest = browser.execute_script(
        "return Math.min(99, ...[...document.querySelectorAll('svg.chart text')].filter(t => t.getClientRects().length)"
        ".map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))"
    )
    assert smallest >= 9.5
    assert errors(browser) == []
    browser.resize()


def test_another_wall_is_loaded_when_it_is_chosen_and_its_address_shows_it_again(browser: Any, copied: Path) -> None:
    visit(browser, copied / "wall.html")
    until(lambda: browser.execute_script(READY))
    choose(browser, "wall-editor", "sim-jpeg")
    choose(browser, "wall-pair", "mirror")
    until(lambda: browser.execute_script(READY))
    rows = (
        "return [...document.querySelectorAll('#walls .panel:not([hidden]) th[scope=row] b')].map(b => b.textContent)"
    )
    assert until(lambda: browser.execute_script(rows)) == ["anna", "cup"]
    address = browser.execute_script("return location.hash.slice(1)")
    assert address == "e=sim-jpeg&v=mirror&r=0"
    visit(browser, copied / "wall.html", address)
    until(lambda: browser.execute_script(READY))
    assert browser.execute_script("return document.getElementById('wall-pair').value") == "mirror"
    assert "Mirror this image" in browser.execute_script("return document.getElementById('told').textContent")
    link = browser.execute_script("return document.querySelector('#walls .panel:not([hidden]) td:nth-child(3) a').href")
    assert link.endswith(f"viewer.html#c={chain_key('sim-jpeg', 'anna/mirror/0')}&s=1")
    assert errors(browser) == []


def test_the_gallery_is_sieved_by_level_failure_and_voice(browser: Any, copied: Path) -> None:
    visit(browser, copied / "failures.html", "mode=colour-cast&editor=sim-noise")
    shown = "return [...document.querySelectorAll('section.mode:not([hidden])')].map(s => s.dataset.mode)"
    assert browser.execute_script(shown) == ["colour-cast"]
    choose(browser, "pick-mode", "")
    choose(browser, "pick-source", "rule")
    assert browser.execute_script(shown) == ["simplification", "counting", "static-noise"]
    choose(browser, "pick-level", "image")
    assert browser.execute_script(shown) == []
    assert (
        browser.execute_script("return document.getElementById('counted').textContent") == "No crop fits this choice."
    )
    choose(browser, "pick-source", "")
    loaded = "return [...document.querySelectorAll('section.mode:not([hidden]) img')].every(i => i.naturalWidth > 0)"
    browser.execute_script("document.querySelectorAll('img').forEach(i => { i.loading = 'eager' })")
    assert until(lambda: browser.execute_script(loaded))
    assert errors(browser) == []


def test_any_chain_and_score_can_be_traced(browser: Any, copied: Path) -> None:
    visit(browser, copied / "traces.html")
    assert until(lambda: browser.execute_script(READY)).endswith(":contrast")
    said = "return document.getElementById('finding').textContent"
    assert "contrast calls step 6 better than the source" in browser.execute_script(said)
    until(lambda: browser.execute_script("return document.querySelectorAll('#charts .is-live').length") == 2)
    titles = "return [...document.querySelectorAll('#charts .role-axis-title text')].map(t => t.textContent)"
    assert sorted(browser.execute_script(titles)) == ["contrast (↑ better)", "ssim against step 1 (↑ better)", "steps"]
    strip = "return [...document.querySelectorAll('#strip b')].map(b => b.textContent)"
    assert browser.execute_script(strip) == ["source", "1", "2", "5", "6"]
    choose(browser, "trace-editor", "sim-jpeg")
    until(lambda: browser.execute_script(READY))
    browser.execute_script(
        "[...document.querySelectorAll('#metrics button')].find(b => b.textContent == 'rmse ↓').click()"
    )
    assert browser.execute_script(READY).endswith(":rmse")
    assert "which is worse" in browser.execute_script(said)
    assert errors(browser) == []


def test_the_viewer_of_a_replicate_run_speaks_of_steps_alone(browser: Any, copied: Path) -> None:
    visit(browser, copied / "viewer.html", f"c={chain_key('sim-noise', 'anna/replicate/0')}&s=4")
    until(lambda: browser.execute_script(READY))
    names = browser.execute_script("return [...document.querySelectorAll('.pane .name')].map(n => n.textContent)")
    assert names == ["source", "step 4"]
    film = browser.execute_script("return [...document.querySelectorAll('#film button')].map(b => b.innerText.trim())")
    assert film == ["source", "1", "2", "3", "4", "5", "6"]
    choices = browser.execute_script("return [...document.querySelectorAll('#against option')].map(o => o.value)")
    assert choices[:3] == ["source", "previous step", "step 1"]
    assert "round" not in browser.execute_script("return document.body.innerText")
    assert errors(browser) == []


@pytest.mark.parametrize(("section", "panel"), [("variants", "variant-2"), ("onset", "onset-2")])
def test_panels_are_loaded_when_they_are_chosen(browser: Any, copied: Path, section: str, panel: str) -> None:
    visit(browser, copied / "index.html")
    browser.execute_script(
        f"const one = document.getElementById('{section}'); one.closest('details').open = true;"
        "one.scrollIntoView({behavior: 'instant'}); one.querySelectorAll('.switch button')[1].click()"
    )
    until(lambda: browser.execute_script(f"return document.querySelector('#{panel} .live svg') !== null"))
    assert errors(browser) == []

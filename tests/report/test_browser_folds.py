"""Folds, contents and paper in real Chromium."""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.report.chromium import Keys, errors, until

pytestmark = pytest.mark.browser

MOST_PAGES = 6


def is_open(browser: Any, section: str) -> bool:
    script = "return document.getElementById(arguments[0]).closest('details.fold').open"
    return bool(browser.execute_script(script, section))


def load(browser: Any, page: Path, anchor: str = "") -> None:
    browser.get("about:blank")
    browser.get(page.as_uri() + anchor)


def printed_pages(browser: Any) -> int:
    reply = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    data = base64.b64decode(reply["data"])
    boxes = {tuple(float(n) for n in box.split()) for box in re.findall(rb"/MediaBox\s*\[([^\]]*)\]", data)}
    assert {(round(box[2]), round(box[3])) for box in boxes} <= {(595, 842), (594, 842), (596, 842)}, "A4"
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", data))


def test_a_deep_link_opens_the_fold_it_points_into(browser: Any, report: Path) -> None:
    load(browser, report / "index.html")
    assert not is_open(browser, "terms")
    load(browser, report / "index.html", "#def-interval")
    until(lambda: is_open(browser, "terms"))
    assert not is_open(browser, "cost")
    top = "return document.getElementById('def-interval').getBoundingClientRect().top"
    until(lambda: 0 <= browser.execute_script(top) < 900)
    assert errors(browser) == []


def test_contents_open_folds_by_mouse_and_keyboard(browser: Any, report: Path) -> None:
    load(browser, report / "index.html")
    link = browser.find_element("css selector", "nav.contents a[href='#cost']")
    link.send_keys(Keys.ENTER)
    until(lambda: is_open(browser, "cost"))
    summary = browser.find_element("css selector", "#settling").find_element("xpath", "../summary")
    summary.send_keys(Keys.ENTER)
    until(lambda: is_open(browser, "settling"))
    browser.execute_script("document.getElementById('cost').closest('details').open = false")
    browser.execute_script("arguments[0].click()", link)  # the address has this anchor already
    until(lambda: is_open(browser, "cost"))
    assert errors(browser) == []


def test_all_sections_open_and_close_with_one_button(browser: Any, report: Path) -> None:
    load(browser, report / "index.html")
    button = browser.find_element("id", "folds")
    every = "return [...document.querySelectorAll('details.fold')].map(fold => fold.open)"
    assert button.text == "open all sections"
    browser.execute_script("arguments[0].click()", button)
    assert all(browser.execute_script(every))
    until(lambda: button.text == "close all sections")
    browser.execute_script("arguments[0].click()", button)
    assert not any(browser.execute_script(every))
    until(lambda: button.text == "open all sections")


def test_headings_keep_their_order_and_controls_have_names(browser: Any, report: Path, copied: Path) -> None:
    for page in (report, copied):
        load(browser, page / "index.html")
        levels = browser.execute_script(
            "return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.localName[1]))"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 or (before, after) == (2, 4) for before, after in pairwise(levels))
        nameless = browser.execute_script(
            "return [...document.querySelectorAll('summary,button')].filter(c => !c.textContent.trim()).length"
        )
        assert nameless == 0


@pytest.mark.parametrize("which", ["report", "copied", "restored_report"])
def test_a_usual_run_prints_on_few_pages(browser: Any, request: pytest.FixtureRequest, which: str) -> None:
    load(browser, request.getfixturevalue(which) / "index.html")
    short = printed_pages(browser)
    assert short <= MOST_PAGES
    browser.execute_script("for (const fold of document.querySelectorAll('details.fold')) fold.open = true")
    assert printed_pages(browser) > short, "what the reader opens is printed"


def test_paper_has_the_numbers_of_the_curves_though_they_are_folded_on_screen(browser: Any, report: Path) -> None:
    load(browser, report / "index.html")
    shown = "return document.querySelector('#curves details.numbers table').checkVisibility()"
    assert not browser.execute_script(shown)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert browser.execute_script(shown)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

"""The section of worn images in real Chromium: its pictures load, it is accessible, and it prints on one page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.metrics import load_metric
from convergebench.report.html import write_report
from convergebench.report.sections.worn import MOST_EDITORS
from tests.browser import BrowserPage, chromium
from tests.report.copies import make_copies

pytestmark = pytest.mark.browser

EDITORS = ("sim-jpeg", "sim-noise", "sim-blur", "sim-tint", "sim-none")
A4_WIDTH, A4_HEIGHT = 718, 265
"""Pixels between the margins of a printed page, and millimetres."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = make_copies(tmp_path_factory.mktemp("worn"), EDITORS, size=320, variants=("replicate",), sources=1, steps=2)
    rows = given.measurements.filter(metric="contrast").with_columns(metric=pl.lit("decay"))
    measured = replace(
        given,
        measurements=pl.concat([given.measurements, rows]),
        facts={**given.facts, "decay": load_metric("decay").facts},
    )
    return write_report(measured, given.run / "report")


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[Any]:
    with chromium() as found:
        yield found


def opened(browser: Any, page: Path, **options: Any) -> BrowserPage:
    """The page with all pictures of the section loaded."""
    found = BrowserPage(browser, **options)
    found.page.goto(page.as_uri())
    found.page.evaluate("document.querySelectorAll('#worn img').forEach(one => { one.loading = 'eager'; })")
    found.page.wait_for_function("[...document.querySelectorAll('#worn img')].every(one => one.naturalWidth)")
    return found


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_its_pictures_are_there_and_nothing_is_inaccessible(browser: Any, page: Path, width: int, dark: bool) -> None:
    look = opened(browser, page, width=width, dark=dark)
    try:
        maps = look.page.locator("#worn img[alt^='worn map of']")
        assert maps.count() == 2 * MOST_EDITORS
        assert look.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert look.violations() == []
        assert look.errors == []
    finally:
        look.close()


def test_it_prints_on_one_page(browser: Any, page: Path) -> None:
    look = opened(browser, page, width=A4_WIDTH)
    try:
        look.page.emulate_media(media="print")
        high = look.page.evaluate("document.querySelector('#worn').getBoundingClientRect().height / 96 * 25.4")
        assert look.page.locator("#worn .strip").count() == MOST_EDITORS
        assert 100 < high < A4_HEIGHT
    finally:
        look.close()

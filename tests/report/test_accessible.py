"""Every type of page, in light and in dark: no script error, no request elsewhere, nothing that axe calls serious."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import BrowserPage, chromium
from tests.report.page_types import MAKERS

pytestmark = pytest.mark.browser

QUICK = ("report", "comparison", "sheets")
"""The others have long pages, on which axe takes its time."""
OPENED = """async () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (let y = 0; y < document.body.scrollHeight; y += 800) {
    scrollTo({ top: y, behavior: "instant" });
    await new Promise(done => setTimeout(done, 40));
  }
}"""
DRAWN = "() => document.querySelectorAll('.vega:not(.is-live)').length === 0"


@pytest.fixture
def pages(tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, Path]:
    """The pages of one study, made before the browser opens."""
    return MAKERS[request.param](tmp_path)


@pytest.fixture
def browser(pages: dict[str, Path]) -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.mark.parametrize(
    "pages", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in MAKERS], indirect=True
)
def test_pages_of_every_type_are_accessible(browser: Any, pages: dict[str, Path]) -> None:
    for name, path in pages.items():
        for dark in (False, True):
            one = BrowserPage(browser, dark=dark)
            one.page.goto(path.as_uri())
            one.page.evaluate(OPENED)
            one.page.wait_for_function(DRAWN, timeout=20_000)
            assert one.errors == [], name
            assert one.violations() == [], f"{name}, {'dark' if dark else 'light'}"
            one.close()

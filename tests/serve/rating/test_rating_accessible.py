"""The rating page in every mode, light and dark: nothing that axe calls serious, no request elsewhere."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from tests.browser import BrowserPage, chromium
from tests.serve.rating.process import ServedSite

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("mode", ["score", "pairs", "axes", "label"])
def test_the_page_is_accessible(made: Path, tmp_path: Path, mode: str) -> None:
    root = Path(shutil.copytree(made, tmp_path / "run"))
    with closing(ServedSite(root, plan=f"axe-{mode}", mode=mode, items=2)) as served, chromium() as browser:
        for dark in (False, True):
            one = BrowserPage(browser, dark=dark)
            one.page.goto(served.base + served.links[0])
            one.page.wait_for_function("() => document.body.dataset.ready")
            assert one.violations() == [], f"{mode} before the start"
            one.page.keyboard.press("Enter")
            one.page.wait_for_function("() => document.body.dataset.shown === 'rate'")
            one.page.wait_for_function("() => !document.querySelector('.loading')")  # answers are dimmed until then
            assert one.violations() == [], mode
            assert one.errors == []
            one.close()

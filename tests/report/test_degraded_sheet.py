"""The sheet of degraded pictures: clean beside copies, in one file, and as a browser shows it."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.degradations import load_degradation
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.report.degraded_sheet import DegradedRow, degraded_sheet, shown
from convergebench.types import SourceImage
from tests.cli.in_process import cbench
from tests.degradations.scenes import scene
from tests.report.chromium import errors, until

SPOILS = [load_degradation(name) for name in ("motion-blur", "old-photo-grey")]


def row(id: str = "anna", title: str = "A <b>woman</b>") -> DegradedRow:
    image = SourceImage(id, "face", "0" * 64, 320, 240, "CC0-1.0", "x", bytes, title, focus=(0.9, 0.1))
    copies = [
        SourceImage(
            f"{id}.{one.name}",
            one.name,
            "0" * 64,
            320,
            240,
            "CC0-1.0",
            "x",
            bytes,
            title,
            clean=id,
            degradation=one.name,
        )
        for one in SPOILS
    ]
    pixels = scene(320, 240)
    return DegradedRow(image, [shown(one, f"images/{one.id}.png", pixels) for one in (image, *copies)])


def test_the_page_has_every_copy_beside_its_clean_picture_and_holds_them_itself() -> None:
    page = degraded_sheet("mine", [row(), row("bert")], SPOILS, how="severity 2 (1 is typical), seed 3", total=2)
    assert "<h1>2 pictures, 2 degradations</h1>" in page
    assert "at severity 2 (1 is typical), seed 3:" in page
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert captions == ["Clean", "Motion Blur", "Old Photo (Black and White)"] * 2
    assert len(re.findall(r'<img [^>]*src="data:image/webp;base64,', page)) == 12
    assert not re.search(r'<img [^>]*src="(?!data:)', page)
    assert "A &lt;b&gt;woman" in page
    assert "<b>woman" not in page


def test_pictures_that_do_not_fit_are_counted() -> None:
    page = degraded_sheet("mine", [row()], SPOILS[:1], how="severity 1", total=31)
    assert "<h1>31 pictures, motion blur</h1>" in page
    assert "30 more clean pictures of the folder are not on this page." in page


def test_the_piece_is_cut_around_the_focus_and_stays_inside() -> None:
    image = SourceImage("a", "face", "0" * 64, 600, 300, "x", "x", bytes, focus=(1.0, 0.0))
    pixels = np.zeros((300, 600, 3), np.uint8)
    pixels[:200, 400:] = 255
    cut = decode(b64decode(shown(image, "x", pixels).cut.partition(",")[2])).pixels
    assert cut.shape == (200, 200, 3)
    assert cut.min() > 240
    tiny = shown(image, "x", pixels[:7, :5])
    assert decode(b64decode(tiny.cut.partition(",")[2])).size == (5, 7)


@pytest.mark.browser
def test_a_browser_shows_the_page_on_a_desk_and_on_a_phone(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "anna.png").write_bytes(encode_png(scene(320, 240)))
    out = tmp_path / "set"
    assert cbench("degrade", tmp_path / "photos", "--out", out, "--degradation", "surveillance").code == 0
    browser.get((out / "sheet.html").as_uri())
    until(lambda: browser.execute_script("return document.readyState == 'complete'"))
    assert errors(browser) == []
    loaded = "return [...document.images].map(one => one.complete && one.naturalWidth)"
    until(lambda: browser.execute_script(loaded) == [300, 200, 300, 200])
    link = browser.execute_script("return document.querySelectorAll('.copy a')[1].href")
    assert link == (out / "images" / "anna.surveillance.png").as_uri()
    browser.resize(420, 800)
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    browser.resize()

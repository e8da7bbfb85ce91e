"""The contact sheet of a suite: every picture with its credit, in one file that needs no other."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import numpy as np
import pytest

from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.suite import MissingImage, Suite
from convergebench.report.sheet import LONG_SIDE, contact_sheet
from convergebench.types import SourceImage
from tests.cli.in_process import cbench

CREDIT = "Photo: Jo <Doe>, “Anna”, CC BY 2.0"


def image(id: str, kind: str, colour: tuple[int, int, int]) -> SourceImage:
    data = encode_png(np.full((600, 900, 3), colour, np.uint8))
    title, holds = "A woman & her hat", ("woman", "hat")
    return SourceImage(id, kind, "0" * 64, 900, 600, "CC-BY-2.0", "x", lambda: data, title, holds, CREDIT)


@pytest.fixture
def page() -> str:
    missing = (MissingImage(image("far", "face", (0, 0, 0)), 1, "not fetched from npm p 1"),)
    images = (image("anna", "face", (200, 30, 30)), image("cup", "object", (30, 30, 200)))
    return contact_sheet(Suite("mine", images, 2, missing))


def test_the_headline_counts_and_every_picture_has_its_line_of_credit_escaped(page: str) -> None:
    assert "<h1>3 pictures: 2 faces and 1 object</h1>" in page
    assert page.count("Photo: Jo &lt;Doe&gt;, “Anna”, CC BY 2.0") == 3
    assert "Jo <Doe>" not in page
    assert page.count("900 × 600 · CC-BY-2.0") == 3
    assert page.count("Holds: woman, hat") == 3
    assert 'alt="A woman &amp; her hat"' in page


def test_a_picture_that_is_not_here_keeps_its_place_and_says_why(page: str) -> None:
    assert "1 picture not here" in page
    assert re.findall(r'<article class="picture" id="(\w+)">', page) == ["anna", "far", "cup"]
    assert '<div class="frame none">not fetched from npm p 1</div>' in page


def test_the_page_holds_small_copies_and_loads_nothing(page: str) -> None:
    copies = [base64.b64decode(found) for found in re.findall(r'src="data:image/webp;base64,([^"]+)"', page)]
    frames = [decode(one) for one in copies]
    assert [frame.size for frame in frames] == [(LONG_SIDE, LONG_SIDE * 2 // 3)] * 2
    assert [frame.pixels.mean(axis=(0, 1)).round(-1).tolist() for frame in frames] == [[200, 30, 30], [30, 30, 200]]
    assert not re.search(r'(?:src|href)="(?!data:|#)', page)


def test_the_command_writes_the_page_where_it_is_told(tmp_path: Path) -> None:
    out = tmp_path / "new" / "quick.html"
    done = cbench("suite", "sheet", "quick", "--out", out)
    assert (done.code, done.out) == (0, f"written: {out}\n")
    assert out.read_text(encoding="utf-8").count("<article") == 12
    refused = cbench("suite", "sheet", "quick", "--out", tmp_path)
    assert (refused.code, "name a file that ends in .html" in refused.err) == (2, True)

"""Text preservation: the reader against rapidocr, the comparison by hand."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.base import Item
from convergebench.metrics.semantic._ocr import TextLine, lines
from convergebench.metrics.semantic.text_kept import letters, missing, near, text_kept
from convergebench.weights import find_weight
from convergebench.weights.store import search
from tests.metrics.pictures import box_blur, jpeg, noisy, photograph
from tests.metrics.semantic_pictures import FONTS, SIGNS, TEXTS, written

PATH = Path(__file__).parents[1] / "golden" / "semantic.csv"
ROWS = [row for row in csv.DictReader(PATH.read_text(encoding="utf-8").splitlines()) if row["metric"] == "text"]


@pytest.fixture
def reader() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (extra text)")
    if search(find_weight("ppocr-v4")) is None:
        pytest.skip("the networks of PP-OCRv4 are not here (cbench weights fetch ppocr-v4)")


def value(subject: Pixels, reference: Pixels) -> float:
    return text_kept(Item(Frame(subject), Frame(reference)))


def line(text: str, left: float, top: float, right: float, bottom: float) -> TextLine:
    return TextLine(text, np.array([(left, top), (right, top), (right, bottom), (left, bottom)], np.float32), 1.0)


@pytest.mark.parametrize(
    ("word", "text", "changes"),
    [
        ("", "", 0),
        ("bread", "", 5),
        ("bread", "bread", 0),
        ("bread", "freshbread350", 0),
        ("bread", "freshbroad350", 1),
        ("bread", "bead", 1),
        ("bread", "xyz", 5),
        ("bread", "brxead", 1),
    ],
)
def test_changes_to_the_nearest_stretch(word: str, text: str, changes: int) -> None:
    assert missing(word, text) == changes


def test_case_spaces_and_wide_signs_do_not_count() -> None:
    assert letters("No Parking： １２") == letters("noparking:12")


def test_lines_are_matched_by_place_and_put_together_from_left_to_right() -> None:
    target = line("open today", 10, 100, 110, 120)
    found = (line("today", 60, 104, 112, 121), line("open", 9, 99, 55, 118), line("shut", 10, 140, 110, 160))
    assert [other.text for other in near(target, found)] == ["open", "today"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["case"]))
def test_the_reader_reads_what_rapidocr_reads(reader: None, row: dict[str, str]) -> None:
    read = sorted("".join(line.text.split()) for line in lines(Frame(TEXTS[row["case"]]())))
    assert read == sorted(row["value"].split("|"))


def test_all_text_is_kept_by_the_same_picture_and_none_by_a_blank_one(reader: None) -> None:
    assert value(written(), written()) == 1
    assert value(np.full_like(written(), 255), written()) == 0


def test_mild_damage_keeps_text_and_strong_damage_loses_it(reader: None) -> None:
    values = [
        value(damaged, written()) for damaged in (jpeg(written(), 30), box_blur(written(), 21), box_blur(written(), 41))
    ]
    assert values[0] == 1
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.2
    assert value(noisy(written(), 30), written()) > 0.95


def test_a_line_that_is_gone_or_changed_counts_by_its_letters(reader: None) -> None:
    counts = [len(letters(sign)) for sign in SIGNS]
    without = written(signs=(*SIGNS[:3], ""))
    assert value(without, written()) == pytest.approx(1 - counts[3] / sum(counts), abs=0.02)
    other = written(signs=("OPEN 25 HOURS", *SIGNS[1:]))
    assert value(other, written()) == pytest.approx(1 - 1 / sum(counts), abs=1e-9)


def test_added_and_shifted_text_is_not_held_against_the_picture(reader: None) -> None:
    assert value(written(), written(signs=SIGNS[:2])) == 1
    assert value(np.roll(written(), (6, 9), axis=(0, 1)), written()) == 1


def test_pictures_without_text_have_no_value(reader: None) -> None:
    for name in ("chelsea", "coffee"):
        with pytest.raises(Unmeasurable) as caught:
            value(photograph(name), photograph(name))
        assert caught.value.status == "no-text"
    with pytest.raises(Unmeasurable):
        value(photograph("chelsea", 9, 7), photograph("chelsea", 9, 7))


def test_a_picture_of_another_size_is_refused_since_places_would_not_meet() -> None:
    with pytest.raises(Unmeasurable, match="480×480 vs 240×240") as caught:
        value(written(), np.ascontiguousarray(written()[::2, ::2]))
    assert caught.value.status == "size"


def strip() -> Pixels:
    """One line, seventy times as long as high."""
    words = Image.new("RGB", (2100, 30), (255, 255, 255))
    font = ImageFont.truetype(str(FONTS / "DejaVuSans.ttf"), 20)
    ImageDraw.Draw(words).text((700, 3), "the quick brown fox jumps over 13 lazy dogs", font=font, fill=(0, 0, 0))
    return np.array(words)


@pytest.mark.parametrize("turned", [False, True])
def test_a_strip_is_read_at_a_size_that_fits_into_memory(
    reader: None, monkeypatch: pytest.MonkeyPatch, turned: bool
) -> None:
    from convergebench.metrics.semantic import _ocr

    seen: list[tuple[int, ...]] = []
    session = _ocr._session

    def watched(path: Path) -> Any:
        class Watched:
            get_modelmeta = session(path).get_modelmeta

            def run(self, names: None, given: dict[str, Any]) -> Any:
                seen.append(given["x"].shape)
                return session(path).run(names, given)

        return Watched()

    monkeypatch.setattr(_ocr, "_session", watched)
    (found,) = lines(Frame(np.ascontiguousarray(np.rot90(strip(), -1)) if turned else strip()))
    assert letters(found.text) == "thequickbrownfoxjumpsover13lazydogs"
    assert max(seen[0]) < 3000
    assert min(found.box) >= 0
    assert (found.corners.max(axis=0) < ((30, 2100) if turned else (2100, 30))).all()


def test_readings_repeat(reader: None) -> None:
    first, second = (lines(Frame(box_blur(written(size=20), 5))) for _ in range(2))
    assert [(line.text, line.score) for line in first] == [(line.text, line.score) for line in second]

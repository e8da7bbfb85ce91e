"""Where pictures are worn: the colours of the map, and the section that shows it for each editor's most worn chain."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import polars as pl
import pytest

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.no_reference import decay_reading
from convergebench.metrics.no_reference.decay_reading import DecayReading
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.one_file import one_file
from convergebench.report.page import open_page
from convergebench.report.palette import INFERNO
from convergebench.report.sections import worn
from convergebench.report.sections.worn import WORN, most_worn
from convergebench.report.worn import HATCH, OPACITY, draw_overlay, read_worn, worn_picture
from convergebench.studies.base import BaseStudy
from tests.report.copies import make_copies, text_of

NAN = float("nan")


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def parts(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32)


def textured(height: int, width: int) -> np.ndarray:
    noise = np.random.default_rng(3).integers(0, 256, (height, width, 3), np.uint8)
    return np.asarray(cv2.GaussianBlur(noise, (0, 0), 1.2), np.uint8)


# --- the colours ---


@pytest.mark.parametrize(
    ("value", "colour"), [(0, INFERNO[0]), (50, INFERNO[8]), (100, INFERNO[16]), (-40, INFERNO[0]), (900, INFERNO[16])]
)
def test_a_value_has_its_colour_and_those_beyond_the_scale_the_last_one(value: float, colour: str) -> None:
    drawn = draw_overlay(parts([value]), 7, 5)
    assert drawn.shape == (5, 7, 4)
    assert {tuple(one) for one in drawn.reshape(-1, 4)} == {(*rgb(colour), OPACITY)}


def test_each_part_covers_its_share_of_the_picture() -> None:
    drawn = draw_overlay(parts([0, 50, 100], [100, 0, 50]), 100, 41)
    assert [tuple(drawn[0, x, :3]) for x in (0, 32, 33, 65, 66, 99)] == [
        *[rgb(INFERNO[0])] * 2,
        *[rgb(INFERNO[8])] * 2,
        *[rgb(INFERNO[16])] * 2,
    ]
    assert [tuple(drawn[y, 0, :3]) for y in (19, 20, 40)] == [rgb(INFERNO[0]), *[rgb(INFERNO[16])] * 2]


def test_a_part_that_cannot_be_judged_is_hatched_and_else_transparent() -> None:
    drawn = draw_overlay(parts([50, NAN]), 128, 64)
    assert (drawn[:, :64, 3] == OPACITY).all(), "the other part is not touched"
    unknown = drawn[:, 64:]
    assert set(np.unique(unknown[:, :, 3])) == {0, HATCH}
    lines = {tuple(one) for one in unknown[unknown[:, :, 3] == HATCH][:, :3]}
    assert lines == {(255, 255, 255), (0, 0, 0)}, "seen on any picture"
    assert 0.6 < (unknown[:, :, 3] == 0).mean() < 0.95


@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 1), (1, 200), (3840, 2160)])
def test_a_map_is_as_large_as_its_picture(width: int, height: int) -> None:
    assert draw_overlay(parts([NAN, 20], [0, 100]), width, height).shape == (height, width, 4)


def test_the_small_copy_is_grey_under_the_colours() -> None:
    red = Frame(np.full((100, 400, 3), (200, 0, 0), np.uint8))
    small = worn_picture(red, parts([100, 0]), 200)
    assert small.shape == (50, 200, 3)
    grey, share = 0.299 * 200, OPACITY / 255
    mixed = [[grey * (1 - share) + one * share for one in rgb(INFERNO[place])] for place in (16, 0)]
    assert np.abs(small[25, [20, 180]] - np.array(mixed)).max() <= 1
    assert worn_picture(red, parts([0]), 9000).shape == (100, 400, 3), "never enlarged"


# --- the reading ---


def test_a_picture_is_read_as_a_whole_and_in_parts() -> None:
    found = read_worn(Frame(textured(256, 384)))
    assert found.parts.shape == (2, 3)
    assert found.unknown == 0
    assert re.fullmatch(r"looks like about \d+ remakings? \(95 %: \d+–\d+\)|number of remakings unknown", found.words)


@pytest.mark.parametrize("pixels", [np.zeros((1, 1, 3), np.uint8), np.full((200, 200, 3), 90, np.uint8)])
def test_a_picture_without_anything_to_judge_has_no_map(pixels: np.ndarray) -> None:
    with pytest.raises(Unmeasurable):
        read_worn(Frame(pixels))


def test_an_unknown_number_of_remakings_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decay_reading, "read_decay", lambda frame: DecayReading(400.0, None, None, None))
    assert read_worn(Frame(textured(130, 130))).words == "number of remakings unknown"


# --- the section ---


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ReportInput:
    return make_copies(tmp_path_factory.mktemp("worn"), size=160, variants=("replicate",), sources=2, steps=3)


@pytest.fixture
def measured(plain: ReportInput) -> ReportInput:
    """With values of `decay`: `sim-noise` is worn more than `sim-jpeg`, and `cup` more than `anna`."""
    rows = plain.measurements.filter(metric="contrast").with_columns(
        metric=pl.lit("decay"),
        value=pl.col("step") * 5.0
        + pl.when(editor="sim-noise").then(20).otherwise(0)
        + pl.when(source="cup").then(3).otherwise(0),
    )
    together = pl.concat([plain.measurements, rows])
    return replace(plain, measurements=together, facts={**plain.facts, "decay": load_metric("decay").facts})


def built(given: ReportInput, out: Path) -> tuple[str, dict[str, str | bytes]]:
    content = WORN.build(open_page(given, out))
    assert content is not None
    return content.html, dict(content.files)


def test_the_most_worn_chain_of_each_editor_is_chosen_by_its_last_value(measured: ReportInput) -> None:
    assert [(row["editor"], row["case"], row["step"], row["value"]) for row in most_worn(measured)] == [
        ("sim-noise", "cup/replicate/0", 3, 38.0),
        ("sim-jpeg", "cup/replicate/0", 3, 18.0),
    ]


def test_the_section_shows_first_and_last_picture_with_map_and_words(measured: ReportInput, tmp_path: Path) -> None:
    html, files = built(measured, tmp_path)
    assert [one.split(":")[0] for one in re.findall(r'alt="worn map of ([^"]+)"', html)] == [
        "sim-noise, source",
        "sim-noise, step 3",
        "sim-jpeg, source",
        "sim-jpeg, step 3",
    ]
    maps = set(re.findall(r'src="([^"]+)"[^>]*alt="worn map', html))
    assert maps == {name for name in files if name.endswith(".webp")}
    assert len(maps) == 3, "both editors began with the same picture"
    for name in maps:
        data = files[name]
        assert isinstance(data, bytes)
        assert np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)).shape == (160, 160, 3)
    assert "as untouched" in html
    assert "decay 38.0 at step 3" in html


def test_a_second_report_judges_no_picture_again(
    measured: ReportInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    html, files = built(measured, tmp_path)
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())

    def refuse(frame: Frame) -> None:
        raise AssertionError("judged again")

    monkeypatch.setattr(worn, "read_worn", refuse)
    assert built(measured, tmp_path) == (html, {})


@pytest.mark.parametrize("damage", [b"", b"[]", b"[1]", b"{}", b"\xff", b'{"words": "x", "unknown": "many"}'])
def test_maps_are_made_again_for_other_learned_numbers_and_where_their_words_are_damaged(
    measured: ReportInput, tmp_path: Path, damage: bytes
) -> None:
    _, files = built(measured, tmp_path)
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(damage if name.endswith("json") else bytes(data))  # type: ignore[arg-type]
    assert set(built(measured, tmp_path)[1]) == set(files)
    other = {**measured.facts, "decay": replace(measured.facts["decay"], version=99)}
    assert not set(built(replace(measured, facts=other), tmp_path)[1]) & set(files)


def test_parts_that_cannot_be_judged_are_in_the_legend(
    measured: ReportInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cannot be judged" not in built(measured, tmp_path / "all")[0]
    monkeypatch.setattr(decay_reading, "decay_map", lambda frame: parts([NAN, 40]))
    html, files = built(measured, tmp_path / "some")
    assert "cannot be judged" in html
    assert {json.loads(text)["unknown"] for name, text in files.items() if name.endswith("json")} == {1}


def test_a_run_without_decay_has_no_such_section(plain: ReportInput, measured: ReportInput) -> None:
    nothing = measured.measurements.with_columns(value=pl.when(metric="decay").then(None).otherwise(pl.col("value")))
    for given in (plain, replace(measured, measurements=nothing), replace(plain, measurements=pl.DataFrame())):
        assert WORN.build(open_page(given)) is None


def test_pictures_that_are_gone_or_damaged_are_one_line(measured: ReportInput, tmp_path: Path) -> None:
    rows = {
        row["index"]: row["image"]
        for row in measured.steps.filter(editor="sim-jpeg", case="cup/replicate/0").to_dicts()
    }
    for image in set(measured.steps["image"]):
        target = tmp_path / "run" / image
        target.parent.mkdir(parents=True, exist_ok=True)
        if image == rows[3]:
            target.write_bytes((measured.run / image).read_bytes()[:200])
        elif image != rows[0]:
            target.write_bytes((measured.run / image).read_bytes())
    html, files = built(replace(measured, run=tmp_path / "run"), tmp_path / "out")
    assert html.count("the image cannot be read") == 3, "the source of both, and the last one of one"
    assert sum(name.endswith("webp") for name in files) == 1
    nowhere = replace(measured, steps=measured.steps.with_columns(image=pl.lit(None, pl.String)))
    assert "its images are not on this disk" in built(nowhere, tmp_path / "none")[0]


def test_pictures_that_cannot_be_judged_or_are_too_large_say_so(
    measured: ReportInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decay_reading, "decay_map", lambda frame: parts([NAN]))
    assert "cannot be judged: no part of it" in built(measured, tmp_path / "flat")[0]
    monkeypatch.setattr(worn, "MOST_PIXELS", 100)
    assert "not judged: more than" in built(measured, tmp_path / "huge")[0]


def test_a_page_shows_few_editors_and_counts_the_others(measured: ReportInput, tmp_path: Path) -> None:
    decay = measured.measurements.filter(metric="decay", editor="sim-noise")
    names = [f"sim-noise-{number}" for number in range(9)]
    more = [decay.with_columns(editor=pl.lit(name), value=pl.col("value") - 1) for name in names]
    chains = [measured.chains.filter(editor="sim-noise").with_columns(editor=pl.lit(name)) for name in names]
    given = replace(
        measured,
        measurements=pl.concat([measured.measurements, *more]),
        chains=pl.concat([measured.chains, *chains]),
    )
    html, _ = built(given, tmp_path)
    assert html.count('class="strip worn"') == worn.MOST_EDITORS == 4
    assert "7 editors with less decay not shown" in html


def test_the_report_and_the_page_to_send_have_the_maps(measured: ReportInput, tmp_path: Path) -> None:
    assert "worn" in BaseStudy.sections
    page = write_report(measured, tmp_path / "report")
    html = text_of(page)
    names = set(re.findall(r'src="(thumbs/[^"]+)"[^>]*alt="worn map', html))
    assert len(names) == 3
    assert all((page.parent / name).is_file() for name in names)
    alone = one_file(page.parent)
    assert len(re.findall(r'src="data:image/webp[^"]+"[^>]*alt="worn map', alone.html)) == 4


def test_markup_in_names_and_kept_words_shows_as_text(measured: ReportInput, tmp_path: Path) -> None:
    _, files = built(measured, tmp_path)
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        evil = json.dumps({"words": "<script>alert(1)</script>", "unknown": 0})
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else evil.encode())
    named = measured.steps.with_columns(source=pl.lit("<b>bold</b>"))
    html, _ = built(replace(measured, steps=named), tmp_path)
    assert "<script>" not in html
    assert "<b>bold" not in html

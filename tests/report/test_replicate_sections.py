"""What the sections of a replicate run say: walls, shares, crops, variants, onsets and traces."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.page import open_page
from convergebench.report.sections.failures import failures_section
from convergebench.report.sections.gallery import MOST_CARDS, gallery
from convergebench.report.sections.noticing import noticing_section
from convergebench.report.sections.traces import choose_trace
from convergebench.report.sections.variants import VARIANTS, shown_steps, success_section, variants_section
from convergebench.report.sections.wall import wall_views
from convergebench.report.wording import axis_title
from tests.report.copies import FACTS, frames_of, text_of, with_frames
from tests.report.drawn import marks, texts

# --- the decay wall ---


def test_the_wall_has_images_down_and_steps_across(copies: ReportInput) -> None:
    first = wall_views(open_page(copies))[0]
    assert (first.editor, first.pair, first.run) == ("sim-noise", "replicate", 0), "the editor that lost most"
    assert first.steps == [0, 1, 2, 5, 6]
    assert [line["source"] for line in first.lines] == ["anna", "cup", "hill"]
    cell = first.lines[0]["cells"][3]
    assert cell["link"].endswith("&s=5")
    measured = copies.measurements.filter(editor="sim-noise", case="anna/replicate/0", metric="ssim", step=5)["value"]
    assert cell["value"] == f"{measured[0]:.2f}"


def test_a_failure_stands_at_the_first_picture_after_it_began(copies: ReportInput) -> None:
    cells = wall_views(open_page(copies))[0].lines[0]["cells"]
    marks = {cell["step"]: [(mark["level"], mark["step"]) for mark in cell["marks"]] for cell in cells}
    assert marks == {0: [], 1: [("sub-object", 1)], 2: [("object", 2)], 5: [("image", 3), ("noise", 4)], 6: []}
    assert {cell["step"]: cell["onset"] for cell in cells if cell["onset"] is not None} == {2: 2}


def test_a_failure_that_several_people_saw_stands_once(copies: ReportInput) -> None:
    labels = frames_of(copies).labels
    twice = pl.concat([labels, labels.with_columns(pl.col("step") + 1, source=pl.lit("person"))])
    cells = wall_views(open_page(with_frames(copies, labels=twice)))[0].lines[0]["cells"]
    assert [mark["step"] for cell in cells for mark in cell["marks"]] == [1, 2, 3, 4]


def test_a_chain_that_ended_says_so_where_its_pictures_would_be(copies: ReportInput) -> None:
    views = {(view.editor, view.pair, view.run): view for view in wall_views(open_page(copies))}
    cup = next(line for line in views["sim-noise", "replicate", 1].lines if line["source"] == "cup")
    assert [cell["gone"] for cell in cup["cells"]] == ["", "", "", "refused after 2", "refused after 2"]


def test_a_step_that_is_not_compared_has_a_dash_and_a_reason(copies: ReportInput) -> None:
    some = copies.measurements.filter((pl.col("metric") != "ssim") | (pl.col("step") != 5))
    cell = wall_views(open_page(replace(copies, measurements=some)))[0].lines[0]["cells"][3]
    assert (cell["value"], cell["why"]) == ("–", "not compared at this step")


def test_every_wall_can_be_chosen(copied: Path, copies: ReportInput) -> None:
    page = text_of(copied / "wall.html")
    (views,) = re.findall(r"const VIEWS = (\[.*?\]\]), TOLD", page)
    assert len(json.loads(views)) == len(wall_views(open_page(copies)))
    assert len(list((copied / "panels").glob("wall-*.js"))) == len(json.loads(views)) - 1


# --- failures ---


def test_shares_are_by_level_with_their_intervals_and_never_seen_ones_are_named(copies: ReportInput) -> None:
    section = failures_section(open_page(copies))
    assert section is not None
    (panel,) = section["panels"].rows
    assert [row["level"] for row in panel["rows"]] == ["object", "image", "noise"]
    assert panel["never"] == ["Simplification"]
    noise = panel["rows"][-1]["cells"][panel["editors"].index("sim-noise")]
    assert (noise["text"], noise["interval"]) == ("50 %", "40–70 %")
    assert noise["says"] == "6 of 12, step 2, 3 undecided, 6 rule"
    assert section["agreement"][0]["title"] == "Colour cast"


def test_every_variant_has_its_shares_the_pooled_ones_and_the_plain_copy_first(copies: ReportInput) -> None:
    found = frames_of(copies).failures
    single = [found.with_columns(pair=pl.lit(pair)) for pair in ("mirror", "replicate")]
    section = failures_section(open_page(with_frames(copies, failures=pl.concat([*single, found]))))
    assert section is not None
    assert [panel["name"] for panel in section["panels"].rows] == ["all variants", "replicate", "mirror"]


def test_the_gallery_shows_crops_by_level_with_rule_and_voice(copied: Path) -> None:
    page = text_of(copied / "failures.html")
    levels = re.findall(r'class="mode" id="mode-\d+" data-level="([\w-]+)"', page)
    assert levels == ["sub-object", "object", "image", "noise"]
    assert "Mean a* or b* moves by more than 6." in page
    assert '<span class="badge loud">person</span>' in page
    assert "confidence 0.90" in page
    assert "no-crop" not in page


def test_a_label_without_a_crop_shows_whole_pictures_and_says_so(copies: ReportInput) -> None:
    blocks = {block["mode"]: block for block in gallery(open_page(copies), {}, {})}
    assert blocks["static-noise"]["cards"][0]["pictures"] == []
    case = blocks["simplification"]["cards"][0]["case"]
    image = copies.steps.filter(editor="sim-noise", case=case)["image"]
    card = gallery(open_page(copies), {}, {image[0]: "a.webp", image[4]: "b.webp"})[0]["cards"][0]
    assert (card["pictures"], card["cropped"]) == (["a.webp", "b.webp"], False)


def test_the_gallery_shows_so_many_of_each_editor_of_different_images_first(copies: ReportInput) -> None:
    blocks = gallery(open_page(copies), {}, {})
    assert all(len(block["cards"]) == MOST_CARDS and block["left"] == block["all"] - MOST_CARDS for block in blocks)
    assert {card["source_image"] for card in blocks[-1]["cards"][:3]} == {"anna", "cup", "hill"}


def test_what_was_looked_for_and_not_seen_is_no_crop(copies: ReportInput) -> None:
    absent = frames_of(copies).labels.with_columns(present=pl.lit(False))
    assert gallery(open_page(with_frames(copies, labels=absent)), {}, {}) == []


# --- variants, onsets, noticing ---


def test_variants_are_drawn_about_zero_by_family_with_the_better_side_marked(copies: ReportInput) -> None:
    panels = {panel["name"]: panel for panel in variants_section(open_page(copies))}
    assert list(panels) == ["ssim", "rmse"]
    families = panels["ssim"]["families"]
    assert [family["name"] for family in families] == ["independent", "hyperparameter", "denoise"]
    chart = families[0]["chart"]
    for width in chart.widths:
        assert [row["x"] for row in marks(chart, "rule", width) if "low" not in row] == [0], "a zero line"
        assert "better →" in texts(chart.svg(width))
    assert "← better" in texts(panels["rmse"]["families"][0]["chart"].svg(980))
    content = VARIANTS.build(open_page(copies))
    assert content is not None
    shown = '<td class="num">−0.010</td><td><small>−0.060 to 0.040</small>'
    assert shown in content.html, "not bold: it may be chance"


def test_at_most_four_steps_stand_side_by_side_and_the_last_is_one() -> None:
    assert shown_steps({5, 10, 20}) == [5, 10, 20]
    assert shown_steps({100, 50, 5, 10, 20}) == [5, 10, 20, 100]


def test_success_has_a_share_with_its_interval(copies: ReportInput) -> None:
    content = VARIANTS.build(open_page(copies))
    assert content is not None
    shown = content.html[content.html.index("Was the instruction carried out?") :]
    assert re.findall(r"([\d]+ %) <small>(.*?)</small>", shown) == [("83 %", "63–100 %"), ("25 %", "5–45 %")]
    assert [row["editor"] for row in success_section(open_page(copies))] == ["sim-jpeg", "sim-noise"]


def test_an_editor_that_never_notices_is_counted(copies: ReportInput) -> None:
    section = noticing_section(open_page(copies))
    assert section is not None
    assert section["asked"]
    assert section["missing"] == (36, 6, 0)
    charts = {one["editor"]: one["chart"].__html__() for one in section["panels"].rows[0]["charts"]}
    assert "2 of 2 never" in charts["sim-noise"]
    assert "4.5 ± 0.7" in charts["sim-noise"]
    assert "not asked" in charts["sim-jpeg"]
    lines = {row["editor"]: row for row in section["table"]}
    assert lines["sim-noise"]["delay"] == ("2", "1–3")
    assert lines["sim-jpeg"]["onset"] == ("> 6", "")


def test_without_a_reader_only_the_onsets_are_drawn(copies: ReportInput) -> None:
    found = frames_of(copies)
    quiet = with_frames(copies, noticing=found.noticing.clear(), noticing_summary=found.noticing_summary.clear())
    section = noticing_section(open_page(quiet))
    assert section is not None
    assert not section["asked"]
    assert "not asked" not in section["panels"].rows[0]["charts"][0]["chart"].__html__()


# --- traces ---


def test_the_trace_shown_first_is_where_score_and_picture_part(copies: ReportInput, copied: Path) -> None:
    found = choose_trace(copies, None)
    assert found is not None
    assert (found.editor, found.score, found.beside) == ("sim-noise", "contrast", "ssim-first")
    page = text_of(copied / "index.html")
    assert "Where score and image disagree" in page
    assert re.search(
        r"contrast calls step 6 better than the source \([\d.]+ → [\d.]+\), while ssim against step 1 falls", page
    )


def test_without_a_score_of_its_own_the_headline_metric_is_traced(copies: ReportInput, tmp_path: Path) -> None:
    plain = replace(copies, measurements=copies.measurements.filter(~pl.col("metric").is_in(["contrast"])))
    page = text_of(write_report(plain, tmp_path))
    assert "Score and image" in page
    assert "which is worse" in page


def test_against_step_one_is_said_in_words() -> None:
    assert axis_title("ssim-first", FACTS) == "ssim against step 1 (↑ better)"
    assert axis_title("ssim", FACTS) == "ssim (↑ better)"

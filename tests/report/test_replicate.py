"""The pages of a replicate run: decay wall, failure gallery, score traces, and its sections of the report."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.report import print_ranking, ranking_json, write_latex, write_tables
from convergebench.report.decay_summary import decay_summary
from convergebench.report.hero import STEPS, shown_rounds
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.page import open_page
from convergebench.report.sections.wall import wall_views
from convergebench.report.variant import first_variant, instruction_text, ordered
from tests.report.copies import frames_of, make_copies, text_of, with_frames

PAGES = ("index.html", "wall.html", "traces.html", "failures.html", "viewer.html")


def seen_words(page: str) -> str:
    """What a reader sees: no tags, no styles, no scripts."""
    bare = re.sub(r"(?s)<(style|script)\b.*?</\1>", "", page)
    return re.sub("<[^>]+>", " ", bare)


def test_every_page_opens_from_disk_and_fetches_nothing(copied: Path) -> None:
    for name in PAGES:
        page = text_of(copied / name)
        links = re.findall(r'(?:src|href)="([^"]*)"', page)
        assert not [link for link in links if re.match(r"(https?:)?//", link)], name
        assert "fetch(" not in page
        named = [link.split("#")[0] for link in links if link and not link.startswith(("#", "data:"))]
        assert named
        assert not [link for link in named if not (copied / link).is_file()], name


@pytest.mark.parametrize("name", PAGES)
def test_tags_are_balanced(copied: Path, name: str) -> None:
    void, open_tags = {"meta", "link", "img", "br", "input"}, list[str]()

    class Balance(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in void:
                open_tags.append(tag)

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            pass

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Balance().feed(text_of(copied / name))
    assert open_tags == []


def test_a_replicate_run_counts_steps_wherever_it_speaks(copied: Path, copies: ReportInput, tmp_path: Path) -> None:
    for name in PAGES:
        said = seen_words(text_of(copied / name)).replace("rounds = ", "")
        assert not re.findall(r"\bround(?: trip)?s?\b", said), name
    for path in (copied / "panels").glob("*.js"):
        assert "round trip" not in text_of(path)
    for path in write_latex(copies, tmp_path):
        assert "round" not in text_of(path)


def test_a_round_trip_run_has_none_of_these_pages(report: Path) -> None:
    assert not [name for name in ("wall.html", "traces.html", "failures.html") if (report / name).exists()]
    assert "steps of" not in seen_words(text_of(report / "index.html"))


def test_the_sections_of_a_replicate_run_are_in_its_contents(copied: Path) -> None:
    page = text_of(copied / "index.html")
    found = re.findall(r'<section id="(\w+)"', page)
    expected = "ranking curves failures worst survival onset variants trace settling breakdown diagnostics chains cost"
    assert found == [*expected.split(), "made", "terms"], "what was not measured hides itself"
    (contents,) = re.findall(r'(?s)<nav class="contents".*?</nav>', page)
    assert re.findall(r'href="#(\w+)"', contents) == found
    linked = set(re.findall(r'href="#(def-[\w-]+)"', page))
    assert linked <= set(re.findall(r'id="(def-[\w-]+)"', page))


# --- nothing, too much, evil names ---


def test_an_empty_analysis_leaves_its_sections_out_or_says_why(copies: ReportInput, tmp_path: Path) -> None:
    page = text_of(write_report(replace(copies, results={"decay": DecayAnalysis.empty()}), tmp_path))
    assert "No chain was examined for failures yet" in page
    assert 'id="onset"' not in page
    assert 'id="variants"' not in page
    assert "No failure was seen." in text_of(tmp_path / "failures.html")


def test_a_run_without_chains_has_pages_that_say_so(copies: ReportInput, tmp_path: Path) -> None:
    bare = replace(
        copies,
        chains=copies.chains.clear(),
        steps=copies.steps.clear(),
        measurements=copies.measurements.clear(),
        results={"decay": DecayAnalysis.empty()},
        analysis=replace(
            copies.analysis,
            headline=(),
            **{
                name: getattr(copies.analysis, name).clear()
                for name in ("ranking", "pairwise", "curves", "auc", "survival", "contraction", "worst", "outcomes")
            },
        ),
    )
    write_report(bare, tmp_path)
    assert "No picture to show" in text_of(tmp_path / "wall.html")
    assert "No chain was run yet" in text_of(tmp_path / "traces.html")


def test_markup_in_any_name_shows_as_text(copies: ReportInput, tmp_path: Path) -> None:
    evil = "\"><script>alert('1')</script>"
    found = frames_of(copies)
    changed = {
        name: pl.concat([getattr(found, name)]).with_columns(
            pl.lit(evil).alias(column) for column in columns if column in getattr(found, name).columns
        )
        for name, columns in {
            "labels": ("title", "detail", "rule", "source_image", "source"),
            "failures": ("title", "source_of"),
            "agreement": ("mode",),
            "variants": ("baseline",),
            "success": ("operation",),
            "onset_summary": ("text",),
            "noticing_summary": ("text", "delay_text"),
        }.items()
    }
    renamed = {
        name: getattr(copies, name).with_columns(source=pl.lit(evil), kind=pl.lit(evil)) for name in ("chains", "steps")
    }
    manifest = {**copies.manifest, "command": evil, "pairs": {"replicate": {"instructions": [evil]}}}
    write_report(replace(with_frames(copies, **changed), **renamed, manifest=manifest), tmp_path)
    for path in (*tmp_path.glob("*.html"), *tmp_path.glob("*/*.js")):
        assert "<script>alert" not in text_of(path), path.name


def test_twelve_editors_with_long_names(tmp_path: Path) -> None:
    editors = [f"provider-{place}/an-image-model-with-a-very-long-name-{place}" for place in range(11)] + ["sim-noise"]
    given = make_copies(tmp_path, editors, steps=3, size=24, variants=("replicate",), sources=2)
    index = write_report(given, tmp_path / "report")
    assert index.stat().st_size < 600_000
    assert len(wall_views(open_page(given))) == 24


def test_a_hundred_steps(tmp_path: Path) -> None:
    given = make_copies(tmp_path, ("sim-noise",), steps=100, size=24, variants=("replicate",), sources=1)
    index = write_report(given, tmp_path / "report")
    assert (index.parent / "wall.html").stat().st_size < 120_000
    assert wall_views(open_page(given))[0].steps == [0, 1, 2, 5, 10, 20, 50, 100]
    assert "<b>100</b>" in text_of(index), "the strip above goes to the last step"


def test_the_strip_of_a_long_chain_goes_on_to_its_last_step() -> None:
    assert shown_rounds(100, STEPS) == [0, 1, 2, 5, 10, 20, 50, 100]
    assert shown_rounds(12, STEPS) == [0, 1, 2, 5, 10, 12]
    assert shown_rounds(200, STEPS) == [0, 1, 2, 5, 10, 20, 50, 200]


# --- terminal, tables, data ---


def printed(given: ReportInput, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    print_ranking(given, Console(file=file, width=80))
    return raw.getvalue().decode(encoding)


def test_the_terminal_says_when_it_breaks_how_it_fails_and_what_is_noticed(copies: ReportInput) -> None:
    text = printed(copies)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    (line,) = [line for line in text.splitlines() if line.startswith("sim-noise*  2 (2–3)")]
    assert "4 (4–5)" in line
    assert "Static noise 50 %" in line
    assert "> 6" in text
    assert printed(copies, "ascii").isascii()
    assert decay_summary(replace(copies, results={})) is None


def test_long_names_and_titles_fit_the_terminal(copies: ReportInput) -> None:
    long = frames_of(copies).failures.with_columns(title=pl.lit("A failure whose title is [bold]much[/] too long " * 2))
    text = printed(with_frames(copies, failures=long))
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "[bold]" in text


def test_every_frame_becomes_a_table_and_the_summaries_are_data(copies: ReportInput, tmp_path: Path) -> None:
    names = {path.name for path in write_tables(copies, tmp_path)}
    assert {f"{name}.parquet" for name in DecayAnalysis.__dataclass_fields__} <= names
    assert pl.read_parquet(tmp_path / "labels.parquet").equals(frames_of(copies).labels)
    found = ranking_json(copies)["replicate"]
    assert found["onset_summary"][0]["text"] == "2"
    assert json.loads(json.dumps(found, allow_nan=False)) == found


# --- small words ---


def test_the_plain_copy_comes_first_and_is_chosen_where_it_is() -> None:
    assert ordered(["mirror", "replicate", "mirror"]) == ["replicate", "mirror"]
    frame = pl.DataFrame({"pair": ["mirror", "all"]})
    assert first_variant(frame, "all") == "all"
    assert first_variant(frame, "replicate") == "mirror"
    assert first_variant(frame.clear()) is None


def test_a_variant_is_told_in_its_own_words() -> None:
    pairs = {"a": {"instructions": ["Copy.", "Colour.", "Again."]}, "b": {}}
    assert instruction_text(pairs, "a") == "“Copy.” (and 2 other wishes)"
    assert instruction_text(pairs, "b") == instruction_text(pairs, "c") == ""


def _luminance(colour: str) -> float:
    full = colour if len(colour) == 7 else "#" + "".join(2 * sign for sign in colour[1:])
    parts = [int(full[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("sheet", ["report.css", "dark.css"])
def test_the_levels_of_failure_can_be_read_on_their_colours(sheet: str) -> None:
    import convergebench.report.environment as room

    colours = dict(re.findall(r"--(f-[\w-]+):(#\w+)", (room.TEMPLATES / sheet).read_text()))
    assert len(colours) == 8
    for level in ("sub", "object", "image", "noise"):
        light, dark = sorted((_luminance(colours[f"f-{level}"]), _luminance(colours[f"f-{level}-t"])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, level

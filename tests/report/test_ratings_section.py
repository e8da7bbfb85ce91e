"""The section on what people say: every number as text, no rater's name, and words where there is nothing to show."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.rating_world import Kind, RatingWorld, methods, ratings, study
from convergebench.analysis.ratings.analyse import ratings as analysed
from convergebench.analysis.ratings.result import RatingsAnalysis
from convergebench.report.charts.printed import draw_figure
from convergebench.report.charts.rated import RatedChart, RatedRow
from convergebench.report.input import ReportInput
from convergebench.report.page import Page, open_page
from convergebench.report.palette import Style
from convergebench.report.plots import charts
from convergebench.report.sections.ratings import RATINGS

PICTURES = 6
KINDS: list[Kind] = ["honest", "honest", "honest", "honest", "generous", "constant"]
WORLD = RatingWorld(means=(4.0, 3.0, 2.0, 1.0))


def answered(editors: list[str], *frames: pl.DataFrame) -> RatingsAnalysis:
    """The analysis of ratings of the run's editors in place of the simulated methods."""
    renamed = pl.concat(frames)
    for old, new in zip(methods(len(editors)), editors, strict=True):
        renamed = renamed.with_columns(pl.col("editor").replace(old, new), pl.col("detail").str.replace_all(old, new))
    given = study(renamed, PICTURES, len(editors))
    chains = given.chains.with_columns(pl.col("editor").replace(methods(len(editors)), editors))
    return analysed(replace(given, chains=chains))


@pytest.fixture(scope="module")
def found(given: ReportInput) -> RatingsAnalysis:
    """Scores, pairs and the axis `detail`; the last of the raters gives one answer to everything."""
    draw = np.random.default_rng(0)
    scores = ratings(draw, KINDS, PICTURES, world=WORLD)
    pairs = ratings(draw, KINDS, PICTURES, world=WORLD, mode="preference")
    detail = scores.filter(~pl.col("editor").is_in(["clean", "input"])).with_columns(
        pl.lit("detail").alias("question"), (pl.col("value") - 3).alias("value")
    )
    return answered(given.editors, scores, pairs, detail)


def page_of(given: ReportInput, result: RatingsAnalysis | None) -> Page:
    results = {} if result is None else {"ratings": result}
    return open_page(replace(given, results=results, sections=("ratings",)))


@pytest.fixture(scope="module")
def html(given: ReportInput, found: RatingsAnalysis) -> str:
    content = RATINGS.build(page_of(given, found))
    assert content is not None
    return str(content.html) + "".join(str(text) for _, text in content.files)


def test_it_opens_with_the_findings(html: str, found: RatingsAnalysis) -> None:
    assert found.headline[0] in html.replace("&#39;", "'")


def test_every_method_has_its_mean_and_interval_as_text(html: str, found: RatingsAnalysis) -> None:
    for row in found.rating_means.filter(question="score").iter_rows(named=True):
        assert f"{row['mean']:.2f}" in html
        assert f"{row['low']:.2f}–{row['high']:.2f}" in html


def test_charts_have_names_and_the_share_of_every_answer(html: str, found: RatingsAnalysis) -> None:
    labels = re.findall(r'<svg[^>]*aria-label="([^"]*)"', html)
    assert any(label.startswith("How well is the goal met?") for label in labels)
    assert any(label.startswith("Bradley–Terry strengths") for label in labels)
    most = found.rating_distribution.filter(question="score").sort("n")[-1].row(0, named=True)
    assert f"{most['editor']}, {most['value']:.0f}: {100 * most['share']:.0f} % ({most['n']})" in html


def test_strengths_wins_and_differences_are_tables(html: str, found: RatingsAnalysis) -> None:
    first = found.preferences.row(0, named=True)
    assert f">{first['strength']:.2f}<" in html
    assert "Pairwise preferences" in html
    assert html.count("Which differences are significant?") >= 2


def test_raters_have_numbers_and_no_names(html: str, found: RatingsAnalysis) -> None:
    assert found.raters["rater"].to_list() == [f"rater-{number}" for number in range(6)]
    assert "rater-" not in html
    assert "rater 6" in html
    assert html.index("left out</b>") < html.index('<td style="white-space:nowrap">yes')


def test_questions_whose_best_answer_is_zero_say_so(html: str) -> None:
    assert "0 is best" in html
    assert "mean distance<br>from 0" in html.replace("\\u003c", "<").replace("\\u003e", ">")


def test_a_run_without_ratings_says_how_to_get_some(given: ReportInput) -> None:
    nothing = analysed(study(pl.DataFrame(), 3))
    content = RATINGS.build(page_of(given, nothing))
    assert content is not None
    assert "cbench rate" in content.html
    assert "<table" not in content.html
    assert RATINGS.build(page_of(given, None)) is None
    assert list(RATINGS.figures(page_of(given, nothing))) == []


def test_one_rater_shows_means_without_intervals(given: ReportInput) -> None:
    one = answered(given.editors, ratings(np.random.default_rng(1), ["honest"], PICTURES, world=WORLD))
    content = RATINGS.build(page_of(given, one))
    assert content is not None
    assert "no interval" in content.html
    assert "no two raters" in content.html


def test_every_figure_can_be_printed(given: ReportInput, found: RatingsAnalysis) -> None:
    drawn = dict(charts(replace(given, results={"ratings": found}, sections=("ratings",))))
    assert set(drawn) == {"ratings-score", "ratings-detail", "ratings-preference"}
    for chart in drawn.values():
        assert draw_figure(chart).axes


def test_a_hostile_name_is_shown_and_not_run() -> None:
    name = "<script>alert(1)</script>"
    row = RatedRow(name, Style(0, ""), ((3.0, 1.0, 4),), 3.0)
    svg = str(RatedChart([row], 0, 5, "score", name).svg(980))
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg

"""A study's list of sections makes the page: built-ins in any order, somebody else's, tables that none draws."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from convergebench.errors import StudyError
from convergebench.report import figure, render_report
from convergebench.report.charts.lines import LineChart
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.output import write_files
from convergebench.report.plots import charts, write_plots
from convergebench.report.tables import write_tables

SECTIONS = """
from pathlib import Path
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.series import Point, LineSeries
from convergebench.report.sections.base import SectionContent, TemplateSection


class Ready:
    name, title = "ready", "Ready <made>"
    draws = ("drawn",)

    def build(self, page):
        return SectionContent("<script>alert(1)</script>", (("beside/data.json", "{}"),))


def chart(page):
    editor = page.order[0]
    points = (Point(0, 1.0), Point(1, 0.5), Point(2, 0.25))
    return LineChart([LineSeries(editor, page.style[editor], points)], "sharpness", "sharpness by round")


def context(page):
    return {"chart": chart(page), "name": "<b>bold</b>"}


template = TemplateSection(
    "sharp", "Sharp", Path(__file__).with_name("sharp.html"), context, lambda page: [("sharpness", chart(page))]
)


class Broken:
    name, title = "broken", "Broken"

    def build(self, page):
        raise RuntimeError("no such table")


class Bare:
    name, title = "bare", "Bare"

    def build(self, page):
        return "only words"
"""


@dataclass(frozen=True)
class Sharpness:
    drawn: pl.DataFrame
    undrawn: pl.DataFrame

    def tables(self) -> Mapping[str, pl.DataFrame]:
        return {"drawn": self.drawn, "undrawn": self.undrawn}


@pytest.fixture
def own(given: ReportInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReportInput:
    (tmp_path / "own_sections.py").write_text(SECTIONS)
    (tmp_path / "sharp.html").write_text('<section id="sharp"><p>{{ name }}</p>{{ chart }}</section>')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_sections", raising=False)
    frame = pl.DataFrame({"editor": ["<i>x</i>", "y"], "sharp": [0.123456, None]})
    sections = ("curves", "own_sections:Ready", "own_sections:template", "own_sections:Broken", "ranking", "terms")
    return replace(given, sections=sections, results={"sharpness": Sharpness(frame, frame)})


def contents(page: str) -> list[str]:
    (nav,) = re.findall(r'<nav class="contents".*?</nav>', page, re.S)
    return re.findall(r'href="#([\w-]+)"', nav)


def test_the_page_has_the_sections_of_its_study_in_that_order(own: ReportInput, tmp_path: Path) -> None:
    files = dict(render_report(own, tmp_path / "page"))
    page = str(files["index.html"])
    assert contents(page) == ["curves", "ready", "sharp", "broken", "ranking", "tables", "terms"]
    places = [page.index(f'<section id="{name}">') for name in ("curves", "sharp", "broken", "ranking", "terms")]
    assert places == sorted(places)
    assert 'id="settling"' not in page
    assert "openList" not in page, "a page without the list of chains has no script for it"


def test_what_somebody_else_writes_is_escaped_unless_a_template_made_it(own: ReportInput, tmp_path: Path) -> None:
    files = dict(render_report(own, tmp_path / "page"))
    page = str(files["index.html"])
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert "&lt;b&gt;bold" in page
    assert page.count('aria-label="sharpness by round"') == 2, "a chart is drawn for a page and for a phone"
    assert files["beside/data.json"] == "{}"


def test_a_section_that_fails_says_so_and_the_rest_is_there(own: ReportInput, tmp_path: Path) -> None:
    missing = replace(own, sections=(*own.sections, "own_sections:Absent", "no-such-section"))
    page = str(dict(render_report(missing, tmp_path / "page"))["index.html"])
    assert "This section cannot be shown: RuntimeError: no such table" in page
    assert "module &#39;own_sections&#39; has no &#39;Absent&#39;" in page
    assert "unknown section &#39;no-such-section&#39;" in page
    assert 'id="terms"' in page


def test_tables_that_no_section_draws_are_shown_as_they_are(own: ReportInput, tmp_path: Path) -> None:
    page = str(dict(render_report(own, tmp_path / "page"))["index.html"])
    (tables,) = re.findall(r'<section id="tables">.*?</section>', page, re.S)
    assert re.findall("<h3>(.*?)</h3>", tables) == ["undrawn"]
    assert "&lt;i&gt;x" in tables
    assert "0.12<" in tables
    written = {path.name for path in write_tables(own, tmp_path / "tables")}
    assert {"drawn.csv", "undrawn.parquet"} <= written


def test_a_report_is_rendered_without_a_write_and_written_as_rendered(given: ReportInput, tmp_path: Path) -> None:
    out = tmp_path / "report"
    rendered = list(render_report(given, out))
    assert not out.exists()
    assert rendered[-1][0] == "index.html"
    write_report(given, tmp_path / "written")
    names = [path.relative_to(tmp_path / "written") for path in (tmp_path / "written").rglob("*") if path.is_file()]
    assert {Path(name) for name, _ in rendered} == set(names)
    write_files(rendered, out)
    for name in names:
        same = (out / name).read_bytes() == (tmp_path / "written" / name).read_bytes()
        assert same or name.suffix in (".html", ".js"), name  # links to the run differ with the folder


def test_figures_come_by_name_and_from_the_sections(own: ReportInput, given: ReportInput, tmp_path: Path) -> None:
    shown = figure("curves", given)
    assert isinstance(shown, Figure)
    (axes,) = shown.axes
    assert axes.get_ylabel().startswith(given.headline_metric)
    assert axes.get_xlabel() == "round trips"
    described = dict(charts(given))["curve-ssim"]
    assert isinstance(described, LineChart)
    assert axes.get_ylim() == pytest.approx(described.limits), "the axis of the page"
    assert {np.asarray(line.get_ydata())[-1] for line in axes.lines} >= {
        one.last.value for one in described.series if one.last
    }
    assert figure("sharpness", own).axes[0].get_ylabel() == "sharpness"
    assert "sharpness.png" in {path.name for path in write_plots(own, tmp_path / "plots", ["png"])}
    with pytest.raises(StudyError, match=r"there is no figure 'curve'; did you mean 'curves'\? \(there are: curves, "):
        figure("curve", given)


def test_a_section_that_gives_something_else_is_named_and_the_rest_is_shown(own: ReportInput, tmp_path: Path) -> None:
    sections = ("own_sections:Bare", "ranking")
    page = str(dict(render_report(replace(own, sections=sections), tmp_path / "page"))["index.html"])
    assert "This section cannot be shown: TypeError: build() gave a str, which should be a SectionContent" in page
    assert 'id="ranking"' in page

"""The page of a factory run: every section with its numbers as text, examples by a rule, nothing executed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.conductor.analyse import report_input
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.report.html import write_report
from convergebench.report.page import Page, open_page
from convergebench.report.sections.factory.calibration import calibration_section
from convergebench.report.sections.factory.examples import examples_section, median_row
from convergebench.report.sections.factory.funnel import funnel_section
from convergebench.report.sections.factory.sessions import MOST_SESSIONS, evenly, sessions_section
from convergebench.report.sections.factory.success import success_section
from convergebench.studies.spec import parse_spec
from tests.factory_run import InstantEditor, ScriptedRole, factory_run, sources

SECTIONS = ("funnel", "examples", "success", "sessions", "judge", "calibration", "composition")
HOSTILE = "Make it <script>alert(1)</script> \"warm\" & 'cool' <img src=x onerror=alert(2)>"


class HostileWriter(ScriptedRole):
    """Writes instructions that would run in a page that does not escape them."""

    def value(self, images: tuple[bytes, ...], payload: Mapping[str, Any], repeat: int) -> dict[str, Any]:
        return {"prompts": [HOSTILE]}


class OtherEditor(InstantEditor):
    """Does the same, under another fingerprint."""

    name, fingerprint = "other", "other@1"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factory") / "run"
    roles = {"writer": HostileWriter("writer")}
    factory_run(folder, count=10, judged=2, pairwise=True, threshold=0.8, sessions=0.5, roles=roles, report=True)
    return folder


@pytest.fixture(scope="module")
def html(root: Path) -> str:
    return (root / "report" / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(root: Path) -> Page:
    return open_page(report_input(root))


def found(page: Page) -> FactoryAnalysis:
    result = page.given.result(FactoryAnalysis)
    assert result is not None
    return result


def part(html: str, name: str) -> str:
    (section,) = re.findall(rf'<section id="factory-{name}">.*?</section>', html, re.DOTALL)
    return str(section)


class Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_the_page_opens_with_the_finding_and_has_every_section_once(html: str, page: Page) -> None:
    assert f'<p class="finding">{found(page).headline[0]}' in html
    places = [html.index(f'<section id="factory-{name}">') for name in SECTIONS]
    assert places == sorted(places)
    assert all(f'<a href="#factory-{name}">' in html for name in SECTIONS)


def test_words_of_roles_are_shown_and_never_run(html: str) -> None:
    assert "onerror=alert(2)" in html, "it is shown"
    elements = Elements(html).seen
    assert not [tag for tag, attributes in elements if any(name.startswith("on") for name in attributes)]
    assert not [attributes for tag, attributes in elements if tag == "img" and attributes.get("src") == "x"]
    assert "<script>alert(1)" not in html


def test_nothing_is_loaded_from_elsewhere_and_every_picture_is_there(html: str, root: Path) -> None:
    pictures = [attributes for tag, attributes in Elements(html).seen if tag == "img"]
    assert len(pictures) > 20
    for one in pictures:
        assert (root / "report" / str(one["src"])).is_file()
        assert one["alt"], "every picture says what it is"
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', "".join(part(html, name) for name in SECTIONS))


def test_every_chart_has_a_name_and_its_numbers_as_text(html: str) -> None:
    for name in ("funnel", "success", "judge", "calibration"):
        section = part(html, name)
        charts = [attributes for tag, attributes in Elements(section).seen if tag == "svg"]
        assert charts, name
        assert all(one["role"] == "img" and one["aria-label"] for one in charts)
        assert "<table" in section


def test_the_funnel_draws_the_stages_and_tables_all_of_them(page: Page) -> None:
    section = funnel_section(page)
    assert section is not None
    (editor,) = section["editors"]
    edits, sessions = editor["tracks"]
    drawn = {stage.name: stage.n for stage in edits["chart"].stages}
    assert drawn["cases"] == 40
    accepted = edits["chart"].stages[-1]
    assert sum(n for _, n in accepted.parts) == accepted.n == drawn["accepted"]
    assert len(section["table"]) == found(page).funnel.height
    assert sessions["chart"].stages[0].n == found(page).sessions.height


def test_success_is_listed_by_category_then_type_beside_the_paper(page: Page) -> None:
    section = success_section(page)
    assert section is not None
    (panel,) = section["panels"].rows
    names = [line["name"] for line in panel["lines"]]
    assert names[0] == "all edits"
    heads = [line["name"] for line in panel["lines"] if line["head"]][1:]
    assert heads[0] == "Pixel & Photometric"
    published = {row.name: row.published for row in panel["chart"].rows if row.published is not None}
    known = {"Add film grain or vintage filter": 0.9068, "Outpainting (extend canvas beyond boundaries)": 0.6634}
    assert {name: rate for name, rate in known.items() if name in names} == {
        name: published[name] for name in known if name in names
    }
    assert published


def test_examples_are_the_median_of_their_category_and_not_the_best(page: Page) -> None:
    section = examples_section(page)
    assert section is not None
    attempts = found(page).attempts.filter(pl.col("turn") == 1)
    for group in section["groups"]:
        own = attempts.filter(pl.col("category") == group["category"])
        for accepted, card in zip((True, False), group["cards"], strict=True):
            scores = own.filter(pl.col("accepted") == accepted)["score"].sort().to_list()
            assert (card is None) == (not scores)
            if card is not None:
                assert card["score"] == scores[(len(scores) - 1) // 2]
                assert card["before"] != card["after"]
                assert card["long"] == HOSTILE


def test_the_median_of_two_is_the_lower_and_of_none_is_none() -> None:
    rows = [{"score": score, "case": "a", "attempt": 1} for score in (0.9, 0.2, 0.4, 0.8)]
    median = median_row(rows)
    assert median is not None
    assert median["score"] == 0.4
    assert median_row([]) is None


def test_a_session_shows_its_source_and_every_turn(page: Page) -> None:
    section = sessions_section(page)
    assert section is not None
    (panel,) = section["panels"].rows
    assert panel["all"] == found(page).sessions.height
    for one in panel["sessions"]:
        assert one["source_picture"]
        assert [turn["turn"] for turn in one["turns"]] == list(range(1, len(one["turns"]) + 1))
        assert all(turn["picture"] for turn in one["turns"])
        assert (one["end"] == "whole") == one["whole"]


def test_sessions_are_chosen_evenly() -> None:
    assert evenly(list(range(5)), MOST_SESSIONS) == list(range(5))
    chosen = evenly(list(range(1000)), MOST_SESSIONS)
    assert len(chosen) == MOST_SESSIONS
    assert chosen[0] == 0
    assert max(b - a for a, b in pairwise(chosen)) <= 84


def test_the_sweep_marks_the_runs_own_threshold_and_shows_what_is_unknown(page: Page) -> None:
    section = calibration_section(page)
    assert section is not None
    (panel,) = section["panels"].rows
    shares, overlap = panel["chart"].lines
    assert panel["chart"].chosen == 0.8
    at = {point[0]: point for point in shares.points}
    assert at[0.8][1] == at[0.8][3]
    assert at[0.95][3] > at[0.95][1], "further attempts were never made"
    assert {point[0]: point[1] for point in overlap.points}[0.8] == 1.0


def test_several_editors_have_a_panel_each(tmp_path: Path) -> None:
    spec = parse_spec(
        {
            "study": "factory",
            "editors": [{"name": name, "use": "sim-identity"} for name in ("one", "two")],
            "factory": {"per_image": 2, "threshold": 0.8},
            "measure": {"metrics": ["ssim"]},
        }
    )
    roles = {name: ScriptedRole(name) for name in ("detector", "writer", "rewriter", "judge", "inspector")}
    editors = {"one": InstantEditor(), "two": OtherEditor()}
    run(plan(spec, tmp_path / "run", editors=editors, sources=sources(6), roles=roles), RunOptions(workers=1))
    html = (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
    success = part(html, "success")
    assert 'data-panel="factory-success-2"' in success
    assert (tmp_path / "run" / "report" / "panels" / "factory-success-2.js").is_file()
    assert "edits by one" in html
    assert "edits by two" in html


def test_a_run_that_was_not_begun_has_a_page_without_these_sections(root: Path, tmp_path: Path) -> None:
    given = report_input(root)
    empty = {name: frame.clear() for name, frame in found(open_page(given)).tables().items()}
    nothing = FactoryAnalysis(("Nothing yet.",), 0.7, 1, **empty)
    path = write_report(replace(given, results={"factory": nothing}), tmp_path / "report")
    assert 'id="factory-' not in path.read_text(encoding="utf-8")

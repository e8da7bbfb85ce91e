"""The page "Can you trust this metric?" by its parts: what it must say, from frames whose numbers are known."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from convergebench.report.audit.heatmaps import heat_panels, white_sentence
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.lines import risk_panels, trace_panels
from convergebench.report.audit.page import not_run_reasons, open_page
from convergebench.report.audit.write import write_audit
from convergebench.report.charts.base import WIDE
from convergebench.report.page import audit_link
from tests.report.audit.sample import frame, make_audit
from tests.report.pictures import store

HOSTILE = '<script>alert("x")</script>'


class Outline(HTMLParser):
    """Every start tag with its attributes; void elements aside, tags must close in order."""

    VOID = frozenset({"meta", "link", "img", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> AuditReportInput:
    return make_audit(tmp_path_factory.mktemp("audited"))


@pytest.fixture(scope="module")
def folder(audit: AuditReportInput) -> Path:
    return write_audit(audit, audit.runs["run-a"] / "audit", plots=False).parent


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


def panel(folder: Path, name: str) -> str:
    """The markup of a panel that is loaded later."""
    called = (folder / "panels" / f"{name}.js").read_text(encoding="utf-8")
    return str(json.loads("[" + called.removeprefix("CB.panel(").removesuffix(");\n") + "]")[1])


def test_the_finding_comes_first_and_then_the_sections_in_order(html: str, audit: AuditReportInput) -> None:
    assert re.findall("<h1>(.*?)</h1>", html) == ["Metric audit of run-a"]
    assert re.findall('<p class="finding">(.*?)</p>', html) == [audit.audit.headline[0]]
    found = re.findall(r'<section id="(\w+)"', html)
    order = "advice heat traces counts confound content risk ranks ranges repeats cards made terms"
    assert " ".join(found) == order
    assert html.index("<h1>") < html.index('class="hero contradiction"') < html.index('<section id="advice"')


def test_the_page_is_well_formed_and_names_only_what_is_there(html: str, folder: Path) -> None:
    assert Outline(html).open == []
    links = re.findall(r'(?:src|href)="([^"#][^"]*)"', html)
    named = [unescape(link).split("#")[0] for link in links if not link.startswith("data:")]
    assert len(named) > 10
    assert [link for link in named if not (folder / link).exists()] == []
    assert not re.search(r'(?:src|href)="(https?:)?//', html)


def test_every_term_and_card_that_is_linked_is_there(html: str, folder: Path) -> None:
    every = html + "".join(panel(folder, path.stem) for path in (folder / "panels").glob("*.js"))
    linked = set(re.findall(r'href="#([\w-]+)"', every))
    assert {one for one in linked if one.startswith("def-")}
    assert linked <= set(re.findall(r'id="([\w-]+)"', html))


def test_there_is_a_card_for_every_metric_run_or_not(html: str, audit: AuditReportInput) -> None:
    cards = re.findall(r'<article class="trust( idle)?" id="[^"]+">\s*<header><h3>(.*?)</h3>', html)
    wanted = {row["title"]: row["status"] for row in audit.audit.metrics.to_dicts()}
    assert {title: "not run" if idle else "audited" for idle, title in cards} == wanted
    assert html.count("needs its weights") >= 2
    assert "cbench audit RUN --metric musiq" in html


def test_the_worst_contradiction_is_the_hero_with_raw_scores_and_damage(html: str, audit: AuditReportInput) -> None:
    worst = audit.audit.contradictions.row(0, named=True)
    hero = html[html.index('class="hero contradiction"') : html.index('<nav class="contents"')]
    for score in (worst["base_score"], worst["score"]):  # the sample's scores are on the scale already
        assert f"<b>{score:.2f}</b>" in hero
    assert f"+{worst['gap']:.1f}" in hero
    assert "0.420" in hero
    assert len(re.findall(r"<img ", hero)) == 3 + 2


def test_cells_of_the_heatmap_are_the_frame_s_counts(audit: AuditReportInput) -> None:
    first = heat_panels(open_page(audit))[0]
    frame = audit.audit.cells
    names = [row["metric"] for row in audit.audit.metrics.to_dicts() if row["status"] == "audited"]
    for block in first["blocks"]:
        for line in block["lines"]:
            for metric, cell in zip(names, line["cells"], strict=True):
                row = frame.filter(editor=block["editor"], source=line["name"], metric=metric).row(0, named=True)
                assert cell["text"] == (str(row["failures"]) if row["known"] else "–")
                assert ("*" in cell["mark"]) == (0 < row["known"] < row["asked"])
    failed = {row["metric"]: row["n_failed"] for row in audit.audit.metrics.to_dicts()}
    assert [column["failed"] for column in first["columns"]] == [failed[name] for name in names]


def test_every_gap_and_editor_has_its_own_heatmap(folder: Path, html: str, audit: AuditReportInput) -> None:
    assert html.count('class="panel heat-panel"') == 3 * 3
    for place, at in ((4, 5), (7, 10)):  # three choices of editor per gap
        shown = panel(folder, f"heat-{place}")
        gaps = audit.audit.gaps.filter(at=at)
        assert len(re.findall(r'<td class="on[ "]', shown)) == gaps["failed"].sum()
        assert shown.count('<td class="x"') == gaps["gap"].null_count()
        assert len(re.findall(r">0\.0°</td>", shown)) == gaps["zero"].sum()
    assert "sim-noise" not in panel(folder, "heat-2")


def test_missing_scores_are_hatched_and_say_so(folder: Path) -> None:
    shown = panel(folder, "heat-7")
    assert 'class="x" title="Δ10 missing">–</td>' in shown


def test_white_columns_are_told_from_the_data(audit: AuditReportInput) -> None:
    def sentence(**columns: object) -> str:
        metrics = audit.audit.metrics.with_columns(**{name: pl.lit(value) for name, value in columns.items()})
        return white_sentence(open_page(replace(audit, audit=replace(audit.audit, metrics=metrics))))

    assert sentence().startswith("Every one of the 4 metrics misses damage on some image")
    assert sentence(white=True).startswith("4 of 4 metrics catch damage on every image (ARNIQA, BRISQUE")
    assert sentence(n_failed=0).endswith("have no failure but lack some scores, so this is not proven.")
    assert sentence(status="not run") == "No metric has been scored yet."


def test_traces_show_copies_and_additions_apart(audit: AuditReportInput) -> None:
    first = trace_panels(open_page(audit))[0]
    assert "sim-noise ends at" in first["chart"].svg(WIDE)
    assert "add-fruit" in first["added"].svg(WIDE)
    assert "add-fruit" not in first["chart"].svg(WIDE)


def test_one_editor_with_few_images_has_a_line_for_each(tmp_path: Path) -> None:
    given = make_audit(tmp_path, editors=("sim-noise",), additions=False, metrics=1)
    (only,) = trace_panels(open_page(given))
    assert all(f"{source} ends at" in only["chart"].svg(WIDE) for source in ("cup", "hill", "face"))
    assert only["added"] is None


def test_filter_risk_has_a_panel_per_percentile_and_the_share_at_every_gap(audit: AuditReportInput) -> None:
    panels = risk_panels(open_page(audit))
    assert [panel["name"] for panel in panels] == ["5 %", "25 %", "50 %"]
    assert panels[0]["columns"] == [1, 5, 10]
    shares = audit.audit.filter_risk.filter(metric="arniqa", percentile=5.0, editor="all", at=10)["share"]
    assert panels[0]["rows"][0]["cells"][-1]["text"] == f"{100 * shares[0]:.0f} %"


def test_reasons_for_not_running_are_given_once(tmp_path: Path) -> None:
    given = make_audit(tmp_path, metrics=1, additions=False)
    why = pl.format("torch: pip install torch; weights {}: cbench weights fetch {}", "metric", "metric")
    metrics = given.audit.metrics.with_columns(why=pl.when(pl.col("status") == "not run").then(why))
    page = open_page(replace(given, audit=replace(given.audit, metrics=metrics)))
    told = "torch: pip install torch; weights: cbench weights fetch musiq rali"
    assert not_run_reasons(page) == [(told, ["MUSIQ", "RALI"])]
    assert not_run_reasons(page, most=1)[0][0].endswith("fetch musiq …")


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    given = make_audit(tmp_path, editors=(f"sim-noise{HOSTILE}", "sim-jpeg"), images=(HOSTILE, "cup"), names=[HOSTILE])
    out = write_audit(given, tmp_path / "audit", plots=False)
    for path in (out, *(out.parent / "panels").glob("*.js")):
        text = path.read_text(encoding="utf-8")
        assert HOSTILE not in text
        if path == out:
            assert Outline(text).open == []
            run = [tag for tag, given in Outline(text).tags if tag == "script" and "type" not in given]
            assert run == ["script", "script"]


def test_nothing_run_is_a_page_that_says_so(tmp_path: Path) -> None:
    given = make_audit(tmp_path, metrics=0, additions=False)
    text = write_audit(given, tmp_path / "audit").read_text(encoding="utf-8")
    assert '<p class="finding">No metric has been scored yet' in text
    assert re.findall(r'<section id="(\w+)"', text) == ["cards", "made", "terms"]
    assert text.count('class="trust idle"') == 2


def test_many_images_become_counts_and_the_editors_their_own_panels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convergebench.report.audit.heatmaps.MOST_CELLS", 10)
    panels = heat_panels(open_page(make_audit(tmp_path, metrics=2)))
    assert panels[0]["blocks"] == []
    assert [line["editor"] for line in panels[0]["counts"]] == ["sim-jpeg", "sim-noise"]
    assert len(panels[1]["blocks"][0]["lines"]) == 3


def test_pictures_link_to_the_run_s_own_viewer(tmp_path: Path) -> None:
    given = make_audit(tmp_path, metrics=1, additions=False)
    out = write_audit(given, tmp_path / "audit", plots=False)
    assert 'href="../images/' in out.read_text(encoding="utf-8")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "viewer.html").write_text("")
    again = write_audit(given, tmp_path / "audit", plots=False).read_text(encoding="utf-8")
    assert re.search(r'href="../report/viewer.html#c=[0-9a-f]+&amp;s=1"', again)


def test_pictures_that_are_gone_are_said_to_be(tmp_path: Path) -> None:
    given = replace(make_audit(tmp_path, metrics=1, additions=False), pictures={})
    text = write_audit(given, tmp_path / "audit", plots=False).read_text(encoding="utf-8")
    assert "are not on this disk" in text
    assert "no image was kept" in text


def test_a_page_without_a_detail_does_not_speak_of_one(tmp_path: Path) -> None:
    given = make_audit(tmp_path, metrics=1, additions=False)
    grey = store(tmp_path, np.full((48, 48, 3), 128, np.uint8))
    last = max(at for *_, at in given.pictures)
    given = replace(given, pictures={key: grey if key[3] == last else file for key, file in given.pictures.items()})
    text = write_audit(given, tmp_path / "audit", plots=False).read_text(encoding="utf-8")
    assert 'class="hero contradiction"' in text
    assert "two details" not in text
    assert 'class="details"' not in text


def test_which_metric_fails_less_often_is_told_with_its_test(tmp_path: Path) -> None:
    given = make_audit(tmp_path, metrics=3, additions=False)
    one, two, three = given.audit.metrics.filter(status="audited")["metric"].to_list()
    common = {"difference": 0.5, "p": 0.01, "n_cells": 12, "n_sources": 12}
    pairs = frame(
        "pairs",
        [
            {"fewer": one, "more": two, "p_holm": 0.03, "told": True, **common},
            {"fewer": one, "more": three, "p_holm": 0.4, "told": False, **common},
        ],
    )
    text = write_audit(replace(given, audit=replace(given.audit, pairs=pairs)), tmp_path / "audit", plots=False)
    part = text.read_text(encoding="utf-8").split("Which fails less often")[1].split("</details>")[0]
    assert re.findall(r"<td>(yes|no)</td>", part) == ["yes", "no"]


def test_a_filter_that_takes_more_images_says_so_in_place_of_a_number(tmp_path: Path) -> None:
    given = make_audit(tmp_path, additions=False)
    few = pl.col("percentile") < 25
    risk = given.audit.filter_risk.with_columns(
        *(pl.when(~few).then(pl.col(name)).alias(name) for name in ("threshold", "share", "passed", "low", "high")),
        n_clean=pl.lit(12, pl.Int64),
    )
    given = replace(given, audit=replace(given.audit, filter_risk=risk))
    out = write_audit(given, tmp_path / "audit", plots=False)
    text = out.read_text(encoding="utf-8")
    assert "Too few to tell: 12 untouched images, percentile 5 takes 40." in text
    assert "filter at 25 %" in text, "a card tells of the mildest filter that could be set"
    assert "filter at 5 %" not in text


def test_every_constant_and_run_is_at_the_foot(html: str, audit: AuditReportInput) -> None:
    foot = html[html.index('<section id="made"') :]
    for name in ("gaps", "baseline", "by", "ranges", "percentiles", "damage", "enough", "draws", "seed", "confidence"):
        assert f"<dt>{name}</dt>" in foot
    for rule in ("<dt>often</dt><dd>0.25</dd>", "<dt>fewest sources</dt><dd>5</dd>"):
        assert rule in foot
    assert audit.made["command"] in foot
    assert "Run run-a" in foot
    assert all(note in unescape(foot) for note in audit.audit.notes)


def test_a_card_says_on_which_editors_it_fails(html: str, audit: AuditReportInput) -> None:
    failures = audit.audit.failures.filter(pl.col("editor") != "all", metric="clipiqa").to_dicts()
    card = html[html.index("<h3>CLIPIQA</h3>") :]
    card = re.sub("<[^>]+>", "", card[: card.index("</article>")])
    for row in failures:
        shown = f"{row['editor']} {row['n_failed']}/{row['n_cells'] - row['n_missing']}"
        assert shown in card if row["n_failed"] else "never on" in card


def test_a_run_s_own_report_links_to_its_audit(tmp_path: Path) -> None:
    assert audit_link(tmp_path, tmp_path / "report") == []
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "index.html").write_text("")
    assert audit_link(tmp_path, tmp_path / "report") == [("../audit/index.html", "metric audit")]

"""The page of a restoration run: every table and chart says what the frames say, and nothing is executed."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean, median
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from convergebench.analysis.restoration.result import INPUT, RestorationAnalysis, frame
from convergebench.report import print_ranking, ranking_json, write_latex
from convergebench.report.charts.printed import draw_figure
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.page import Page, open_page
from convergebench.report.plots import charts
from convergebench.report.sections.restoration.categories import categories_section
from convergebench.report.sections.restoration.choice import chosen_pictures
from convergebench.report.sections.restoration.factors import factors_section
from convergebench.report.sections.restoration.infidelity import infidelity_section
from convergebench.report.sections.restoration.methods import methods_section
from convergebench.report.sections.restoration.panels import panels_section
from convergebench.report.sections.restoration.prompts import prompts_section
from convergebench.report.sections.restoration.refinement import refinement_section
from convergebench.report.sections.restoration.stability import stability_section
from convergebench.report.sections.restoration.tradeoff import tradeoff_section
from tests.report.drawn import marks
from tests.report.restored import HOSTILE, OWN, method_rows, nothing, with_analysis


class Elements(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(restored: ReportInput) -> Page:
    return open_page(restored)


@pytest.fixture(scope="module")
def html(restored_report: Path) -> str:
    return (restored_report / "index.html").read_text(encoding="utf-8")


def analysis(given: ReportInput) -> RestorationAnalysis:
    found = given.result(RestorationAnalysis)
    assert found is not None
    return found


def changed(given: ReportInput, **frames: Any) -> Page:
    """The page with some frames replaced."""
    return open_page(with_analysis(given, replace(analysis(given), **frames)))


def panels(report: Path) -> Iterator[str]:
    """The markup of every panel that is loaded when it is chosen."""
    for path in sorted((report / "panels").glob("restoration-*.js")):
        inside = path.read_text(encoding="utf-8").removeprefix("CB.panel(").removesuffix(");\n")
        yield json.loads(f"[{inside}]")[1]


def test_the_page_opens_with_the_finding_and_has_every_section_once(html: str, restored: ReportInput) -> None:
    assert "<h1>" in html
    assert analysis(restored).headline[0].split("(")[0][:20] in html
    places = [html.index(f'<section id="{name}">') for name in OWN]
    assert places == sorted(places)
    assert all(html.count(f'<a href="#{name}">') == 1 for name in OWN)


def test_every_term_that_is_linked_is_defined(html: str, restored_report: Path) -> None:
    linked = set(re.findall(r'href="#def-([a-z-]+)"', html + "".join(panels(restored_report))))
    assert {"input", "gain", "pareto", "friedman", "holm", "infidelity", "over-generation", "unified-prompt"} <= linked
    assert not [anchor for anchor in linked if f'id="def-{anchor}"' not in html]


def test_names_are_shown_and_never_run(html: str, restored_report: Path) -> None:
    every = [html, *panels(restored_report)]
    assert len(every) > 15
    assert any("onerror=alert(1)" in text for text in every), "it is shown"
    for text in every:
        elements = Elements(text).seen
        assert not [tag for tag, attributes in elements if any(name.startswith("on") for name in attributes)]
        assert not [attributes for tag, attributes in elements if tag == "img" and attributes.get("src") == "x"]


def test_every_picture_is_there_small_and_whole_and_says_what_it_is(html: str, restored_report: Path) -> None:
    every = [*Elements(html).seen, *(one for text in panels(restored_report) for one in Elements(text).seen)]
    pictures = [attributes for tag, attributes in every if tag == "img"]
    links = [attributes for tag, attributes in every if "data-full" in attributes]
    assert len(links) > 30
    for one in pictures:
        assert (restored_report / str(one["src"])).is_file()
        assert one["alt"]
    for one in links:
        assert (restored_report / str(one["data-full"])).is_file()
        assert one["href"], "it leads somewhere without a script too"
        assert int(str(one["data-width"])) == 64


def test_every_chart_has_a_name_and_its_numbers_as_a_table(html: str) -> None:
    for name in ("methods", "tradeoff", "factors", "refinement", "infidelity"):
        section = html.split(f'<section id="restoration-{name}">')[1].split("</section>")[0]
        drawn = [attributes for tag, attributes in Elements(section).seen if tag == "svg"]
        assert drawn, name
        assert all(one["role"] == "img" and one["aria-label"] for one in drawn)
        assert "<table" in section


# --- methods ---


def test_the_input_stands_on_top_and_methods_follow_by_the_first_metric(page: Page, restored: ReportInput) -> None:
    section = methods_section(page)
    assert section is not None
    lines = section["lines"]
    assert lines[0]["is_input"]
    assert not any(cell["gain"] for cell in lines[0]["cells"])
    means = dict(analysis(restored).method_results.filter(metric="psnr").select("editor", "mean").iter_rows())
    assert [line["editor"] for line in lines[1:]] == sorted(set(means) - {INPUT}, key=lambda name: -means[name])
    assert [head["name"] for head in section["heads"]] == ["psnr", "ssim", "piqe"]
    assert section["n"] == ["3", "3", "5"], "a clean picture for three, all five without one"


def test_one_cell_says_mean_interval_gain_and_whether_it_is_best(restored: ReportInput) -> None:
    rows = method_rows(["instant", "gentle"])
    section = methods_section(changed(restored, method_results=frame("method_results", rows)))
    assert section is not None
    cells = {line["editor"]: line["cells"][0] for line in section["lines"]}
    assert cells["gentle"] == {**{"text": "21.50", "interval": "19.00–23.00", "best": True, "why": "", "gain": "+1.50"}}
    assert not cells["instant"]["best"]
    assert section["low"] == ["instant"], "half of its pictures were not delivered"


def test_gains_are_drawn_about_zero_the_best_on_top(restored: ReportInput) -> None:
    rows = method_rows(["gentle", "instant"])
    rows[2] |= {"gain": -0.5, "gain_low": -0.8, "gain_high": -0.2}
    section = methods_section(changed(restored, method_results=frame("method_results", rows[:1] + rows[:0:-1])))
    assert section is not None
    (panel,) = section["panels"].rows
    assert [(line.name, line.columns[0][0].value) for line in panel["chart"].lines] == [
        ("gentle", 2.0),
        ("instant", -0.5),
    ]
    assert panel["chart"].better == 1, "a gain is turned so that more is better"
    dots = marks(panel["chart"], "point")
    assert [(dot["x"], dot["low"], dot["high"]) for dot in dots][1] == (-0.5, -0.8, -0.2)
    assert dots[0]["y"] < dots[1]["y"], "the best on top"


@pytest.mark.parametrize("count", [1, 12])
def test_one_method_and_twelve_fit(restored: ReportInput, tmp_path: Path, count: int) -> None:
    names = [f"method-{place}-with-quite-a-long-name" for place in range(count)]
    manifest = {**restored.manifest, "editors": [{"name": name} for name in names]}
    one = restored.chains.filter(editor="gentle")
    chains = pl.concat([one.with_columns(editor=pl.lit(name)) for name in names])
    found = replace(nothing(analysis(restored)), method_results=frame("method_results", method_rows(names)))
    given = with_analysis(replace(restored, manifest=manifest, chains=chains, steps=restored.steps.clear()), found)
    text = write_report(given, tmp_path / "report").read_text(encoding="utf-8")
    assert f"{'How well it restores' if count == 1 else 'Which method restores best'}</h2>" in text
    table = text.split('<section id="restoration-methods">')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert [name for name in names if name in table] == names
    assert table.count("<tr") == count + 1
    assert table.count('<b class="best">') == (1 if count > 1 else 0)


def test_sections_without_anything_are_left_out(restored: ReportInput, tmp_path: Path) -> None:
    given = with_analysis(restored, nothing(analysis(restored)))
    text = write_report(given, tmp_path / "report").read_text(encoding="utf-8")
    assert 'id="restoration-' not in text
    assert "data-compare" not in text


# --- pictures ---


def test_pictures_are_chosen_by_gain_and_never_by_eye(page: Page, restored: ReportInput) -> None:
    own = analysis(restored).restored.filter(metric="psnr", prompt="LF3", round=1, replicate=0)
    best = own.sort("gain").row(-1, named=True)
    worst = own.sort("gain").row(0, named=True)
    chosen = chosen_pictures(page, analysis(restored))
    said = {why.split(":")[0]: one for one in chosen for why in one["whys"]}
    assert said["largest gain"]["source"] == best["source"]
    assert best["editor"] in said["largest gain"]["editors"]
    least = said.get("largest loss") or said["smallest gain"]
    assert least["source"] == worst["source"]
    means = {source: fmean(own.filter(source=source)["gain"]) for source in own["source"].unique()}
    middle = median(means.values())
    assert abs(means[said["nearest the median gain"]["source"]] - middle) == min(
        abs(v - middle) for v in means.values()
    )


def test_a_picture_that_two_rules_choose_is_shown_once(page: Page, restored: ReportInput) -> None:
    one = analysis(restored).restored.filter(source="picture-0.mixed")
    chosen = chosen_pictures(page, replace(analysis(restored), restored=one))
    assert len(chosen) == 1
    assert len(chosen[0]["whys"]) == 3
    assert "the only picture" in chosen[0]["whys"]


def test_a_strip_goes_from_the_input_over_every_method_to_the_clean_picture(page: Page) -> None:
    section = panels_section(page)
    assert section is not None
    first = section["panels"].rows[0]
    assert first["name"] == "all pictures"
    for strip in first["strips"]:
        names = [one["name"] for one in strip["pictures"]]
        assert names == ["input", *page.order, "clean picture"]
        assert all(one["thumb"] and one["full"] for one in strip["pictures"])
        assert {one["name"] for one in strip["pictures"] if one["marked"]} == set(strip["editors"])
        assert len({one["image"] for one in strip["pictures"]}) == len(names)


def test_categories_without_a_reference_are_chosen_by_a_metric_that_needs_none(page: Page) -> None:
    section = panels_section(page)
    assert section is not None
    by_name = {panel["name"]: panel for panel in section["panels"].rows}
    assert by_name["Motion Blur"]["metric"] == "piqe"
    (strip,) = by_name["Motion Blur"]["strips"]
    assert strip["pictures"][-1]["note"] == "not compared with"


def test_a_result_that_was_refused_says_so(restored: ReportInput) -> None:
    gone = (pl.col("editor") == "gentle") & (pl.col("round") == 1)
    steps = restored.steps.with_columns(image=pl.when(gone).then(None).otherwise(pl.col("image")))
    chains = restored.chains.with_columns(
        status=pl.when(pl.col("editor") == "gentle").then(pl.lit("refused")).otherwise(pl.col("status"))
    )
    section = panels_section(open_page(replace(restored, steps=steps, chains=chains)))
    assert section is not None
    strip = section["panels"].rows[0]["strips"][0]
    assert next(one["why"] for one in strip["pictures"] if one["name"] == "gentle") == "no picture: refused"


# --- categories, prompts, factors ---


def test_a_slash_stands_where_there_is_no_clean_picture(page: Page) -> None:
    section = categories_section(page)
    assert section is not None
    shown = {panel["name"]: panel for panel in section["panels"].rows}
    texts = {
        (row["title"], metric): {cell["text"] for cell in row["cells"]}
        for metric, panel in shown.items()
        for group in panel["groups"]
        for row in group["rows"]
    }
    assert texts["Motion Blur", "psnr"] == {"/"}
    assert "/" not in texts["Motion Blur", "piqe"] | texts["Aerial View", "psnr"]
    titles = [group["title"] for group in shown["psnr"]["groups"]]
    assert titles == ["Scenes", "Degradations: Blur Artifacts", "Degradations: Historical & Analog"]


def test_prompts_stand_with_their_means_beside_the_paper(page: Page, restored: ReportInput) -> None:
    section = prompts_section(page)
    assert section is not None
    assert [panel["name"] for panel in section["panels"].rows] == [e for e in page.order if e != "gentle"]
    panel = section["panels"].rows[0]
    assert {line["row"] for line in panel["lines"] if line["level"] == "prompt"} == {"S1", "S2", "SF1", "L1", "LF3"}
    assert {line["row"] for line in panel["lines"] if line["level"] == "group"} == {"Avg(S)"}
    own = analysis(restored).prompt_results.filter(editor=panel["name"], row="S1", metric="psnr").row(0, named=True)
    cell = next(line for line in panel["lines"] if line["row"] == "S1")["cells"][0]
    assert cell["text"] == f"{own['mean']:.2f}"
    assert cell["paper"] == f"{own['paper']:.2f}"
    assert [one["prompt"] for one in section["words"]] == ["S1", "S2", "SF1", "L1", "LF3"]


def test_the_four_cells_of_the_design_are_drawn_with_their_effects(page: Page, restored: ReportInput) -> None:
    section = factors_section(page)
    assert section is not None
    panel = section["panels"].rows[0]
    (psnr,) = (one for one in panel["charts"] if one["metric"] == "psnr")
    found = analysis(restored).prompt_results.filter(editor=panel["name"], metric="psnr")
    means = dict(found.select("row", "mean").iter_rows())
    without, hinted = psnr["interaction"].lines
    assert [cell.value for cell in without.cells] == [means["Avg(S)"], means["L1"]]
    assert [cell.value for cell in hinted.cells] == [means["SF1"], means["LF3"]]
    effects = dict(
        analysis(restored)
        .factor_effects.filter(editor=panel["name"], metric="psnr")
        .select("effect", "estimate")
        .iter_rows()
    )
    drawn = [line.columns[0][0].value for line in psnr["effects"].lines]
    assert drawn == [effects[name] for name in ("length", "fidelity", "interaction")]
    assert {row["effect"] for row in panel["rows"]} == {"length", "fidelity", "interaction"}


def test_a_design_with_an_empty_cell_has_no_interaction_chart(restored: ReportInput) -> None:
    found = analysis(restored)
    part = found.prompt_results.filter(pl.col("row") != "SF1")
    section = factors_section(changed(restored, prompt_results=part))
    assert section is not None
    assert all(one["interaction"] is None for panel in section["panels"].rows for one in panel["charts"])


# --- trade-off, stability, refinement, infidelity ---


def test_the_trade_off_marks_the_input_and_draws_the_front(page: Page, restored: ReportInput) -> None:
    section = tradeoff_section(page)
    assert section is not None
    assert [panel["name"] for panel in section["panels"].rows] == ["piqe against psnr", "piqe against ssim"]
    methods, *prompts = section["panels"].rows[0]["charts"]
    chart = methods["chart"]
    assert [one.name for one in chart.points if one.style is None] == ["input (no restoration)"]
    frame_rows = analysis(restored).tradeoff.filter(level="method", distortion_metric="psnr")
    assert {one.name for one in chart.front if one.style} == set(frame_rows.filter("pareto")["editor"]) - {INPUT}
    assert (chart.x_better, chart.y_better) == (1, -1), "less piqe is better, so its axis is turned"
    assert len(prompts) == 2
    assert {one.name for one in prompts[0]["chart"].points} == {"S1", "S2", "SF1", "L1", "LF3"}
    assert {one.name for one in prompts[0]["chart"].points if one.hollow} == {"S1", "S2", "L1"}


def test_friedman_stands_with_both_p_values_and_the_spread(page: Page, restored: ReportInput) -> None:
    section = stability_section(page)
    assert section is not None
    panel = next(panel for panel in section["panels"].rows if panel["name"] == "instant")
    own = analysis(restored).stability.filter(editor="instant", prompt="S1", metric="psnr").row(0, named=True)
    cell = next(line for line in panel["lines"] if line["prompt"] == "S1")["cells"][0]
    assert cell["statistic"] == f"{own['statistic']:.2f}"
    assert (cell["p"], cell["p_holm"]) == (f"{own['p']:.3f}", f"{own['p_holm']:.3f}")
    assert cell["share"] == f"{100 * own['spread'] / own['between']:.0f} %"
    assert panel["tests"] == analysis(restored).stability.filter(pl.col("p").is_not_null(), editor="instant").height


def test_a_repeat_that_fell_out_is_framed_among_the_others(page: Page) -> None:
    section = stability_section(page)
    assert section is not None
    panel = next(panel for panel in section["panels"].rows if panel["name"] == "instant")
    (strip,) = panel["outliers"]
    names = [one["name"] for one in strip["pictures"]]
    assert names[:4] == ["input", "repeat 1", "repeat 2", "repeat 3"]
    assert [one["name"] for one in strip["pictures"] if one["marked"]] == ["repeat 2"]
    assert "−9.00 dB from the median of the repeats, 18.0 times the usual distance" in strip["says"]


def test_rounds_are_drawn_from_the_input_on_and_one_round_is_no_section(page: Page, restored: ReportInput) -> None:
    section = refinement_section(page)
    assert section is not None
    chart = section["panels"].rows[0]["chart"]
    assert [point.x for point in chart.series[0].points] == [0, 1, 2]
    assert section["panels"].rows[0]["rounds"] == [0, 1, 2]
    once = analysis(restored).refinement.filter(pl.col("round") < 2)
    assert refinement_section(changed(restored, refinement=once)) is None


def test_what_rules_propose_and_people_say_stand_apart(page: Page, restored: ReportInput) -> None:
    section = infidelity_section(page)
    assert section is not None
    assert section["people"]
    assert section["gallery"] == "", "this page has no gallery beside it"
    (panel,) = section["panels"].rows
    assert [(hint["name"], hint["rule"]["per_prompt"]) for hint in panel["hints"]] == [
        ("without a request for fidelity", 4.0),
        ("with a request for fidelity", 1.0),
    ]
    assert [(row.name, row.share, row.second, row.head) for row in panel["chart"].rows][:2] == [
        ("without a request for fidelity", 0.8, 0.8, True),
        ("S1", 0.8, 0.8, False),
    ]
    assert panel["modes"] == [
        {
            **{"title": "texture invented", "mode": "invented-texture"},
            **{voice: {"cases": 5, "n": 10, "n_unknown": 2} for voice in ("rule", "person")},
        }
    ]
    rules = analysis(restored).infidelity.filter(said_by="rule")
    alone = infidelity_section(changed(restored, infidelity=rules))
    assert alone is not None
    assert not alone["people"]
    assert all(row.second is None for row in alone["panels"].rows[0]["chart"].rows)


def test_where_nobody_could_tell_there_is_no_share_and_no_zero(restored: ReportInput) -> None:
    unknown = {"cases": 0, "n": 0, "share": None, "low": None, "high": None, "n_unknown": 6, "per_prompt": None}
    rows = [{**row, **unknown} for row in analysis(restored).infidelity.to_dicts()]
    page = changed(restored, infidelity=frame("infidelity", rows))
    section = infidelity_section(page)
    assert section is not None
    (panel,) = section["panels"].rows
    assert panel["chart"] is None
    text = page.render("restoration_infidelity_panel.html", panel=panel)
    assert "rules could not tell in any chain" in text
    assert "cannot tell" in text
    assert "0 of 0" not in text


# --- print, LaTeX, terminal ---


def test_every_chart_is_drawn_for_print_too(restored: ReportInput) -> None:
    drawn = dict(charts(restored))
    for start in (
        "gain-psnr",
        "tradeoff-methods-psnr-piqe",
        "tradeoff-prompts",
        "interaction",
        "effects",
        "refinement",
    ):
        assert any(name.startswith(f"restoration-{start}") for name in drawn), start
    assert "restoration-infidelity-instant" in drawn
    for name in ("gain-psnr", "tradeoff-methods-psnr-piqe", "interaction-instant-psnr", "effects-instant-psnr"):
        assert draw_figure(drawn[f"restoration-{name}"]).axes
    assert draw_figure(drawn["restoration-infidelity-instant"]).axes


def test_the_tables_of_the_paper_are_written_for_latex(restored: ReportInput, tmp_path: Path) -> None:
    found = analysis(restored)
    rows = [{**row, "best": row["editor"] == "instant"} for row in found.method_results.to_dicts()]
    given = with_analysis(restored, replace(found, method_results=frame("method_results", rows)))
    files = {path.stem: path.read_text(encoding="utf-8") for path in write_latex(given, tmp_path)}
    made = {"restoration_prompts", "restoration_stability", "restoration_categories", "restoration_methods"}
    assert made <= files.keys()
    methods = files["restoration_methods"]
    assert r"PSNR \ensuremath{\uparrow} & SSIM \ensuremath{\uparrow} & piqe \ensuremath{\downarrow}" in methods
    assert r"instant & \textbf{" in methods
    assert "input (no restoration) & " in methods
    assert r"\textless{}img src=x" in methods
    assert "Motion Blur & instant & / & / &" in files["restoration_categories"]
    assert "Avg(S)" in files["restoration_prompts"]
    assert r"\ensuremath{\chi}" in files["restoration_stability"]
    assert not made & {path.stem for path in write_latex(replace(given, results={}), tmp_path / "other")}


def test_the_terminal_lists_the_methods_in_80_columns(restored: ReportInput) -> None:
    for width, encoding in ((80, "utf-8"), (80, "ascii")):
        raw = io.BytesIO()
        file = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
        print_ranking(restored, Console(file=file, width=width, no_color=True))
        file.flush()
        lines = raw.getvalue().decode(encoding).splitlines()
        assert max(map(len, lines)) <= width
        table = [line.split() for line in lines if line.startswith(("method", "input ", "instant", "gentle"))]
        assert table[0] == ["method", "psnr", "gain", "interval", "ssim", "piqe", "delivered"]
        assert table[1][0] == "input"
        assert any(row[0] == "gentle+" and row[-2:] == ["100", "%"] for row in table)
        assert "No ranking" not in "\n".join(lines)
        if encoding == "ascii":
            assert "?" not in "\n".join(line for line in lines if line.startswith(("instant", "gentle")))


def test_other_programs_get_the_tables(restored: ReportInput) -> None:
    found = ranking_json(restored)["restoration"]
    assert found["unified"] == "LF3"
    assert {row["editor"] for row in found["method_results"]} == {INPUT, "instant", "gentle", HOSTILE}
    assert "restored" not in found
    json.dumps(found, allow_nan=False)

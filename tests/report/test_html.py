from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.report.chains import chain_key, script
from convergebench.report.hero import choose_hero, round_ends
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.page import open_page
from convergebench.report.sections.breakdown import breakdown_section
from convergebench.report.sections.diagnostics import diagnostics_section
from convergebench.report.tables import write_tables
from tests.report.drawn import marks, texts
from tests.report.synthetic import FACTS, make_run


@pytest.fixture(scope="module")
def page(report: Path) -> str:
    return (report / "index.html").read_text(encoding="utf-8")


def test_the_page_opens_with_the_title_the_run_and_the_finding(page: str, given: ReportInput) -> None:
    assert re.findall("<h1>(.*?)</h1>", page) == ["Round-trip study of 4 editors"]
    assert "<title>Round-trip study of 4 editors · ConvergeBench</title>" in page
    (run_line,) = re.findall('<p class="run-line">(.*?)</p>', page)
    assert str(given.manifest["name"]) in run_line
    assert str(given.manifest["created"])[:10] in run_line
    (headline,) = re.findall('<p class="finding">(.*?)</p>', page)
    assert page.index("<h1>") < page.index('class="run-line"') < page.index('class="finding"')
    assert re.sub("<[^>]+>", "", headline) == given.analysis.headline[0]
    assert '<span class="whole">sim-perfect</span>' in headline


def test_the_sections_come_from_finding_to_provenance(page: str) -> None:
    found = re.findall(r'<section id="(\w+)"', page)
    order = "ranking curves worst survival settling breakdown adherence diagnostics chains cost made terms"
    assert " ".join(found) == order


def test_nothing_is_fetched_from_a_network(report: Path) -> None:
    for name in ("index.html", "viewer.html"):
        text = (report / name).read_text(encoding="utf-8")
        links = re.findall(r'(?:src|href)="([^"]*)"', text)
        assert links
        assert not [link for link in links if re.match(r"(https?:)?//", link)]
        assert "fetch(" not in text
        assert "@import" not in text


def test_every_file_the_page_names_is_there(report: Path, page: str) -> None:
    named = [link.split("#")[0] for link in re.findall(r'(?:src|href)="([^"#][^"]*)"', page)]
    assert len(named) > 20
    assert not [link for link in named if not link.startswith("data:") and not (report / link).is_file()]


def test_every_term_that_is_linked_is_defined(page: str) -> None:
    linked = set(re.findall(r'href="#(def-[\w-]+)"', page))
    assert linked
    assert linked <= set(re.findall(r'id="(def-[\w-]+)"', page))


def test_tags_are_balanced(page: str) -> None:
    void = {"meta", "link", "img", "br", "input"}
    open_tags: list[str] = []

    class Balance(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in void:
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Balance().feed(page)
    assert open_tags == []


def test_honesty_marks_are_on_the_page(page: str) -> None:
    for words in ("4 editors simulated", "4 values missing", "censored", "aligned: strict", "count as lost"):
        assert words in page


def test_editors_that_only_copy_are_counted_above_all_and_marked_by_name(given: ReportInput, tmp_path: Path) -> None:
    copies = replace(given, uninstructed=frozenset({"sim-blur"}))
    text = write_report(copies, tmp_path).read_text(encoding="utf-8")
    assert '<a class="badge loud" href="#def-copies">1 editor only copies</a>' in text
    assert text.count('href="#def-copies">ignores words</a>') >= 1
    assert 'id="def-copies"' in text
    assert '"sim-blur": ["simulated", "ignores words"]' in text, "for the viewer's badges"


def test_how_it_was_made_is_on_the_page(page: str, given: ReportInput) -> None:
    for words in (given.manifest["command"], "d1:0d4c2f", "sim-jpeg@1:4f0c9a", "rounds = 5", "version of numpy"):
        assert str(words) in page


def test_chain_data_can_be_read_back(report: Path, given: ReportInput) -> None:
    chain = given.chains.row(0, named=True)
    text = (report / "chains" / f"{chain_key(chain['editor'], chain['case'])}.js").read_text()
    data = json.loads(text[text.index(",") + 1 : text.rindex(")")])
    assert data["editor"] == chain["editor"]
    assert len(data["steps"]) == 11
    assert (report / data["base"] / data["steps"][3]["image"]).is_file()
    ssim = next(metric for metric in data["metrics"] if metric["name"] == "ssim")
    assert set(ssim["values"]) == {"2", "4", "6", "8", "10"}


def test_a_missing_value_keeps_its_reason(report: Path, given: ReportInput) -> None:
    key = chain_key("sim-blur", "scene-2×night")
    assert '"missing":{"4":"size"}' in (report / "chains" / f"{key}.js").read_text()


def test_a_second_report_makes_no_thumbnail_again(given: ReportInput, report: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (report / "thumbs").rglob("*.webp")}
    write_report(given, report)
    assert before
    assert before == {path: path.stat().st_mtime_ns for path in (report / "thumbs").rglob("*.webp")}


def test_thumbnails_are_small(report: Path) -> None:
    assert max(path.stat().st_size for path in (report / "thumbs").rglob("*.webp")) < 40_000


def test_markup_in_a_prompt_or_name_shows_as_text(given: ReportInput, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    renamed = {name: getattr(given, name).with_columns(pl.lit(evil).alias("pair")) for name in ("chains", "steps")}
    analysis = replace(
        given.analysis, headline=(evil,), worst=given.analysis.worst.with_columns(pl.lit(evil).alias("pair"))
    )
    steps = renamed["steps"].with_columns(pl.lit(evil).alias("instruction"))
    manifest = {**given.manifest, "command": evil, "name": evil}
    write_report(replace(given, analysis=analysis, chains=renamed["chains"], steps=steps, manifest=manifest), tmp_path)
    for path in (*tmp_path.glob("*.html"), *tmp_path.glob("*/*.js")):
        assert evil not in path.read_text(encoding="utf-8"), path.name
    assert "&lt;script&gt;alert(1)" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_a_script_survives_a_closing_tag_in_its_data() -> None:
    assert "</script>" not in script("chain", "k", {"instruction": "</script>"})


def _nothing(given: ReportInput, *, chains: bool) -> ReportInput:
    measured = given.measurements.clear()
    kept = given.chains if chains else given.chains.clear()
    analysis = analyse(AnalysisInput(measured, kept, FACTS, given.simulated, frozenset()), AnalysisSettings(draws=20))
    steps = given.steps if chains else given.steps.clear()
    return replace(given, analysis=analysis, measurements=measured, chains=kept, steps=steps)


def test_a_run_without_chains_says_so(given: ReportInput, tmp_path: Path) -> None:
    text = write_report(_nothing(given, chains=False), tmp_path).read_text(encoding="utf-8")
    assert "not run: sim-perfect, sim-jpeg, sim-blur, sim-noise" in text
    assert "No ranking" in text
    assert "No chain was run" in text


def test_chains_without_measurements_still_show_their_images(given: ReportInput, tmp_path: Path) -> None:
    text = write_report(_nothing(given, chains=True), tmp_path).read_text(encoding="utf-8")
    assert "no score" in text
    assert 'class="frames"' in text


def test_one_editor_alone_gets_a_page(tmp_path: Path) -> None:
    text = write_report(make_run(tmp_path, ("sim-blur",), sources=2, rounds=2), tmp_path / "r").read_text()
    assert "the only editor" in text
    assert "Which differences are significant?" not in text


def test_an_unreadable_image_does_not_stop_the_report(tmp_path: Path) -> None:
    given = make_run(tmp_path, ("sim-jpeg", "sim-blur"), sources=1, rounds=2)
    (tmp_path / given.steps["image"][2]).write_bytes(b"no image")
    shutil.rmtree((tmp_path / given.steps["image"][7]).parent)
    assert write_report(given, tmp_path / "report").is_file()


def test_the_page_stays_light_whatever_the_size(given: ReportInput, tmp_path: Path) -> None:
    """Forty editors with long names, a hundred rounds, ten metrics, thirty categories."""
    names = [f"a-rather-long-editor-name-of-some-provider-{n}" for n in range(40)]
    editors = pl.DataFrame({"editor": names})
    rounds = pl.DataFrame({"round": list(range(101))})
    groups = pl.DataFrame({"group": ["all", *(f"category:some-category-{n}" for n in range(30)), "kind:face"]})
    metrics = pl.DataFrame({"metric": ["ssim", "gist", *(f"metric-{n}" for n in range(8))]})
    analysis = given.analysis

    def grown(name: str, *keys: pl.DataFrame, extra: tuple[pl.Expr, ...] = ()) -> pl.DataFrame:
        frame: pl.DataFrame = getattr(analysis, name)
        every = keys[0]
        for key in keys[1:]:
            every = every.join(key, how="cross")
        rest = frame.head(1).drop(every.columns)
        wide = every.join(rest, how="cross").with_columns(*extra)
        return wide.select(frame.columns).cast(dict(frame.schema))  # type: ignore[arg-type]

    falling = (1 - pl.col("round") * 0.00377).alias
    curves = grown("curves", editors, metrics, groups, rounds, extra=(falling("mean"), falling("low"), falling("high")))
    levels = pl.DataFrame({"curve": [f"metric-{n} noticeable" for n in range(9)]})
    heavy = replace(
        analysis,
        ranking=grown("ranking", editors),
        curves=curves,
        auc=grown("auc", editors, metrics, groups),
        survival=grown("survival", editors, levels, rounds, extra=(falling("survival"), pl.lit("all").alias("group"))),
        adherence=grown("adherence", editors),
        verdicts=grown("verdicts", editors),
        shapes=grown("shapes", editors),
        contraction=grown("contraction", editors, pl.DataFrame({"case": [str(n) for n in range(100)]})),
        outcomes=grown("outcomes", editors),
        worst=grown("worst", editors),
        half_life=grown("half_life", editors),
        diagnostics=grown("diagnostics", editors, metrics, rounds.rename({"round": "step"})),
        pairwise=grown("pairwise", editors.rename({"editor": "better"}), editors.rename({"editor": "worse"})),
    )
    manifest = {**given.manifest, "editors": [{"name": name} for name in names]}
    chains = pl.concat([given.chains.with_columns(pl.lit(name).alias("editor")) for name in names])
    big = replace(given, analysis=heavy, manifest=manifest, chains=chains, steps=given.steps.clear())
    size = write_report(big, tmp_path).stat().st_size
    assert 100_000 < size < 900_000


def test_diagnostics_follow_the_ends_of_round_trips_and_not_the_edits_between(given: ReportInput) -> None:
    lying, upright = 240.0, 320.0
    rows = [
        {"editor": "sim-blur", "metric": "sharpness", "step": step, "mean": lying if step % 2 else upright}
        for step in range(1, 11)
    ]
    diagnostics = pl.DataFrame(rows, schema_overrides={"step": pl.Int64}).with_columns(n_cases=3, n_missing=0)
    turned = replace(given, analysis=replace(given.analysis, diagnostics=diagnostics))
    (panel,) = diagnostics_section(open_page(turned))
    assert {row["y"] for row in marks(panel["chart"], "line", 250)} == {upright}
    assert "5 round trips" in texts(panel["chart"].svg(250))


def test_a_nested_round_ends_with_its_last_undoing() -> None:
    legs = ("source", "forward", "forward", "backward", "backward", "forward")
    steps = [
        {"index": index, "round": (index + 3) // 4, "leg": leg, "image": f"{index}.png"}
        for index, leg in enumerate(legs)
    ]
    assert {n: step["index"] for n, step in round_ends(steps, 1).items()} == {0: 0, 1: 4}


def test_one_editor_alone_is_not_ranked(tmp_path: Path) -> None:
    text = write_report(make_run(tmp_path, editors=("only-one",), rounds=2), tmp_path / "report").read_text()
    assert "<h2>Score</h2>" in text
    assert "that every ranked editor has" not in text
    assert "A single editor has no rank" in text


def test_a_badge_says_what_is_missing_and_why(page: str) -> None:
    assert "<b>gist</b>: 4 values missing: size" in page


def test_blue_means_the_same_loss_in_every_table(given: ReportInput) -> None:
    section = breakdown_section(open_page(given))
    assert {(table["low"], table["high"]) for table in section["tables"]} == {("≤ 0.5", "1.0")}
    assert all(cell["shade"] == 0 for cell in section["tables"][0]["rows"][0]["cells"])


def test_the_page_links_to_the_files_beside_it(tmp_path: Path) -> None:
    given = make_run(tmp_path, rounds=2, sources=1)
    write_tables(given, tmp_path / "tables")
    text = write_report(given, tmp_path / "report").read_text()
    assert 'href="../tables/"' in text
    assert "figures for print" not in text


def test_without_a_common_case_the_pictures_of_one_editor_are_shown(given: ReportInput) -> None:
    first, *_, last = (row["editor"] for row in given.ranked)
    apart = [
        frame.filter(~pl.col("editor").is_in([last]) | (pl.col("kind") == "scene")).filter(
            ~pl.col("editor").is_in([first]) | (pl.col("kind") == "face")
        )
        for frame in (given.chains, given.steps)
    ]
    hero = choose_hero(replace(given, chains=apart[0], steps=apart[1]))
    assert hero is not None
    assert [(strip.editor, strip.place) for strip in hero.strips] == [
        (first, "shown alone: no case in common with other editors")
    ]

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import fields, replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import convergebench.report as room
from convergebench.report import print_ranking, ranking_json, write_latex, write_plots, write_tables
from convergebench.report.chains import chain_key
from convergebench.report.input import ReportInput
from convergebench.report.latex import escape, pairwise_latex, ranking_latex
from convergebench.report.made import provenance, toml_text
from convergebench.report.missing import missing_text
from convergebench.report.output import make_whole, write_whole
from convergebench.report.page import open_page
from convergebench.report.sections.ranking import ranking_section
from convergebench.report.terminal import sparkline
from convergebench.report.viewer import render_viewer
from convergebench.report.wording import count, interval, middle, number, p_value, rounds_interval, short
from tests.report.synthetic import make_run


def test_the_room_says_what_it_offers() -> None:
    assert room.__all__ == sorted(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)


def test_measurements_keep_their_columns_and_their_order(given: ReportInput, tmp_path: Path) -> None:
    shuffled = replace(given, measurements=given.measurements.select(sorted(given.measurements.columns)))
    write_tables(shuffled, tmp_path)
    head = "editor,case,source,kind,pair,category,replicate,round,step,metric,value,status"
    assert (tmp_path / "measurements.csv").read_text().splitlines()[0] == head
    assert ",".join(pl.read_parquet(tmp_path / "measurements.parquet").columns) == head


def test_a_missing_value_is_an_empty_cell_beside_its_status(given: ReportInput, tmp_path: Path) -> None:
    write_tables(given, tmp_path)
    gone = [line for line in (tmp_path / "measurements.csv").read_text().splitlines() if line.endswith(",size")]
    assert len(gone) == 4
    assert all(line.endswith("gist,,size") for line in gone)


def test_every_frame_is_written_twice(given: ReportInput, tmp_path: Path) -> None:
    written = write_tables(given, tmp_path)
    frames = [f.name for f in fields(given.analysis) if isinstance(getattr(given.analysis, f.name), pl.DataFrame)]
    expected = {
        f"{name}.{kind}" for name in ("measurements", "chains", "steps", *frames) for kind in ("csv", "parquet")
    }
    assert {path.name for path in written} == expected
    assert all(path.is_file() for path in written)
    assert pl.read_parquet(tmp_path / "ranking.parquet").equals(given.analysis.ranking)


def test_latex_rows_have_as_many_cells_as_columns(given: ReportInput, tmp_path: Path) -> None:
    for path in write_latex(given, tmp_path):
        text = path.read_text(encoding="utf-8")
        columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)
        assert columns
        body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(lines) > 1
        assert {len(re.split(r"(?<!\\)&", line)) for line in lines} == {len(columns[1])}
        assert re.search(r"n = \d+ cases.*missing", text)


def test_latex_signs_are_escaped() -> None:
    assert escape("a_b & 5% {x} \\") == r"a\_b \& 5\% \{x\} \textbackslash{}"
    assert "−" not in escape("−0.5")


def test_plots_are_the_same_bytes_twice(given: ReportInput, tmp_path: Path) -> None:
    few = replace(
        given,
        analysis=replace(
            given.analysis,
            curves=given.analysis.curves.filter(pl.col("metric") == "ssim"),
            survival=given.analysis.survival.filter(pl.col("curve") == "ssim noticeable"),
        ),
    )
    first, second = write_plots(few, tmp_path / "a"), write_plots(few, tmp_path / "b")
    assert {path.name for path in first} == {
        f"{name}.{kind}"
        for name in ("ranking", "curve-ssim", "survival-ssim-noticeable", "breakdown")
        for kind in ("png", "svg", "pdf")
    }
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.name


def _printed(given: ReportInput, *, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    print_ranking(given, Console(file=file, width=width))
    return raw.getvalue().decode(encoding)


def test_the_terminal_fits_eighty_columns_without_colour(given: ReportInput) -> None:
    text = _printed(given)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    assert "▁" in text
    assert text.split()[:2] == given.analysis.headline[0].split()[:2]


def test_long_names_do_not_break_the_terminal(given: ReportInput) -> None:
    long = "provider/an-image-model-with-a-very-long-name-preview-2026"
    ranking = given.analysis.ranking.with_columns(pl.col("editor").replace("sim-blur", long))
    manifest = {**given.manifest, "editors": [{"name": long}]}
    text = _printed(replace(given, analysis=replace(given.analysis, ranking=ranking), manifest=manifest))
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "provider/an-i" in text


def test_the_terminal_speaks_ascii_where_it_must(given: ReportInput) -> None:
    text = _printed(given, encoding="ascii")
    assert text.isascii()
    assert "sim-noise*" in text


def test_the_terminal_says_what_to_mind(given: ReportInput) -> None:
    text = _printed(given)
    for words in ("* simulated", "censored", "4 values missing", "chains left out"):
        assert words in text


def test_json_holds_no_nan_and_tells_infinite_from_missing(given: ReportInput) -> None:
    rows = given.analysis.curves.head(3).with_columns(pl.Series("mean", [math.inf, math.nan, None]))
    found = ranking_json(
        replace(given, analysis=replace(given.analysis, curves=rows.with_columns(group=pl.lit("all"))))
    )
    assert [row["mean"] for row in found["curves"]] == ["Infinity", None, None]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["ranking"][0]["editor"] == "sim-perfect"
    assert found["n_missing"] == 4


def test_sparklines_show_gaps() -> None:
    assert sparkline([1.0, None, 0.0], low=0, high=1) == "█ ▁"
    assert sparkline([], low=0, high=1) == ""
    assert len(sparkline([float(n) for n in range(50)], low=0, high=49)) == 10


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (number(None), "–"),
        (number(math.inf), "∞"),
        (number(-0.0004), "0.000"),
        (number(-1.5, 1), "−1.5"),
        (short(1234.0), "1\u202f234"),
        (interval(0.5, None), ""),
        (interval(-0.1, 0.2, 1), "−0.1 to 0.2"),
        (rounds_interval(5, None), "≥ 5"),
        (rounds_interval(5, 5), "5"),
        (p_value(0.0001), "< 0.001"),
        (count(1, "case"), "1 case"),
        (middle("abcdefghij", 7), "abcd…ij"),
    ],
)
def test_numbers_read_well(said: str, meant: str) -> None:
    assert said == meant


def test_the_study_reads_as_toml() -> None:
    import tomllib

    spec = {"rounds": 3, "align": "strict", "edit ors": ["a", 'b"'], "analysis": {"level": 0.5, "deep": {"on": True}}}
    spec["pairs"] = [{"id": "x"}, {"id": "y"}]
    assert tomllib.loads(toml_text(spec)) == spec


def test_what_the_manifest_does_not_say_is_said_to_be_missing() -> None:
    assert ("seed", "not recorded") in provenance({}, analysis_version=1)


def test_a_failed_write_keeps_the_file_before_and_leaves_no_litter(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    write_whole(page, "the page before")

    def killed(part: Path) -> None:
        part.write_text("half of a pa")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_whole(page, killed)
    assert page.read_text() == "the page before"
    assert list(tmp_path.iterdir()) == [page]


def test_missing_values_come_with_their_reasons() -> None:
    def frame(*statuses: str) -> pl.DataFrame:
        return pl.DataFrame({"status": list(statuses), "value": [1.0 if s == "ok" else None for s in statuses]})

    assert missing_text(frame("ok", "ok")) == ""
    assert missing_text(frame("ok", "size")) == "1 value missing: size"
    assert missing_text(frame("size", "unaligned", "size")) == "3 values missing: 2 size, 1 unaligned"


def test_the_terminal_says_why_there_is_no_interval(tmp_path: Path) -> None:
    text = _printed(make_run(tmp_path, editors=("sim-blur", "sim-noise"), sources=1, rounds=3, size=48))
    assert "1 image" in text
    assert "sim-blur, image by image: " in text


def test_simulated_editors_beside_real_ones_have_no_rank(tmp_path: Path) -> None:
    text = " ".join(_printed(make_run(tmp_path, editors=("sim-blur", "real"), rounds=2, size=48)).split())
    assert "- no rank: a reference, shown for comparison." in text
    assert re.search(r"- sim-blur\*", text)


def test_an_editor_that_ignores_the_words_is_marked_wherever_it_is_ranked(given: ReportInput, tmp_path: Path) -> None:
    copies = replace(given, uninstructed=frozenset({"sim-blur"}))
    assert "sim-blur (simulated, ignores words) &" in ranking_latex(copies)
    assert ranking_json(copies)["uninstructed"] == ["sim-blur"]
    assert "sim-blur*+" in _printed(copies)
    write_plots(copies, tmp_path)
    assert "sim-blur (simulated, ignores words)" in (tmp_path / "ranking.svg").read_text()


def test_what_was_used_and_thought_reaches_the_viewer_and_the_tables(given: ReportInput, tmp_path: Path) -> None:
    summary = "**Planning the hat**\nIt goes on the head.\n\n**Checking the result**\nIt sits well."
    first = pl.col("index") == 1
    steps = given.steps.with_columns(
        model=pl.when(first).then(pl.lit("model-001")),
        used=pl.when(first).then(pl.lit('{"size": [64, 64], "thinking": true, "quality": "high"}')),
        reasoning=pl.when(first).then(pl.lit(summary)),
    )
    thinking = replace(given, steps=steps)
    files = dict(render_viewer(open_page(thinking, tmp_path)))
    editor, case = given.chains.select("editor", "case").row(0)
    text = str(files[f"chains/{chain_key(editor, case)}.js"])
    shown = json.loads(text.removeprefix("CB.chain(").removesuffix(");\n").partition(",")[2])["steps"]
    assert shown[1]["model"] == "model-001"
    assert shown[1]["used"] == "size [64, 64], thinking true, quality high"
    assert shown[1]["thoughts"] == [
        ["Planning the hat", "It goes on the head."],
        ["Checking the result", "It sits well."],
    ]
    assert not {"model", "used", "thoughts"} & shown[2].keys()
    write_tables(thinking, tmp_path)
    rows = pl.read_parquet(tmp_path / "reasoning.parquet").filter(editor=editor, case=case)
    assert rows.select("index", "section", "title", "phase", "rounds").rows() == [
        (1, 1, "Planning the hat", "generation", 1),
        (1, 2, "Checking the result", "evaluation", 1),
    ]


def test_a_run_without_summaries_has_no_table_of_them(given: ReportInput, tmp_path: Path) -> None:
    write_tables(given, tmp_path)
    assert not (tmp_path / "reasoning.csv").exists()


def test_a_dollar_in_a_name_is_a_dollar_in_every_plot(tmp_path: Path) -> None:
    odd = make_run(tmp_path, editors=("sim-$\\bad{$", "sim-blur"), sources=2, rounds=2, size=48)
    write_plots(odd, tmp_path / "plots")
    assert "sim-$\\bad{$" in (tmp_path / "plots" / "ranking.svg").read_text()


def test_editors_without_a_case_in_common_have_no_score_and_are_told_why(given: ReportInput) -> None:
    apart = given.analysis.ranking.with_columns(
        rank=pl.lit(None, pl.Int64), score=pl.lit(None, pl.Float64), low=pl.lit(None, pl.Float64), n_cases=0
    )
    alone = replace(given, analysis=replace(given.analysis, ranking=apart))
    assert "No score: no case in common with the others." in _printed(alone)
    assert ranking_section(open_page(alone))["chart"] is None


def test_a_tiny_p_is_not_printed_as_zero(given: ReportInput) -> None:
    sure = given.analysis.pairwise.with_columns(p=pl.lit(0.0001), p_holm=pl.lit(0.0004))
    text = pairwise_latex(replace(given, analysis=replace(given.analysis, pairwise=sure)))
    assert r"\textless{} 0.001" in text
    assert "0.000" not in text

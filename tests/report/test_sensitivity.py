"""The section on our own choices: from `cbench run` to `show --json` and the page, and what it says when empty."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from convergebench.analysis.schemas import OUTPUTS
from convergebench.cli.main import app
from convergebench.conductor.analyse import report_input
from convergebench.images.encode import encode_png
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.page import open_page
from convergebench.report.sections.sensitivity import sensitivity_section
from tests.store.older import make_older

STUDY = """
study = "roundtrip"
editors = ["sim-noise", "sim-blur", "sim-tint"]
[roundtrip]
rounds = 4
[images]
suite = "{suite}"
[edits]
pairs = ["red-ball"]
[measure]
metrics = ["psnr", "ssim", "gmsd", "gist", "happened", "undone"]
[analysis]
draws = 200
"""


def cbench(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.output


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three simulated editors on six small pictures, as `cbench run` leaves them."""
    root = tmp_path_factory.mktemp("choices")
    folder = root / "pictures" / "scene"
    folder.mkdir(parents=True)
    across, down = np.meshgrid(np.linspace(0, 1, 64), np.linspace(0, 1, 64))
    for place in range(6):
        waves = [np.sin(7 * across + place) ** 2, np.cos(5 * down * (1 + place % 3)) ** 2, across * down]
        (folder / f"scene-{place}.png").write_bytes(encode_png((255 * np.stack(waves, axis=-1)).astype(np.uint8)))
    (root / "study.toml").write_text(STUDY.format(suite=root / "pictures"))
    cbench("run", str(root / "study.toml"), "--run", str(root / "run"), "--workers", "1", "--no-report")
    write_report(report_input(root / "run"), root / "run" / "report")
    return root / "run"


@pytest.fixture(scope="module")
def shown(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cbench("show", str(run), "--json"))
    return found


def section(page: Path) -> str:
    """The words of the section, without tags."""
    found = re.search(r'<section id="sensitivity">(.*?)</section>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found.group(1)))


def test_a_run_knows_what_chance_gets(shown: dict[str, Any]) -> None:
    anchors = {(row["anchor"], row["metric"]): row for row in shown["anchors"]}
    assert {anchor for anchor, _ in anchors} == {"noise", "grey", "other"}
    assert {metric for _, metric in anchors} == {"psnr", "ssim", "gmsd", "gist", "closeness"}
    assert anchors["noise", "ssim"]["mean"] < 0.2
    assert anchors["grey", "gist"]["n_lost"] == anchors["grey", "gist"]["n_sources"] == 6
    closest = max(row["closeness"] for row in shown["ranking"])
    assert all(anchors[name, "closeness"]["mean"] < closest for name in ("noise", "grey", "other"))


def test_a_run_knows_what_its_order_depends_on(shown: dict[str, Any]) -> None:
    rows = shown["sensitivity"]
    assert {row["factor"] for row in rows} == {"metric", "adherence", "level", "semantic", "rounds", "alignment"}
    order = ", ".join(row["editor"] for row in shown["ranking"] if row["rank"] is not None)
    assert {row["order"] for row in rows if row["chosen"]} == {order}
    absent = [row["note"] for row in rows if row["factor"] == "alignment" and row["order"] is None]
    assert "not measured: cbench measure RUN --align fit" in absent


def test_the_page_shows_both_tables_after_the_ranking(run: Path, shown: dict[str, Any]) -> None:
    page = run / "report" / "index.html"
    html = page.read_text(encoding="utf-8")
    assert html.index('id="ranking"') < html.index('id="curves"') < html.index('id="sensitivity"')
    assert '<a href="#sensitivity">' in html
    words = section(page)
    assert "Does the ranking depend on the settings?" in html
    assert "gmsd alone" in words
    assert "What would noise or another image score?" in words
    assert "pure noise" in words
    assert "Means over 6 source images of the run" in words
    assert "6 of 6 lost" in words
    noise = next(row for row in shown["anchors"] if (row["anchor"], row["metric"]) == ("noise", "closeness"))
    assert f"pure noise {noise['mean']:.1f}" in words


def test_an_alignment_that_was_measured_stands_in_the_table(run: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(run, again)
    before = json.loads(cbench("show", str(again), "--json"))
    own = before["alignment"]
    other = "fit" if own != "fit" else "strict"
    cbench("measure", str(again), "--align", other, "--workers", "1")
    rows = json.loads(cbench("show", str(again), "--json"))["sensitivity"]
    found = {row["choice"]: row for row in rows if row["factor"] == "alignment"}
    assert found[other]["chosen"]
    assert found[own]["order"] is not None
    assert not found[own]["chosen"]


def test_showing_a_run_without_anchors_writes_nothing_and_shows_none(run: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(run, older)
    make_older(older, 3)
    assert json.loads(cbench("show", str(older), "--json"))["anchors"] == []
    assert "What would noise or another image score?" not in section(
        write_report(report_input(older), older / "report")
    )
    cbench("measure", str(older), "--workers", "1")
    assert json.loads(cbench("show", str(older), "--json"))["anchors"]


def test_with_one_ranked_editor_the_page_says_that_there_is_no_order(given: ReportInput) -> None:
    lonely = given.analysis.ranking.with_columns(pl.when(pl.col("rank") == 1).then(pl.col("rank")).alias("rank"))
    alone = replace(given, analysis=replace(given.analysis, ranking=lonely))
    page = write_report(alone, given.run / "lonely")
    assert "Fewer than two editors are ranked, so there is no order to test." in section(page)


def test_without_a_table_there_is_no_section(given: ReportInput) -> None:
    assert given.analysis.sensitivity.height == 0
    assert sensitivity_section(open_page(given)) is None
    assert 'id="sensitivity"' not in write_report(given, given.run / "bare").read_text(encoding="utf-8")


def test_networks_that_were_asked_for_fewer_pictures_are_not_passed_off_as_more(given: ReportInput) -> None:
    cells = [("ssim", 8, 0.1, 0), ("gist", 6, None, 6), ("psnr", 8, 8.25, 0)]
    made = [
        {"anchor": "grey", "metric": metric, "mean": mean, "n_sources": sources, "n_lost": lost}
        for metric, sources, mean, lost in cells
    ]
    frame = pl.DataFrame(made, schema=OUTPUTS["anchors"])
    page = write_report(replace(given, analysis=replace(given.analysis, anchors=frame)), given.run / "fewer")
    words = section(page)
    assert "Means over 6 to 8 source images of the run." in words
    assert "gist ↑ 1.000 – 6 of 6 lost" in words
    assert "psnr ↑ ∞ 8.2" in words


def test_a_changed_order_is_printed_and_a_kept_one_is_not(given: ReportInput) -> None:
    shared = {"chosen": False, "same_leader": True, "n_cases": 4}
    made = [
        {**shared, "factor": "metric", "choice": "score", "chosen": True, "order": "a, b, c", "same_order": True},
        {**shared, "factor": "metric", "choice": "x alone", "order": "a, b, c", "same_order": True, "changes": 0},
        {**shared, "factor": "rounds", "choice": "1", "order": "a, c, b", "same_order": False, "changes": 1}
        | {"largest_swap": 2.345, "tau": 1 / 3},
        {**shared, "factor": "rounds", "choice": "2", "order": "a = b, c", "same_order": None, "changes": 0},
    ]
    frame = pl.DataFrame(made, schema=OUTPUTS["sensitivity"])
    page = write_report(replace(given, analysis=replace(given.analysis, sensitivity=frame)), given.run / "changed")
    words = section(page)
    assert (
        "The order is the same under 1 of 3 alternative settings; under 1 it is partly tied; it changes with" in words
    )
    assert "changed a, c, b 1 2.3 0.33 4" in words
    assert "partly tied a = b, c 0" in words
    assert "x alone same 0" in words

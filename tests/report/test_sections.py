"""What the sections of the page say about metrics of every kind."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl

import convergebench
from convergebench.metrics import load_metric
from convergebench.metrics.base import MetricFacts
from convergebench.registry import names
from convergebench.report.input import ReportInput, by_chain
from convergebench.report.missing import MEANINGS
from convergebench.report.page import MOST_METRICS, open_page
from convergebench.report.sections.adherence import adherence_section
from convergebench.report.sections.curves import MOST_SURVIVAL, curves_section
from convergebench.report.viewer import _metrics as viewer_metrics
from tests.report.synthetic import FACTS


def test_every_way_of_telling_whether_an_edit_happened_has_its_table(given: ReportInput) -> None:
    """A judge's view and CLIP's stand beside our own; what is no scale from no to yes has no share above one half."""
    judged = {name: replace(FACTS[name], name=f"judge-{name}", asks="judge") for name in ("happened", "undone")}
    words = MetricFacts("clip-text", "adherence", "higher", (-1, 1), "As told.", typical=(0.1, 0.35))
    facts = {**FACTS, "judge-happened": judged["happened"], "judge-undone": judged["undone"], "clip-text": words}
    own = given.analysis.adherence
    rows = [own, own.with_columns(metric=pl.concat_str(pl.lit("judge-"), "metric"))]
    rows.append(own.with_columns(metric=pl.lit("clip-text"), mean=pl.lit(0.25)))
    answered = given.measurements.filter(metric="happened").with_columns(
        metric=pl.lit("judge-happened"), detail=pl.lit("some-model; 2 of 3 replies")
    )
    told = replace(given.analysis, adherence=pl.concat(rows))
    tables = adherence_section(open_page(replace(given, facts=facts, analysis=told, measurements=answered)))
    assert [table["by"] for table in tables] == ["", "some-model", ""]
    named = [[fact.name for fact in table["metrics"]] for table in tables]
    assert named == [["happened", "undone"], ["judge-happened", "judge-undone"], ["clip-text"]]
    assert [table["usual"] for table in tables] == [None, None, (0.1, 0.35)]
    assert [table["columns"] for table in tables] == [["edit happened ↑", "edit undone ↑"]] * 3
    assert {round(row["cells"][1]["mean"], 6) for row in tables[1]["rows"]} == {0.9}
    assert {cell["mean"] for row in tables[2]["rows"] for cell in row["cells"]} == {0.25}


def test_a_metric_without_a_reference_says_so_and_shows_the_source(given: ReportInput) -> None:
    alone = MetricFacts("gist", "no-reference", "lower", (0, 100), "Rates by itself.", aligned=False)
    panels = {
        panel["name"]: panel for panel in curves_section(open_page(replace(given, facts={**FACTS, "gist": alone})))
    }
    assert panels["gist"]["alone"]
    assert not panels["gist"]["aligned"]
    assert panels["gist"]["table"]["points"][:2] == [0, 1]
    assert panels["ssim"]["summary"] == "Structural similarity."
    assert panels["ssim"]["table"]["points"][0] == 1


def test_no_built_in_metric_is_left_out_of_a_switch() -> None:
    facts = [load_metric(name).facts for name in names("metrics")]
    assert sum(fact.kind in ("full-reference", "semantic", "no-reference") for fact in facts) <= MOST_METRICS
    assert 1 + sum(2 for fact in facts if fact.noticeable is not None) <= MOST_SURVIVAL


def test_every_status_that_our_metrics_give_is_explained() -> None:
    source = Path(convergebench.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in source.rglob("*.py")]
    given_by_us = {
        word for text in texts for word in re.findall(r'(?:Unmeasurable\(\s*|Reading\(None, )"([a-z-]+)"', text)
    }
    assert len(given_by_us) > 15
    assert given_by_us <= MEANINGS.keys()


def test_the_source_has_no_value_of_a_metric_that_speaks_of_steps(given: ReportInput) -> None:
    changed = replace(given, facts={**FACTS, "happened": replace(FACTS["happened"], self_value=0.0)})
    (data,) = by_chain(changed.measurements.filter(case=changed.chains["case"][0], editor="sim-jpeg")).values()
    shown = {metric["name"]: metric["self"] for metric in viewer_metrics(changed, data)}
    assert (shown["ssim"], shown["happened"]) == (1.0, None)

"""The page says that later pictures are worse only as far as that was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from convergebench.metrics import load_metric
from convergebench.report.audit.heatmaps import NOT_MEASURED, worse_sentence
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.page import open_page
from convergebench.report.audit.terminal import _legend
from convergebench.report.audit.write import write_audit
from tests.report.audit.sample import make_audit


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> AuditReportInput:
    return make_audit(tmp_path_factory.mktemp("run"), metrics=1, additions=False)


def with_damage(audit: AuditReportInput, metric: str, *values: float) -> AuditReportInput:
    """The first chain at the baseline, then at the gaps."""
    given, settings = audit.given, audit.audit.settings
    chain = given.chains.head(1).select("run", "editor", "case", "source", "pair", "replicate").row(0, named=True)
    rows = [
        {**chain, "at": at, "metric": metric, "value": value}
        for at, value in zip((settings.baseline, *settings.gaps), values, strict=False)
    ]
    damage = pl.DataFrame(rows, schema=given.damage.schema)
    facts = {**given.facts, metric: load_metric(metric.removesuffix("-first")).facts}
    return replace(audit, given=replace(given, damage=damage, facts=facts))


@pytest.mark.parametrize(
    ("metric", "values", "expected"),
    [
        ("ssim", (0.9, 0.8, 0.7), "Every later image is farther from its source"),
        ("ssim", (0.9, 0.8, 0.95), "1 of 2 later images are farther from their source"),
        ("psnr", (float("inf"), 30.0, float("inf")), "1 of 2 later images are farther from their source"),
        ("ssim-first", (1.0, 0.8, 0.7), NOT_MEASURED),
        ("ssim", (0.9,), NOT_MEASURED),
    ],
)
def test_worse_is_what_lies_farther_from_the_source(
    audit: AuditReportInput, metric: str, values: tuple[float, ...], expected: str
) -> None:
    assert worse_sentence(open_page(with_damage(audit, metric, *values))).startswith(expected)


def test_a_likeness_is_no_distance(audit: AuditReportInput, tmp_path: Path) -> None:
    rows = audit.audit.contradictions.with_columns(damage_metric=pl.lit("ssim"), damage=pl.lit(0.42))
    other = replace(with_damage(audit, "ssim", 0.9, 0.8), audit=replace(audit.audit, contradictions=rows))
    text = write_audit(other, tmp_path / "out", plots=False).read_text(encoding="utf-8")
    assert "ssim</a> ↑ 0.420 against its source" in text
    rows = rows.with_columns(damage=pl.lit(None, pl.Float64), damage_metric=pl.lit(None, pl.String))
    unknown = replace(other, audit=replace(audit.audit, contradictions=rows))
    text = write_audit(unknown, tmp_path / "out", plots=False).read_text(encoding="utf-8")
    assert "was not measured; judge by eye" in text
    assert "The picture is damaged" not in text


def test_without_a_gap_the_legend_names_none(audit: AuditReportInput) -> None:
    page = open_page(replace(audit, audit=replace(audit.audit, settings=replace(audit.audit.settings, gaps=()))))
    assert _legend(page).startswith("No later ")

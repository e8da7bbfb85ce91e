"""Counts of an audit's page, on the small audit of known cells."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from convergebench.analysis.audit.counts import audit_counts, confound_counts, failed_counts, kept_share
from convergebench.report.audit.input import AuditReportInput
from tests.report.audit.sample import make_audit


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> AuditReportInput:
    return make_audit(tmp_path_factory.mktemp("audited"))


def test_an_image_fails_at_any_gap_and_is_known_if_it_fails_or_misses_none(audit: AuditReportInput) -> None:
    cells = audit.audit.cells
    counts = failed_counts(audit.audit, None)
    for (editor, metric), (failed, known) in counts.items():
        mine = cells.filter(editor=editor, metric=metric)
        assert failed == mine.filter(pl.col("failures") > 0).height
        assert known == mine.filter((pl.col("failures") > 0) | (pl.col("known") == pl.col("asked"))).height
    assert sum(failed for failed, _ in counts.values()) > 0


def test_at_one_gap_an_image_is_known_where_the_gap_is(audit: AuditReportInput) -> None:
    rows = audit.audit.gaps.filter(at=10, metric="brisque", editor="sim-noise")
    expected = (rows["failed"].sum(), rows["failed"].count())
    assert failed_counts(audit.audit, 10)["sim-noise", "brisque"] == expected
    assert expected[0] > 0


def test_totals_are_over_the_metrics_that_have_scores(audit: AuditReportInput, tmp_path: Path) -> None:
    counts = audit_counts(audit.audit)
    assert counts.images == audit.audit.cells["source"].n_unique()
    assert sum(counts.verdicts.values()) == audit.audit.metrics.height
    assert counts.verdicts["not run"] == 2
    assert audit_counts(make_audit(tmp_path, metrics=0, additions=False).audit).images == 0


def test_a_ratio_counts_only_if_its_interval_leaves_one_out() -> None:
    rows = pl.DataFrame({"low": [0.2, 1.1, 0.5, None], "high": [0.9, 3.0, 2.0, None]})
    assert confound_counts(rows) == (3, 1, 1)


def test_a_filter_s_share_is_the_mean_of_what_is_known() -> None:
    assert kept_share([{"clean_share": 0.9}, {"clean_share": None}, {"clean_share": 0.7}]) == pytest.approx(0.8)
    assert kept_share([]) is None

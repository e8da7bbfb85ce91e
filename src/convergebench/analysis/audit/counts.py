"""Counts for the page of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from convergebench.analysis.audit.audit_data import CELL
from convergebench.analysis.audit.result import AuditAnalysis, AuditInput
from convergebench.analysis.series import parse_series, without_first

AGAINST_SOURCE = ("lpips", "ssim", "dists", "psnr")
"""Damage metrics to choose from where the settings name none, the preferred first."""


class WorsePictures(NamedTuple):
    """How many later pictures are farther from their source than the one they are compared with."""

    metric: str
    worse: int
    pictures: int


def worse_pictures(audit: AuditAnalysis, given: AuditInput) -> WorsePictures | None:
    """Counted by a full-reference metric against the source; None if none was measured."""
    metric = _damage_metric(audit, given)
    if metric is None:
        return None
    own = given.damage.filter(metric=metric).join(audit.cells.select(CELL).unique(), on=CELL, how="semi")
    before = own.filter(at=audit.settings.baseline).select("run", "editor", "case", pl.col("value").alias("before"))
    both = (
        own.filter(pl.col("at").is_in(audit.settings.gaps))
        .join(before, on=["run", "editor", "case"])
        .filter(pl.col("value").is_not_nan(), pl.col("before").is_not_nan())
    )
    higher = given.facts[metric].better == "higher"
    worse = pl.col("value") < pl.col("before") if higher else pl.col("value") > pl.col("before")
    return WorsePictures(metric, both.filter(worse).height, both.height) if both.height else None


def _damage_metric(audit: AuditAnalysis, given: AuditInput) -> str | None:
    """The damage metric against the source; `-first` metrics compare with step 1 and are left out."""
    facts = given.facts
    measured = [name for name in given.damage["metric"].unique(maintain_order=True) if name in facts]
    known = [name for name in measured if not parse_series(name).is_against_first and facts[name].better != "neither"]
    preferred = (without_first(audit.settings.damage), *AGAINST_SOURCE, *known)
    return next((name for name in preferred if name in known), None)


def failed_counts(audit: AuditAnalysis, gap: int | None) -> dict[tuple[str, str], tuple[int, int]]:
    """(editor, metric) → images that fail, and images for which this is known; at one gap, or at any of them.

    It is unknown for an image that lacks a gap and fails at no other.
    """
    if gap is None:
        seen = pl.col("known") > 0
        failed = seen & (pl.col("failures") > 0)
        rows, known = audit.cells, failed | (seen & (pl.col("known") >= pl.col("asked")))
    else:
        rows, failed, known = audit.gaps.filter(at=gap), pl.col("failed"), pl.col("failed").is_not_null()
    counted = rows.group_by("editor", "metric").agg(failed.sum().alias("failed"), known.sum().alias("known"))
    return {(row["editor"], row["metric"]): (row["failed"], row["known"]) for row in counted.to_dicts()}


class ConfoundCounts(NamedTuple):
    """Metrics whose ratio of damage to content has an interval, and those with the interval below and above 1."""

    known: int
    content: int
    damage: int


def confound_counts(confound: pl.DataFrame) -> ConfoundCounts:
    """Over all audited metrics."""
    sure = confound.drop_nulls("low")
    return ConfoundCounts(sure.height, sure.filter(pl.col("high") < 1).height, sure.filter(pl.col("low") > 1).height)


class AuditCounts(NamedTuple):
    """What an audit rests on: source images, gaps of exactly 0, images that cannot be judged, metrics by verdict."""

    images: int
    zero: int
    missing: int
    verdicts: dict[str, int]


def audit_counts(audit: AuditAnalysis) -> AuditCounts:
    """Counts over the metrics that have scores; verdicts over all metrics."""
    audited = audit.metrics.filter(status="audited")
    zero, missing = (int(audited[name].sum() or 0) for name in ("n_zero", "n_missing"))
    verdicts: dict[str, int] = dict(audit.metrics.group_by("verdict").len().iter_rows())
    return AuditCounts(audit.cells["source"].n_unique(), zero, missing, verdicts)


def kept_share(filter_risk: Sequence[Mapping[str, Any]]) -> float | None:
    """The share of untouched images that a filter keeps, on average over these rows."""
    known = [row["clean_share"] for row in filter_risk if row["clean_share"] is not None]
    return sum(known) / len(known) if known else None

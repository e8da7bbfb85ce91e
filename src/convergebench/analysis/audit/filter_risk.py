"""What passes a filter: pictures at a step that score at least as high as a percentile of untouched images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.audit.audit_data import ALL, AuditData, table
from convergebench.analysis.audit.clusters import with_all
from convergebench.analysis.audit.filter_interval import ThresholdDraws, draw_thresholds, pass_interval
from convergebench.analysis.audit.settings import images_for
from convergebench.studies.analysis_settings import AuditSettings


@dataclass(frozen=True, slots=True)
class _Filter:
    """A threshold, and the thresholds of every draw of the sources."""

    threshold: float
    drawn: ThresholdDraws


def filter_table(data: AuditData, gaps: Sequence[int], clean: pl.DataFrame) -> pl.DataFrame:
    """The frame `filter_risk`: per metric, percentile, editor (and `all`) and step.

    The steps are the gaps and, per editor, the last step that all its chains share. With fewer untouched images
    (`n_clean`) than `needed` for a percentile there is no threshold and no share. The interval of a share resamples
    untouched and damaged pictures of whole sources, so it includes the uncertainty of the threshold.
    """
    pictures = _pictures(data, gaps)
    rows: list[dict[str, object]] = []
    for name in data.scales:
        own, untouched = pictures.filter(metric=name), clean.filter(metric=name)
        sources = sorted({*own["source"], *untouched["source"]})
        number = pl.col("source").replace_strict(sources, range(len(sources)), return_dtype=pl.Int64).alias("number")
        own, untouched = own.with_columns(number), untouched.with_columns(number)
        for percentile in sorted(set(data.settings.percentiles)):
            found = _filter(untouched, percentile, len(sources), data.settings)
            known = {"metric": name, "percentile": percentile, "threshold": found.threshold if found else None}
            known |= {"n_clean": untouched["source"].n_unique(), "needed": images_for(percentile)}
            if found is not None:
                known["clean_share"] = (untouched["scaled"] >= found.threshold).mean()
            rows += [{**known, **row} for row in _shares(own, found, data.settings.confidence)]
    return table("filter_risk", rows)


def _filter(untouched: pl.DataFrame, percentile: float, sources: int, settings: AuditSettings) -> _Filter | None:
    """The filter at a percentile, or None where there are too few untouched images for it."""
    if untouched["source"].n_unique() < images_for(percentile):
        return None
    scores, owners = untouched["scaled"].to_numpy(), untouched["number"].to_numpy()
    drawn = draw_thresholds(scores, owners, percentile=percentile, of=sources, draws=settings.draws, seed=settings.seed)
    return _Filter(float(np.percentile(scores, percentile)), drawn)


def _pictures(data: AuditData, gaps: Sequence[int]) -> pl.DataFrame:
    """`metric`, `editor` (`all` too), `source`, `at`, `scaled` of the copies to filter."""
    copies = with_all(data.copies.select("chain", "editor", "source", "reach"))
    beyond = pl.col("reach").filter(pl.col("reach") > data.settings.baseline).min()
    common = copies.group_by("editor").agg(beyond.alias("common"))
    copies = copies.join(common, on="editor")
    ends = common["common"].drop_nulls().to_list()
    scores = data.scores.filter(pl.col("at").is_in([*gaps, *ends]), pl.col("raw").is_not_null())
    used = pl.col("at").is_in(list(gaps)) | (pl.col("at") == pl.col("common"))
    return scores.join(copies, on="chain").filter(used).select("metric", "editor", "source", "at", "scaled")


def _shares(own: pl.DataFrame, found: _Filter | None, confidence: float) -> list[dict[str, Any]]:
    rows = []
    # a fixed order, so that sums do not depend on the order of the chains
    ordered = own.sort(pl.col("editor") != ALL, "editor", "at", "number", "scaled")
    for (editor, at), part in ordered.group_by("editor", "at", maintain_order=True):
        row: dict[str, Any] = {"editor": editor, "at": at, "n": part.height}
        if found is not None:
            scores, owners = part["scaled"].to_numpy(), part["number"].to_numpy()
            passed = int((scores >= found.threshold).sum())
            share = passed / part.height
            low, high = pass_interval(scores, owners, share, found.drawn, confidence)
            row |= {"passed": passed, "share": share, "low": low, "high": high}
        rows.append(row)
    return rows

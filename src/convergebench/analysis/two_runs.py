"""Two runs on the cases that both have: the difference of each metric's mean, its interval and its test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.paired import compare_paired
from convergebench.analysis.permutation import holm
from convergebench.analysis.schemas import B, F, N, T, clean
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.registry import suggest

COLUMNS: dict[str, type[pl.DataType]] = {
    **{"metric": T, "editor_a": T, "editor_b": T, "mean_a": F, "mean_b": F, "difference": F, "low": F, "high": F},
    **{"p": F, "p_holm": F, "better": T, "exact": B, "rounds": N, "n_cases": N, "n_sources": N, "n_left_out": N},
}
KEY = ("image", "pair", "replicate")
"""What makes a case of one run the same as a case of another."""


@dataclass(frozen=True, slots=True)
class RunSide:
    """One of the two runs."""

    name: str
    measurements: pl.DataFrame
    images: Mapping[str, str]
    """Name of a source → hash of its image."""
    facts: Mapping[str, MetricFacts]


def compare_sides(
    a: RunSide, b: RunSide, *, metrics: Sequence[str] | None = None, confidence: float = 0.95
) -> pl.DataFrame:
    """A row per metric and pair of editors; `difference` is b − a over the cases and rounds that both have.

    A case counts if both have a finite value at every round that both runs reached; the others are in `n_left_out`.
    """
    first, second = _values(a), _values(b)
    shared = [one for one in first["metric"].unique(maintain_order=True) if one in set(second["metric"])]
    for name in metrics or ():
        if name not in shared:
            raise StudyError(
                f"'{name}' was not measured in both runs{suggest(name, shared)} (both have: {_list(shared)})"
            )
    if not shared:
        raise StudyError(f"{a.name} and {b.name} have no metric in common; measure both with the same ones")
    rows = [
        _row(name, one, other, first, second, a.facts, confidence)
        for name in metrics or shared
        for one, other in _editor_pairs(first, second)
    ]
    found = [row for row in rows if row is not None]
    if not found:
        raise StudyError(f"{a.name} and {b.name} have no case in common: the same image, edit and replicate")
    adjusted = holm([row["p"] for row in found])
    return clean(pl.DataFrame([{**row, "p_holm": p} for row, p in zip(found, adjusted, strict=True)], schema=COLUMNS))


def _values(side: RunSide) -> pl.DataFrame:
    """Values of returned pictures, with the hash of the source image as `image`."""
    rows = side.measurements.filter(pl.col("role") == "return")
    return rows.with_columns(pl.col("source").replace_strict(dict(side.images), default=None).alias("image"))


def _editor_pairs(first: pl.DataFrame, second: pl.DataFrame) -> list[tuple[str, str]]:
    """Editors of the same name; without any, every editor of the first with every one of the second."""
    ones, others = (list(side["editor"].unique(maintain_order=True)) for side in (first, second))
    same = [(one, one) for one in ones if one in others]
    return same or [(one, other) for one in ones for other in others]


def _row(
    metric: str,
    one: str,
    other: str,
    first: pl.DataFrame,
    second: pl.DataFrame,
    facts: Mapping[str, MetricFacts],
    confidence: float,
) -> dict[str, Any] | None:
    left = first.filter((pl.col("metric") == metric) & (pl.col("editor") == one))
    right = second.filter((pl.col("metric") == metric) & (pl.col("editor") == other))
    _require_same_meaning(metric, left, right)
    both = left.join(right, on=[*KEY, "round"], how="inner", suffix="_b")
    if not both.height:
        return None
    usable = pl.col("value").is_finite().fill_null(False) & pl.col("value_b").is_finite().fill_null(False)
    rounds = int(both["round"].max())  # type: ignore[arg-type]
    cases = both.group_by(*KEY, maintain_order=True).agg(
        pl.col("value").mean(), pl.col("value_b").mean(), usable.all().alias("usable"), pl.len().alias("n")
    )
    kept = cases.filter(pl.col("usable") & (pl.col("n") == cases["n"].max()))
    sums = kept.group_by("image", maintain_order=True).agg(
        pl.col("value").sum(), pl.col("value_b").sum(), pl.len().cast(pl.Float64).alias("cases")
    )
    features = [sums.select(column, "cases").to_numpy().astype(np.float64) for column in ("value", "value_b")]
    found = compare_paired(features[1], features[0], lambda sums: sums[..., 0] / sums[..., 1], confidence=confidence)
    return {
        **{"metric": metric, "editor_a": one, "editor_b": other},
        **{"mean_a": kept["value"].mean(), "mean_b": kept["value_b"].mean(), "difference": found.difference},
        **{"low": found.low, "high": found.high, "p": found.p, "exact": found.exact},
        "better": _better(found.difference, found.p, facts.get(metric), 1 - confidence),
        **{"rounds": rounds, "n_cases": kept.height, "n_sources": found.n_sources},
        "n_left_out": cases.height - kept.height,
    }


def _require_same_meaning(metric: str, left: pl.DataFrame, right: pl.DataFrame) -> None:
    """Reject runs measured with two versions of a metric, or under two alignments."""
    for column, what in (("fingerprint", "versions"), ("align", "alignments")):
        if column in left.columns and column in right.columns:
            kinds = set(left[column]) | set(right[column])
            if left.height and right.height and len(kinds) > 1:
                raise StudyError(
                    f"{metric} was measured under two {what} ({_list(sorted(kinds))}); measure both runs alike"
                )


def _better(difference: float, p: float, facts: MetricFacts | None, level: float) -> str:
    """`a` or `b` where the difference is significant and the metric has a direction; else empty."""
    if facts is None or facts.better == "neither" or not p < level:
        return ""
    return "b" if (difference > 0) == (facts.better == "higher") else "a"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"

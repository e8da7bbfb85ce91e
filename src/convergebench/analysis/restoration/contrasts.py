"""Each two methods on the pictures that both restored, with a paired test over photographs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.permutation import holm
from convergebench.analysis.restoration.methods import method_values
from convergebench.analysis.restoration.pictures import PictureValues, finite, paired_mean
from convergebench.analysis.restoration.result import INPUT, frame
from convergebench.analysis.restoration.scope import RestorationScope


def contrast_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `method_contrasts`: methods with enough coverage and the input, Holm over the pairs of a metric."""
    first = scope.first_results()
    rows: list[dict[str, Any]] = []
    for metric in scope.metrics:
        values = method_values(first, scope, metric)
        covered = [
            name for name, share in zip(values.names, values.coverage, strict=True) if _enough(name, share, scope)
        ]
        own = [row for pair in combinations(covered, 2) if (row := _pair(values, pair, scope, metric))]
        for row, p in zip(own, holm([row["p"] for row in own]), strict=True):
            rows.append({**row, "metric": metric, "p_holm": p, "significant": p < scope.level})
    return frame("method_contrasts", rows)


def _enough(name: str, share: float, scope: RestorationScope) -> bool:
    return name == INPUT or share >= scope.settings.coverage


def _pair(values: PictureValues, pair: tuple[str, str], scope: RestorationScope, metric: str) -> dict[str, Any]:
    differences = scope.sign(metric) * (values.row(pair[0]) - values.row(pair[1]))
    if np.isnan(differences).all():
        return {}
    found = paired_mean(differences, values.photographs, scope)
    low, high = (found.low, found.high) if found.difference >= 0 else (-found.high, -found.low)
    better, worse = pair if found.difference >= 0 else pair[::-1]
    return {
        **{"better": better, "worse": worse, "difference": abs(found.difference), "low": finite(low)},
        **{"high": finite(high), "p": found.p, "n_sources": found.n_sources},
        "n_cases": int((~np.isnan(differences)).sum()),
    }

"""Against people's ratings, and against the metric's own second answer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from convergebench.analysis.audit.opinions import opinion_table
from convergebench.analysis.audit.repeats import repeat_table
from convergebench.errors import StudyError
from convergebench.studies.analysis_settings import AuditSettings
from tests.analysis.audit.worlds import FACTS, row, world


def rated(metric: str, scores: list[float | None], ratings: list[float]) -> list[dict[str, object]]:
    return [
        {
            "picture": f"p{n}",
            "mos": mos,
            "metric": metric,
            "value": score,
            "status": "ok" if score is not None else "failed",
        }
        for n, (score, mos) in enumerate(zip(scores, ratings, strict=True))
    ]


def test_correlations_are_scipys_with_lower_is_better_turned_round() -> None:
    scores, ratings = [30.0, 20, 60, 50, 70, 20], [4.0, 4.5, 3, 2, 1, 5]
    opinions = world([], opinions=rated("brisque", [*scores, None], [*ratings, 3.0])).opinions
    found = row(opinion_table(opinions, FACTS, 0.95), metric="brisque")
    expected = pearsonr(-np.array(scores), ratings)
    assert found["plcc"] == pytest.approx(expected.statistic)
    assert (found["plcc_low"], found["plcc_high"]) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found["srcc"] == pytest.approx(spearmanr(-np.array(scores), ratings).statistic)
    assert found["srcc_low"] < found["srcc"] < found["srcc_high"]  # type: ignore[operator]
    assert (found["n"], found["n_missing"]) == (6, 1)


def test_a_constant_score_has_no_correlation_and_a_perfect_one_has_no_width() -> None:
    opinions = world(
        [],
        opinions=[
            *rated("musiq", [5, 5, 5, 5], [1, 2, 3, 4]),
            *rated("share", [0.125, 0.25, 0.375, 0.5], [1, 2, 3, 4]),
        ],
    ).opinions
    found = opinion_table(opinions, FACTS, 0.95)
    assert row(found, metric="musiq")["plcc"] is None
    assert row(found, metric="share")["srcc"] == pytest.approx(1)


def test_a_rated_metric_without_a_direction_is_an_error() -> None:
    with pytest.raises(StudyError, match="noise has no known direction"):
        opinion_table(world([], opinions=rated("noise", [1], [1])).opinions, FACTS, 0.95)


def test_the_distance_between_two_scores_of_one_picture_is_scaled() -> None:
    def pair(check: str, first: float | None, second: float | None, status: str = "ok") -> dict[str, object]:
        known = {"metric": "brisque", "check": check, "picture": "p"}
        return {**known, "first": first, "second": second, "status": status}

    given = world([], repeats=[
        pair("again", 30, 30), pair("again", 31, 31),
        pair("jpeg", 30, 33), pair("jpeg", 30, 15), pair("jpeg", 30, 30), pair("jpeg", 30, None, "failed"),
        pair("gpu", None, None, "no device"),
    ])  # fmt: skip
    found = repeat_table(given.repeats, FACTS, AuditSettings())
    again, jpeg, gpu = (row(found, check=check) for check in ("again", "jpeg", "gpu"))
    assert (again["n"], again["same"], again["largest"], again["status"]) == (2, 2, 0, "ok")
    assert (jpeg["n"], jpeg["same"], jpeg["status"]) == (3, 1, "ok, failed")
    assert (jpeg["largest"], jpeg["median"]) == pytest.approx((10, 2))
    assert (gpu["n"], gpu["largest"], gpu["status"]) == (0, None, "no device")

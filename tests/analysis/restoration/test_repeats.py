"""Steadiness: Friedman's table, the spread it cannot see, and repeats that went astray."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from convergebench.analysis.restoration.outliers import TIMES, usual_distance
from tests.analysis.restoration.results_world import analysed, chain, only


def repeats(
    values: np.ndarray[Any, Any], *, editor: str = "a", prompt: str = "S1", metric: str = "psnr"
) -> list[dict[str, Any]]:
    """Chains of pictures × repeats; NaN is a refusal."""
    return [
        chain(editor, f"p{picture:03}.mixed", prompt=prompt, repeat=repeat, status="refused")
        if np.isnan(one)
        else chain(editor, f"p{picture:03}.mixed", {metric: float(one)}, prompt=prompt, repeat=repeat)
        for picture, row in enumerate(values)
        for repeat, one in enumerate(row)
    ]


def noisy(pictures: int, spread: float = 1.0, seed: int = 0, count: int = 3) -> np.ndarray[Any, Any]:
    draw = np.random.default_rng(seed)
    return np.asarray(draw.normal(25, 3, (pictures, 1)) + draw.normal(0, spread, (pictures, count)))


def test_statistic_and_p_are_scipys_and_the_papers_stand_beside() -> None:
    values = noisy(21)
    row = only(analysed(repeats(values), {"psnr": 20.0}).stability, metric="psnr")
    theirs = friedmanchisquare(*values.T)
    assert (row["statistic"], row["p"]) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert (row["repeats"], row["n_cases"], row["n_missing"]) == (3, 21, 0)
    assert (row["paper_statistic"], row["paper_p"]) == (0.667, 0.717)


def test_a_picture_with_a_missing_repeat_is_left_out_and_counted() -> None:
    values = noisy(12)
    values[3, 1] = values[7, 0] = np.nan
    row = only(analysed(repeats(values), {"psnr": 20.0}).stability, metric="psnr")
    kept = values[~np.isnan(values).any(axis=1)]
    assert row["statistic"] == pytest.approx(friedmanchisquare(*kept.T).statistic)
    assert (row["n_cases"], row["n_missing"]) == (10, 2)


def test_no_friedman_test_tells_a_wild_editor_from_a_calm_one_but_the_spread_does() -> None:
    told = set()
    for spread in (0.1, 5.0):
        found = analysed(repeats(noisy(30, spread)), {"psnr": 20.0})
        row = only(found.stability, metric="psnr")
        told.add(row["p"])
        assert row["spread_low"] < spread < row["spread_high"]
        assert row["between"] > 2
        assert any(one.startswith("Repeating the same request, a varies by a standard") for one in found.headline)
        assert any("not random variation" in one for one in found.headline)
    assert len(told) == 1, "the ranks are the same"


def test_an_editor_that_tires_is_found() -> None:
    values = noisy(21) - 0.8 * np.arange(3)
    row = only(analysed(repeats(values), {"psnr": 20.0}).stability, metric="psnr")
    assert row["significant"]
    assert row["significant_holm"]


def test_holm_counts_all_tests_of_one_editor() -> None:
    rows = repeats(noisy(12, seed=9), editor="b", prompt="S1")
    for seed, prompt in enumerate(("L3", "LF1", "S1", "SF2")):
        rows += repeats(noisy(12, seed=seed), prompt=prompt)
    found = analysed(rows, {"psnr": 20.0}).stability
    own = found.filter(editor="a")
    assert own.height == 4
    assert own["p_holm"].min() == pytest.approx(min(1.0, 4 * own["p"].min()))  # type: ignore[operator]
    other = only(found, editor="b")
    assert other["p_holm"] == pytest.approx(other["p"])


def test_equal_answers_have_no_statistic_and_a_spread_of_nothing() -> None:
    found = analysed(repeats(np.repeat(noisy(6)[:, :1], 3, axis=1)), {"psnr": 20.0}, deterministic=frozenset({"a"}))
    row = only(found.stability, metric="psnr")
    assert (row["statistic"], row["p"], row["significant"], row["spread"]) == (None, None, None, 0.0)
    assert row["note"] == "all repeats are equal, as it says of itself"
    assert "a gives the same answer every time." in found.headline
    assert found.outlier_repeats.height == 0


def test_without_repeats_there_is_nothing_to_say() -> None:
    found = analysed(repeats(noisy(6, count=1)), {"psnr": 20.0})
    assert found.stability.height == found.outlier_repeats.height == 0


def test_no_picture_with_all_repeats_is_told() -> None:
    values = noisy(4)
    values[np.arange(4), [0, 1, 2, 0]] = np.nan
    row = only(analysed(repeats(values), {"psnr": 20.0}).stability, metric="psnr")
    assert (row["statistic"], row["spread"], row["note"]) == (None, None, "no picture has all repeats")


def test_a_planted_shift_of_colour_is_found_first() -> None:
    values = noisy(35, 0.5)
    casts = noisy(35, 0.5, seed=1) - 25
    casts[11, 2] += 9
    rows = repeats(values)
    for row, cast in zip(rows, casts.ravel(), strict=True):
        row["values"] = ({**row["values"][0], "cast-a": float(cast)},)
    found = analysed(rows, {"psnr": 20.0}).outlier_repeats
    row = found.row(0, named=True)
    assert found.height <= 2, "by chance one picture in some hundreds"
    assert (row["case"], row["replicate"], row["metric"], row["kind"]) == ("p011.mixed/S1/2", 2, "cast-a", "text")
    assert row["deviation"] == pytest.approx(9, abs=2)
    assert row["times"] == pytest.approx(abs(row["deviation"]) / row["usual"])


def test_a_collapse_in_a_metric_of_the_tables_reaches_the_headline() -> None:
    values = noisy(20, 0.3)
    values[4, 0] -= 8
    found = analysed(repeats(values), {"psnr": 20.0})
    (said,) = [one for one in found.headline if "far from the others" in one]
    assert said.startswith("1 repeat of a is far from the others of the same image; the farthest is p004.mixed/S1/0")


def test_normal_noise_is_rarely_flagged() -> None:
    draw = np.random.default_rng(0)
    flagged = 0
    for _ in range(300):
        values = draw.normal(size=(20, 3))
        away = np.abs(values - np.median(values, axis=1, keepdims=True))
        flagged += int((away >= TIMES * (usual_distance([values]) or np.inf)).any(axis=1).sum())
    assert flagged / 6000 < 0.004


def test_wild_pictures_do_not_hide_each_other() -> None:
    values = noisy(20, 0.2)
    values[:6, 0] += 30
    assert analysed(repeats(values), {"psnr": 20.0}).outlier_repeats.height == 6


@pytest.mark.parametrize(("pictures", "count"), [(4, 3), (12, 2)])
def test_too_few_pictures_or_repeats_flag_nothing(pictures: int, count: int) -> None:
    values = noisy(pictures, 0.1, count=count)
    values[0, 0] += 50
    assert analysed(repeats(values), {"psnr": 20.0}).outlier_repeats.height == 0


def test_one_odd_answer_among_equal_ones_is_flagged() -> None:
    values = np.full((10, 3), 25.0)
    values[2, 1] = 20
    assert analysed(repeats(values), {"psnr": 20.0}).outlier_repeats["case"].to_list() == ["p002.mixed/S1/1"]


def test_of_several_editors_the_least_and_the_most_steady_are_named() -> None:
    spreads = {"calm": 0.1, "usual": 1.0, "wild": 4.0}
    rows = [row for name, spread in spreads.items() for row in repeats(noisy(12, spread), editor=name)]
    found = analysed(rows, {"psnr": 20.0})
    (said,) = [one for one in found.headline if "Repeating" in one]
    assert said.startswith("Repeating the same request, wild varies most, by a standard deviation of 3.")
    assert "calm varies least, by 0.08 dB" in said
    assert sum("Friedman" in one for one in found.headline) == 1

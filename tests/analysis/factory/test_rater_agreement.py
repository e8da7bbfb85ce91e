"""The four measures of agreement against other implementations, and their intervals against simulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.rater_agreement import (
    alpha_of_two,
    clustered,
    kendall,
    krippendorff_alpha,
    measures_of,
    quadratic_kappa,
    spearman,
)

NAN = np.nan
SCORES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=4, max_size=40).map(
    lambda pairs: (np.array([a for a, _ in pairs]) / 10, np.array([b for _, b in pairs]) / 10)
)
Two = tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], np.ndarray[tuple[int, ...], np.dtype[np.float64]]]


def varies(*sides: object) -> bool:
    return all(np.ptp(np.asarray(side)) > 0 for side in sides)


@given(SCORES)
def test_spearman_is_scipys(scores: Two) -> None:
    one, other = scores
    found = spearman(one, other)
    if not varies(one, other):
        assert found is None
    else:
        assert found == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)


@given(SCORES)
def test_kendall_counts_pairs(scores: Two) -> None:
    one, other = scores
    pairs = [(i, j) for i in range(one.size) for j in range(i)]
    signs = [(np.sign(one[i] - one[j]), np.sign(other[i] - other[j])) for i, j in pairs]
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    found = kendall(one, other)
    if not varies(one, other):
        assert found is None
    else:
        assert found == pytest.approx(sum(a * b for a, b in signs) / np.sqrt(untied[0] * untied[1]), abs=1e-12)


def test_kappa_worked_out_by_hand() -> None:
    """Levels 0 0 1 2 against 0 1 1 2 of three: observed 1/4, expected (5 + 6)/4 − 2 · 3/4 · 1 = 5/4, so 1 − 1/5."""
    assert quadratic_kappa(np.array([0, 0, 0.5, 1]), np.array([0, 0.5, 0.5, 1]), levels=3) == pytest.approx(0.8)
    assert quadratic_kappa(np.full(4, 0.3), np.full(4, 0.3)) is None


def test_alpha_of_krippendorffs_own_example() -> None:
    """Four observers and twelve units with gaps, from Computing Krippendorff's Alpha-Reliability (2011): 0.849."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    assert krippendorff_alpha(np.array(observers)) == pytest.approx(0.849, abs=0.0005)


def test_alpha_by_its_definition() -> None:
    one, other = np.array([0.1, 0.4, 0.8, 0.5]), np.array([0.2, 0.4, 0.6, 0.9])
    observed = np.mean((one - other) ** 2)
    every = np.concatenate([one, other])
    expected = np.mean([(a - b) ** 2 for i, a in enumerate(every) for j, b in enumerate(every) if i != j])
    assert alpha_of_two(one, other) == pytest.approx(1 - observed / expected)
    assert alpha_of_two(np.full(4, 0.5), np.full(4, 0.5)) is None


def test_raters_on_another_scale_are_compared_by_order_alone() -> None:
    ours = np.linspace(0, 1, 20)
    assert set(measures_of(ours, ours)) == {"spearman", "kendall", "quadratic kappa", "krippendorff alpha"}
    assert set(measures_of(ours, 1 + 4 * ours)) == {"spearman", "kendall"}


def raters(generator: np.random.Generator, sources: int, each: int) -> tuple[Two, list[str]]:
    """Two raters who see the same edits of each source; the sources differ too, so pictures are not independent."""
    names = [f"p{number:02}" for number in range(sources) for _ in range(each)]
    truth = np.repeat(generator.normal(0, 1, sources), each) + generator.normal(0, 1, sources * each)
    one, other = (truth + generator.normal(0, 1, truth.size) for _ in range(2))
    return (one, other), names


@pytest.mark.parametrize(("kind", "trials"), [("corrected-t", 120), ("percentile", 60)])
def test_intervals_cover_the_truth(kind: str, trials: int) -> None:
    """The large-sample value of each measure lies in nearly nineteen of twenty intervals."""
    (one, other), _ = raters(np.random.default_rng(0), 20_000, 3)
    truth = spearman(one, other)
    assert truth is not None
    how = Bootstrap(draws=100, kind=kind)  # type: ignore[arg-type]
    hits = 0
    for seed in range(trials):
        (one, other), names = raters(np.random.default_rng([7, seed]), 24, 3)
        found = clustered(one, other, names, spearman, how)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
    assert hits / trials >= 0.85


def test_pictures_of_one_source_belong_together() -> None:
    (one, other), names = raters(np.random.default_rng(3), 12, 1)
    many = [np.tile(side, 10) for side in (one, other)]
    alone = clustered(one, other, names, spearman, Bootstrap())
    copied = clustered(many[0], many[1], names * 10, spearman, Bootstrap())
    assert copied.low == pytest.approx(alone.low, abs=0.02)
    assert copied.high == pytest.approx(alone.high, abs=0.02)
    assert clustered(one[:4], other[:4], names[:4], spearman, Bootstrap()).low is None

"""Friedman's test and Holm's correction beside other people's code, and the paper's own table of repeats."""

from __future__ import annotations

from itertools import permutations, product
from math import exp

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from convergebench.analysis.permutation import holm
from convergebench.analysis.restoration.friedman import FEW, friedman
from convergebench.analysis.restoration.paper import paper_tests

REFERENCE = ("psnr", "ssim", "lpips")


@pytest.mark.parametrize(("blocks", "repeats"), [(10, 3), (21, 3), (35, 3), (12, 5), (4, 4)])
@pytest.mark.parametrize("digits", [0, 1, 8])
def test_statistic_and_p_are_scipys_with_and_without_ties(blocks: int, repeats: int, digits: int) -> None:
    values = np.round(np.random.default_rng(blocks * repeats + digits).normal(size=(blocks, repeats)), digits)
    theirs = friedmanchisquare(*values.T)
    ours = friedman(values)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue)
    assert (ours.blocks, ours.exact) == (blocks, False)


@pytest.mark.parametrize(("blocks", "repeats"), [(2, 3), (3, 3), (5, 2)])
@pytest.mark.parametrize("digits", [0, 8])
def test_with_few_pictures_p_counts_all_orders(blocks: int, repeats: int, digits: int) -> None:
    values = np.round(np.random.default_rng(digits + blocks).normal(size=(blocks, repeats)), digits)
    found = friedman(values)
    assert found.statistic is not None
    orders = [[np.array(order) for order in permutations(block)] for block in values]
    every = [friedman(np.array(rows)).statistic or 0.0 for rows in product(*orders)]
    assert found.p == pytest.approx(np.mean(np.array(every) >= found.statistic - 1e-9))
    assert found.exact
    assert blocks < FEW


def test_where_nothing_varies_there_is_no_statistic() -> None:
    assert friedman(np.ones((6, 3)))[:2] == (None, None)
    assert friedman(np.zeros((0, 3)))[:2] == (None, None)
    assert friedman(np.ones((6, 1)))[:2] == (None, None)


def test_holm_is_that_of_statsmodels() -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    draw = np.random.default_rng(0)
    for tests in (1, 2, 18, 24):
        p = np.round(draw.beta(0.3, 1, tests), 3)
        assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_the_papers_p_values_follow_from_its_statistics() -> None:
    """Three repeats: p = exp(−χ²/2), to the three digits that are printed."""
    assert len(paper_tests()) == 24
    for name, test in paper_tests().items():
        assert exp(-test.statistic / 2) == pytest.approx(test.p, abs=0.0011), name


def test_the_papers_statistics_tell_how_many_pictures_it_has() -> None:
    """With k = 3 and no ties χ² is a multiple of 2/n: 21 pictures have a clean one, 35 there are in all."""
    for (_, metric), test in paper_tests().items():
        step = 2 / (21 if metric in REFERENCE else 35)
        assert abs(test.statistic - step * round(test.statistic / step)) < 0.0006
    loose = [abs(test.statistic * 20 / 2 - round(test.statistic * 20 / 2)) > 0.02 for test in paper_tests().values()]
    assert any(loose), "any other number would not fit"


def test_two_of_24_are_significant_and_none_after_holm() -> None:
    p = {name: exp(-test.statistic / 2) for name, test in paper_tests().items()}
    assert [name for name, value in p.items() if value < 0.05] == [("LF1", "musiq"), ("S1", "clipiqa")]
    assert min(holm(list(p.values()))) == pytest.approx(0.452, abs=0.001)

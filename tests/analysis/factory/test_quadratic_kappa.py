"""Quadratic-weighted κ against scikit-learn's, where that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.analysis.factory.rater_agreement import LEVELS, quadratic_kappa

cohen_kappa_score = pytest.importorskip("sklearn.metrics").cohen_kappa_score

SIDE = st.lists(st.integers(0, 10), min_size=20, max_size=20).map(lambda values: np.array(values) / 10)


@settings(deadline=None)
@given(SIDE, SIDE)
def test_kappa_is_that_of_scikit_learn(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    found = quadratic_kappa(one, other)
    if np.ptp(one) == np.ptp(other) == 0 and one[0] == other[0]:
        assert found is None
        return
    levels = [np.rint(side * (LEVELS - 1)).astype(int) for side in (one, other)]
    expected = cohen_kappa_score(*levels, weights="quadratic", labels=list(range(LEVELS)))
    assert found == pytest.approx(expected, abs=1e-9)

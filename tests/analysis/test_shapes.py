from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.shapes import SHAPES, choose_shape

ROUNDS = np.arange(1, 16, dtype=float)
LAWS = {
    "linear": 0.02 * ROUNDS,
    "root": 0.05 * np.sqrt(ROUNDS),
    "saturating": 0.3 * (1 - np.exp(-0.4 * ROUNDS)),
    "accelerating": 0.01 * np.expm1(0.2 * ROUNDS),
}


@pytest.mark.parametrize("law", SHAPES)
def test_a_clean_law_is_recognised(law: str) -> None:
    choice = choose_shape(ROUNDS, LAWS[law])
    assert (choice.best, choice.verdict) == (law, law)
    assert choice.weights.sum() == pytest.approx(1)
    assert choice.weights[SHAPES.index(law)] > 0.8


@pytest.mark.parametrize("law", SHAPES)
def test_a_law_is_recognised_under_noise(law: str) -> None:
    generator = np.random.default_rng(9)
    hits = 0
    for _ in range(40):
        noise = 0.01 * LAWS[law].max() * generator.normal(size=ROUNDS.size)
        hits += choose_shape(ROUNDS, LAWS[law] + noise, np.full(ROUNDS.size, 1e-4)).best == law
    assert hits >= 34


def test_parameters_are_recovered_and_printed() -> None:
    choice = choose_shape(ROUNDS, LAWS["saturating"])
    fit = choice.fits[SHAPES.index("saturating")]
    assert [fit.amplitude, fit.rate] == pytest.approx([0.3, 0.4], rel=1e-3)
    assert fit.parameters == "A = 0.3, k = 0.4"
    assert choose_shape(ROUNDS, LAWS["linear"]).fits[0].parameters == "a = 0.02"


def test_weights_let_the_well_known_rounds_decide() -> None:
    drift = LAWS["linear"].copy()
    drift[-5:] = drift[9]  # the last rounds look saturated, but hardly anything is known about them
    trusted = np.full(ROUNDS.size, 1e-6)
    doubted = trusted.copy()
    doubted[-5:] = 1.0
    assert choose_shape(ROUNDS, drift, trusted).best == "saturating"
    assert choose_shape(ROUNDS, drift, doubted).best == "linear"


def test_two_close_laws_are_undecided() -> None:
    choice = choose_shape(ROUNDS[:5], 0.05 * ROUNDS[:5] ** 0.75)  # half-way between linear and root
    scores = sorted(fit.aicc for fit in choice.fits)
    assert scores[1] - scores[0] < 2
    assert choice.verdict == "undecided"
    assert choice.best in SHAPES


def test_fewer_than_five_rounds_decide_nothing() -> None:
    choice = choose_shape(ROUNDS[:4], LAWS["linear"][:4])
    assert (choice.best, choice.verdict) == (None, "undecided")
    assert np.isnan(choice.weights).all()


def test_no_drift_is_flat() -> None:
    assert choose_shape(ROUNDS, np.zeros(ROUNDS.size)).verdict == "flat"


def test_the_table_reads_drift_from_the_distance(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    generator = np.random.default_rng(1)
    chains = []
    for source in range(6):
        scale = 1 + 0.1 * generator.normal()
        for editor, law in (("sim-tint", "linear"), ("sim-noise", "root")):
            chains.append(chain(editor, f"s{source}", {"rmse": (scale * LAWS[law]).tolist()}))
        chains.append(chain("sim-perfect", f"s{source}", {"rmse": [0.0] * 15}))
    shapes = analyse(given(chains), AnalysisSettings(draws=100, chain_draws=50)).shapes.filter(group="all")
    verdicts = dict(shapes.select("editor", "verdict").unique().iter_rows())
    assert verdicts == {"sim-tint": "linear", "sim-noise": "root", "sim-perfect": "flat"}
    assert shapes.filter(editor="sim-tint", best=True)["shape"].to_list() == ["linear"]
    assert shapes["n_rounds"].unique().to_list() == [15]

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.shapes import SHAPES, choose_shape, common_part

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


SLOPES = np.linspace(0.01, 0.06, 12)
TOO_FAR = 0.31
"""Drift at which the pictures of these chains can no longer be measured."""


def linear_chains(chain: Callable[..., dict[str, Any]], *, slopes: Any = SLOPES, ends: str = "lost") -> list[Any]:
    """Cases that drift along straight lines; one that is too far away is lost, or its chain has ended."""
    chains = []
    for place, slope in enumerate(slopes):
        drift = [slope * n if slope * n < TOO_FAR else "unaligned" for n in ROUNDS]
        drift = drift if ends == "lost" else [value for value in drift if value != "unaligned"]
        chains.append(chain("straight", f"s{place}", {"rmse": drift}, planned=15))
    return chains


def shape_of(given: AnalysisInput) -> dict[str, Any]:
    found = analyse(given, AnalysisSettings(draws=100)).shapes.filter(group="all", shape="linear")
    return found.row(0, named=True)


def test_a_mean_over_whoever_is_left_looks_saturated() -> None:
    drift = np.where(SLOPES[:, None] * ROUNDS < TOO_FAR, SLOPES[:, None] * ROUNDS, np.nan)
    assert choose_shape(ROUNDS, np.nanmean(drift, axis=0)).verdict == "saturating"


def test_a_straight_line_stays_linear_when_its_worst_cases_are_lost(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    row = shape_of(given(linear_chains(chain)))
    assert row["verdict"] == "linear"
    assert (row["n_rounds"], row["n_cases"], row["n_missing"]) == (5, 12, 0)  # 0.06 · 6 is too far


def test_a_straight_line_stays_linear_when_chains_end(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    row = shape_of(given(linear_chains(chain, ends="ended")))
    assert row["verdict"] == "linear"
    assert (row["n_rounds"], row["n_cases"], row["n_missing"]) == (6, 10, 2)  # the last round that 80 % have


def test_too_early_a_loss_leaves_the_shape_undecided(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    row = shape_of(given(linear_chains(chain, slopes=[*SLOPES, 0.1])))
    assert (row["verdict"], row["n_rounds"], row["n_cases"]) == ("undecided", 3, 13)


def test_a_loss_in_round_one_leaves_nothing_to_fit(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    row = shape_of(given(linear_chains(chain, slopes=[*SLOPES, 0.4])))
    assert (row["verdict"], row["n_rounds"], row["n_cases"]) == ("undecided", 0, 0)


def test_two_rounds_at_the_source_before_a_loss_are_not_flat(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    row = shape_of(given([chain("wrecker", f"s{n}", {"rmse": [0.0, 0.0, "size", "size"]}) for n in range(6)]))
    assert row["verdict"] == "undecided"


def test_a_case_with_a_gap_does_not_count_and_a_round_that_nobody_has_is_passed_over() -> None:
    values = np.outer(SLOPES[:10], ROUNDS)
    values[3, 4] = np.nan
    values[:, 7] = np.nan
    cases, rounds = common_part(values, np.zeros(values.shape, dtype=np.bool_))
    assert cases.tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert rounds.tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14]

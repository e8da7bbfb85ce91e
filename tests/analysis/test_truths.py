"""Whole studies of simulated editors whose truth is known, from measurements to verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from convergebench.analysis import Analysis, AnalysisInput, AnalysisSettings, analyse

Image = npt.NDArray[np.float64]
Step = Callable[[Image, Image, np.random.Generator], Image]
ROUNDS, SOURCES, PIXELS = 12, 6, 1500
DETERMINISTIC = ("sim-perfect", "sim-contracting", "sim-tint", "sim-jpeg", "sim-cycle")


EDITORS: dict[str, Step] = {
    "sim-perfect": lambda image, goal, generator: image,
    "sim-contracting": lambda image, goal, generator: goal + 0.7 * (image - goal),
    "sim-tint": lambda image, goal, generator: image + 0.01,
    "sim-jpeg": lambda image, goal, generator: np.round(image * 20) / 20,
    "sim-cycle": lambda image, goal, generator: np.roll(image, PIXELS // 3),
    "sim-noise": lambda image, goal, generator: image + generator.normal(0, 0.01, PIXELS),
}


@pytest.fixture(scope="module")
def seeds() -> list[int]:
    return list(range(SOURCES))


@pytest.fixture
def study(
    seeds: list[int],
    chain: Callable[..., dict[str, Any]],
    given: Callable[..., AnalysisInput],
    path_values: Callable[..., dict[str, list[float]]],
) -> Analysis:
    chains = []
    for seed in seeds:
        generator = np.random.default_rng(seed)
        source, goal = generator.uniform(0.3, 0.7, (2, PIXELS))
        for editor, step in EDITORS.items():
            images = [source]
            for _ in range(ROUNDS):
                images.append(step(images[-1], goal, generator))
            values = path_values(images)
            values["ssim"] = [1 - 4 * drift for drift in values["rmse"]]
            chains.append(chain(editor, f"s{seed}", values))
    settings = AnalysisSettings(draws=300, chain_draws=200, semantic=None)
    return analyse(given(chains, simulated=EDITORS, deterministic=DETERMINISTIC), settings)


def test_verdicts_factors_periods_and_shapes_are_the_known_ones(study: Analysis) -> None:
    shares = {(row["editor"], row["verdict"]): row["share"] for row in study.verdicts.to_dicts()}
    assert shares == {
        ("sim-perfect", "returns"): 1,
        ("sim-contracting", "settles"): 1,
        ("sim-tint", "drifts"): 1,
        ("sim-jpeg", "settles"): 1,
        ("sim-cycle", "cycles"): 1,
        ("sim-noise", "drifts"): 1,
    }
    factors = dict(study.verdicts.select("editor", "median_q").rows())
    assert factors["sim-contracting"] == pytest.approx(0.7, abs=0.002)
    assert factors["sim-tint"] == pytest.approx(1, abs=0.002)
    assert factors["sim-noise"] == pytest.approx(1, abs=0.01)
    assert factors["sim-perfect"] is None
    assert study.contraction.filter(editor="sim-cycle")["period"].unique().to_list() == [3]
    shapes = dict(study.shapes.filter(group="all").select("editor", "verdict").unique().rows())
    assert shapes["sim-perfect"] == "flat"
    assert shapes["sim-contracting"] == "saturating"
    assert shapes["sim-tint"] == "linear"
    assert shapes["sim-noise"] == "root"


def test_limits_are_estimated_only_where_something_settles(study: Analysis) -> None:
    rows = study.contraction.filter(editor="sim-contracting")
    assert rows["prior_bound"].null_count() == 0
    # the fixed point is a straight march away, and the upper end of q lies a little above 0.7
    distance = (rows["drift"] / (1 - 0.7**ROUNDS)).to_numpy()
    assert (rows["prior_bound"].to_numpy() >= distance).all()
    assert rows["prior_bound"].to_list() == pytest.approx(distance.tolist(), rel=0.1)
    assert (rows["posterior_bound"].to_numpy() >= 0.7**ROUNDS * distance).all()
    assert study.contraction.filter(editor="sim-tint")["prior_bound"].null_count() == SOURCES


def test_efficiency_is_one_on_a_march_and_falls_on_a_walk(study: Analysis) -> None:
    efficiency = dict(study.contraction.filter(source="s0").select("editor", "efficiency").rows())
    assert efficiency["sim-tint"] == pytest.approx(1)
    assert efficiency["sim-noise"] == pytest.approx(1 / np.sqrt(ROUNDS), rel=0.1)
    assert efficiency["sim-cycle"] == pytest.approx(0, abs=1e-12)  # twelve rounds are four whole turns
    assert efficiency["sim-perfect"] is None


def test_identity_has_area_one_and_a_censored_half_life(study: Analysis) -> None:
    auc = study.auc.filter(editor="sim-perfect", metric="ssim", group="all").to_dicts()[0]
    assert (auc["auc"], auc["low"], auc["high"]) == (1, 1, 1)
    half = study.half_life.filter(editor="sim-perfect", metric="ssim", level="noticeable", group="all").to_dicts()[0]
    assert (half["median"], half["text"], half["restricted_mean"], half["n_censored"]) == (None, "> 12", 12, SOURCES)


def test_floors_say_where_they_come_from(study: Analysis) -> None:
    origins = dict(study.contraction.select("editor", "floor_from").unique().rows())
    assert origins["sim-tint"] == "rounding"
    assert origins["sim-noise"] == "rounding (no replicates)"


def test_replicates_of_a_random_editor_raise_its_floor(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    apart = [None, 0.02, 0.03]
    chains = [
        chain(
            "model",
            "s0",
            {"rmse": [0.05, 0.1, 0.1], **({"rmse-replicate": [one, 0.2, 0.3]} if one else {})},
            replicate=n,
        )
        for n, one in enumerate(apart)
    ]
    rows = analyse(given(chains), AnalysisSettings(draws=50, chain_draws=50)).contraction
    assert rows["floor_from"].unique().to_list() == ["replicates"]
    assert rows["floor"].to_list() == pytest.approx([0.025] * 3)  # the median of 0.02 and 0.03, round 1 only
    exact = analyse(given(chains, deterministic=["model"]), AnalysisSettings(draws=50, chain_draws=50)).contraction
    assert exact["floor"].to_list() == pytest.approx([0.5 / 255] * 3)


def test_a_distance_that_was_not_measured_leaves_every_chain_unknown(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    result = analyse(given([chain(values={"ssim": [0.9] * 5})]), AnalysisSettings(draws=50, chain_draws=50))
    assert result.verdicts.select("verdict", "share").rows() == [("unknown", 1.0)]
    assert result.shapes.is_empty()

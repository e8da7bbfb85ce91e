"""Small worlds whose truth is known: chains of vectors standing for images, and hand-made metric values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from convergebench.analysis import AnalysisInput
from convergebench.analysis.lags import ChainDistances
from convergebench.metrics.base import MetricFacts

Images = Sequence[npt.NDArray[np.float64]]
Values = Mapping[str, Sequence[float | str | None]]
"""Per metric its values round by round; None: not measured; a word: no value, and the status that says why."""
LAGS = 6


def _facts(*given: MetricFacts) -> dict[str, MetricFacts]:
    return {facts.name: facts for facts in given}


FACTS = _facts(
    MetricFacts("psnr", "full-reference", "higher", (0, inf), "dB", unit="dB", noticeable=30, half=20),
    MetricFacts("ssim", "full-reference", "higher", (-1, 1), "similarity", self_value=1, noticeable=0.9, half=0.5),
    MetricFacts("lpips", "full-reference", "lower", (0, 1), "distance", self_value=0, noticeable=0.1, half=0.5),
    MetricFacts("delta-e", "full-reference", "lower", (0, inf), "colour", self_value=0, noticeable=2.3, half=10),
    MetricFacts("gist", "semantic", "higher", (-1, 1), "layout", self_value=1, noticeable=0.95, half=0.75),
    MetricFacts("rmse", "full-reference", "lower", (0, 1), "distance", self_value=0, roles=("return", "lag")),
    MetricFacts("happened", "adherence", "higher", (0, 1), "did it happen", roles=("forward",)),
    MetricFacts("undone", "adherence", "higher", (-inf, 1), "was it undone", roles=("backward",)),
    MetricFacts("words", "adherence", "higher", (-1, 1), "as told", roles=("forward", "backward")),
    MetricFacts("noise", "diagnostic", "neither", (0, inf), "noise", roles=("forward", "backward")),
)


@pytest.fixture
def facts() -> dict[str, MetricFacts]:
    return dict(FACTS)


@pytest.fixture
def chain() -> Callable[..., dict[str, Any]]:
    """One chain as a mapping: its metric values per round, and how it ended."""

    def make(
        editor: str = "sim-a", source: str = "s0", values: Values | None = None, *, pair: str = "hat", **more: Any
    ) -> dict[str, Any]:
        values = values or {}
        rounds = max((len(column) for column in values.values()), default=0)
        row = {
            **{"editor": editor, "source": source, "pair": pair, "kind": "face", "category": "accessories"},
            **{"replicate": 0, "status": "finished", "detail": "", "rounds": rounds, "planned": rounds},
            **{"steps": 2 * rounds, "dollars": 0.0, "seconds": 1.0, "values": values, **more},
        }
        return {**row, "case": f"{row['source']}/{row['pair']}/{row['replicate']}"}

    return make


@pytest.fixture
def given() -> Callable[..., AnalysisInput]:
    """The analysis input made of such chains."""

    def make(
        chains: Iterable[Mapping[str, Any]],
        *,
        simulated: Iterable[str] = (),
        deterministic: Iterable[str] = (),
        uninstructed: Iterable[str] = (),
    ) -> AnalysisInput:
        rows, ends = [], []
        for one in chains:
            ends.append({name: value for name, value in one.items() if name != "values"})
            shared = ("editor", "case", "source", "kind", "pair", "category", "replicate")
            for metric, column in one["values"].items():
                for place, value in enumerate(column, start=1):
                    rows.append(
                        {
                            **{name: one[name] for name in shared},
                            **{"round": place, "step": 2 * place, "metric": metric},
                            "value": None if isinstance(value, str) else value,
                            "status": value if isinstance(value, str) else "ok" if value is not None else "not-finite",
                        }
                    )
        frame = pl.DataFrame(rows, schema_overrides={"value": pl.Float64}, infer_schema_length=None)
        marks = (frozenset(simulated), frozenset(deterministic), frozenset(uninstructed))
        return AnalysisInput(frame, pl.DataFrame(ends), dict(FACTS), *marks)

    return make


@pytest.fixture
def path() -> Callable[[Images], ChainDistances]:
    """Drift and lagged RMSE of a list of images, the source first."""
    return make_path


@pytest.fixture
def path_values() -> Callable[[Images], dict[str, list[float]]]:
    """The same as metric columns from round 1 on (lags that reach before the source left out, as in a run)."""

    def make(images: Images) -> dict[str, list[float]]:
        walked = make_path(images)
        columns = {"rmse": walked.drift[1:].tolist()}
        for lag in range(1, LAGS + 1):
            column = walked.lags[lag - 1, 1:].tolist()
            columns[f"rmse-lag{lag}"] = [None if np.isnan(value) else value for value in column]
        return columns

    return make


def make_path(images: Images) -> ChainDistances:
    stack = np.stack(images)
    drift = _rmse(stack, stack[:1])
    lags = np.full((LAGS, len(images)), np.nan)
    for lag in range(1, min(LAGS, len(images) - 1) + 1):
        lags[lag - 1, lag:] = _rmse(stack[lag:], stack[:-lag])
    return ChainDistances(drift, lags)


def _rmse(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.sqrt(np.mean((one - other) ** 2, axis=1)))

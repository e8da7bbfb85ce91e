"""From a taught network to the file that the package ships: `python -m training.decay.calibrate NETWORK.npz TUNE.npz`.

Fixes, on the photographs for tuning alone: the scale (0 untouched, 100 the twentieth step, every family counts the
same), how many passes through an autoencoder a value looks like, and how far from all of them a picture may lie before
the answer is "unknown".
"""

from __future__ import annotations

import argparse
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convergebench.metrics.no_reference._decay_network import NUMBERS

Numbers = NDArray[np.float64]
KEPT = ("kernel-", "bias-", "hidden-", "score-", "note")
BANDWIDTH = 0.3
"""Of wear, around which pictures count as having the same value."""
UNKNOWN = 0.995
"""Share of the tuning pictures that are not unknown."""
AUTOENCODERS = ("taesd", "taesd3", "taesdxl")
"""Families whose steps are the unit of remakings."""


def weights_of(table: Mapping[str, Any]) -> Numbers:
    """What each row counts: families the same, and steps the same within a family."""
    keys = [f"{family}/{step}" for family, step in zip(table["family"], table["step"], strict=True)]
    count = {key: keys.count(key) for key in set(keys)}
    return np.array([1 / count[key] for key in keys])


def quantile(values: Numbers, weights: Numbers, share: float) -> float:
    """The weighted quantile."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, share * total[-1])])


def remakings(raw: Numbers, steps: Numbers, weights: Numbers) -> dict[str, Numbers]:
    """How many remakings pictures of about this wear had: median and the middle 95 %, never falling with wear."""
    grid = np.arange(np.floor(raw.min()), np.ceil(raw.max()) + 0.05, 0.1)
    found: dict[str, list[float]] = {"about": [], "low": [], "high": []}
    for place in grid:
        near = weights * np.exp(-0.5 * np.square((raw - place) / BANDWIDTH))
        # far out, where there are no pictures, the nearest ones speak
        near = (
            near
            if near.sum() > 1e-3 * weights.sum()
            else weights * (np.abs(raw - place) <= np.sort(np.abs(raw - place))[20])
        )
        found["about"].append(float(np.exp(np.average(np.log1p(steps), weights=near)) - 1))
        found["low"].append(quantile(steps, near, 0.025))
        found["high"].append(quantile(steps, near, 0.975))
    rising = {key: np.maximum.accumulate(values) for key, values in found.items()}
    return {"grid": grid, **rising}


def calibrated(arrays: Mapping[str, Any], table: Mapping[str, Any], untouched: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of the package's file, from chains and from treated photographs."""
    raw, steps = np.asarray(table["network"], np.float64), np.asarray(table["step"], np.float64)
    weights = weights_of(table)
    last = steps == steps.max()
    photographs = untouched["treatment"] != "drawing"
    plain = np.asarray(untouched["network"], np.float64)[untouched["treatment"] == "as it is"]
    passed = np.isin(table["family"], AUTOENCODERS)
    hidden = np.concatenate([table["network-hidden"], untouched["network-hidden"][photographs]]).astype(np.float64)
    centre = hidden.mean(axis=0)
    spread = np.cov(hidden.T) + 0.02 * np.eye(hidden.shape[1])
    values, vectors = np.linalg.eigh(spread)
    whitening = (vectors / np.sqrt(values)) @ vectors.T
    strange = np.sqrt(np.square((hidden - centre) @ whitening.T).mean(axis=1))
    return {
        **{key: value for key, value in arrays.items() if key.startswith(KEPT)},
        "zero": np.float64(np.median(plain)),
        "hundred": np.float64(quantile(raw[last], weights[last], 0.5)),
        **remakings(*_with_untouched(raw[passed], steps[passed], weights[passed], untouched, photographs)),
        "centre": centre,
        "whitening": whitening,
        "strangest": np.float64(np.quantile(strange, UNKNOWN)),
    }


def _with_untouched(
    raw: Numbers, steps: Numbers, weights: Numbers, untouched: Mapping[str, Any], photographs: NDArray[np.bool_]
) -> tuple[Numbers, Numbers, Numbers]:
    """Untouched photographs, however treated, count as much as all that were remade: half of the pictures one meets."""
    fresh = np.asarray(untouched["network"], np.float64)[photographs]
    return (
        np.concatenate([raw, fresh]),
        np.concatenate([steps, np.zeros(len(fresh))]),
        np.concatenate([weights / weights.sum(), np.full(len(fresh), 1 / len(fresh))]),
    )


def packed(arrays: Mapping[str, Any]) -> bytes:
    """The file: the same bytes for the same arrays."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            array = np.asarray(arrays[name])
            array = array.astype(np.float32) if array.dtype == np.float64 and array.ndim else array
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (2026, 1, 1, 0, 0, 0)), member.getvalue())
    return out.getvalue()


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path)
    parser.add_argument("tuning", type=Path, help="chains: python -m training.decay.scores")
    parser.add_argument("untouched", type=Path, help="photographs: python -m training.decay.treatments tune")
    parser.add_argument("--out", type=Path, default=NUMBERS)
    chosen = parser.parse_args(given)
    tables = [dict(np.load(path)) for path in (chosen.network, chosen.tuning, chosen.untouched)]
    data = packed(calibrated(*tables))
    chosen.out.write_bytes(data)
    print(f"{chosen.out}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")  # noqa: T201


if __name__ == "__main__":
    main()

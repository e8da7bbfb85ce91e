"""Four ways to notice wear, side by side: `python -m training.decay.ways TRAIN.npz TUNE.npz`.

The network; the 97 classical features with the ranking of the first version, and with boosting; a linear ranking on
deep features. The last three are taught on chains of the photographs for teaching, without the family that they are
compared on; families of real editors (autoencoders, restorers) are left out together. Photographs for tuning.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.decay.counting import Table, failures, rows_of_chains
from training.decay.learned import AUTOENCODERS, RESTORERS

Numbers = NDArray[np.float64]
PAIRS = ((0, 5), (0, 20), (1, 3), (1, 5), (1, 10), (1, 20), (2, 5), (3, 10), (5, 20))
GROUPS = (*(("codec",), ("resampled",), ("worn",), ("mimic",), ("single",), ("enhanced",)), AUTOENCODERS, RESTORERS)


def ranking(values: Numbers, pairs: Sequence[tuple[int, int]], ridge: float) -> Numbers:
    """Weights of z and |z| whose sum rises along the pairs, each step of equal length."""
    steps = np.array([values[later] - values[earlier] for earlier, later in pairs])
    length = np.linalg.norm(steps, axis=1)
    steps = steps[length > 1e-3] / length[length > 1e-3, None]
    inner = steps @ steps.T + ridge * np.eye(len(steps))
    return np.asarray(steps.T @ np.linalg.solve(inner, np.ones(len(steps))))


def both_sides(values: NDArray[np.floating], clean: NDArray[np.bool_]) -> Callable[[NDArray[np.floating]], Numbers]:
    """The distance z from untouched pictures, and |z|."""
    centre, spread = np.median(values[clean], axis=0), values.std(axis=0) + 1e-6

    def prepared(given: NDArray[np.floating]) -> Numbers:
        scaled = np.clip((given - centre) / spread, -6, 6)
        return np.hstack([scaled, np.abs(scaled)]).astype(np.float64)

    return prepared


def taught(train: Table, rows: NDArray[np.bool_], column: str, ridge: float) -> Callable[[Table], Numbers]:
    """The linear ranking on a column of features, taught on some rows."""
    values = np.asarray(train[column], np.float64)
    prepare = both_sides(values[rows], (train["step"] == 0)[rows])
    pairs = [
        (steps[earlier], steps[later])
        for steps in rows_of_chains(train).values()
        for earlier, later in PAIRS
        if rows[steps[earlier]]
    ]
    weights = ranking(prepare(values), pairs, ridge)
    return lambda table: prepare(np.asarray(table[column], np.float64)) @ weights


def boosted(train: Table, rows: NDArray[np.bool_]) -> Callable[[Table], Numbers]:
    """Gradient boosting of the number of remakings from the classical features."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(max_iter=300, learning_rate=0.05, max_leaf_nodes=15, random_state=0)
    model.fit(train["features"][rows], np.log2(1 + train["step"][rows].astype(np.float64)))
    return lambda table: np.asarray(model.predict(table["features"]))


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("tune", type=Path)
    chosen = parser.parse_args(given)
    train, tune = dict(np.load(chosen.train)), dict(np.load(chosen.tune))
    names = ["network", "features, ranking", "features, boosting", "deep features, ranking"]
    print("| compared on | " + " | ".join(names) + " |\n|" + " --- |" * (len(names) + 1))  # noqa: T201
    for group in GROUPS:
        there = [family for family in group if family in tune["family"]]
        rows = ~np.isin(train["family"], [*group, *(("mixed",) if group == AUTOENCODERS else ())])
        scores = [
            np.asarray(tune["network"], np.float64),
            taught(train, rows, "features", 3.0)(tune),
            boosted(train, rows)(tune),
            taught(train, rows, "deep", 30.0)(tune),
        ]
        cells = [str(failures(tune, score, there)) for score in scores]
        label = "autoencoders" if group == AUTOENCODERS else "restorers" if group == RESTORERS else group[0]
        print(f"| {label} | " + " | ".join(cells) + " |")  # noqa: T201


if __name__ == "__main__":
    main()

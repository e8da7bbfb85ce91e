"""Repeats that are far from the other repeats of their picture: a colour that shifted, a structure that changed.

With three repeats a picture tells little of its own spread, so the scale is pooled over all pictures and prompts of an
editor: 1.4826 times the median distance from the picture's median, without the middle repeats, whose distance is next
to nothing by construction. For normal noise that is close to its standard deviation, and of 35 pictures with three
repeats 1 in 500 is flagged; half of the pictures may be wild before the scale follows them.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from convergebench.analysis.restoration.result import frame
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.restoration.stability import repeat_matrix
from convergebench.analysis.trajectories import Floats

TIMES = 4.0
"""Distance from the median, in usual distances, from which a repeat is an outlier."""
FEWEST = 5
"""Pictures with all repeats that a usual distance takes."""
NORMAL = 1.4826
MEAN_TO_SPREAD = 1.2533
"""Standard deviation of a normal sample over its median, and over its mean, distance."""


def outlier_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `outlier_repeats`, the farthest first. Diagnostics such as colour casts are looked at too."""
    first = scope.restored.filter(pl.col("round") == 1)
    rows: list[dict[str, object]] = []
    for (editor, metric), own in first.group_by("editor", "metric", maintain_order=True):
        usual = usual_distance([repeat_matrix(part)[1] for _, part in own.group_by("prompt", maintain_order=True)])
        if usual is not None:
            rows += [{"editor": editor, "metric": metric, "usual": usual, **row} for row in _far(own, usual)]
    return frame("outlier_repeats", rows).sort(
        "times", "editor", "case", "metric", descending=[True, False, False, False]
    )


def usual_distance(groups: list[Floats]) -> float | None:
    """The robust scale of distances from the median of the repeats, over matrices of pictures × repeats.

    None with too few pictures, fewer than three repeats, or no difference between any.
    """
    outer: list[Floats] = []
    pictures = 0
    for values in groups:
        known = values[~np.isnan(values).any(axis=1)]
        if known.shape[1] >= 3 and known.shape[0]:
            pictures += known.shape[0]
            outer.append(np.delete(np.sort(distances(known), axis=1), np.s_[: 2 - known.shape[1] % 2], axis=1).ravel())
    if pictures < FEWEST:
        return None
    every = np.concatenate(outer)
    # where most repeats are equal, the median is 0 and the mean must do
    found = float(NORMAL * np.median(every)) or float(MEAN_TO_SPREAD * every.mean())
    return found or None


def distances(values: Floats) -> Floats:
    """How far each repeat is from the median of its picture's repeats."""
    return np.asarray(np.abs(values - np.median(values, axis=1, keepdims=True)))


def _far(own: pl.DataFrame, usual: float) -> list[dict[str, object]]:
    middle = pl.col("value").median().over("source", "prompt")
    enough = pl.col("value").count().over("source", "prompt") >= 3
    far = own.with_columns(middle.alias("median"), (pl.col("value") - middle).alias("deviation")).filter(
        enough, pl.col("deviation").abs() >= TIMES * usual
    )
    columns = ("case", "source", "kind", "prompt", "replicate", "value", "median", "deviation")
    return [
        {**{name: row[name] for name in columns}, "times": abs(row["deviation"]) / usual}
        for row in far.iter_rows(named=True)
    ]

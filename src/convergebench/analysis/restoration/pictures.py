"""Values of one metric as a matrix, prompts or methods down and pictures across, averaged and compared over pictures.

A picture's value is the mean over its repeats, and every picture counts the same. Means are arithmetic, of decibels
too, as in the tables of the literature. Pictures made from one photograph (`x.mixed`, `x.motion-blur`) are not
independent, so intervals and tests take photographs as units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import ANYWHERE, Bounds, by_source
from convergebench.analysis.factory.shares import Estimate, mean_of
from convergebench.analysis.paired import PairedDifference, compare_paired
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.trajectories import Floats, Ints, Mask
from convergebench.metrics.base import LOST

UNFINISHED = ("refused", "failed", "ended", "stopped", "open")
"""Statuses of chains without a result."""


@dataclass(frozen=True, slots=True)
class PictureValues:
    """The values of one metric."""

    names: tuple[str, ...]
    pictures: tuple[str, ...]
    photographs: tuple[str, ...]
    values: Floats
    """names × pictures, NaN where there is none."""
    coverage: Floats
    """Per name: the share of its results that were delivered, as far as this metric can tell."""

    def row(self, name: str) -> Floats:
        """The values of one name."""
        return np.asarray(self.values[self.names.index(name)])

    def common(self, enough: float) -> Mask:
        """The pictures that every name with enough coverage has; of all names where none has enough."""
        covered = self.coverage >= enough
        chosen = self.values[covered] if covered.any() else self.values
        return (
            np.asarray(~np.isnan(chosen).any(axis=0)) if chosen.size else np.zeros(len(self.pictures), dtype=np.bool_)
        )

    def on(self, pictures: Mask) -> PictureValues:
        """These pictures only."""
        kept = np.flatnonzero(pictures)
        return replace(
            self,
            pictures=tuple(self.pictures[place] for place in kept),
            photographs=tuple(self.photographs[place] for place in kept),
            values=self.values[:, kept],
        )


def picture_values(
    rows: pl.DataFrame, scope: RestorationScope, *, metric: str, by: str, names: list[str]
) -> PictureValues:
    """The values of a metric in rows of `restored`, by prompt or editor."""
    own = rows.filter(metric=metric)
    pictures = sorted(own["source"].unique())
    means = own.group_by(by, "source").agg(pl.col("value").mean())
    values = np.full((len(names), len(pictures)), np.nan)
    where, across = ({name: place for place, name in enumerate(keys)} for keys in (names, pictures))
    for name, picture, value in means.iter_rows():
        if name in where and value is not None:
            values[where[name], across[picture]] = value
    return PictureValues(
        names=tuple(names),
        pictures=tuple(pictures),
        photographs=tuple(scope.photograph(one) for one in pictures),
        values=values,
        coverage=np.array([_coverage(own.filter(pl.col(by) == name), len(pictures)) for name in names]),
    )


def picture_mean(
    values: Floats, photographs: tuple[str, ...], scope: RestorationScope, bounds: Bounds = ANYWHERE
) -> Estimate:
    """The mean over the pictures that have a value, with an interval over photographs."""
    known = ~np.isnan(values)
    return mean_of(values[known], np.asarray(photographs, dtype=str)[known].tolist(), scope.bootstrap, bounds=bounds)


def paired_mean(differences: Floats, photographs: tuple[str, ...], scope: RestorationScope) -> PairedDifference:
    """The mean of differences within pictures, with the sign-flip test over photographs and the interval it implies."""
    known = ~np.isnan(differences)
    sums, counts = by_source(differences[known][:, None], numbered(np.asarray(photographs, dtype=str)[known].tolist()))
    one = np.column_stack([sums, counts]).reshape(-1, 2)
    settings = scope.settings
    return compare_paired(
        one,
        one * np.array([0.0, 1.0]),
        _ratio,
        confidence=settings.confidence,
        exact_up_to=settings.exact_sources,
        permutations=settings.permutations,
        seed=settings.seed,
    )


def numbered(names: list[str]) -> Ints:
    """Equal names, equal numbers."""
    return np.unique(np.asarray(names, dtype=str), return_inverse=True)[1].astype(np.int64)


def bounds_of(metric: str, scope: RestorationScope) -> Bounds:
    """The range of a metric's values."""
    return scope.facts[metric].range


def finite(value: float) -> float | None:
    """None for NaN."""
    return None if np.isnan(value) else float(value)


def _coverage(rows: pl.DataFrame, pictures: int) -> float:
    """The share of the results that are there, over all pictures, asked for or not.

    A result that the metric cannot measure because of what the method did is not there; a value that is missing for
    another reason does not count.
    """
    there = int(rows["value"].is_not_null().sum())
    gone = int((rows["value"].is_null() & rows["status"].is_in([*LOST, *UNFINISHED])).sum())
    asked = rows["source"].n_unique() / pictures if pictures else 0.0
    return asked * there / (there + gone) if there + gone else 0.0


def _ratio(totals: Floats) -> Floats:
    return np.asarray(totals[..., 0] / totals[..., -1])

"""The long measurement table as one matrix per metric: chains down, rounds 0 … N across.

A missing value is NaN. An untouched image (round 0) has the metric's self-value or, where the metric needs no
reference, its own score. A chain is *observed* at a round that it completed; a round that was never done is censored.

A round that was done but has no value is one of two things. *Lost*: the metric can measure the source but not what the
editor made of it (even grey, a size that cannot be aligned, a file that cannot be read); this counts as the worst
value, never as a gap. *Missing*: the metric was not run, or does not apply to this round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from convergebench.analysis.result import AnalysisInput
from convergebench.analysis.schemas import INPUTS, MAY_LACK
from convergebench.errors import StudyError
from convergebench.metrics.base import LOST as LOST
from convergebench.metrics.base import MetricFacts

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_LAG = re.compile(r".-(lag\d+|replicate)$")
"""Rows that compare with another round or another replicate, not with the source."""


@dataclass(frozen=True, slots=True)
class Group:
    """A named subset of all chains: `all`, `category:NAME`, `kind:NAME` or `pair:NAME`."""

    name: str
    members: Mask


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Every chain with its values; row i of every matrix is row i of `chains`."""

    chains: pl.DataFrame
    editors: tuple[str, ...]
    """In the order in which the chains name them."""
    editor: Ints
    source: Ints
    reached: Ints
    """Last whole round of each chain."""
    horizon: int
    """Last whole round of any chain."""
    values: Mapping[str, Floats]
    """Per metric: chains × (horizon + 1), NaN where there is no value."""
    in_view: Mapping[str, Floats]
    """Per metric: the share of the source that the compared area shows; 1 where nothing was cropped."""
    lost: Mapping[str, Mask]
    """Per metric: rounds whose picture cannot be measured because of what the editor did; NaN in `values`."""
    facts: Mapping[str, MetricFacts]
    groups: tuple[Group, ...]

    @property
    def observed(self) -> Mask:
        """Whether a chain did a round."""
        rounds: Ints = np.arange(self.horizon + 1)
        return np.asarray(rounds[None, :] <= self.reached[:, None])

    @property
    def measured(self) -> list[str]:
        """Metrics that compare a round's image with the source, i.e. those that have a curve."""
        return [name for name in self.values if not _LAG.search(name)]

    def of(self, editor: str) -> Mask:
        """Which chains belong to this editor."""
        return np.asarray(self.editor == self.editors.index(editor))

    def cells(self) -> Iterator[tuple[str, str, Mask]]:
        """Editor, group name and the chains of both, for every combination that has chains."""
        for group in self.groups:
            for editor in self.editors:
                rows = group.members & self.of(editor)
                if rows.any():
                    yield editor, group.name, rows

    def column(self, name: str) -> list[str]:
        """A text column of `chains`."""
        return [str(value) for value in self.chains[name]]


def trajectories(given: AnalysisInput) -> Trajectories:
    """Arrange the inputs; a measurement of a chain that the chain table lacks is an error."""
    chains = typed(given.chains, "chains")
    if chains.select(pl.struct("editor", "case").is_duplicated().any()).item():
        raise StudyError("the chain table names a chain twice; each (editor, case) must have one row")
    readings = _readings(typed(given.measurements, "measurements"), chains, given.facts)
    editors = tuple(chains["editor"].unique(maintain_order=True))
    sources = chains["source"].unique(maintain_order=True)
    reached = _reached(chains, readings)
    horizon = int(reached.max(initial=0))
    shape = chains.height, horizon + 1
    return Trajectories(
        chains=chains,
        editors=editors,
        editor=_positions(chains["editor"], pl.Series(editors, dtype=pl.String)),
        source=_positions(chains["source"], sources),
        reached=reached,
        horizon=horizon,
        values=_matrices(readings, shape, given.facts),
        in_view=_by_metric(readings, "in_view", pl.col("in_view").is_not_null(), np.ones(shape)),
        lost=_by_metric(readings, "lost", pl.col("lost"), np.zeros(shape, dtype=np.bool_)),
        facts=given.facts,
        groups=tuple(_groups(chains)),
    )


def _reached(chains: pl.DataFrame, readings: pl.DataFrame) -> Ints:
    """Last whole round per chain: that of the chain table, or later if a later one was measured."""
    reached = chains["rounds"].fill_null(0).to_numpy().astype(np.int64)
    whole = readings.filter(pl.col("value").is_not_null() | pl.col("lost"))
    np.maximum.at(reached, whole["chain"].to_numpy(), whole["round"].to_numpy())
    return reached


def typed(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The frame with its declared columns and types; an empty one may come without columns."""
    columns = INPUTS[name]
    if not frame.width:
        return pl.DataFrame(schema=columns)
    frame = frame.with_columns(pl.lit(None).alias(column) for column in MAY_LACK & columns.keys() - set(frame.columns))
    absent = [column for column in columns if column not in frame.columns]
    if absent:
        raise StudyError(f"the {name} table has no column {', '.join(absent)}; write the run's tables again")
    return frame.select(pl.col(column).cast(kind) for column, kind in columns.items())


def _readings(measurements: pl.DataFrame, chains: pl.DataFrame, facts: Mapping[str, MetricFacts]) -> pl.DataFrame:
    """Rows that belong to a curve: chain, round, metric, value (None unless the status is ok), lost, in_view."""
    # these measure steps: a forward edit whose undoing was refused is in a round that the chain never completed
    of_steps = [name for name, fact in facts.items() if fact.kind in ("diagnostic", "adherence")]
    numbered = chains.select("editor", "case").with_row_index("chain")
    rows = (
        measurements.lazy()
        .filter(~pl.col("metric").is_in(of_steps))
        .with_columns(usable_value().alias("value"))
        .select(
            "editor", "case", "round", "metric", "value", "in_view", pl.col("status").is_in(list(LOST)).alias("lost")
        )
        .join(numbered.lazy(), on=["editor", "case"], how="left")
        .collect()
    )
    orphans = rows["chain"].null_count()
    if orphans:
        raise StudyError(f"{orphans} measurements belong to no chain of the run; write the run's tables again")
    return rows.select(pl.col("chain").cast(pl.Int64), "round", "metric", "value", "lost", "in_view")


def usable_value() -> pl.Expr:
    """The value of a measurement row, None unless its status is ok and it is a number."""
    good = (pl.col("status") == "ok") & ~pl.col("value").is_nan()
    return pl.when(good).then(pl.col("value"))


def _positions(column: pl.Series, names: pl.Series) -> Ints:
    table = {name: position for position, name in enumerate(names)}
    return np.array([table[name] for name in column], dtype=np.int64)


def _matrices(readings: pl.DataFrame, shape: tuple[int, int], facts: Mapping[str, MetricFacts]) -> dict[str, Floats]:
    found = readings.partition_by("metric", as_dict=True, include_key=False) if readings.height else {}
    names = sorted((str(key[0]) for key in found), key=_in_order_of(facts))
    matrices = {}
    for name in names:
        rows = found[(name,)].filter(pl.col("round") < shape[1])
        matrix = np.full(shape, np.nan)
        matrix[rows["chain"].to_numpy(), rows["round"].to_numpy()] = rows["value"].fill_null(np.nan).to_numpy()
        if name not in facts or facts[name].unit != "dB":
            matrix[np.isinf(matrix)] = np.nan  # only decibels have an infinite reading that means something
        start = facts[name].self_value if name in facts else None
        if start is not None:
            matrix[:, 0] = start  # without a self-value the column holds what the source itself scored, if anything
        matrices[name] = matrix
    return matrices


def _by_metric(
    readings: pl.DataFrame, column: str, known: pl.Expr, default: npt.NDArray[Any]
) -> dict[str, npt.NDArray[Any]]:
    """Per metric: `default` (chains × rounds) with the column's value where it is `known`."""
    inside = readings.filter(known, pl.col("round").is_between(1, default.shape[1] - 1))
    matrices = {str(metric): default.copy() for metric in readings["metric"].unique(maintain_order=True)}
    for metric, matrix in matrices.items():
        rows = inside.filter(metric=metric)
        matrix[rows["chain"].to_numpy(), rows["round"].to_numpy()] = rows[column].to_numpy()
    return matrices


def _in_order_of(facts: Mapping[str, MetricFacts]) -> Callable[[str], tuple[int, str]]:
    place = {name: position for position, name in enumerate(facts)}
    return lambda name: (place.get(name, len(place)), name)


def _groups(chains: pl.DataFrame) -> list[Group]:
    found = [Group("all", np.ones(chains.height, dtype=np.bool_))]
    for column in ("category", "kind", "pair"):
        values = chains[column].cast(pl.String).fill_null("unknown")
        for name in values.unique().sort():
            found.append(Group(f"{column}:{name}", (values == name).to_numpy()))
    return found

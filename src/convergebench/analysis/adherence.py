"""Whether each edit happened and whether it was undone. Reported beside the loss, never used to filter it.

`rounds_adhered` decides for every round whether it was done and undone; the score uses this. `adherence_table` reports
every adherence metric by group and leg.

Each case counts once: its mean over all its readings, and the share of them above one half. A round may have several
readings (two edits, or one metric on both legs), so they are kept separate by leg. `n_missing` counts readings without
a value, e.g. nothing to undo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.schemas import table
from convergebench.analysis.trajectories import LOST, Floats, Trajectories, typed, usable_value
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings

LEGS = ("forward", "backward")
DONE = 0.5
"""A reading above this is a yes: the picture is nearer to the request than to its state before."""
NOT_DONE = LOST | {"nothing-to-undo"}
"""Statuses that count as no: nothing was changed that could be undone, or the picture cannot be read."""
UNSUITABLE_INPUT = frozenset({"symmetric", "already-grey", "already-coloured"})
"""Statuses of a step whose input picture cannot show the edit; in round 1 that input is the source."""


class RoundAdherence(NamedTuple):
    """Chains × rounds: 1 yes, 0 no, NaN where it is unknown. Column 0 is NaN."""

    done: Floats
    """Whether the edit of the round happened."""
    undone: Floats
    """Whether it was undone; 0 also where there was nothing to undo."""
    measured: bool
    """Whether there is any reading at all."""

    @property
    def both(self) -> Floats:
        """Done and undone; where one of the two is unknown, the other decides."""
        return np.fmin(self.done, self.undone)


def rounds_adhered(
    data: Trajectories,
    measurements: pl.DataFrame,
    settings: AnalysisSettings,
    *,
    uninstructed: frozenset[str] = frozenset(),
) -> RoundAdherence:
    """Decide every round by the study's two adherence metrics; with several edits in a round, all must be done.

    Editors that ignore instructions stay unknown: they are references without a rank.
    """
    rows = typed(measurements, "measurements").filter(~pl.col("editor").is_in(list(uninstructed)))
    done, undone = (_by_round(data, rows.filter(pl.col("metric") == name)) for name in settings.adherence)
    return RoundAdherence(done, undone, not (np.isnan(done).all() and np.isnan(undone).all()))


def _by_round(data: Trajectories, rows: pl.DataFrame) -> Floats:
    value, status = usable_value(), pl.col("status")
    read = (
        rows.with_columns(
            pl.when(value.is_not_null())
            .then((value > DONE).cast(pl.Float64))
            .when(status.is_in(list(NOT_DONE)))
            .then(0.0)
            .alias("yes"),
            status.is_in(list(UNSUITABLE_INPUT)).alias("unsuitable"),
        )
        .filter(pl.col("round").is_between(1, data.horizon))
        .group_by("editor", "case", "round")
        .agg(pl.col("yes").min(), pl.col("unsuitable").any())
    )
    numbered = data.chains.select("editor", "case").with_row_index("chain")
    placed = read.join(numbered, on=["editor", "case"], how="inner")
    place = placed["chain"].to_numpy(), placed["round"].to_numpy()
    found = np.full((data.chains.height, data.horizon + 1), np.nan)
    found[place] = placed["yes"].fill_null(np.nan).to_numpy()
    unsuitable = np.zeros(found.shape, dtype=np.bool_)
    unsuitable[place] = placed["unsuitable"].to_numpy()
    if data.horizon:
        # round 1 has a reading, so the source is suitable: the editor made the later picture unsuitable
        found[unsuitable & np.isnan(found) & ~np.isnan(found[:, 1:2])] = 0.0
    found[~data.observed] = np.nan
    return found


def adherence_table(data: Trajectories, measurements: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `adherence`: every editor, group, adherence metric and leg."""
    return table("adherence", list(_rows(data, _cases(typed(measurements, "measurements"), data), bootstrap)))


def _rows(
    data: Trajectories, cases: Mapping[tuple[str, str], Floats], bootstrap: Bootstrap
) -> Iterator[dict[str, object]]:
    for editor, group, rows in data.cells():
        for (metric, leg), every in cases.items():
            means, readings, missing = every[rows, :2], every[rows, 2], every[rows, 3]
            sums, counts = by_source(means, data.source[rows])
            band = bootstrap.ratio(sums, counts, bounds=data.facts[metric].range)
            yield {
                **{"editor": editor, "group": group, "metric": metric, "leg": leg, "mean": band.estimate[0]},
                **{"low": band.low[0], "high": band.high[0], "share": band.estimate[1]},
                **{"n_cases": int((readings > 0).sum()), "n_sources": int((counts[:, 0] > 0).sum())},
                **{"n_missing": int(missing.sum()), "n_readings": int(readings.sum())},
            }


def _cases(measurements: pl.DataFrame, data: Trajectories) -> dict[tuple[str, str], Floats]:
    """(metric, leg) → chains × (mean, share above one half, readings, readings without a value)."""
    metrics = {name: fact for name, fact in data.facts.items() if fact.kind == "adherence"}
    value = usable_value()
    counted = (
        measurements.filter(pl.col("metric").is_in(list(metrics)))
        .with_columns(
            pl.when(value.is_finite()).then(value).alias("value"),
            pl.col("role").fill_null(
                pl.col("metric").replace_strict(_only_leg(metrics), default="", return_dtype=pl.String)
            ),
        )
        .group_by("editor", "case", "metric", "role")
        .agg(
            pl.col("value").mean().alias("mean"),
            (pl.col("value") > DONE).mean().alias("share"),
            pl.col("value").count().alias("readings"),
            pl.col("value").null_count().alias("missing"),
        )
    )
    place = {chain: position for position, chain in enumerate(data.chains.select("editor", "case").iter_rows())}
    found: dict[tuple[str, str], Floats] = {}
    for editor, case, metric, leg, mean, share, readings, missing in counted.iter_rows():
        every = found.setdefault((metric, leg), np.tile((np.nan, np.nan, 0.0, 0.0), (len(place), 1)))
        means = (np.nan, np.nan) if mean is None else (mean, share)
        every[place[editor, case]] = (*means, readings, missing)
    declared = list(metrics)
    order = sorted(found, key=lambda one: (declared.index(one[0]), LEGS.index(one[1]) if one[1] in LEGS else -1))
    return {one: found[one] for one in order}


def _only_leg(metrics: Mapping[str, MetricFacts]) -> dict[str, str]:
    """The leg of metrics that measure one leg only, whose rows may leave it out."""
    return {name: fact.roles[0] for name, fact in metrics.items() if len(fact.roles) == 1}

"""Did the edit happen, was it undone? Recorded beside the loss, never used to filter it.

Two readings of it. `rounds_adhered` says of every round whether it was done and undone: the score is conditioned on
this. `adherence_table` gives every adherence metric by group and leg.

Each case counts once: its mean over all its readings, and the share of them above one half. A round may have several
(two edits, or one metric on the way there and on the way back), so readings are told apart by leg and never put in
each other's place. `n_missing` counts readings without a value, e.g. nothing to undo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.schemas import table
from convergebench.analysis.trajectories import LOST, Floats, Trajectories, typed, usable_value
from convergebench.metrics.base import MetricFacts

LEGS = ("forward", "backward")
DONE = 0.5
"""A reading above this is a yes: nearer to what was asked for than to what was there before."""
NOT_DONE = LOST | {"nothing-to-undo"}
"""Statuses that are a plain no: nothing was changed that could be undone, or the picture is beyond reading."""
OF_THE_PICTURE = frozenset({"symmetric", "already-grey", "already-coloured"})
"""Statuses that say of the picture before a step that it cannot show the edit; in round 1 it is the source's doing."""


class Adhered(NamedTuple):
    """Chains × rounds: 1 yes, 0 no, NaN where it cannot be told. Column 0 is NaN."""

    done: Floats
    """Whether the edit of the round happened."""
    undone: Floats
    """Whether it was taken back; 0 also where there was nothing to take back."""
    measured: bool
    """Whether anything was read at all."""

    @property
    def both(self) -> Floats:
        """Done and undone, as far as either can be told."""
        return np.fmin(self.done, self.undone)


def rounds_adhered(
    data: Trajectories,
    measurements: pl.DataFrame,
    settings: AnalysisSettings,
    *,
    uninstructed: frozenset[str] = frozenset(),
) -> Adhered:
    """Every round by the two metrics that the study chose; with several edits in a round, all of them must be done.

    Nothing is said of editors that ignore words: they have no rank, and as references they show what copying costs.
    """
    rows = typed(measurements, "measurements").filter(~pl.col("editor").is_in(list(uninstructed)))
    done, undone = (_by_round(data, rows.filter(pl.col("metric") == name)) for name in settings.adherence)
    return Adhered(done, undone, not (np.isnan(done).all() and np.isnan(undone).all()))


def _by_round(data: Trajectories, rows: pl.DataFrame) -> Floats:
    value, status = usable_value(), pl.col("status")
    read = (
        rows.with_columns(
            pl.when(value.is_not_null())
            .then((value > DONE).cast(pl.Float64))
            .when(status.is_in(list(NOT_DONE)))
            .then(0.0)
            .alias("yes"),
            status.is_in(list(OF_THE_PICTURE)).alias("of_the_picture"),
        )
        .filter(pl.col("round").is_between(1, data.horizon))
        .group_by("editor", "case", "round")
        .agg(pl.col("yes").min(), pl.col("of_the_picture").any())
    )
    numbered = data.chains.select("editor", "case").with_row_index("chain")
    placed = read.join(numbered, on=["editor", "case"], how="inner")
    place = placed["chain"].to_numpy(), placed["round"].to_numpy()
    found = np.full((data.chains.height, data.horizon + 1), np.nan)
    found[place] = placed["yes"].fill_null(np.nan).to_numpy()
    spoilt = np.zeros(found.shape, dtype=np.bool_)
    spoilt[place] = placed["of_the_picture"].to_numpy()
    if data.horizon:
        # the source could be read in round 1: what cannot be read later is what the editor made of it
        found[spoilt & np.isnan(found) & ~np.isnan(found[:, 1:2])] = 0.0
    found[~data.observed] = np.nan
    return found


def adherence_table(data: Trajectories, measurements: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `adherence`: every editor, group, adherence metric and leg."""
    return table("adherence", list(_rows(data, _cases(typed(measurements, "measurements"), data), bootstrap)))


def _rows(
    data: Trajectories, cases: Mapping[tuple[str, str], Floats], bootstrap: Bootstrap
) -> Iterator[dict[str, object]]:
    for group in data.groups:
        for editor in data.editors:
            rows = group.members & data.of(editor)
            for (metric, leg), every in cases.items() if rows.any() else ():
                means, readings, missing = every[rows, :2], every[rows, 2], every[rows, 3]
                sums, counts = by_source(means, data.source[rows])
                band = bootstrap.ratio(sums, counts, bounds=data.facts[metric].range)
                yield {
                    **{"editor": editor, "group": group.name, "metric": metric, "leg": leg, "mean": band.estimate[0]},
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
        gone = (np.nan, np.nan) if mean is None else (mean, share)
        every[place[editor, case]] = (*gone, readings, missing)
    declared = list(metrics)
    order = sorted(found, key=lambda one: (declared.index(one[0]), LEGS.index(one[1]) if one[1] in LEGS else -1))
    return {one: found[one] for one in order}


def _only_leg(metrics: Mapping[str, MetricFacts]) -> dict[str, str]:
    """Metrics of one kind of step, whose rows need not say which it was."""
    return {name: fact.roles[0] for name, fact in metrics.items() if len(fact.roles) == 1}

"""Whether an editor notices the damage it does to the picture, and how late.

At every step a reader model decides whether the editor's own summary calls its input picture noisy, pixelated or
damaged (the metric `self-evaluation`). A run has noticed at the first step with a yes. With several repeats a step is a
yes if more than half of the parsed replies are.

A run that **never** noticed is right-censored at the last step with a parsed reply. So there are two figures. Mean and
sample standard deviation are over the runs that noticed, as in the Banana100 paper, beside the number of runs that
never did; the mean is too small unless that number is 0. The Kaplan–Meier median with its log–log interval counts all
runs.

**Delay** is the first yes minus the onset of measured damage. A run that never noticed has a delay of at least its last
step minus the onset. Runs without an onset have no delay and are counted. A yes before the onset is a negative delay.
The summary of step n is about the input of step n, which step n − 1 made: an editor that notices at once has a delay
of 1.

Steps without a summary and replies that could not be parsed are counted and otherwise ignored: right before the first
yes they may hide an earlier one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.schemas import N, T, declared
from convergebench.analysis.survival import kaplan_meier, median
from convergebench.analysis.trajectories import Ints, Mask, usable_value
from convergebench.errors import StudyError

METRIC = "self-evaluation"
EVERY = "all"
"""The row over all source images."""

NOTICING = SCHEMAS["noticing"]
"""`last`: last step with a yes or a no, 0 if there is none. `asked`: yes, no and unparsable. `missing`: steps without a
summary, or whose reader declined."""
SUMMARY: dict[str, type[pl.DataType]] = {**SCHEMAS["noticing_summary"], "n_missing": N, "n_no_onset": N}
"""`n_missing`: runs without any yes or no, which are not among `n_runs`. `n_no_onset`: runs without a delay."""
_ONSETS: dict[str, type[pl.DataType]] = {"editor": T, "case": T, "onset": N}


class MedianStep(NamedTuple):
    """A Kaplan–Meier median with its interval and how to print it; None where it is not reached."""

    value: int | None
    low: int | None
    high: int | None
    text: str


def noticing(measurements: pl.DataFrame, chains: pl.DataFrame) -> pl.DataFrame:
    """The frame `noticing`: one row per chain for which `self-evaluation` was filled in."""
    if not measurements.width:
        return pl.DataFrame(schema=NOTICING)
    rows = measurements.filter(pl.col("metric") == METRIC)
    if rows.select(pl.struct("editor", "case", "step").is_duplicated().any()).item():
        raise StudyError(f"two readers answered for {METRIC}; give the answers of one of them")
    value = usable_value()
    yes, no = (value > 0.5).fill_null(False), (value <= 0.5).fill_null(False)
    unparsable = pl.col("status") == "unparsable"
    counted = rows.group_by("editor", "case").agg(
        pl.col("step").filter(yes).min().alias("first_yes"),
        pl.col("step").filter(yes | no).max().fill_null(0).alias("last"),
        (yes | no | unparsable).sum().alias("asked"),
        yes.sum().alias("yes"),
        no.sum().alias("no"),
        unparsable.sum().alias("unparsable"),
        (~(yes | no | unparsable)).sum().alias("missing"),
    )
    joined = chains.join(counted, on=["editor", "case"], how="inner", maintain_order="left")
    return declared(joined, NOTICING)


def noticing_summary(found: pl.DataFrame, onsets: pl.DataFrame, *, confidence: float = 0.95) -> pl.DataFrame:
    """The frame `noticing_summary`; `onsets` has the columns editor, case and onset, of one metric."""
    known = declared(onsets, _ONSETS) if onsets.width else pl.DataFrame(schema=_ONSETS)
    if known.select(pl.struct("editor", "case").is_duplicated().any()).item():
        raise StudyError("the onsets of several metrics were given for the delay; choose those of one")
    runs = found.join(known, on=["editor", "case"], how="left", maintain_order="left")
    rows = []
    for (editor, pair), cell in runs.group_by("editor", "pair", maintain_order=True):
        place = {"editor": editor, "pair": pair}
        # over images, runs of one image form a cluster; within one image runs are independent
        rows.append({**place, "source": EVERY, **_estimates(cell, confidence, clustered=True)})
        for (source,), part in cell.group_by("source", maintain_order=True):
            rows.append({**place, "source": source, **_estimates(part, confidence, clustered=False)})
    return pl.DataFrame(rows, schema=SUMMARY)


def _estimates(part: pl.DataFrame, confidence: float, *, clustered: bool) -> dict[str, object]:
    runs = part.filter(pl.col("last") > 0)
    started = runs.filter(pl.col("onset").is_not_null())
    noticed = runs["first_yes"].drop_nulls()
    end = pl.coalesce("first_yes", "last")
    first = _middle(runs, end, confidence, clustered=clustered)
    delay = _middle(started, end - pl.col("onset"), confidence, clustered=clustered)
    if runs.height and not started.height:
        delay = delay._replace(text="no onset")
    return {
        **{"n_runs": runs.height, "n_never": runs.height - noticed.len()},
        **{"mean": noticed.mean(), "std": noticed.std(ddof=1)},
        **{"median": first.value, "low": first.low, "high": first.high, "text": first.text},
        **{"delay_median": delay.value, "delay_low": delay.low, "delay_high": delay.high, "delay_text": delay.text},
        **{"n_delay": started.height, "n_missing": part.height - runs.height},
        "n_no_onset": runs.height - started.height,
    }


def _middle(runs: pl.DataFrame, end: pl.Expr, confidence: float, *, clustered: bool) -> MedianStep:
    if not runs.height:
        return MedianStep(None, None, None, "not measured")
    times = runs.select(end).to_series().to_numpy().astype(np.int64)
    clusters = runs["source"].rank("dense").to_numpy().astype(np.int64) if clustered else None
    return km_middle(times, runs["first_yes"].is_not_null().to_numpy(), clusters, confidence)


def km_middle(times: Ints, events: Mask, clusters: Ints | None, confidence: float) -> MedianStep:
    """Kaplan–Meier median of integer times, which may be negative; there must be at least one."""
    begin = int(times.min())  # the estimate does not depend on the start of time, but its arrays begin at 0
    middle = median(kaplan_meier(times - begin, events, clusters=clusters, confidence=confidence))
    value, low, high = (None if end is None else end + begin for end in middle)
    text = f"> {int(times.max())}" if value is None else str(value)
    return MedianStep(value, low, high, text.replace("-", "−"))

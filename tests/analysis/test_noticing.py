"""When an editor notices: counted by hand, against scipy, and against a truth that is known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import CensoredData, ecdf

from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.noticing import km_middle, noticing, noticing_summary
from convergebench.errors import StudyError
from convergebench.store.frames import CHAINS, MEASUREMENTS

ANSWERS: dict[str, tuple[float | None, str]] = {
    "y": (1.0, "ok"),
    "n": (0.0, "ok"),
    "m": (2 / 3, "ok"),
    "t": (0.5, "ok"),
    "u": (None, "unparsable"),
    "-": (None, "no-reasoning"),
    "r": (None, "refused"),
}
"""A letter per step; `m` and `t` are means of several replies."""


def frames(runs: Sequence[tuple[str, int, str]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Measurements and chains of runs given as (source, replicate, answers)."""
    rows, ends = [], []
    for source, replicate, answers in runs:
        place = {
            **{"editor": "sim-a", "case": f"{source}/replicate/{replicate}", "source": source, "kind": "scene"},
            **{"pair": "replicate", "category": "replication", "replicate": replicate},
        }
        ends.append({**place, "status": "finished", "detail": "", "rounds": len(answers), "planned": len(answers)})
        for step, letter in enumerate(answers, 1):
            value, status = ANSWERS[letter]
            shared = {**place, "round": step, "step": step, "role": "step", "align": "none", "fingerprint": "f"}
            rows.append({**shared, "metric": "self-evaluation", "value": value, "status": status, "detail": ""})
            rows.append({**shared, "metric": "noise", "value": 3.0, "status": "ok", "detail": ""})
    more = {"steps": 0, "dollars": 0.0, "seconds": 0.0}
    return pl.DataFrame(rows, schema=MEASUREMENTS), pl.DataFrame([{**one, **more} for one in ends], schema=CHAINS)


def onsets(*steps: int | None, sources: Sequence[str] | None = None) -> pl.DataFrame:
    cases = [f"{source}/replicate/0" for source in sources or [f"s{number}" for number in range(len(steps))]]
    return pl.DataFrame({"editor": "sim-a", "case": cases, "onset": steps, "last": 20})


def timed(first: int | None, last: int) -> str:
    """Answers of a run that noticed at `first`, or never, and was followed to `last`."""
    return "n" * last if first is None else "n" * (first - 1) + "y" * (last - first + 1)


def summary(runs: Sequence[tuple[str, int, str]], known: pl.DataFrame | None = None) -> dict[str, dict[str, Any]]:
    found = noticing_summary(noticing(*frames(runs)), pl.DataFrame() if known is None else known)
    return {row["source"]: row for row in found.iter_rows(named=True)}


@pytest.mark.parametrize(
    ("answers", "first", "last", "counts"),
    [
        ("nnyn", 3, 4, (4, 1, 3, 0, 0)),
        ("nnnn", None, 4, (4, 0, 4, 0, 0)),
        ("yyyy", 1, 4, (4, 4, 0, 0, 0)),
        ("nnuu", None, 2, (4, 0, 2, 2, 0)),
        ("uuuu", None, 0, (4, 0, 0, 4, 0)),
        ("----", None, 0, (0, 0, 0, 0, 4)),
        ("n-yr", 3, 3, (2, 1, 1, 0, 2)),
        ("tmnn", 2, 4, (4, 1, 3, 0, 0)),
    ],
    ids=["once", "never", "always", "unreadable end", "unreadable", "silent", "gaps", "tie, then more than half"],
)
def test_a_run_is_told_by_its_first_yes_and_how_far_it_could_be_followed(
    answers: str, first: int | None, last: int, counts: tuple[int, ...]
) -> None:
    (row,) = noticing(*frames([("s0", 0, answers)])).iter_rows(named=True)
    assert (row["first_yes"], row["last"]) == (first, last)
    assert tuple(row[name] for name in ("asked", "yes", "no", "unparsable", "missing")) == counts


def test_the_frames_keep_the_contract_also_when_empty() -> None:
    measurements, chains = frames([("s0", 0, "ny")])
    found = noticing(measurements, chains)
    assert dict(found.schema) == SCHEMAS["noticing"]
    nothing = noticing(measurements.filter(pl.col("metric") == "noise"), chains)
    assert (nothing.height, nothing.schema) == (0, found.schema)
    assert noticing(pl.DataFrame(), chains).schema == found.schema
    full, empty = noticing_summary(found, pl.DataFrame()), noticing_summary(nothing, pl.DataFrame())
    assert SCHEMAS["noticing_summary"].items() <= dict(full.schema).items()
    assert (empty.height, empty.schema) == (0, full.schema)


def test_five_runs_as_a_paper_prints_them() -> None:
    row = summary([("holi", run, timed(first, 100)) for run, first in enumerate([14, 19, 20, 22, 25])])["holi"]
    assert (row["n_runs"], row["n_never"]) == (5, 0)
    assert row["mean"] == pytest.approx(20.0)
    assert row["std"] == pytest.approx(np.std([14, 19, 20, 22, 25], ddof=1)) == pytest.approx(4.0620, abs=1e-4)
    assert (row["median"], row["text"]) == (20, "20")


def test_never_is_counted_and_moves_the_median_but_not_the_mean() -> None:
    firsts = [4, 6, None, None, None]
    row = summary([("rice", run, timed(first, 20)) for run, first in enumerate(firsts)])["rice"]
    assert (row["n_runs"], row["n_never"], row["mean"]) == (5, 3, 5.0)
    assert (row["median"], row["high"], row["text"]) == (None, None, "> 20")
    alone = summary([("rice", 0, timed(7, 20))])["rice"]
    assert (alone["mean"], alone["std"], alone["median"], alone["low"]) == (7.0, None, 7, None), "one run has no spread"
    never = summary([("rice", 0, timed(None, 9))])["rice"]
    assert (never["mean"], never["std"], never["text"]) == (None, None, "> 9")


def test_runs_that_nobody_could_read_are_counted_apart() -> None:
    row = summary([("a", 0, "----"), ("a", 1, "uuuu"), ("a", 2, "nnyy")])["a"]
    assert (row["n_runs"], row["n_never"], row["n_missing"], row["median"]) == (1, 0, 2, 3)
    silent = summary([("a", 0, "----")])["a"]
    assert (silent["n_runs"], silent["n_missing"], silent["text"], silent["delay_text"]) == (
        0,
        1,
        "not measured",
        "not measured",
    )


def test_a_delay_is_known_open_ended_negative_or_not_defined() -> None:
    runs = [("s0", 0, timed(12, 20)), ("s1", 0, timed(None, 20)), ("s2", 0, timed(3, 20)), ("s3", 0, timed(9, 20))]
    known = onsets(5, 8, 6, None)
    row = summary(runs, known)["all"]
    # delays: 7, more than 12, −3; the fourth run has no onset
    assert (row["n_delay"], row["n_no_onset"], row["n_runs"]) == (3, 1, 4)
    assert row["delay_median"] == 7
    each = summary(runs, known)
    assert [each[source]["delay_text"] for source in ("s0", "s1", "s2", "s3")] == ["7", "> 12", "−3", "no onset"]
    assert each["s3"]["text"] == "9"
    early = summary([("s0", 0, timed(None, 4))], onsets(9))["s0"]
    assert early["delay_text"] == "> −5", "it was followed for less than it would have taken"


def test_runs_without_any_onset_table_have_no_delay() -> None:
    row = summary([("s0", 0, timed(12, 20))])["all"]
    assert (row["delay_median"], row["n_delay"], row["n_no_onset"], row["delay_text"]) == (None, 0, 1, "no onset")


def by_scipy(times: np.ndarray, events: np.ndarray) -> tuple[float | None, float | None, float | None]:
    """Median and log–log interval from another implementation."""
    curve = ecdf(CensoredData.right_censored(times.astype(float), ~events)).sf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where S is 0 or 1 there is no interval, which it says aloud
        ends = curve.confidence_interval(method="log-log")
    found = []
    for end in (curve, ends.low, ends.high):
        sure = (curve.probabilities == 0) | (curve.probabilities == 1)
        values = np.where(sure, curve.probabilities, end.probabilities)
        below = curve.quantiles[values <= 0.5 + 1e-12]
        found.append(float(below[0]) if below.size else None)
    return found[0], found[1], found[2]


def test_medians_and_intervals_agree_with_scipy_for_first_yes_and_delay() -> None:
    generator = np.random.default_rng(95)
    earliest = []
    for _ in range(12):
        size = int(generator.integers(8, 30))
        lasts = generator.integers(10, 40, size)
        drawn = generator.geometric(0.06, size)
        firsts = [int(step) if step <= end else None for step, end in zip(drawn, lasts, strict=True)]
        starts = generator.integers(2, 12, size)
        names = [f"s{number:02}" for number in range(size)]
        runs = [(name, 0, timed(first, int(end))) for name, first, end in zip(names, firsts, lasts, strict=True)]
        row = summary(runs, onsets(*map(int, starts), sources=names))["all"]
        events = np.array([first is not None for first in firsts])
        times = np.array([first or end for first, end in zip(firsts, lasts, strict=True)])
        assert (row["median"], row["low"], row["high"]) == by_scipy(times, events)
        assert (row["delay_median"], row["delay_low"], row["delay_high"]) == by_scipy(times - starts, events)
        earliest.append((times - starts).min())
    assert min(earliest) < 0, "some noticed before there was anything to notice"


@pytest.mark.parametrize(("hazard", "expected"), [(0.05, 14), (0.1, 7), (0.25, 3)])
def test_a_known_chance_of_noticing_gives_its_known_median_where_the_mean_is_misled(
    hazard: float, expected: int
) -> None:
    """Each step notices with the same chance, runs are cut off at 20: half have noticed by log ½ / log(1 − chance)."""
    generator = np.random.default_rng(96)
    firsts = generator.geometric(hazard, 1500)
    runs = [(f"s{n % 50}", n // 50, timed(int(first) if first <= 20 else None, 20)) for n, first in enumerate(firsts)]
    found = noticing_summary(noticing(*frames(runs)), pl.DataFrame()).filter(pl.col("source") == "all")
    (row,) = found.iter_rows(named=True)
    assert row["median"] == expected == int(np.ceil(np.log(0.5) / np.log(1 - hazard)))
    assert row["low"] <= expected <= row["high"]
    if hazard == 0.05:
        assert row["mean"] < 0.5 / hazard, "over those that noticed alone it is far below the true mean of 20"


def test_runs_of_one_image_are_no_independent_witnesses() -> None:
    generator = np.random.default_rng(97)
    runs = []
    for number in range(10):
        middle = int(generator.integers(6, 30))
        runs += [(f"s{number}", run, timed(middle + int(generator.integers(0, 2)), 40)) for run in range(5)]
    pooled = summary(runs)["all"]
    apart = summary([(f"{source}-{run}", 0, answers) for source, run, answers in runs])["all"]
    assert pooled["median"] == apart["median"]
    assert pooled["high"] - pooled["low"] > apart["high"] - apart["low"]
    one = summary([("s0", run, timed(5 + run, 20)) for run in range(5)])
    assert (one["all"]["low"], one["all"]["high"]) == (None, None), "one image says nothing of others"
    assert None not in (one["s0"]["low"], one["s0"]["high"])


@given(st.lists(st.tuples(st.integers(-30, 30), st.booleans()), min_size=2, max_size=25), st.integers(-50, 50))
@settings(max_examples=60, deadline=None)
def test_it_does_not_matter_where_time_begins(given: list[tuple[int, bool]], shift: int) -> None:
    times, events = np.array([time for time, _ in given]), np.array([event for _, event in given])
    first, later = km_middle(times, events, None, 0.95), km_middle(times + shift, events, None, 0.95)
    assert [None if end is None else end + shift for end in first[:3]] == list(later[:3])


def test_mixed_readers_and_mixed_onsets_are_refused() -> None:
    measurements, chains = frames([("s0", 0, "nny")])
    with pytest.raises(StudyError, match="two readers answered for self-evaluation"):
        noticing(pl.concat([measurements, measurements.with_columns(fingerprint=pl.lit("g"))]), chains)
    found = noticing(measurements, chains)
    with pytest.raises(StudyError, match="choose those of one"):
        noticing_summary(found, pl.concat([onsets(3), onsets(4)]))

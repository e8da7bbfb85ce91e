"""Onset: where a curve begins to fall, on curves whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.onset import FEWEST, Onset, break_of, noise, onset_of, onset_summary, onsets
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.types import Better

Curve = npt.NDArray[np.floating[Any]]
SSIM = MetricFacts("ssim", "full-reference", "higher", (-1, 1), "", self_value=1)
LPIPS = MetricFacts("lpips", "full-reference", "lower", (0, 1), "", self_value=0)
CURVES = st.lists(st.integers(-50, 50), min_size=0, max_size=30)


def steps_of(curve: Sequence[float] | Curve) -> npt.NDArray[np.int64]:
    return np.arange(1, len(curve) + 1)


def onset(curve: Sequence[float] | Curve, better: Better = "lower", **more: Any) -> Onset:
    return onset_of(steps_of(curve), np.asarray(curve, dtype=np.float64), better, **more)


def noisy(truth: Curve, *, spread: float = 1.0, seed: int = 0, draws: int = 200) -> list[npt.NDArray[np.float64]]:
    chance = np.random.default_rng(seed).normal(size=(draws, truth.size))
    return [np.asarray(truth + spread * one, dtype=np.float64) for one in chance]


@pytest.mark.parametrize("length", [5, 6, 8, 20, 100])
@pytest.mark.parametrize("better", ["higher", "lower", "neither"])
def test_noise_alone_is_censored_in_at_least_95_of_100_chains(length: int, better: Better) -> None:
    found = [onset(curve, better) for curve in noisy(np.zeros(length), draws=400)]
    assert sum(one.step is None for one in found) >= 0.95 * len(found)


@pytest.mark.parametrize("break_at", [4, 10, 15])
def test_flat_then_falling_is_found_soon_after_the_break_and_hardly_ever_before(break_at: int) -> None:
    steps = np.arange(1, 21)
    found = [onset(curve).step for curve in noisy(np.maximum(0, steps - break_at) * 5.0)]
    assert np.median([one for one in found if one is not None]) in (break_at + 1, break_at + 2)
    assert sum(one is None or one <= break_at for one in found) <= 0.05 * len(found)


def test_a_jump_is_found_at_its_own_step() -> None:
    steps = np.arange(1, 21)
    found = [onset(curve).step for curve in noisy(np.where(steps >= 9, 10.0, 0.0))]
    assert sum(one == 9 for one in found) >= 0.95 * len(found)


def test_a_slide_from_the_first_step_on_has_its_onset_early_and_no_breakpoint() -> None:
    steps = np.arange(1, 21)
    curves = noisy(2.0 * steps)
    assert np.median([onset(curve).step or 99 for curve in curves]) <= 4
    assert sum(break_of(steps, curve).step is not None for curve in curves) <= 0.05 * len(curves)
    assert onset(2.0 * steps) == Onset(2, 20, 1), "without noise at the first step after the baseline"


def test_noise_is_the_same_number_on_a_slope_and_across_a_break() -> None:
    steps = np.arange(1, 101)
    flat = noisy(np.zeros(100), spread=0.3)
    sliding = noisy(0.5 * steps, spread=0.3)
    broken = noisy(np.where(steps > 40, 30.0, 0.0), spread=0.3)
    for curves in (flat, sliding, broken):
        assert np.mean([noise(steps, curve) for curve in curves]) == pytest.approx(0.3, rel=0.06)


def test_the_worse_side_is_the_metrics_own() -> None:
    falling = [0.9, 0.9, 0.9, 0.9, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4]
    assert onset(falling, "higher").step == 5
    assert onset(falling, "lower").step is None
    assert onset(falling, "neither").step == 5


def test_two_steps_outside_are_not_three() -> None:
    rest = [0] * 10
    assert onset([0, 0, 0, 5, 5, *rest]).step is None
    assert onset([0, 0, 0, 5, 5, 5, *rest]).step == 4
    assert onset([0, 0, 5, -5, 5, *rest], "neither").step is None, "not on one side"


def test_a_chain_that_ends_outside_is_free_of_it_only_as_far_as_is_known() -> None:
    assert onset([0, 0, 0, 0, 0, 0, 0, 0, 9, 9]) == Onset(None, 10, 8, "never outside three times in a row")
    assert onset([0, 0, 0, 0, 0, 0, 0, 0, 9, 0]).clear == 10


def test_missing_values_are_stepped_over_and_steps_keep_their_numbers() -> None:
    gone = np.nan
    found = onset([gone, 0, gone, 0, 0, gone, 0, 0, 7, gone, 7, 7, 7, gone])
    assert found == Onset(9, 13, 8)
    cycle = onset_of(np.arange(3, 40, 3), np.array([0.0] * 6 + [4.0] * 7), "lower")
    assert cycle.step == 21, "ends of cycles of three steps"


def test_uneven_gaps_on_a_straight_line_make_no_noise() -> None:
    steps = np.array([1, 2, 5, 6, 9, 14, 15, 30])
    assert noise(steps, 3.0 * steps - 7) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("length", range(FEWEST))
def test_short_chains_are_censored_with_the_reason(length: int) -> None:
    found = onset(np.arange(length) * 10.0)
    assert (found.step, found.last, found.clear) == (None, length, 0)
    assert ("of the 5 values" if length else "no value") in found.why


def test_a_constant_curve_never_falls_and_neither_does_one_of_rounding_errors() -> None:
    assert onset([0.7] * 20).step is None
    assert onset([0.7, *[np.nextafter(0.7, 1)] * 19]).step is None
    assert break_of(np.arange(1, 21), np.full(20, 0.7)).step is None


def test_unchanged_pictures_in_decibels_are_unchanged() -> None:
    assert onset([np.inf] * 8, "higher") == Onset(None, 8, 8, "unchanged at every step")
    assert onset([np.inf, *[40.0] * 5, *[20.0] * 5], "higher").step == 7, "the baseline is the first number"


def test_coarse_marks_need_a_least_reach() -> None:
    marks = [7, 7, 7, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7]
    assert onset(marks, "higher").step == 4
    assert onset(marks, "higher", least=1.0).step is None


@pytest.mark.parametrize("kind", ["bend", "jump"])
def test_the_two_segment_fit_finds_the_break_within_a_step(kind: str) -> None:
    steps = np.arange(1, 21)
    truth = np.maximum(0, steps - 10) * 5.0 if kind == "bend" else np.where(steps >= 11, 10.0, 0.0)
    found = [break_of(steps, curve).step for curve in noisy(truth)]
    assert sum(one is not None and 10 <= one <= 12 for one in found) >= 0.95 * len(found)


def test_the_two_segment_fit_is_silent_on_noise_and_on_short_chains() -> None:
    steps = np.arange(1, 21)
    found = [break_of(steps, curve) for curve in noisy(np.zeros(20), draws=400)]
    assert sum(one.step is not None for one in found) <= 0.05 * len(found)
    assert break_of(np.arange(1, 8), np.arange(7.0)) == (None, None)


def test_the_gain_is_the_difference_of_the_two_bics() -> None:
    steps = np.arange(1, 13)
    curve = np.array([0.1, -0.2, 0.3, 0.0, -0.1, 0.2, 4.0, 5.2, 5.9, 7.1, 8.0, 8.8])

    def bic(pieces: list[slice], coefficients: int) -> float:
        fits = [(np.polyfit(steps[one], curve[one], 1), one) for one in pieces]
        left = sum(float(((curve[one] - np.polyval(fit, steps[one])) ** 2).sum()) for fit, one in fits)
        return float(12 * np.log(left / 12) + coefficients * np.log(12))

    two = min((bic([slice(0, k), slice(k, 12)], 5), k) for k in range(3, 10))
    found = break_of(steps, curve)
    assert found.gain == pytest.approx(bic([slice(0, 12)], 2) - two[0])
    assert found.step == steps[two[1]] == 7


@given(CURVES, st.sampled_from(["higher", "lower", "neither"]), st.sampled_from([0.125, 0.5, 4.0]), st.integers(-9, 9))
def test_the_onset_does_not_depend_on_the_metrics_units(
    curve: list[int], better: Better, scale: float, shift: int
) -> None:
    here, there = onset(curve, better), onset([scale * value + shift for value in curve], better)
    assert here == there
    given_values = np.array(curve, dtype=np.float64)
    one, other = break_of(steps_of(curve), given_values), break_of(steps_of(curve), scale * given_values + shift)
    assert one.step == other.step
    turned: Better = {"higher": "lower", "lower": "higher"}.get(better, "neither")  # type: ignore[assignment]
    assert onset([-value for value in curve], turned) == here


@given(CURVES, st.sampled_from(["higher", "lower", "neither"]))
def test_the_onset_lies_inside_the_chain(curve: list[int], better: Better) -> None:
    found = onset(curve, better)
    assert found.last == len(curve)
    assert 0 <= found.clear <= found.last
    if found.step is None:
        assert found.why
    else:
        assert 2 <= found.step <= found.last - 2
        assert found.clear == found.step - 1
        assert not found.why
    second = break_of(steps_of(curve), np.array(curve, dtype=np.float64))
    assert second.step is None or 4 <= second.step <= len(curve) - 2


def chains_frame(*chains: tuple[str, str, int]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"editor": editor, "case": f"{source}/copy/{run}", "source": source, "pair": "copy",
             "category": "replication", "replicate": run, "status": "finished"}
            for editor, source, run in chains
        ]
    )  # fmt: skip


def readings(editor: str, case: str, values: Sequence[float | None], metric: str = "ssim", **more: Any) -> pl.DataFrame:
    rows = [
        {"editor": editor, "case": case, "step": step, "metric": metric, "value": value, "role": "return",
         "status": "ok" if value is not None else "size", **more}
        for step, value in enumerate(values, start=more.pop("begin", 1))
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64}, infer_schema_length=None)


FALLS_AT_6 = [0.9, 0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.5, 0.5, 0.5]
FLAT = [0.9] * 10


def test_every_chain_has_a_row_also_those_without_a_value() -> None:
    chains = chains_frame(("a", "cup", 0), ("a", "cup", 1), ("a", "room", 0))
    values = pl.concat([readings("a", "cup/copy/0", FALLS_AT_6), readings("a", "cup/copy/1", FLAT)])
    found = onsets(values, chains, "ssim", {"ssim": SSIM})
    assert found.schema == pl.Schema(SCHEMAS["onsets"])
    assert found.select("case", "onset", "last", "clear", "breakpoint").rows() == [
        ("cup/copy/0", 6, 10, 5, 6),
        ("cup/copy/1", None, 10, 10, None),
        ("room/copy/0", None, 0, 0, None),
    ]
    assert found["why"].to_list() == ["", "never outside three times in a row", "no value"]


def test_the_source_itself_is_not_part_of_the_curve() -> None:
    chains = chains_frame(("a", "cup", 0))
    values = readings("a", "cup/copy/0", [1.0, *FLAT], begin=0)
    assert onsets(values, chains, "ssim", {"ssim": SSIM})["onset"].to_list() == [None]


def test_a_comparison_with_the_source_goes_before_one_with_the_parent() -> None:
    chains = chains_frame(("a", "cup", 0))
    beside = readings("a", "cup/copy/0", FLAT).with_columns(role=pl.lit("step"))
    for order in ([beside, readings("a", "cup/copy/0", FALLS_AT_6)], [readings("a", "cup/copy/0", FALLS_AT_6), beside]):
        assert onsets(pl.concat(order), chains, "ssim", {"ssim": SSIM})["onset"].to_list() == [6]


def test_curves_against_the_first_step_have_their_metrics_direction() -> None:
    chains = chains_frame(("a", "cup", 0))
    values = readings("a", "cup/copy/0", [1 - value for value in FALLS_AT_6], "lpips-first", begin=2)
    assert onsets(values, chains, "lpips-first", {"lpips": LPIPS})["onset"].to_list() == [7]


def test_a_metric_that_was_not_measured_is_named() -> None:
    with pytest.raises(StudyError, match="no onset of 'dists'"):
        onsets(pl.DataFrame(), chains_frame(("a", "cup", 0)), "dists", {"ssim": SSIM})


def test_a_run_without_measurements_has_a_row_per_chain() -> None:
    found = onsets(pl.DataFrame(), chains_frame(("a", "cup", 0)), "ssim", {"ssim": SSIM})
    assert found["why"].to_list() == ["no value"]


def summary_of(*onset_steps: int | None, clear: int = 10, sources: int = 0) -> dict[str, Any]:
    rows = [
        {"editor": "a", "case": str(place), "source": str(place % (sources or 99)), "pair": "copy", "category": "r",
         "replicate": 0, "metric": "ssim", "onset": step, "last": 10, "breakpoint": None, "gain": None,
         "clear": clear if step is None else step - 1, "why": ""}
        for place, step in enumerate(onset_steps)
    ]  # fmt: skip
    (row,) = onset_summary(pl.DataFrame(rows, schema=SCHEMAS["onsets"])).rows(named=True)
    return row


def test_the_summary_is_the_kaplan_meier_median() -> None:
    row = summary_of(3, 5, 5, 7, None)
    assert (row["median"], row["text"], row["n_cases"], row["n_censored"], row["n_sources"]) == (5, "5", 5, 1, 5)
    assert row["low"] <= 5 <= (row["high"] or 99)


def test_a_median_that_is_not_reached_says_how_far_was_looked() -> None:
    row = summary_of(4, None, None, None)
    assert (row["median"], row["text"], row["n_censored"]) == (None, "> 10", 3)
    assert summary_of(None, clear=0)["text"] == "not measured"


def test_a_chain_that_tells_nothing_is_not_counted_among_those_that_were_followed() -> None:
    rows = [
        {"editor": "a", "case": str(place), "source": str(place), "pair": "copy", "category": "r", "replicate": 0,
         "metric": "ssim", "onset": None, "last": 10, "breakpoint": None, "gain": None, "clear": clear, "why": ""}
        for place, clear in enumerate((10, 0, 0))
    ]  # fmt: skip
    (row,) = onset_summary(pl.DataFrame(rows, schema=SCHEMAS["onsets"])).rows(named=True)
    assert (row["n_cases"], row["n_censored"], row["text"]) == (1, 1, "> 10")


def test_step_1_against_itself_is_no_baseline() -> None:
    """It is 1 without any noise, so with it every steady curve would have its onset at step 2."""
    generator = np.random.default_rng(0)
    values = [1.0, *generator.normal(0.95, 0.002, 19)]
    rows = [
        {"editor": "a", "case": "cup/copy/0", "source": "cup", "kind": "object", "pair": "copy", "category": "r",
         "replicate": 0, "round": step, "step": step, "metric": "ssim-first", "value": value, "status": "ok",
         "role": "first"}
        for step, value in enumerate(values, start=1)
    ]  # fmt: skip
    chains = pl.DataFrame(rows[:1]).select("editor", "case", "source", "kind", "pair", "category", "replicate")
    found = onsets(pl.DataFrame(rows), chains, "ssim-first", {"ssim": SSIM})
    assert found["onset"].to_list() == [None]


def test_one_source_has_no_interval() -> None:
    row = summary_of(3, 5, 7, sources=1)
    assert (row["median"], row["low"], row["high"], row["n_sources"]) == (5, None, None, 1)


def test_no_chains_no_rows() -> None:
    found = onset_summary(pl.DataFrame(schema=SCHEMAS["onsets"]))
    assert found.schema == pl.Schema(SCHEMAS["onset_summary"])
    assert found.is_empty()

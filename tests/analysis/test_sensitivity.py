"""What the order of the editors depends on: worlds in which one choice, and one only, turns it round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.findings import rank_only
from convergebench.analysis.orders import EditorOrder, compare_orders
from convergebench.analysis.schemas import OUTPUTS
from convergebench.analysis.sensitivity import common_rounds, first_rounds, sensitivity, sensitivity_sentence
from convergebench.metrics.base import MetricFacts
from convergebench.studies.units import STEP

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
World = Callable[..., AnalysisInput]
Curves = Mapping[str, Sequence[float | None]]
PLAIN = AnalysisSettings(quality=("ssim", "lpips"), semantic="gist")
DIMENSIONS = {"psnr": "quality", "ssim": "quality", "lpips": "quality", "gist": "semantic"}


@pytest.fixture
def world(chain: Make, given: Given) -> World:
    """Editors whose curves are the same for each of six sources."""

    def make(editors: Mapping[str, Curves], *, more: Mapping[str, MetricFacts] = {}, **ended: Any) -> AnalysisInput:
        chains = [chain(name, f"s{n}", curves, **ended) for n in range(6) for name, curves in editors.items()]
        made = given(chains)
        facts = {name: replace(one, dimension=DIMENSIONS.get(name, "none")) for name, one in made.facts.items()}  # type: ignore[arg-type]
        return replace(made, facts={**facts, **more})

    return make


def fading(loss: float, rounds: int = 6) -> list[float]:
    return [1 - loss * place for place in range(1, rounds + 1)]


def worn(loss: float) -> dict[str, list[float]]:
    return {"ssim": fading(loss), "lpips": [1 - kept for kept in fading(loss)], "gist": fading(loss / 2)}


def row(frame: pl.DataFrame, factor: str, choice: str) -> dict[str, Any]:
    (found,) = frame.filter(factor=factor, choice=choice).to_dicts()
    return found


def test_editors_that_differ_in_everything_keep_their_order_under_every_choice(world: World) -> None:
    given = world({"good": worn(0.02), "fair": worn(0.05), "bad": worn(0.12)})
    frame = sensitivity(given, PLAIN, rank_only, {}, align="strict")
    tried = frame.filter(~pl.col("chosen") & pl.col("order").is_not_null())
    assert tried["factor"].unique(maintain_order=True).to_list() == ["metric", "level", "semantic", "rounds"]
    assert tried.filter(factor="rounds")["choice"].to_list() == ["1", "2", "3", "5"]
    assert set(tried.filter(pl.col("factor") != "level")["order"]) == {"good, fair, bad"}
    assert tried.filter(pl.col("same_order").is_not_null())["same_order"].all()
    assert dict(frame.schema) == OUTPUTS["sensitivity"]


def test_each_factor_names_the_reports_own_choice(world: World) -> None:
    given = world({"good": worn(0.02), "bad": worn(0.12)})
    frame = sensitivity(given, PLAIN, rank_only, {}, align="strict")
    own = {one["factor"]: one["choice"] for one in frame.filter(pl.col("chosen")).to_dicts()}
    assert own == {"metric": "score of ssim, lpips and gist", "semantic": "gist", "rounds": "6", "alignment": "strict"}
    ranking = analyse(given, replace(PLAIN, draws=50, chain_draws=5)).ranking
    assert frame.filter(pl.col("chosen"))["order"].unique().to_list() == [", ".join(ranking["editor"])]


def test_one_metric_alone_may_turn_the_order_round(world: World) -> None:
    sharp = {"ssim": fading(0.10), "lpips": [0.01] * 6, "gist": fading(0.01)}
    soft = {"ssim": fading(0.09), "lpips": [0.5] * 6, "gist": [0.3] * 6}
    frame = sensitivity(world({"sharp": sharp, "soft": soft}), PLAIN, rank_only, {})
    assert row(frame, "metric", "lpips alone")["same_order"] is True
    turned = row(frame, "metric", "ssim alone")
    assert (turned["order"], turned["same_order"], turned["same_leader"]) == ("soft, sharp", False, False)
    assert (turned["changes"], turned["tau"], turned["n_cases"]) == (1, -1.0, 6)
    ranking = rank_only(world({"sharp": sharp, "soft": soft}), PLAIN)
    assert turned["largest_swap"] == pytest.approx(ranking["score"][0] - ranking["score"][1])


def test_leaving_adherence_aside_may_change_it(world: World) -> None:
    idle = {**worn(0.0), "happened": [0.0] * 6, "undone": [1.0] * 6}
    busy = {**worn(0.05), "happened": [1.0] * 6, "undone": [1.0] * 6}
    frame = sensitivity(world({"idle": idle, "busy": busy}), PLAIN, rank_only, {})
    orders = {found["choice"]: found["order"] for found in frame.filter(factor="adherence").to_dicts()}
    assert orders == {"counted": "busy, idle", "not counted": "idle, busy"}
    unread = sensitivity(world({"idle": worn(0.0), "busy": worn(0.05)}), PLAIN, rank_only, {})
    assert unread.filter(factor="adherence").height == 0


def test_a_metric_without_an_area_is_not_tried_alone(world: World) -> None:
    given = world({"a": {**worn(0.02), "psnr": [30.0] * 6}, "b": {**worn(0.05), "psnr": [40.0] * 6}})
    choices = sensitivity(given, PLAIN, rank_only, {}).filter(factor="metric")["choice"].to_list()
    assert choices == ["score of ssim, lpips and gist", "ssim alone", "lpips alone"]


def test_curves_that_cross_change_the_order_with_the_number_of_rounds(world: World) -> None:
    early = {"ssim": [0.7, 0.7, 0.7, 0.7, 0.7, 0.7], "gist": fading(0.01)}
    late = {"ssim": [0.99, 0.9, 0.5, 0.2, 0.1, 0.0], "gist": fading(0.01)}
    frame = sensitivity(world({"early": early, "late": late}), PLAIN, rank_only, {}).filter(factor="rounds")
    same = {one["choice"]: one["same_order"] for one in frame.to_dicts()}
    assert same == {"1": False, "2": False, "3": False, "5": True, "6": True}


def test_the_level_of_the_half_life_orders_by_rounds_until_it_is_passed(world: World) -> None:
    """One passes 0.9 at once and never 0.5; the other keeps 0.9 for three rounds and then falls through both."""
    steady = {"ssim": [0.8] * 6, "gist": fading(0.01)}
    sudden = {"ssim": [0.95] * 3 + [0.1] * 3, "gist": fading(0.01)}
    frame = sensitivity(world({"steady": steady, "sudden": sudden}), PLAIN, rank_only, {}).filter(factor="level")
    orders = {one["choice"]: one["order"] for one in frame.to_dicts()}
    assert orders == {"ssim ≥ 0.9 (noticeable)": "sudden, steady", "ssim ≥ 0.5 (half)": "steady, sudden"}


def test_another_measure_of_meaning_may_change_it(world: World) -> None:
    clip = MetricFacts("clip", "semantic", "higher", (-1, 1), "meaning", dimension="semantic", self_value=1)
    one = {"ssim": fading(0.04), "gist": [0.9] * 6, "clip": [0.3] * 6}
    two = {"ssim": fading(0.05), "gist": [0.3] * 6, "clip": [0.9] * 6}
    frame = sensitivity(world({"one": one, "two": two}, more={"clip": clip}), PLAIN, rank_only, {})
    orders = {found["choice"]: found["order"] for found in frame.filter(factor="semantic").to_dicts()}
    assert orders == {"gist": "one, two", "clip": "two, one", "none": "one, two"}


def test_every_alignment_stands_there_measured_or_with_the_command_that_measures_it(world: World) -> None:
    given = world({"a": worn(0.02), "b": worn(0.05)})
    fitted = world({"a": worn(0.08), "b": worn(0.05)})
    frame = sensitivity(given, PLAIN, rank_only, {"fit": fitted}, align="strict")
    assert row(frame, "alignment", "strict")["chosen"]
    assert row(frame, "alignment", "fit")["same_order"] is False
    absent = row(frame, "alignment", "crop-aware")
    assert (absent["order"], absent["same_order"]) == (None, None)
    assert absent["note"] == "not measured: cbench measure RUN --align crop-aware"


def test_an_editor_without_a_rank_under_a_choice_is_named(world: World) -> None:
    given = world({"a": worn(0.02), "b": worn(0.05), "c": worn(0.08)})
    gone = given.measurements.filter((pl.col("editor") != "c") | (pl.col("metric") != "ssim"))
    frame = sensitivity(given, PLAIN, rank_only, {"fit": replace(given, measurements=gone)}, align="strict")
    found = row(frame, "alignment", "fit")
    assert found["order"] == "a, b"
    assert found["note"] == "without a rank here: c"


def test_ties_are_neither_kept_nor_turned_round(world: World) -> None:
    frame = sensitivity(world({"a": worn(0.02), "b": worn(0.03)}), PLAIN, rank_only, {}).filter(factor="level")
    found = row(frame, "level", "ssim ≥ 0.5 (half)")
    assert (found["order"], found["same_order"], found["same_leader"], found["changes"]) == ("a = b", None, True, 0)


def test_with_one_ranked_editor_there_is_no_table_and_no_sentence(world: World) -> None:
    frame = sensitivity(world({"alone": worn(0.02)}), PLAIN, rank_only, {}, align="strict")
    assert frame.height == 0
    assert dict(frame.schema) == OUTPUTS["sensitivity"]
    assert sensitivity_sentence(frame) is None


def test_many_metrics_do_not_mean_many_rankings(world: World) -> None:
    more = {
        f"m{n}": MetricFacts(f"m{n}", kind, "higher", (-1, 1), "", dimension=dimension, self_value=1)  # type: ignore[arg-type]
        for n in range(30)
        for kind, dimension in [("semantic", "semantic") if n % 2 else ("full-reference", "quality")]
    }
    editors = {name: {**worn(loss), **dict.fromkeys(more, fading(loss))} for name, loss in (("a", 0.01), ("b", 0.02))}
    calls = []

    def counting(given: AnalysisInput, settings: AnalysisSettings) -> pl.DataFrame:
        calls.append(settings.draws)
        return rank_only(given, settings)

    sensitivity(world(editors, more=more), PLAIN, counting, {}, align="strict")
    assert len(calls) <= 20
    assert max(calls) < 10


def test_fewer_rounds_are_a_run_of_fewer_rounds(world: World) -> None:
    given = world({"a": worn(0.02), "b": worn(0.05)}, status="refused", planned=8)
    cut = first_rounds(given, 4)
    assert cut.measurements["round"].max() == 4
    assert cut.chains.select("rounds", "planned", "status").unique().rows() == [(4, 4, "finished")]
    unchanged = first_rounds(given, 7)
    assert unchanged.chains.select("rounds", "planned", "status").unique().rows() == [(6, 7, "refused")]


def test_common_rounds_are_those_of_the_editor_that_went_least_far(chain: Make, given: Given) -> None:
    chains = given([chain("a", "s0", worn(0.1)), chain("b", "s0", {"ssim": [0.9, 0.8]})]).chains
    assert common_rounds(chains, ["a", "b"]) == 2
    assert common_rounds(chains, ["a"]) == 6
    assert common_rounds(chains, []) == 0


def test_pairs_and_tau_are_those_of_the_books() -> None:
    numbers = np.random.default_rng(2)
    for _ in range(50):
        one, other = numbers.integers(1, 6, (2, 7))
        names = [f"e{n}" for n in range(7)]
        orders = [
            EditorOrder(dict(zip(names, map(int, p), strict=True)), dict.fromkeys(names, 0.0)) for p in (one, other)
        ]
        found = compare_orders(*orders)
        turned = sum((one[a] - one[b]) * (other[a] - other[b]) < 0 for a in range(7) for b in range(a))
        assert found["changes"] == turned
        assert found["tau"] == pytest.approx(kendalltau(one, other).statistic)


def test_an_order_reads_best_first_with_equals_joined() -> None:
    assert EditorOrder({"c": 3, "a": 1, "b": 1}, {}).text == "a = b, c"


def sentence(*rows: tuple[str, str, bool | None, bool]) -> str | None:
    """(factor, choice, same order, same leader) as the sentence says it."""
    made = [
        {"factor": f, "choice": c, "chosen": False, "order": "a, b", "same_order": same, "same_leader": leader}
        for f, c, same, leader in rows
    ]
    return sensitivity_sentence(pl.DataFrame(made, schema=OUTPUTS["sensitivity"]), STEP)


def test_the_sentence_counts_what_was_tried_and_names_what_changes_it() -> None:
    kept = ("metric", "ssim alone", True, True)
    assert sentence(kept) == "The order is the same under the one alternative setting tried."
    assert sentence(kept, kept) == "The order is the same under all 2 alternative settings tried."
    assert sentence(kept, ("level", "ssim ≥ 0.5 (half)", None, True)) == (
        "The order is the same under 1 of 2 alternative settings; under 1 it is partly tied."
    )
    changed = ("rounds", "1", False, False), ("rounds", "2", False, True), ("metric", "lpips alone", False, True)
    assert sentence(kept, *changed) == (
        "The order is the same under 1 of 4 alternative settings; "
        "it changes with the number of steps (1, 2) and the metric (lpips alone)."
    )
    assert sentence(kept, changed[1]) == (
        "The order is the same under 1 of 2 alternative settings; "
        "it changes with the number of steps (2); the leader stays the same."
    )

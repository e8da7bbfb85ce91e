"""Plans: what a question may need, and a guess of the half-life; neither enters an estimate."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from benchmarks.sequential import LIMIT, decisions, sequential
from benchmarks.sequential_worlds import WORLDS, areas, stored_chains
from convergebench.analysis.sequential.betting import Method
from convergebench.analysis.sequential.expected import decision_times, scenario, stop_times
from convergebench.analysis.sequential.foresight import foreseen_round
from tests.analysis.sequential.test_scores import question

PACKAGE = Path(__file__).parents[3] / "src" / "convergebench"


def test_plans_are_imported_by_the_forecast_alone() -> None:
    """So no guess can reach an interval, a verdict or the decision to stop."""
    users = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in (
                "convergebench.analysis.sequential.expected",
                "convergebench.analysis.sequential.foresight",
            ):
                users.add(path.relative_to(PACKAGE).as_posix())
    assert users == {"conductor/until_forecast.py"}


def test_a_chain_that_loses_the_same_share_each_round_is_foreseen_exactly() -> None:
    assert foreseen_round(np.array([1, 0.9, 0.81, 0.729]), 0.5) == pytest.approx(np.log(0.5) / np.log(0.9))
    assert foreseen_round(np.array([1.0, 0.9]), 0.5) is None
    assert foreseen_round(np.ones(8), 0.5) is None
    assert foreseen_round(np.array([1.0, 0.8, 0.64, np.nan]), 0.64) == pytest.approx(2)


def test_larger_differences_are_expected_to_cost_less() -> None:
    found = [scenario(question(60), size, 10.0, trials=60) for size in (0.0, 10.0, 30.0, 60.0)]
    images = [one.images["a"] for one in found]
    assert images == sorted(images, reverse=True)
    assert images[-1] < 60 / 3 < images[0]
    assert all(one.decided == 1 for one in found)


def test_the_best_of_several_is_expected_to_cost_less_than_all_comparisons() -> None:
    editors = ("a", "b", "c", "d")
    every, best = (scenario(question(60, editors, ask=ask), 12.0, 5.0, trials=40) for ask in ("pairs", "best"))
    assert sum(best.images.values()) < 0.8 * sum(every.images.values())


def test_an_editor_is_run_until_its_last_comparison_is_decided() -> None:
    asked = question(20, ("a", "b", "c"))
    times = {("a", "b"): np.array([8]), ("a", "c"): np.array([12]), ("b", "c"): np.array([0])}
    verdicts = {pair: np.array([1 if pair[0] == "a" else 0]) for pair in times}
    used, settled = stop_times(asked, times, verdicts)
    assert ([int(used[name][0]) for name in "abc"], bool(settled[0])) == ([12, 20, 20], False)
    used, settled = stop_times(question(20, ("a", "b", "c"), ask="best"), times, verdicts)
    assert ([int(used[name][0]) for name in "abc"], bool(settled[0])) == ([12, 8, 12], True)


@pytest.mark.parametrize("method", ["suite", "symmetric"])
def test_the_forecast_and_the_benchmark_decide_alike(method: Method) -> None:
    values = np.clip(WORLDS["even"](np.random.default_rng(0), 40, 30, 0.2), -1, 1)
    asked = question(30, method=method, difference=100 * LIMIT)
    for mine, theirs in zip(decision_times(asked, values), decisions(values, method), strict=True):
        assert (mine == theirs).all()


def test_a_clear_difference_costs_a_third_of_the_calls_and_is_never_the_wrong_one() -> None:
    """The goal, on the worlds of the benchmark: a difference of 20 points, a hundred images, no assumption."""
    for name in ("even", "heavy tails", "three kinds"):
        values = np.clip(WORLDS[name](np.random.default_rng(1), 200, 100, 0.2), -1, 1)
        found = sequential(values, values.mean(axis=1), "suite")
        assert found.share <= 1 / 3
        assert (found.wrong <= 0.05, found.missed <= 0.05, found.decided) == (True, True, 1)


def test_equal_editors_are_not_told_apart_by_looking_often() -> None:
    for name in ("skewed", "one in ten refused"):
        values = np.clip(WORLDS[name](np.random.default_rng(2), 300, 30, 0.0), -1, 1)
        found = sequential(values, values.mean(axis=1), "suite")
        assert found.wrong <= 0.05
        assert found.missed <= 0.05


def test_stored_chains_of_real_networks_are_decided_rightly_in_any_order() -> None:
    editors, chains = stored_chains()
    assert len(editors) > 1
    scores, generator = areas(chains), np.random.default_rng(3)
    values = scores[0] - scores[1]
    mixed = np.array([generator.permutation(values) for _ in range(200)])
    found = sequential(mixed, np.full(200, values.mean()), "suite")
    assert found.wrong <= 0.05
    assert found.missed <= 0.05

"""The score of an image: the headline score of its cases alone, or exact bounds while rounds are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.sequential.decide import UntilDecision, could_decide, decide
from convergebench.analysis.sequential.question import UntilQuestion, pairs_of, random_order, require_same
from convergebench.analysis.sequential.result import until_analysis, without_fixed_claims
from convergebench.analysis.sequential.scores import Scores
from convergebench.errors import StudyError

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
ROUNDS = 4


def question(images: int, editors: tuple[str, ...] = ("a", "b"), **more: Any) -> UntilQuestion:
    names = [f"s{n}" for n in range(images)]
    values = {
        **{"pairs": pairs_of(editors, ""), "ask": "pairs", "number": "score", "difference": 5.0, "error": 0.05},
        **{"method": "suite", "largest": 100.0, "most": images, "step": 1, "rounds": ROUNDS, "seed": 3},
        **{"order": tuple(names), "cases": {name: (f"{name}/hat/0",) for name in names}, **more},
    }
    return UntilQuestion(**values)


def context(found: AnalysisInput) -> AnalysisContext:
    given = {one.name: getattr(found, one.name) for one in fields(AnalysisInput)}
    return AnalysisContext(**given, settings=AnalysisSettings(draws=200))


def falling(rate: float, rounds: int = ROUNDS) -> dict[str, list[float | None]]:
    return {
        "ssim": [1 - rate * n for n in range(1, rounds + 1)],
        "gist": [1 - rate * n / 2 for n in range(1, rounds + 1)],
    }


def world(chain: Make, given: Given, rates: dict[str, list[float]], **more: Any) -> AnalysisContext:
    rows = [
        chain(editor, f"s{n}", falling(rate), **more) for editor, own in rates.items() for n, rate in enumerate(own)
    ]
    return context(given(rows))


def test_the_score_of_an_image_is_the_headline_score_of_its_cases(chain: Make, given: Given) -> None:
    run = world(chain, given, {"a": [0.02, 0.05], "b": [0.1, 0.03]})
    found = Scores(run, question(2)).differences("a", "b")
    for place, one in enumerate(found):
        alone = given(
            [chain(name, "s0", falling(rate)) for name, rate in (("a", (0.02, 0.05)[place]), ("b", (0.1, 0.03)[place]))]
        )
        scores = {row["editor"]: row["score"] for row in analyse(alone, run.settings).ranking.to_dicts()}
        assert one.low == one.high == pytest.approx(scores["a"] - scores["b"])
        assert one.whole


def test_a_refusal_counts_nothing_from_its_round_on(chain: Make, given: Given) -> None:
    rows = [chain("a", "s0", falling(0.0)), chain("b", "s0", falling(0.0, 2), status="refused", planned=ROUNDS)]
    (one,) = Scores(context(given(rows)), question(1)).differences("a", "b")
    assert one.low == one.high == pytest.approx(50)


def test_rounds_that_are_missing_give_bounds_that_hold_whatever_they_bring(chain: Make, given: Given) -> None:
    generator = np.random.default_rng(0)
    for _ in range(6):
        whole = {name: {m: list(generator.uniform(-0.2, 1, ROUNDS)) for m in ("ssim", "gist")} for name in "ab"}
        full = [chain(name, "s0", values) for name, values in whole.items()]
        (exact,) = Scores(context(given(full)), question(1)).differences("a", "b")
        before = (-100.0, 100.0)
        for done in range(1, ROUNDS):
            part = {name: {m: column[:done] for m, column in values.items()} for name, values in whole.items()}
            some = [chain(name, "s0", values, planned=done) for name, values in part.items()]
            (bound,) = Scores(context(given(some)), question(1)).differences("a", "b")
            assert not bound.whole
            assert before[0] - 1e-9 <= bound.low <= exact.low <= bound.high <= before[1] + 1e-9
            before = bound.low, bound.high


def test_images_count_in_their_order_up_to_the_first_that_was_not_run(chain: Make, given: Given) -> None:
    rows = [chain(name, f"s{n}", falling(0.1)) for name in "ab" for n in (0, 1, 3)]
    assert [one.image for one in Scores(context(given(rows)), question(4)).differences("a", "b")] == ["s0", "s1"]
    assert not Scores(context(given(rows)), question(4)).differences("a", "c")


def test_an_image_that_cannot_be_measured_may_be_anything(chain: Make, given: Given) -> None:
    bad = {"ssim": ["source-unfit"] * ROUNDS, "gist": ["source-unfit"] * ROUNDS}
    rows = [chain(name, "s0", bad) for name in "ab"] + [chain(name, "s1", falling(0.1)) for name in "ab"]
    run = context(given(rows))
    first, second = Scores(run, question(2)).differences("a", "b")
    assert (first.low, first.high, first.missing, second.missing) == (-100, 100, True, False)
    (one,) = decide(question(2), Scores(run, question(2)).differences).findings
    assert (one.verdict, one.missing) == ("open", 1)
    assert [one.low, one.high] == pytest.approx([-50, 50])


def decided(run: AnalysisContext, asked: UntilQuestion) -> UntilDecision:
    return decide(asked, Scores(run, asked).differences)


def test_a_clear_difference_is_decided_before_all_images_are_run(chain: Make, given: Given) -> None:
    run = world(chain, given, {"a": [0.0] * 12, "b": [0.24] * 12})
    found = decided(run, question(100))
    assert [one.verdict for one in found.findings] == ["open"]
    assert found.running == ("a", "b")
    run = world(chain, given, {"a": [0.0] * 16, "b": [0.24] * 16})
    (one,) = decided(run, question(100)).findings
    assert (one.verdict, one.images, one.decided) == ("ahead", 16, True)
    assert 0 < one.low < (one.difference or 0) < one.high
    assert decided(run, question(100)).finished
    (other,) = decide(question(100, ("b", "a")), Scores(run, question(100)).differences).findings
    assert (other.verdict, other.loser) == ("behind", "b")


def test_chains_may_end_early_where_their_last_rounds_could_not_change_the_verdict(chain: Make, given: Given) -> None:
    lost = {"ssim": [0.0] * 3, "gist": [0.0] * 3}
    rows = [
        chain(name, f"s{n}", values, planned=3)
        for name, values in (("a", falling(0, 3)), ("b", lost))
        for n in range(3)
    ]
    found = until_analysis(context(given(rows)), question(4))
    (one,) = found.decision.findings
    assert (one.verdict, one.partial, one.difference, found.decision.finished) == ("ahead", 3, None, True)
    assert found.headline[0].startswith("a is ahead of b (95% at any time: +")
    assert "3 of them ended early, since their last rounds could not change the verdict" in found.headline[0]
    worse = [chain(name, f"s{n}", falling(0.1, 3), planned=3) for name in "ab" for n in range(3)]
    open_one = until_analysis(context(given(worse)), question(4))
    assert open_one.headline[0].startswith("a and b: no decision (")
    assert "3 of them not finished" in open_one.headline[0]


def test_a_tie_ends_as_no_difference_of_interest_and_not_never(chain: Make, given: Given) -> None:
    run = world(chain, given, {"a": [0.1] * 70, "b": [0.1] * 70})
    (one,) = decided(run, question(100)).findings
    assert (one.verdict, one.within, one.difference) == ("alike", True, 0)
    (early,) = decided(
        world(chain, given, {"a": [0.1] * 8, "b": [0.1] * 8}), question(100, method="symmetric")
    ).findings
    assert early.verdict == "alike"


def test_three_images_decide_about_these_three_and_about_no_others(chain: Make, given: Given) -> None:
    run = world(chain, given, {"a": [0.0] * 3, "b": [0.2] * 3})
    (one,) = decided(run, question(3)).findings
    assert one.verdict == "ahead"
    assert one.low == pytest.approx(one.high)
    for method in ("bounded", "symmetric"):
        found = decided(run, question(3, method=method))
        assert not found.settled
        assert found.finished  # there are no more


def test_the_error_rate_is_shared_by_all_comparisons(chain: Make, given: Given) -> None:
    rates = {"a": [0.0] * 14, "b": [0.24] * 14, "c": [0.24] * 14}
    run = world(chain, given, rates)
    two, three = question(100), question(100, ("a", "b", "c"))
    assert three.error_each == pytest.approx(two.error / 3)
    one, alone = decided(run, three).findings[0], decided(run, two).findings[0]
    assert one.low < alone.low
    assert one.p == pytest.approx(3 * alone.p)


def test_whoever_is_behind_is_no_longer_run_where_only_the_best_is_asked_for(chain: Make, given: Given) -> None:
    rates = {"a": [0.0] * 30, "b": [0.2] * 30, "c": [0.21] * 30}
    run = world(chain, given, rates)
    pairs, best = question(100, ("a", "b", "c")), question(100, ("a", "b", "c"), ask="best")
    assert [one.verdict for one in decided(run, pairs).findings] == ["ahead", "ahead", "open"]
    assert decided(run, pairs).running == ("b", "c")
    assert decided(run, best).finished
    assert decided(run, best).settled


def test_an_image_counts_with_no_more_than_the_largest_difference(chain: Make, given: Given) -> None:
    run = world(chain, given, {"a": [0.0, 0.24], "b": [0.24, 0.0]})
    (one,) = decided(run, question(2, largest=10.0)).findings
    assert one.difference == pytest.approx(0)
    assert abs(one.low) <= 10
    small = world(chain, given, {"a": [0.0] * 16, "b": [0.04] * 16})
    found = {size: decided(small, question(100, largest=size)).findings[0] for size in (10.0, 100.0)}
    assert (found[10.0].verdict, found[100.0].verdict) == ("ahead", "open")
    assert 0 < found[10.0].low < (found[10.0].difference or 0) < found[10.0].high <= 10


def test_half_of_the_rounds_are_looked_at_only_where_they_could_decide(chain: Make, given: Given) -> None:
    asked = question(20)
    early = decided(world(chain, given, {"a": [0.1] * 2, "b": [0.1] * 2}), asked)
    late = decided(world(chain, given, {"a": [0.0] * 11, "b": [0.2] * 11}), asked)
    assert not could_decide(early, 3, 0.5)
    assert could_decide(late, 12, 0.75)


def test_a_run_stopped_by_its_results_claims_nothing_for_a_fixed_number_of_images(chain: Make, given: Given) -> None:
    run = world(chain, given, {"a": [0.0] * 16, "b": [0.24] * 16})
    until, fixed = until_analysis(run, question(100)), analyse(run, run.settings)
    own = without_fixed_claims(fixed, until, run.unit)
    assert fixed.ranking["low"].null_count() == 0
    assert (
        own.headline[1] == "Stopped because the question was decided, after 16 of 100 images in random order (seed 3)."
    )
    assert "at any time" in own.headline[0]
    assert not set(fixed.headline[:1]) & set(own.headline)
    for name, frame in own.tables().items():
        ends = [column for column in frame.columns if column in ("low", "high") or column.endswith(("_low", "_high"))]
        assert name == "pairwise" or all(frame[column].null_count() == frame.height for column in ends)
    row, before = own.pairwise.to_dicts()[0], fixed.pairwise.to_dicts()[0]
    finding = until.decision.findings[0]
    assert (row["low"], row["high"], row["p"]) == (finding.low, finding.high, finding.p)
    assert row["low"] < before["low"]
    assert (row["needed"], row["significant"]) == (None, True)


def test_another_question_is_refused_half_way() -> None:
    first = question(10)
    require_same(first, replace(first, step=4), "runs/x")
    require_same(first, UntilQuestion.from_json(first.to_json()), "runs/x")
    with pytest.raises(StudyError, match=r"runs/x was begun to decide another question \(error rate: 0.05 → 0.01\)"):
        require_same(first, replace(first, error=0.01), "runs/x")
    with pytest.raises(StudyError, match="pairs"):
        require_same(first, question(10, ("a", "c")), "runs/x")
    with pytest.raises(ValueError, match="it lacks seed"):
        UntilQuestion.from_json({name: value for name, value in first.to_json().items() if name != "seed"})


def test_the_order_is_random_by_seed_and_does_not_depend_on_the_listing() -> None:
    names = [f"image {n}" for n in range(50)]
    assert random_order(names, 1) == random_order(names[::-1], 1) != random_order(names, 2)
    first = [random_order(names, seed)[0] for seed in range(400)]
    assert len(set(first)) > 45


def test_looks_are_fixed_in_advance_and_end_with_the_most_images() -> None:
    asked = question(100, step=10)
    looks = [asked.next_look(0)]
    while looks[-1] < 100:
        looks.append(asked.next_look(looks[-1]))
    assert looks == [7, *range(17, 100, 10), 100]
    assert asked.next_look(9) == 17
    assert pl.Series(looks).is_sorted()

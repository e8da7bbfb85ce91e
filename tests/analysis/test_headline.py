from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.headline import never_sentence
from convergebench.analysis.wording import listed
from convergebench.errors import StudyError

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
FAST = AnalysisSettings(draws=200, chain_draws=50)


def falling(rate: float, rounds: int = 10) -> dict[str, list[float | None]]:
    return {"ssim": [1 - rate * n for n in range(1, rounds + 1)], "gist": [1.0] * rounds}


def chains_of(chain: Make, rates: dict[str, float], images: int, *, spread: float = 0.0) -> list[dict[str, Any]]:
    generator = np.random.default_rng(5)
    return [
        chain(editor, f"s{n}", falling(rate + spread * float(generator.random())))
        for n in range(images)
        for editor, rate in rates.items()
    ]


def test_a_winner_is_named_with_difference_interval_and_p(chain: Make, given: Given) -> None:
    result = analyse(given(chains_of(chain, {"a": 0.01, "b": 0.03, "c": 0.05}, 12, spread=0.004)), FAST)
    first = result.headline[0]
    assert re.match(
        r"a keeps pictures closest to the original: it scores [\d.]+ of 100, [\d.]+ "
        r"more than b, the next \(95%: [\d.]+–[\d.]+; p = 0.0015; 12 images\)\.$",
        first,
    ), first


def test_equal_editors_are_not_told_apart_and_the_images_needed_are_said(chain: Make, given: Given) -> None:
    result = analyse(given(chains_of(chain, {"a": 0.030, "b": 0.0301}, 12, spread=0.02)), FAST)
    first = result.headline[0]
    assert re.match(r"(a and b|b and a) cannot be told apart with 12 images: . scores [\d.]+ more than .", first), first
    assert re.match(r"About [\d,]+ images would be needed to detect a difference of this size\.$", result.headline[1])


def test_those_behind_the_undecided_are_named(chain: Make, given: Given) -> None:
    rates = {"a": 0.030, "b": 0.0301, "c": 0.09}
    second = analyse(given(chains_of(chain, rates, 12, spread=0.02)), FAST).headline[1]
    assert re.search(r" (a|b) is ahead of c\.$", second), second


def test_that_no_outcome_could_be_significant_is_said(chain: Make, given: Given) -> None:
    first, second, *_ = analyse(given(chains_of(chain, {"a": 0.01, "b": 0.05}, 5, spread=0.001)), FAST).headline
    assert "a and b cannot be told apart with 5 images" in first
    assert second.startswith("With 5 images no outcome could be significant (smallest p 0.062).")


def test_holm_over_the_pairs_is_part_of_it(chain: Make, given: Given) -> None:
    second = analyse(given(chains_of(chain, {"a": 0.01, "b": 0.03, "c": 0.05}, 6, spread=0.001)), FAST).headline[1]
    assert "With 6 images no outcome could be significant (smallest p 0.031 times 3 for as many pairs)." in second


def test_editors_without_any_difference_score_the_same(chain: Make, given: Given) -> None:
    first = analyse(given(chains_of(chain, {"a": 0.0, "b": 0.0}, 6)), FAST).headline[0]
    assert first.startswith("a and b cannot be told apart with 6 images: a and b score the same.")


def test_one_editor_alone_has_its_score(chain: Make, given: Given) -> None:
    first = analyse(given(chains_of(chain, {"a": 0.02}, 6, spread=0.01)), FAST).headline[0]
    assert re.match(r"a scores [\d.]+ of 100 \(95%: [\d.]+–[\d.]+\) over 6 cases from 6 images\.$", first), first


def test_nobody_ranked_says_why(chain: Make, given: Given) -> None:
    chains = [chain("a", f"s{n}", falling(0.01)) for n in range(2)]
    chains += [chain("a", f"s{n}", {}, status="refused", planned=10) for n in range(2, 8)]
    first = analyse(given(chains), FAST).headline[0]
    assert first == "No editor is ranked: a covers 25% of the cases and rounds; 80% is needed for a rank."
    apart = analyse(given([chain("a", "s0", falling(0.1)), chain("b", "s1", falling(0.1))]), FAST).headline[0]
    assert apart == "No editor is ranked: they have no case in common."


def test_half_lives_are_listed_and_no_contest_is_made_of_them(chain: Make, given: Given) -> None:
    result = analyse(given(chains_of(chain, {"a": 0.0, "b": 0.021}, 6, spread=0.001)), FAST)
    sentence = next(sentence for sentence in result.headline if sentence.startswith("Half of the images"))
    assert re.match(
        r"Half of the images stay close to the original \(SSIM ≥ 0.90\): a for all 10 round trips "
        r"\(none of 6 lost\); b until round trip 5 \(95%: 5\)\.$",
        sentence,
    ), sentence
    assert "only" not in sentence


@pytest.mark.parametrize("seed", range(3))
def test_equal_editors_are_seldom_told_apart(chain: Make, given: Given, seed: int) -> None:
    """Five editors that differ by chance alone: the headline names a winner in no more runs than the level allows."""
    generator = np.random.default_rng(seed)
    named = 0
    for _ in range(20):
        chains = [
            chain(editor, f"s{n}", falling(0.02 + 0.01 * float(generator.random()), 3)) for editor in "abcde"
            for n in range(12)
        ]  # fmt: skip
        named += "keeps pictures closest" in analyse(given(chains), replace(FAST, chain_draws=1)).headline[0]
    assert named <= 2


def test_names_are_listed_up_to_three() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b", "c", "d"]) == "a, b and 2 others"


def test_nothing_measured_is_said() -> None:
    import polars as pl

    empty = AnalysisInput(pl.DataFrame(), pl.DataFrame(), {}, frozenset(), frozenset())
    assert analyse(empty, FAST).headline == ("No chain has been measured yet.",)


def test_chains_without_a_value_are_nothing_measured(chain: Make, given: Given) -> None:
    started = given([chain(values={"ssim": [0.9]}), chain(source="s1", values={}, status="open")])
    none = AnalysisInput(
        started.measurements.clear(), started.chains, started.facts, started.simulated, started.deterministic
    )
    assert analyse(none, FAST).headline == ("No chain has been measured yet.",)


def test_the_headline_of_a_small_study(chain: Make, given: Given) -> None:
    chains = []
    for n in range(6):
        fall = 0.021 + 0.002 * (n % 3)
        chains.append(chain("sim-tint", f"s{n}", {"ssim": [1 - fall * k for k in range(1, 11)]}))
        chains.append(chain("sim-perfect", f"s{n}", {"ssim": [1.0] * 10}))
    first, *rest = analyse(given(chains, simulated=["sim-tint", "sim-perfect"]), FAST).headline
    assert first.startswith("sim-perfect keeps pictures closest to the original: it scores 100.0 of 100")
    assert first.endswith("p = 0.031; 6 images).")
    assert rest[-1] == "All editors are simulated."


def test_a_headline_metric_that_was_not_measured_is_said(chain: Make, given: Given) -> None:
    result = analyse(given([chain(values={"lpips": [0.1]})]), FAST)
    assert "ssim was not measured, so there is no half-life to report." in result.headline


def test_a_level_the_metric_lacks_is_an_error_that_names_the_ones_it_has(chain: Make, given: Given) -> None:
    with pytest.raises(StudyError, match="level = 'notisable': ssim has noticeable, half; did you mean 'noticeable'"):
        analyse(given([chain(values={"ssim": [0.9]})]), replace(FAST, level="notisable"))


def test_chains_that_are_not_compared_are_counted_as_chains(chain: Make, given: Given) -> None:
    chains = [chain(name, f"s{n}", falling(0.01)) for name in "ab" for n in range(9)]
    chains += [chain("a", "s9", falling(0.01)), chain("b", "s9", {}, status="stopped", planned=10)]
    sentence = "2 of 20 chains of the ranked editors are not compared: not all editors have the case."
    assert sentence in analyse(given(chains), FAST).headline


def test_editors_that_never_do_the_same_pair_are_named_together() -> None:
    rows = [("a", "forward"), ("b", "forward"), ("c", "forward"), ("d", "forward"), ("a", "backward")]
    table = pl.DataFrame(
        [
            {"editor": editor, "leg": leg, "group": "pair:hat", "metric": "happened", "share": 0.0, "n_cases": 6}
            for editor, leg in rows
        ]
    )
    said = never_sentence(table, list("abcd"), replace(FAST, adherence=("happened", "undone")))
    assert said == "a, b and 2 others never do “hat” (0 of 6 cases); a never undoes “hat” (0 of 6 cases)."

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.headline import Standing, half_life_sentence, listed
from convergebench.errors import StudyError

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
FAST = AnalysisSettings(draws=200, chain_draws=50)


def standing(editor: str, middle: int | None, low: int | None = None, high: int | None = None, **more: int) -> Standing:
    events = more.get("events", 0 if middle is None else 9)
    return Standing(editor, middle, low, high, 5.0, more.get("followed", 10), events)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            [standing("sim-perfect", None), standing("sim-tint", 6, 5, 8)],
            "sim-tint keeps an image recognisable until round trip 6 (95%: 5–8); sim-perfect never loses it within 10.",
        ),
        (
            [standing("a", 12, 10, 14), standing("b", 4, 3, 5)],
            "a keeps an image recognisable until round trip 12 (95%: 10–14); b only until round trip 4 (95%: 3–5).",
        ),
        (
            [standing("a", None), standing("b", None), standing("c", 1, 1, 1)],
            "c keeps an image recognisable until round trip 1 (95%: 1); a and b never lose it within 10.",
        ),
        (
            [standing("a", None, 7, None, events=3), standing("c", 9, 7, None)],
            "c keeps an image recognisable until round trip 9 (95%: 7 to beyond 10); "
            "a still keeps most images so after 10.",
        ),
        ([standing("a", 3)], "a keeps an image recognisable until round trip 3."),
        ([standing("a", None)], "a keeps an image recognisable for all of 10 round trips."),
        ([standing("a", None, followed=1)], "a keeps an image recognisable for all of 1 round trip."),
        ([standing("a", None, events=2)], "a keeps most images recognisable for all of 10 round trips."),
        (
            [standing("a", None), standing("b", None)],
            "a and b both keep an image recognisable for 10 round trips.",
        ),
        (
            [standing("a", 2, 1, 3), standing("b", 2, 2, 2), standing("c", 2, 1, 2)],
            "a, b and c all keep an image recognisable until round trip 2.",
        ),
    ],
)
def test_sentences(found: list[Standing], sentence: str) -> None:
    assert half_life_sentence(found, 0.95) == sentence


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
    first, second, third, *rest = analyse(given(chains, simulated=["sim-tint", "sim-perfect"]), FAST).headline
    assert first.startswith("sim-tint keeps an image recognisable until round trip 5 (95%: ")
    assert first.endswith("); sim-perfect never loses it within 10.")
    assert second == (
        "Recognisable means: ssim of at least 0.9 against the source (noticeable level), "
        "for the median of 6 cases from 6 source images per editor."
    )
    assert third.startswith("By the combined score sim-perfect leads with 100.0 of 100 (95%: 100.0–100.0), before")
    assert rest[-1] == "All editors are simulated."


def test_a_headline_metric_that_was_not_measured_is_said(chain: Make, given: Given) -> None:
    result = analyse(given([chain(values={"lpips": [0.1]})]), FAST)
    assert result.headline[0] == "ssim was not measured, so there is no half-life to report."


def test_a_level_the_metric_lacks_is_an_error_that_names_the_ones_it_has(chain: Make, given: Given) -> None:
    with pytest.raises(StudyError, match="level = 'notisable': ssim has noticeable, half; did you mean 'noticeable'"):
        analyse(given([chain(values={"ssim": [0.9]})]), replace(FAST, level="notisable"))


def test_unfinished_chains_are_counted_aloud(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.95]}),
        chain(source="s1", values={"ssim": [0.95]}, status="refused", planned=2),
    ]
    assert "1 of 2 chains did not finish and is left out of the ranking." in analyse(given(chains), FAST).headline

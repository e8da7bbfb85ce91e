"""What a run counts, and the shape of what a replicate run says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from convergebench.analysis import AnalysisSettings, analyse
from convergebench.analysis.decay_result import SCHEMAS, DecayAnalysis
from convergebench.studies.units import ROUND_TRIP, STEP


def test_one_is_not_many() -> None:
    assert [ROUND_TRIP.counted(number) for number in (0, 1, 2)] == ["0 round trips", "1 round trip", "2 round trips"]


def test_the_headline_counts_in_the_runs_own_unit(chain: Callable[..., Any], given: Callable[..., Any]) -> None:
    chains = [chain("a", f"s{n}", {"ssim": [0.95, 0.93, 0.8, 0.7]}) for n in range(6)]
    sentences = analyse(replace(given(chains), unit=STEP), AnalysisSettings(draws=100, chain_draws=50)).headline
    assert any(sentence.endswith("a until step 3 (95%: 3).") for sentence in sentences), sentences


def test_an_empty_replicate_analysis_has_every_column() -> None:
    nothing = DecayAnalysis.empty()
    assert [one.name for one in fields(nothing)] == list(SCHEMAS)
    for name, columns in SCHEMAS.items():
        frame = getattr(nothing, name)
        assert frame.height == 0
        assert dict(frame.schema) == columns

"""What a run counts, and the shape of what a replicate run says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from convergebench.analysis import AnalysisSettings, analyse
from convergebench.analysis.replicate import SCHEMAS, ReplicateAnalysis
from convergebench.analysis.units import ROUND, ROUND_TRIP, STEP, unit_of


@pytest.mark.parametrize("study", ["replicate", "session", "recorded"])
def test_where_nothing_is_undone_steps_are_counted(study: str) -> None:
    assert (unit_of(study).one, unit_of(study).many) == ("step", "steps")


def test_round_trips_are_round_trips_and_a_study_of_a_plug_in_counts_rounds() -> None:
    assert unit_of("roundtrip") == ROUND_TRIP
    assert unit_of("somebody-elses") == ROUND


def test_one_is_not_many() -> None:
    assert [ROUND_TRIP.counted(number) for number in (0, 1, 2)] == ["0 round trips", "1 round trip", "2 round trips"]


def test_the_headline_counts_in_the_runs_own_unit(chain: Callable[..., Any], given: Callable[..., Any]) -> None:
    chains = [chain("a", f"s{n}", {"ssim": [0.95, 0.93, 0.8, 0.7]}) for n in range(6)]
    told = analyse(replace(given(chains), unit=STEP), AnalysisSettings(draws=100, chain_draws=50)).headline
    assert any(sentence.endswith("a until step 3 (95%: 3).") for sentence in told), told


def test_an_empty_replicate_analysis_has_every_column() -> None:
    nothing = ReplicateAnalysis.empty()
    assert [one.name for one in fields(nothing)] == list(SCHEMAS)
    for name, columns in SCHEMAS.items():
        frame = getattr(nothing, name)
        assert frame.height == 0
        assert dict(frame.schema) == columns

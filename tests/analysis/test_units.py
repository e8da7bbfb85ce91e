"""What a run counts, and the shape of what a replicate run says."""

from __future__ import annotations

from dataclasses import fields

import pytest

from convergebench.analysis.headline import Standing, half_life_sentence
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


def test_the_headline_counts_in_the_runs_own_unit() -> None:
    found = [Standing("a", 12, 10, 14, 9.0, 20, 9), Standing("b", 4, 3, 5, 4.0, 20, 9)]
    assert half_life_sentence(found, 0.95, STEP) == (
        "a keeps an image recognisable until step 12 (95%: 10–14); b only until step 4 (95%: 3–5)."
    )
    never = [Standing("a", None, None, None, 20.0, 20, 0)]
    assert half_life_sentence(never, 0.95, STEP) == "a keeps an image recognisable for all of 20 steps."


def test_an_empty_replicate_analysis_has_every_column() -> None:
    nothing = ReplicateAnalysis.empty()
    assert [one.name for one in fields(nothing)] == list(SCHEMAS)
    for name, columns in SCHEMAS.items():
        frame = getattr(nothing, name)
        assert frame.height == 0
        assert dict(frame.schema) == columns

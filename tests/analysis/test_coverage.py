"""The benchmark of intervals, and that they hold what they say in a few of its worlds."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import coverage
from benchmarks.coverage_worlds import USUAL


def test_a_cell_outside_the_goal_is_marked() -> None:
    rows = [
        coverage.Row("score", 5, 0.95, 0.91),
        coverage.Row("score", 8, 0.95, 0.92),
        coverage.Row("score", 12, 0.95, 0.98),
        coverage.Row("share", 8, 0.95, 0.99, wider=True),
        coverage.Row("false alarms", 8, 0.05, 0.08),
    ]
    assert [row.mark for row in rows] == ["", " !", " +", "", " !"]
    lines = coverage.printed(rows, markdown=True).splitlines()
    assert lines[2:] == [
        "| score | 95% | 91.0 | 92.0 ! | 98.0 + |",
        "| share | 95% |  | 99.0 |  |",
        "| false alarms | 5% |  | 8.0 ! |  |",
    ]


def test_for_edits_like_these_it_does_not_hold_and_for_these_edits_it_does() -> None:
    found = {(row.what, row.sources): row.actual for row in coverage.edit_rows(2000)}
    assert found["area, 7 edits: for these edits", 12] > 0.93
    assert found["area, 7 edits: for edits like these (not claimed)", 12] < 0.85


def test_percentiles_of_draws_are_why_there_is_another_interval() -> None:
    worlds = {"near the top": USUAL["near the top"]}
    for before, now in zip(
        coverage.score_rows(400, "percentile", worlds), coverage.score_rows(400, "corrected-t", worlds), strict=True
    ):
        assert before.actual < now.actual


@pytest.mark.slow
def test_scores_shares_and_differences_hold_what_they_say() -> None:
    rows = [
        *coverage.score_rows(1500, "corrected-t", USUAL),
        *coverage.area_rows(4000),
        *coverage.share_rows(4000),
        *coverage.paired_rows(1000),
    ]
    # half a point for the number of runs
    under = [row for row in rows if row.nominal > 0.5 and row.actual < (0.90 if row.sources < 8 else 0.925)]
    assert not under
    assert np.mean([row.actual for row in rows if row.nominal < 0.5]) < 0.06


@pytest.mark.slow
def test_the_whole_benchmark_runs(capsys: pytest.CaptureFixture[str]) -> None:
    coverage.main(["--quick"])
    assert "score: even" in capsys.readouterr().out

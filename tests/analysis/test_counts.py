"""Counts beside the findings: what a ranking rests on, what is missing, what it cost, what did not finish."""

from __future__ import annotations

import polars as pl
import pytest

from convergebench.analysis.counts import costs, missing_reasons, moved_pictures, ranking_counts, unfinished


def ranking(*ranks: int | None) -> pl.DataFrame:
    rows = [
        {"rank": rank, "n_cases": 10 + place, "n_sources": 5, "n_left_out": 2, "n_missing": place, "n_lost": 1}
        | {"half_life": "> 5" if place else "3", "low": 0.5 if place == 0 else None}
        for place, rank in enumerate(ranks)
    ]
    kinds = {"rank": pl.Int64, "half_life": pl.String, "low": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=kinds)


def test_a_ranking_rests_on_its_ranked_rows_only() -> None:
    counts = ranking_counts(ranking(1, None, None))
    assert (counts.ranked, counts.cases, counts.left_out, counts.missing, counts.lost) == (1, 10, 2, 0, 1)
    assert counts.censored, "editors without a rank may be censored too"
    assert counts.intervals


def test_without_a_rank_all_rows_count() -> None:
    counts = ranking_counts(ranking(None, None))
    assert (counts.ranked, counts.cases, counts.sources, counts.left_out, counts.missing) == (0, 11, 5, 4, 1)


def test_reasons_are_counted_the_most_frequent_first() -> None:
    rows = pl.DataFrame({"status": ["size", "ok", "size", "refused"], "value": [None, 1.0, None, None]})
    assert missing_reasons(rows) == [("size", 2), ("refused", 1)]
    assert missing_reasons(rows.clear()) == []


def test_a_step_costs_what_all_calls_cost_and_nothing_is_divided_by_no_step() -> None:
    outcomes = pl.DataFrame(
        [("a", "finished", 2, 8, 4.0, 16.0), ("a", "failed", 1, 2, 1.0, 4.0), ("b", "failed", 1, 0, 0.0, 3.0)],
        schema=["editor", "status", "chains", "steps", "dollars", "seconds"],
        orient="row",
    )
    spending = pl.DataFrame({"editor": ["a"], "dollars": [7.0]})
    a, b = costs(outcomes, spending).to_dicts()
    assert (a["steps"], a["dollars"], a["dollars_a_step"], a["seconds_a_step"]) == (10, 7.0, 0.7, 2.0)
    assert (b["dollars"], b["dollars_a_step"], b["seconds_a_step"]) == (0.0, None, None)
    assert costs(outcomes, pl.DataFrame())["dollars"].to_list() == [5.0, 0.0]


def test_what_did_not_finish_is_counted_by_reason() -> None:
    chains = pl.DataFrame(
        [("a", "finished", ""), ("a", "refused", ""), ("b", "failed", "no money"), ("b", "failed", "no money")],
        schema=["editor", "status", "detail"],
        orient="row",
    )
    assert unfinished(chains) == [("b", "failed", "no money", 2), ("a", "refused", "no reason given", 1)]
    assert unfinished(chains, most=1) == [("b", "failed", "no money", 2)]


def test_moved_pictures_are_counted_once_and_the_smallest_view_is_kept() -> None:
    details = [
        "registered: shift 0 0 crop 0.1",
        "registered: shift 1 0 crop 0.25",
        "resampled: 64x64",
        "",
        "registered: x",
    ]
    rows = pl.DataFrame(
        {"editor": "a", "case": "c", "step": [1, 2, 3, 4, 1], "align": "auto", "detail": details}
        | {"role": ["return", "return", "around", "return", "lag"]}
    )
    found = moved_pictures(rows)
    assert found[:3] == (2, 1, 4)
    assert found.least_in_view == pytest.approx(0.75)
    assert moved_pictures(rows.clear()) == (0, 0, 0, None)

"""What a chain is good for in an audit, and the mean of several traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.audit.positions import chain_roles, returning
from convergebench.analysis.audit.traces import mean_traces

NOBODY = pl.DataFrame(schema={"editor": pl.String, "case": pl.String})


def role(facts: Mapping[str, Any], *, changes_stay: bool, still: bool = False) -> str:
    chains = pl.DataFrame({"editor": ["a"], "case": ["x/p/0"], "pair": ["p"]})
    found = chain_roles(chains, {"p": facts}, chains.drop("pair") if still else NOBODY, changes_stay=changes_stay)
    return str(found["role"][0])


@pytest.mark.parametrize(
    ("facts", "changes_stay", "expected"),
    [
        ({}, False, "copies"),
        ({}, True, "additions"),  # a session's instructions stay in the picture
        ({"compared": "whole"}, True, "copies"),  # what the pair says counts over what the study says
        ({"compared": "around"}, False, "additions"),
        ({"compared": "around", "independent": True}, False, "additions-apart"),
        ({"independent": True}, False, "other"),
    ],
)
def test_a_chain_is_of_copies_or_of_additions(facts: dict[str, Any], changes_stay: bool, expected: str) -> None:
    assert role(facts, changes_stay=changes_stay) == expected


def test_copies_that_stand_still_are_not_audited_and_additions_are() -> None:
    assert role({}, changes_stay=False, still=True) == "other"
    assert role({}, changes_stay=True, still=True) == "additions"


def test_round_trips_and_cycles_show_the_source_only_where_a_round_ends() -> None:
    pairs = {"there": {"backward": "undo"}, "cycle": {"compared": "cycle"}, "copy": {"compared": "whole"}}
    assert returning(pairs) == ["there", "cycle"]


def test_the_mean_of_traces_reaches_from_the_lowest_cell_to_the_highest_and_counts_those_with_a_value() -> None:
    traces = pl.DataFrame({"at": [2, 1, 1, 1], "mean": [50.0, 10.0, 40.0, None]})
    assert mean_traces(traces).rows() == [(1, 25.0, 10.0, 40.0, 2), (2, 50.0, 50.0, 50.0, 1)]

"""Tables made of parts: columns as they are, single values for all rows of their part, types as declared."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.schemas import OUTPUTS, stacked


def part(curve: str, group: object, survival: list[float]) -> dict[str, object]:
    given = {column: np.full(len(survival), 0.5) for column in OUTPUTS["survival"]}
    for column, kind in OUTPUTS["survival"].items():
        if kind == pl.Int64:
            given[column] = np.arange(len(survival))
    return {**given, "editor": "a", "curve": curve, "group": group, "survival": np.array(survival)}


def test_parts_follow_each_other_and_single_values_are_repeated() -> None:
    found = stacked("survival", [part("usable", None, [1.0, nan]), part("ssim", "round", [0.25]), part("x", "y", [])])
    assert found.schema == pl.Schema(OUTPUTS["survival"])
    assert found["curve"].to_list() == ["usable", "usable", "ssim"]
    assert found["group"].to_list() == [None, None, "round"]
    assert found["survival"].to_list() == [1.0, None, 0.25]


def test_infinity_stays_and_a_column_may_be_a_series() -> None:
    given = {**part("usable", "g", [inf, 1.0]), "curve": pl.Series(["p", "q"])}
    found = stacked("survival", [given])
    assert found["survival"].to_list() == [inf, 1.0]
    assert found["curve"].to_list() == ["p", "q"]


def test_nothing_is_an_empty_table_of_the_same_columns() -> None:
    assert stacked("survival", []).schema == pl.Schema(OUTPUTS["survival"])


def test_a_part_that_lacks_a_column_is_an_error() -> None:
    lacking = part("usable", None, [1.0])
    del lacking["survival"]
    with pytest.raises(KeyError, match="survival"):
        stacked("survival", [lacking])

"""A data set holds of failures what the report holds of them."""

from __future__ import annotations

from dataclasses import asdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.failures import verdicts
from convergebench.datasets.seen_failures import failures_at, seen
from convergebench.store.tables import LabelRow

STEPS = 6


def label(present: int | None, source: str, by: str, made: int, step: int = 1, last: int | None = None) -> LabelRow:
    begins = step if present else None
    seen = ("static", "noise", present, begins, last, begins, None, None, None)
    return LabelRow("l1:x", "editor", "case", *seen, source, by, "", f"2026-01-0{made}")


SPOKEN = st.builds(
    label,
    st.sampled_from([1, 0, None]),
    st.sampled_from(["person", "judge", "rule"]),
    st.sampled_from(["anna", "ben", "cleo"]),
    st.integers(1, 3),
    st.integers(1, STEPS),
)


@given(st.lists(SPOKEN, min_size=1, max_size=8))
def test_what_counts_is_what_the_report_counts(labels: list[LabelRow]) -> None:
    rows = [
        {**asdict(one), "present": None if one.present is None else bool(one.present), "editor": "e", "case": "c"}
        for one in labels
    ]
    frame = pl.DataFrame(rows, schema_overrides={"present": pl.Boolean, "step": pl.Int64}, infer_schema_length=None)
    (verdict,) = verdicts(frame.with_columns(pair=pl.lit("p")))
    assert ("static" in seen(labels)) is (verdict.present is True)
    shown = [step for step in range(STEPS + 1) if failures_at(labels, step)]
    assert shown == ([] if verdict.step is None else list(range(verdict.step, STEPS + 1))), "from the middle step on"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([label(1, "person", "anna", 1), label(0, "person", "anna", 2)], False),  # withdrawn
        ([label(0, "person", "anna", 1), label(1, "person", "anna", 2)], True),
        ([label(1, "rule", "static@1", 1), label(0, "rule", "static@2", 2)], False),  # what it said last
        ([label(1, "person", "anna", 1), label(0, "person", "ben", 2)], False),  # undecided
        ([label(1, "person", "anna", 1), label(0, "person", "ben", 2), label(1, "person", "cleo", 1)], True),
        ([label(1, "rule", "static@1", 3), label(0, "person", "anna", 1)], False),
        ([label(1, "rule", "static@1", 3), label(None, "judge", "judge-count", 1)], False),  # it could not tell
    ],
)
def test_the_newest_of_each_and_the_majority_of_people_count(labels: list[LabelRow], expected: bool) -> None:
    assert bool(failures_at(labels, 1)) is expected


def test_a_failure_lasts_as_long_as_half_of_those_who_see_it_say() -> None:
    labels = [label(1, "person", "anna", 1, 1, 2), label(1, "person", "ben", 1, 2, 4), label(1, "person", "cleo", 1, 4)]
    assert [bool(failures_at(labels, step)) for step in range(1, 6)] == [False, True, False, True, False]
    assert failures_at([], 1) is None, "nobody looked"

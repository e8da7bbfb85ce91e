"""Filters and sorting of tables, compared with plain Python."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from convergebench.serve.guard import Refusal
from convergebench.serve.view.queries import answer, read_query

COLUMNS = [
    {"name": "word", "label": "word", "kind": "text"},
    {"name": "size", "label": "size", "kind": "number"},
    {"name": "curve", "label": "curve", "kind": "series"},
]
SCHEMA: Any = {"word": pl.String, "size": pl.Float64, "curve": pl.List(pl.Float64)}
WORDS = st.one_of(st.none(), st.sampled_from(["", "a", "B", "ab", "Äb", "a:b", "%", ".*"]))
SIZES = st.one_of(st.none(), st.sampled_from([0.0, -1.0, 1.0, 2.5, float("inf"), float("-inf")]))
ROWS = st.lists(st.tuples(WORDS, SIZES), max_size=12)


def asked(rows: list[Any], **query: str) -> Any:
    frame = pl.DataFrame([(word, size, [1.0]) for word, size in rows], schema=SCHEMA, orient="row")
    parameters = QueryParams(list(query.items()))
    return answer(frame, COLUMNS, read_query(parameters, COLUMNS))


def pairs(found: Any) -> list[tuple[Any, Any]]:
    back = {"Infinity": float("inf"), "-Infinity": float("-inf")}
    return [(word, back.get(size, size)) for word, size, _ in found["rows"]]


@settings(max_examples=80, deadline=None)
@given(rows=ROWS, size=st.sampled_from([0.0, 1.0, 2.5]), operator=st.sampled_from(["is", "not", "above", "below"]))
def test_numbers_are_filtered_as_numbers_and_missing_ones_are_only_unlike(
    rows: list[Any], size: float, operator: str
) -> None:
    tests: dict[str, Any] = {
        "is": lambda one: one == size,
        "not": lambda one: one != size,
        "above": lambda one: one is not None and one > size,
        "below": lambda one: one is not None and one < size,
    }
    holds = tests[operator]
    assert pairs(asked(rows, where=f"size:{operator}:{size}")) == [row for row in rows if holds(row[1])]


@settings(max_examples=80, deadline=None)
@given(rows=ROWS, word=st.sampled_from(["a", "B", "ÄB", "a:b", ".*", "%"]))
def test_words_are_found_as_they_are_written_and_never_as_patterns(rows: list[Any], word: str) -> None:
    has = [row for row in rows if word.lower() in (row[0] or "").lower() and row[0] is not None]
    assert pairs(asked(rows, where=f"word:has:{word}")) == has
    assert pairs(asked(rows, find=word)) == has
    assert pairs(asked(rows, where=f"word:is:{word}")) == [row for row in rows if row[0] == word]
    assert pairs(asked(rows, where=f"word:not:{word}")) == [row for row in rows if row[0] != word]


@settings(max_examples=80, deadline=None)
@given(rows=ROWS, descending=st.booleans())
def test_sorting_puts_what_is_missing_last_and_keeps_the_order_of_equals(rows: list[Any], descending: bool) -> None:
    known = sorted((row for row in rows if row[1] is not None), key=lambda row: row[1], reverse=False)
    if descending:  # stable: equals keep their order
        known = sorted((row for row in rows if row[1] is not None), key=lambda row: -row[1])
    wanted = known + [row for row in rows if row[1] is None]
    assert pairs(asked(rows, sort="-size" if descending else "size")) == wanted


def test_an_empty_value_finds_what_has_none() -> None:
    rows = [("a", 1.0), (None, None), ("", 2.0)]
    assert pairs(asked(rows, where="word:is:")) == [(None, None), ("", 2.0)]
    assert pairs(asked(rows, where="size:is:")) == [(None, None)]
    assert pairs(asked(rows, where="size:not:")) == [("a", 1.0), ("", 2.0)]


def test_pages_are_cut_after_filtering_and_the_total_counts_all_pages() -> None:
    rows = [("a", float(one)) for one in range(10)] + [("b", 1.0)]
    found = asked(rows, where="word:is:a", sort="-size", offset="2", limit="3")
    assert (found["total"], pairs(found)) == (10, [("a", 7.0), ("a", 6.0), ("a", 5.0)])
    assert asked(rows, offset="99")["rows"] == []


@pytest.mark.parametrize("query", [{"sort": "curve"}, {"where": "curve:is:1"}, {"where": "word:above:1"}])
def test_what_cannot_be_compared_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(Refusal):
        asked([], **query)

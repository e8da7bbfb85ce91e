"""Every kind of test on small tables whose answer is plain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.claims.outcome import all_of, any_of, at_least, none_of
from tests.claims.folders import outcome, verdict

YES, NO, UNKNOWN = "holds", "does not hold", "cannot be told"
UP = {"score": "higher"}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ({"kind": "best", "row": {"editor": "two"}, "columns": UP}, YES),
        ({"kind": "best", "row": {"editor": "one"}, "columns": UP}, NO),
        ({"kind": "worst", "row": {"editor": "one"}, "columns": UP}, YES),
        ({"kind": "best", "row": {"editor": "one"}, "columns": {"score": "lower"}}, YES),
        ({"kind": "best", "row": {"editor": "two"}, "columns": {**UP, "lpips": "lower"}}, UNKNOWN),
        ({"kind": "best", "row": {"editor": "one"}, "columns": {**UP, "lpips": "lower"}}, NO),
        ({"kind": "best", "row": {"editor": "two"}, "columns": {**UP, "lpips": "lower"}, "enough": 1}, YES),
        ({"kind": "best", "row": {"editor": "three"}, "columns": {"lpips": "lower"}}, UNKNOWN),
        ({"kind": "best", "row": {"editor": "two"}, "columns": UP, "beyond_interval": True}, NO),
        (
            {
                "kind": "best",
                "row": {"editor": "two"},
                "columns": UP,
                "rows": {"editor": ["one", "two"]},
                "beyond_interval": True,
            },
            YES,
        ),
        ({"kind": "best", "row": {"editor": "one"}, "columns": UP, "by": "round"}, UNKNOWN),
        ({"kind": "best", "row": {"editor": "one"}, "columns": UP, "rows": {"round": 1}}, UNKNOWN),
    ],
)
def test_best_and_worst(test: dict[str, Any], expected: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, test) == expected


def test_the_best_must_stand_alone_unless_ties_will_do(tmp_path: Path) -> None:
    tied = "editor,score\none,5\ntwo,5\nthree,4\n"
    test = {"kind": "best", "row": {"editor": "one"}, "columns": UP}
    assert verdict(tmp_path, test, tied) == NO
    assert verdict(tmp_path, {**test, "ties": True}, tied) == YES
    assert verdict(tmp_path, {**test, "row": {"editor": "three"}, "ties": True}, tied) == NO


def compare(left: Any, relation: str, right: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "compare", "left": left, "relation": relation, "right": right, **more}


def cell(editor: str, column: str = "score") -> dict[str, Any]:
    return {"row": {"editor": editor}, "column": column}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (compare(cell("two"), ">", cell("one")), YES),
        (compare(cell("two"), "<=", cell("one")), NO),
        (compare(cell("two"), ">", cell("one"), tolerance=2), NO),
        (compare(cell("two"), ">", cell("one"), tolerance=1.9), YES),
        (compare(cell("two"), ">=", 12.5, tolerance=0.5), YES),
        (compare(cell("two"), ">=", 12.5, tolerance=0.4), NO),
        (compare(cell("two"), "<=", 11.5, tolerance=0.5), YES),
        (compare(cell("two"), "<=", 11.5, tolerance=0.4), NO),
        (compare(cell("two"), "=", 12.4, tolerance=0.5), YES),
        (compare(cell("two"), "!=", 12.4, tolerance=0.5), NO),
        (compare(cell("two"), "between", [11, 12]), YES),
        (compare(cell("two"), "between", [cell("one"), cell("three")]), NO),
        (compare(cell("three", "lpips"), "<", 1), UNKNOWN),
        (compare(cell("two"), ">", cell("one"), beyond_interval=True), YES),
        (compare(cell("two"), ">", cell("three"), beyond_interval=True), UNKNOWN),
        (compare(cell("one"), "<", cell("two"), beyond_interval=True), YES),
        (compare(cell("one"), "<", 11, beyond_interval=True), UNKNOWN),
        (compare({"of": "mean", "column": "score"}, "<", 12, beyond_interval=True), UNKNOWN),
        (compare(cell("one", "ok"), "=", True), YES),
        (compare(cell("one", "ok"), "=", 1), NO),
        (compare(cell("one", "editor"), "=", "one"), YES),
        (compare(cell("one", "editor"), ">", 3), UNKNOWN),
        (compare({"of": "sum", "column": "score"}, "=", 33), YES),
        (compare({"of": "mean", "column": "score"}, "=", 11), YES),
        (compare({"of": "median", "column": "score", "rows": {"ok": True}}, "=", 11), YES),
        (compare({"of": "smallest", "column": "score"}, "=", 10), YES),
        (compare({"of": "largest", "column": "score"}, "=", 12), YES),
        (compare({"of": "mean", "column": "lpips"}, "<", 1), UNKNOWN),
        (compare({"of": "mean", "column": "lpips", "rows": {"lpips": {"known": True}}}, "=", 0.25), YES),
        (compare({"of": "count"}, "=", 3), YES),
        (compare({"of": "count", "rows": {"score": {"above": 10, "at_most": 12}}}, "=", 2), YES),
        (compare({"of": "count", "rows": {"score": {"at_least": 10, "below": 11}}}, "=", 1), YES),
        (compare({"of": "count", "rows": {"editor": {"none_of": ["one"]}}}, "=", 2), YES),
        (compare({"of": "count", "rows": {"editor": "nobody"}}, "=", 0), YES),
        (compare({"of": "count", "rows": {"lpips": {"none_of": ["unknown"]}}}, "=", 3), YES),
        (compare({"of": "count", "rows": {"lpips": {"below": 1}}}, "=", 2), UNKNOWN),
        (compare({"of": "count", "rows": {"lpips": {"below": 1}, "editor": "one"}}, "=", 1), YES),
        (compare({"of": "distinct", "column": "ok"}, "=", 2), YES),
        (compare({"product": [2, cell("one"), {"sum": [1, 2]}]}, "=", 60), YES),
        (compare({"difference": [cell("one"), cell("two")]}, "=", -2), YES),
        (compare({"size_of": {"difference": [cell("one"), cell("two")]}}, "=", 2), YES),
        (compare({"ratio": [cell("two"), cell("one")]}, "=", 1.2), YES),
        (compare({"ratio": [cell("two"), 0]}, ">", 1), UNKNOWN),
        (compare(cell("nobody"), ">", 1), UNKNOWN),
        (compare({"row": {"ok": True}, "column": "score"}, ">", 1), UNKNOWN),
        (compare({"row": {"editor": "one"}}, "better", {"row": {"editor": "two"}}, columns=UP), NO),
        (
            compare({"row": {"editor": "two"}}, "better", {"row": {"editor": "one"}}, columns={**UP, "lpips": "lower"}),
            YES,
        ),
        (compare({"row": {"editor": "two"}}, ">", {"row": {"editor": "one"}}, columns=["score", "round"]), YES),
    ],
)
def test_compare(test: dict[str, Any], expected: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, test) == expected


def rows(kind: str, left: Any, relation: str, right: Any, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "left": left, "relation": relation, "right": right, **more}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (rows("every", {"column": "score"}, ">=", 10), YES),
        (rows("every", {"column": "score"}, ">", 10), NO),
        (rows("some", {"column": "score"}, ">", 11), YES),
        (rows("none", {"column": "score"}, ">", 12), YES),
        (rows("none", {"column": "score"}, ">", 11), NO),
        (rows("every", {"column": "lpips"}, "<", 1), UNKNOWN),
        (rows("every", {"column": "lpips"}, "<", 0.25), NO),
        (rows("some", {"column": "lpips"}, "<", 0.25), YES),
        (rows("none", {"column": "lpips"}, ">", 1), UNKNOWN),
        (rows("every", {"column": "score"}, "between", [{"column": "low"}, {"column": "high"}]), YES),
        (rows("every", {"column": "score"}, "<=", {"of": "largest", "column": "score"}), YES),
        (rows("every", {"words": "editor"}, "=", 1), YES),
        (rows("every", {"column": "score"}, ">", 9.5, beyond_interval=True), NO),
        (rows("every", {"column": "score"}, ">", 8.9, beyond_interval=True), YES),
        (rows("every", {"column": "score"}, ">", 1, rows={"editor": "nobody"}), UNKNOWN),
        (rows("every", {"column": "missing"}, ">", 1), UNKNOWN),
    ],
)
def test_every_some_none(test: dict[str, Any], expected: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, test) == expected


@pytest.mark.parametrize(
    ("row", "place", "relation", "expected"),
    [("a", 1, "=", YES), ("b", 2, "=", YES), ("b", 1, "=", NO), ("c", 2, "<=", YES), ("c", 3, ">=", NO)],
)
def test_rank_is_by_the_mean_over_columns_and_ties_share(
    row: str, place: int, relation: str, expected: str, tmp_path: Path
) -> None:
    text = "editor,up,down\na,3,1\nb,2,2\nc,2,2\n"
    test = {"kind": "rank", "row": {"editor": row}, "columns": {"up": "higher", "down": "lower"}}
    assert verdict(tmp_path, {**test, "place": place, "relation": relation}, text) == expected


def test_rank_with_an_empty_cell_cannot_be_told(tmp_path: Path) -> None:
    assert verdict(tmp_path, {"kind": "rank", "row": {"editor": "one"}, "columns": {"lpips": "lower"}}) == UNKNOWN


@pytest.mark.parametrize(
    ("relation", "right", "expected"),
    [
        ("equals", ["one", "two", "three"], YES),
        ("equals", ["one", "two"], NO),
        ("contains", ["one", "two"], YES),
        ("contains", ["one", "five"], NO),
        ("within", ["one", "two"], NO),
        ("within", ["one", "two", "three", "four"], YES),
        ("equals", {"table": "run:scores", "columns": ["editor"], "rows": {"ok": True}}, NO),
    ],
)
def test_sets(relation: str, right: Any, expected: str, tmp_path: Path) -> None:
    left = {"table": "run:scores", "columns": ["editor"]}
    test = {"kind": "set", "left": left, "relation": relation, "right": right}
    assert outcome(tmp_path, test).verdict == expected
    without = {**test, "left": {**left, "without": ["two"]}, "relation": "equals", "right": ["one", "three"]}
    assert outcome(tmp_path, without).verdict == YES
    missing = {**test, "left": {**left, "columns": ["lpips"]}}
    assert outcome(tmp_path, missing).verdict == UNKNOWN


CURVES = "editor,round,mean\na,2,5\na,1,6\na,3,5\nb,1,3\nb,2,2\nb,3,1\n"


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ({"relation": "falls"}, NO),
        ({"relation": "never rises"}, YES),
        ({"relation": "falls", "rows": {"editor": "b"}}, YES),
        ({"relation": "rises", "rows": {"editor": "b"}}, NO),
        ({"relation": "never falls", "rows": {"editor": "b"}, "tolerance": 1}, YES),
        ({"relation": "falls", "by": []}, UNKNOWN),
        ({"relation": "falls", "rows": {"round": 1}}, UNKNOWN),
    ],
)
def test_trend_follows_each_series_in_order(test: dict[str, Any], expected: str, tmp_path: Path) -> None:
    whole = {"kind": "trend", "by": ["editor"], "along": "round", "column": "mean", **test}
    assert verdict(tmp_path, whole, CURVES) == expected


@pytest.mark.parametrize(("tolerance", "expected"), [(1, YES), (0.9, NO)])
@pytest.mark.parametrize(("relation", "after"), [("never falls", 4), ("never rises", 6)])
def test_a_trend_may_go_the_other_way_by_its_tolerance(
    relation: str, after: int, tolerance: float, expected: str, tmp_path: Path
) -> None:
    test = {"kind": "trend", "along": "round", "column": "mean", "relation": relation, "tolerance": tolerance}
    assert verdict(tmp_path, test, f"round,mean\n1,5\n2,{after}\n") == expected


def test_a_few_members_are_named_and_many_are_counted(tmp_path: Path) -> None:
    def told(count: int, *claimed: str) -> str:
        text = "editor\n" + "".join(f"e{number}\n" for number in range(count))
        left = {"table": "run:scores", "columns": ["editor"]}
        test = {"kind": "set", "left": left, "relation": "equals", "right": list(claimed)}
        return outcome(tmp_path, test, text).evidence[0].text

    assert told(4, "e0", "e1", "e2", "e3") == "members: e0, e1, e2, e3"
    assert told(5, "e0", "e1", "e2", "e3", "e4") == "members: run:scores 5, claimed 5"
    assert told(2, "e0") == "members: run:scores 2, claimed 1, only in run:scores: e1"


def test_rows_are_named_by_the_columns_that_tell_them_apart(tmp_path: Path) -> None:
    text = "suite,editor,score,round\nquick,one,5,1\nquick,one,6,2\n"
    test = {"kind": "every", "table": "run:scores", "left": {"column": "score"}, "relation": ">", "right": 0}
    assert [one.text for one in outcome(tmp_path, test, text).evidence] == [
        "round 1: score 5 (claimed > 0)",
        "round 2: score 6 (claimed > 0)",
    ]


def test_all_any_neither(tmp_path: Path) -> None:
    right = {"table": "run:scores", **compare(cell("two"), ">", 1)}
    wrong = {"table": "run:scores", **compare(cell("two"), "<", 1)}
    unknown = {"table": "run:nothing", **compare(cell("two"), "<", 1)}

    def joined(kind: str, *tests: dict[str, Any]) -> str:
        return outcome(tmp_path, {"kind": kind, "tests": list(tests)}).verdict

    assert [joined("all", right, right), joined("all", right, wrong, unknown), joined("all", right, unknown)] == [
        YES,
        NO,
        UNKNOWN,
    ]
    assert [joined("any", wrong, right, unknown), joined("any", wrong), joined("any", wrong, unknown)] == [
        YES,
        NO,
        UNKNOWN,
    ]
    assert [joined("neither", wrong), joined("neither", right, unknown), joined("neither", unknown)] == [
        YES,
        NO,
        UNKNOWN,
    ]
    nested = {"kind": "any", "tests": [wrong, {"kind": "all", "tests": [right, right]}]}
    assert joined("all", right, nested) == YES


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    def told(test: dict[str, Any]) -> str:
        return outcome(tmp_path, {"table": "run:scores", **test}).evidence[0].text

    assert told(compare(cell("tow"), ">", 1)) == "run:scores has no row with editor = tow; did you mean 'two'?"
    assert told(compare(cell("two", "scor"), ">", 1)) == "run:scores has no column 'scor'; did you mean 'score'?"
    assert told(compare(cell("three", "lpips"), ">", 1)) == "run:scores has no value of 'lpips' for three"
    assert "2 rows with ok = True; give more of it" in told(compare({"row": {"ok": True}, "column": "score"}, ">", 1))
    elsewhere = compare({"table": "run:ranking", "of": "count"}, ">", 1)
    assert told(elsewhere) == f"{tmp_path} has no table 'ranking' (cbench report {tmp_path})"
    assert outcome(tmp_path, compare({"table": "run:scores", "of": "count"}, "=", 0), "a\n").verdict == UNKNOWN


def test_a_median_takes_the_interval_that_goes_with_it(tmp_path: Path) -> None:
    text = "editor,median,low,high,delay_median,delay_low,delay_high\na,9,8,10,3,-1,6\n"
    for column, expected in (("median", YES), ("delay_median", UNKNOWN)):
        assert verdict(tmp_path, compare(cell("a", column), ">", 0, beyond_interval=True), text) == expected


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=6), st.integers(1, 6))
def test_what_cannot_be_told_never_decides(answers: list[bool | None], number: int) -> None:
    """Whatever the unknown turn out to be, a verdict that was given stays."""
    for guess in (True, False):
        settled = [guess if one is None else one for one in answers]
        for joined in (all_of, any_of, none_of, lambda known: at_least(known, number)):
            found = joined(answers)
            assert found is None or found is joined(settled)
    assert all_of(answers) is at_least(answers, len(answers))
    assert any_of(answers) is at_least(answers, 1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values=st.lists(st.integers(-3, 3), min_size=2, max_size=5))
def test_best_is_what_the_largest_value_says(values: list[int], tmp_path: Path) -> None:
    text = "editor,score\n" + "".join(f"e{place},{value}\n" for place, value in enumerate(values))
    alone = values[0] == max(values) and values.count(values[0]) == 1
    test = {"kind": "best", "row": {"editor": "e0"}, "columns": UP}
    assert verdict(tmp_path, test, text) == (YES if alone else NO)
    shared = verdict(tmp_path, {**test, "ties": True}, text)
    assert shared == (YES if values[0] == max(values) else NO)
    largest = compare(cell("e0"), ">=", {"of": "largest", "column": "score"})
    assert verdict(tmp_path, largest, text) == shared
    place = verdict(tmp_path, {"kind": "rank", "row": {"editor": "e0"}, "columns": UP}, text)
    assert place == shared

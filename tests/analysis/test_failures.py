"""Failures: which labels count, and what share of chains fails."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.failures import FAILURES, LABELS, failures_table, labels_table, verdicts, wilson
from tests.analysis.labelled import Said, labelled


class Facts(NamedTuple):
    title: str
    rule: str


TINT = {"tint": Facts("Colour cast", "b* moves by more than 6")}


def counted(*said: Said) -> tuple[bool | None, int | None, str]:
    (verdict,) = verdicts(labelled(*said))
    return verdict.present, verdict.step, verdict.source


def test_a_person_is_heard_before_a_judge_and_a_judge_before_a_rule() -> None:
    rule, judge, person = Said(True, 3), Said(False, source="judge"), Said(True, 7, source="person", by="anna")
    assert counted(rule) == (True, 3, "rule")
    assert counted(rule, judge) == (False, None, "judge")
    assert counted(judge, person, rule) == (True, 7, "person"), "whoever spoke last"


def test_the_last_look_of_a_rule_takes_the_place_of_its_earlier_ones() -> None:
    early, late = Said(True, 3, made="1"), Said(False, made="2", by="tint@2")
    assert counted(early, late) == (False, None, "rule")
    assert counted(late, early) == (False, None, "rule"), "in whatever order they come"


def test_several_findings_of_one_look_are_one_verdict_at_the_first_step() -> None:
    assert counted(Said(True, 9), Said(True, 4)) == (True, 4, "rule")


def test_what_could_not_be_told_is_undecided() -> None:
    assert counted(Said(None)) == (None, None, "rule")
    assert counted(Said(None, source="judge"), Said(True, 2)) == (None, None, "judge")


def person(who: str, present: bool, step: int | None = None, made: str = "1") -> Said:
    return Said(present, step, source="person", by=who, made=made)


def test_people_decide_by_majority_and_a_tie_is_undecided() -> None:
    assert counted(person("a", True, 2), person("b", True, 6), person("c", False)) == (True, 2, "person")
    assert counted(person("a", True, 2), person("b", False), person("c", False)) == (False, None, "person")
    assert counted(person("a", True, 2), person("b", False)) == (None, None, "person")


def test_of_each_person_the_newest_list_counts() -> None:
    assert counted(person("a", True, 2), person("a", False, made="2")) == (False, None, "person")
    assert counted(person("a", False), person("b", True, 5), person("a", True, 3, made="2")) == (True, 3, "person")


def test_the_step_that_people_see_is_the_middle_one() -> None:
    assert counted(person("a", True, 2), person("b", True, 5), person("c", True, 40))[1] == 5


def test_the_labels_frame_has_the_labels_that_carry_the_verdict() -> None:
    frame = labels_table(
        labelled(
            Said(True, 3, made="0", detail="old"),
            Said(True, 3, detail="seen", evidence="evidence/1.png"),
            Said(True, 8, detail="again"),
            Said(False, case="b/copy/0"),
            person("anna", True, 2)._replace(case="c/copy/0"),
            person("ben", True, 4)._replace(case="c/copy/0"),
            person("cleo", False)._replace(case="c/copy/0"),
        ),
        TINT,
    )
    assert frame.schema == pl.Schema(LABELS)
    assert frame.select("case", "present", "step", "by", "detail", "evidence").rows() == [
        ("a/copy/0", True, 3, "tint@1", "seen", "evidence/1.png"),
        ("a/copy/0", True, 8, "tint@1", "again", None),
        ("b/copy/0", False, None, "tint@1", "", None),
        ("c/copy/0", True, 2, "anna", "", None),
        ("c/copy/0", True, 4, "ben", "", None),
    ]
    assert frame["title"].unique().to_list() == ["Colour cast"]
    assert frame["rule"].unique().to_list() == ["b* moves by more than 6"]


def test_a_tie_is_one_row_that_says_so() -> None:
    frame = labels_table(labelled(person("ben", False), person("anna", True, 2), Said(True, 1)), {})
    (row,) = frame.rows(named=True)
    assert (row["present"], row["step"], row["source"], row["by"]) == (None, None, "person", "ben, anna")
    assert row["detail"] == "1 of 2 people see it"
    assert (row["title"], row["rule"]) == ("tint", ""), "a mode without facts has its name"


def test_shares_are_of_the_chains_that_could_be_decided() -> None:
    frame = failures_table(
        labelled(
            Said(True, 4, case="a/copy/0"),
            Said(True, 9, case="b/copy/0"),
            Said(False, case="c/copy/0"),
            person("anna", False)._replace(case="d/copy/0"),
            Said(True, 1, case="d/copy/0"),
            Said(None, case="e/copy/0"),
            Said(False, editor="other"),
        ),
        TINT,
    )
    assert frame.schema == pl.Schema(FAILURES)
    first, second = frame.filter(pair="copy").rows(named=True)
    low, high = wilson(2, 4)  # four images that could be decided
    assert first == {
        **{"editor": "editor", "pair": "copy", "mode": "tint", "level": "image", "title": "Colour cast"},
        **{"chains": 5, "seen": 2, "undecided": 1, "share": 0.5, "low": low, "high": high, "first_step": 6.5},
        "source_of": "rule 4, person 1",
    }
    assert (second["editor"], second["seen"], second["first_step"]) == ("other", 0, None)


def test_a_chain_that_ended_early_is_undecided_unless_something_was_seen_in_it() -> None:
    said = labelled(Said(True, 2, case="a/copy/0"), Said(False, case="b/copy/0"), Said(False, case="c/copy/0"))
    short = {("editor", "a/copy/0"), ("editor", "b/copy/0")}
    row, _ = failures_table(said, TINT, short=short).rows(named=True)
    assert (row["chains"], row["seen"], row["undecided"], row["share"]) == (3, 1, 1, 0.5)


def test_the_interval_counts_images_and_not_their_runs() -> None:
    runs = labelled(*(Said(True, 1, case=f"{image}/copy/{run}") for image in "ab" for run in range(5)))
    row, _ = failures_table(runs, TINT).rows(named=True)
    assert (row["low"], row["high"]) == wilson(2, 2)
    alone, _ = failures_table(labelled(Said(True, 1), Said(True, 1, case="a/copy/1")), TINT).rows(named=True)
    assert (alone["low"], alone["high"]) == (None, None), "one image has no interval"


def test_all_variants_together_have_rows_of_their_own() -> None:
    said = labelled(Said(True, 4, case="a/copy/0"), Said(False, case="a/mirror/0"))
    found = {row["pair"]: (row["chains"], row["seen"]) for row in failures_table(said, TINT).iter_rows(named=True)}
    assert found == {"copy": (1, 1), "mirror": (1, 0), "all": (2, 1)}


def test_a_mode_that_nobody_could_decide_has_no_share() -> None:
    row, _ = failures_table(labelled(Said(None)), {}).rows(named=True)
    assert (row["chains"], row["undecided"], row["share"], row["low"], row["high"]) == (1, 1, None, None, None)


def test_no_labels_no_rows() -> None:
    empty = labelled()
    assert failures_table(empty, {}).schema == pl.Schema(FAILURES)
    assert labels_table(empty, {}).schema == pl.Schema(LABELS)


@pytest.mark.parametrize(
    ("seen", "of", "low", "high"),
    [(0, 10, 0.0, 0.277533), (5, 10, 0.236593, 0.763407), (10, 10, 0.722467, 1.0), (1, 29, 0.006113, 0.171755)],
)
def test_wilson_is_what_the_tables_print(seen: int, of: int, low: float, high: float) -> None:
    assert wilson(seen, of) == pytest.approx((low, high), abs=1e-6)


@given(st.integers(1, 500), st.data())
def test_wilson_holds_the_share_and_stays_between_none_and_all(of: int, data: Any) -> None:
    seen = data.draw(st.integers(0, of))
    low, high = wilson(seen, of)
    assert low is not None
    assert high is not None
    assert 0 <= low <= seen / of <= high <= 1
    assert wilson(of - seen, of) == pytest.approx((1 - high, 1 - low))

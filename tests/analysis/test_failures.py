"""Failures: which labels count, and what share of chains fails."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.failures import failures_table, labels_table, verdicts, wilson
from tests.analysis.labelled import LabelSpec, labelled


class Facts(NamedTuple):
    title: str
    rule: str


TINT = {"tint": Facts("Colour cast", "b* moves by more than 6")}


def counted(*labels: LabelSpec) -> tuple[bool | None, int | None, str]:
    (verdict,) = verdicts(labelled(*labels))
    return verdict.present, verdict.step, verdict.source


def test_a_person_is_heard_before_a_judge_and_a_judge_before_a_rule() -> None:
    rule, judge, person = (
        LabelSpec(True, 3),
        LabelSpec(False, source="judge"),
        LabelSpec(True, 7, source="person", by="anna"),
    )
    assert counted(rule) == (True, 3, "rule")
    assert counted(rule, judge) == (False, None, "judge")
    assert counted(judge, person, rule) == (True, 7, "person"), "whichever label is newest"


def test_the_last_look_of_a_rule_takes_the_place_of_its_earlier_ones() -> None:
    early, late = LabelSpec(True, 3, made="1"), LabelSpec(False, made="2", by="tint@2")
    assert counted(early, late) == (False, None, "rule")
    assert counted(late, early) == (False, None, "rule"), "in whatever order they come"


def test_several_findings_of_one_look_are_one_verdict_at_the_first_step() -> None:
    assert counted(LabelSpec(True, 9), LabelSpec(True, 4)) == (True, 4, "rule")


def test_what_could_not_be_told_is_undecided() -> None:
    assert counted(LabelSpec(None)) == (None, None, "rule")
    assert counted(LabelSpec(None, source="judge"), LabelSpec(True, 2)) == (None, None, "judge")


def person(who: str, present: bool, step: int | None = None, made: str = "1") -> LabelSpec:
    return LabelSpec(present, step, source="person", by=who, made=made)


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
            LabelSpec(True, 3, made="0", detail="old"),
            LabelSpec(True, 3, detail="seen", evidence="evidence/1.png"),
            LabelSpec(True, 8, detail="again"),
            LabelSpec(False, case="b/copy/0"),
            person("anna", True, 2)._replace(case="c/copy/0"),
            person("ben", True, 4)._replace(case="c/copy/0"),
            person("cleo", False)._replace(case="c/copy/0"),
        ),
        TINT,
    )
    assert frame.schema == pl.Schema(SCHEMAS["labels"])
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
    frame = labels_table(labelled(person("ben", False), person("anna", True, 2), LabelSpec(True, 1)), {})
    (row,) = frame.rows(named=True)
    assert (row["present"], row["step"], row["source"], row["by"]) == (None, None, "person", "ben, anna")
    assert row["detail"] == "1 of 2 people see it"
    assert (row["title"], row["rule"]) == ("tint", ""), "a mode without facts has its name"


def test_shares_are_of_the_chains_that_could_be_decided() -> None:
    frame = failures_table(
        labelled(
            LabelSpec(True, 4, case="a/copy/0"),
            LabelSpec(True, 9, case="b/copy/0"),
            LabelSpec(False, case="c/copy/0"),
            person("anna", False)._replace(case="d/copy/0"),
            LabelSpec(True, 1, case="d/copy/0"),
            LabelSpec(None, case="e/copy/0"),
            LabelSpec(False, case="f/copy/0"),
            LabelSpec(False, editor="other"),
        ),
        TINT,
    )
    assert frame.schema == pl.Schema(SCHEMAS["failures"])
    first, second = frame.filter(pair="copy").rows(named=True)
    band = Bootstrap().share(np.array([[1.0], [1], [0], [0], [0]]), np.ones((5, 1)))  # five that could be decided
    assert first == {
        **{"editor": "editor", "pair": "copy", "mode": "tint", "level": "image", "title": "Colour cast"},
        **{"chains": 6, "seen": 2, "undecided": 1, "share": 0.4, "low": band.low[0], "high": band.high[0]},
        **{"first_step": 6.5, "source_of": "rule 5, person 1"},
    }
    assert (second["editor"], second["seen"], second["first_step"]) == ("other", 0, None)


def test_a_chain_that_ended_early_is_undecided_unless_something_was_seen_in_it() -> None:
    labels = labelled(
        LabelSpec(True, 2, case="a/copy/0"), LabelSpec(False, case="b/copy/0"), LabelSpec(False, case="c/copy/0")
    )
    short = {("editor", "a/copy/0"), ("editor", "b/copy/0")}
    row, _ = failures_table(labels, TINT, short=short).rows(named=True)
    assert (row["chains"], row["seen"], row["undecided"], row["share"]) == (3, 1, 1, 0.5)


def ends(*images: tuple[int, int]) -> tuple[float | None, float | None]:
    """The interval where these shares of the runs of each image show it."""
    labels = [
        LabelSpec(run < seen, 1 if run < seen else None, case=f"{chr(97 + place)}/copy/{run}")
        for place, (seen, runs) in enumerate(images)
        for run in range(runs)
    ]
    row, _ = failures_table(labelled(*labels), TINT).rows(named=True)
    return row["low"], row["high"]


def test_runs_that_agree_within_each_image_count_as_one() -> None:
    agreeing, alone, mixed = ends(*[(5, 5), (0, 5)] * 6), ends(*[(1, 1), (0, 1)] * 6), ends(*[(2, 4)] * 12)
    assert agreeing == pytest.approx(alone)
    assert None not in (*mixed, *alone)
    assert mixed[1] - mixed[0] < alone[1] - alone[0]  # type: ignore[operator]


def test_fewer_than_five_images_have_no_interval_however_many_runs() -> None:
    assert ends(*[(5, 9)] * 4) == (None, None)
    assert None not in ends(*[(5, 9)] * 5)


def test_the_interval_holds_the_truth_with_several_runs_of_each_image() -> None:
    """Images differ in how prone they are: half of them show it in four of five runs, the others in one."""
    random = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        prone = np.where(random.random(10) < 0.5, 0.8, 0.2)
        low, high = ends(*[(int(seen), 5) for seen in random.binomial(5, prone)])
        held += low is not None and high is not None and low <= 0.5 <= high
    assert 0.92 <= held / 200 <= 0.995


def test_all_variants_together_have_rows_of_their_own() -> None:
    labels = labelled(LabelSpec(True, 4, case="a/copy/0"), LabelSpec(False, case="a/mirror/0"))
    found = {row["pair"]: (row["chains"], row["seen"]) for row in failures_table(labels, TINT).iter_rows(named=True)}
    assert found == {"copy": (1, 1), "mirror": (1, 0), "all": (2, 1)}


def test_a_mode_that_nobody_could_decide_has_no_share() -> None:
    row, _ = failures_table(labelled(LabelSpec(None)), {}).rows(named=True)
    assert (row["chains"], row["undecided"], row["share"], row["low"], row["high"]) == (1, 1, None, None, None)


def test_no_labels_no_rows() -> None:
    empty = labelled()
    assert failures_table(empty, {}).schema == pl.Schema(SCHEMAS["failures"])
    assert labels_table(empty, {}).schema == pl.Schema(SCHEMAS["labels"])


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

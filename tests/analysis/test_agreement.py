"""Agreement between rules and people."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.agreement import agreement_table, kappa
from convergebench.analysis.decay_result import SCHEMAS
from tests.analysis.labelled import LabelSpec, labelled

COUNTS = st.integers(0, 60)


def both(number: int, rule: LabelSpec, *people: LabelSpec) -> list[LabelSpec]:
    """A rule and people about the same chain."""
    return [one._replace(case=f"{number}/copy/0") for one in (rule, *people)]


def anna(present: bool, step: int | None = None, made: str = "1") -> LabelSpec:
    return LabelSpec(present, step, source="person", by="anna", made=made)


def ben(present: bool, step: int | None = None) -> LabelSpec:
    return LabelSpec(present, step, source="person", by="ben")


def test_rules_are_counted_against_people_on_the_chains_that_both_could_decide() -> None:
    labels = [
        *both(1, LabelSpec(True, 4), anna(True, 6)),
        *both(2, LabelSpec(True, 9), anna(True, 8)),
        *both(3, LabelSpec(True, 2), anna(False)),
        *both(4, LabelSpec(False), anna(True, 3)),
        *both(5, LabelSpec(False), anna(False)),
        *both(6, LabelSpec(None), anna(True, 3)),
        *both(7, LabelSpec(True, 3), anna(True, 2), ben(False)),
        *both(8, LabelSpec(True, 1)),
        *both(9, anna(True, 1)),
        *both(10, LabelSpec(True, 4, source="judge"), anna(False)),
    ]
    frame = agreement_table(labelled(*labels))
    assert frame.schema == pl.Schema(SCHEMAS["agreement"])
    (row,) = frame.rows(named=True)
    assert row == {
        **{"mode": "tint", "n": 5, "both": 2, "rule_only": 1, "person_only": 1, "neither": 1},
        **{"kappa": pytest.approx(1 / 6), "precision": pytest.approx(2 / 3), "recall": pytest.approx(2 / 3)},
        "step_difference": 1.5,
    }


def test_the_rules_own_last_word_is_compared_although_a_person_overrules_it() -> None:
    labels = both(1, LabelSpec(True, 4, made="1"), LabelSpec(False, made="2"), anna(False))
    (row,) = agreement_table(labelled(*labels)).rows(named=True)
    assert (row["neither"], row["rule_only"]) == (1, 0)


def test_modes_are_separate_and_undefined_numbers_are_null() -> None:
    labels = [
        *both(1, LabelSpec(False), anna(False)),
        *both(2, LabelSpec(True, 1, mode="z"), anna(False)._replace(mode="z")),
    ]
    first, second = agreement_table(labelled(*labels)).rows(named=True)
    assert (first["mode"], first["kappa"], first["precision"], first["recall"]) == ("tint", None, None, None)
    assert (second["mode"], second["precision"], second["recall"], second["step_difference"]) == ("z", 0.0, None, None)


def test_a_mode_that_both_examined_but_never_decided_has_a_row_with_n_0() -> None:
    (row,) = agreement_table(labelled(*both(1, LabelSpec(None), anna(True, 1)))).rows(named=True)
    assert (row["n"], row["kappa"]) == (0, None)


def test_without_labels_the_table_is_empty_and_has_its_columns() -> None:
    assert agreement_table(labelled()).schema == pl.Schema(SCHEMAS["agreement"])


@pytest.mark.parametrize(
    ("counts", "value"),
    [((20, 5, 10, 15), 0.4), ((45, 15, 25, 15), 0.1304347826), ((5, 0, 0, 5), 1.0), ((0, 5, 5, 0), -1.0)],
)
def test_kappa_is_what_the_textbooks_print(counts: tuple[int, int, int, int], value: float) -> None:
    assert kappa(*counts) == pytest.approx(value)


@pytest.mark.parametrize("counts", [(7, 0, 0, 0), (0, 0, 0, 7), (0, 0, 0, 0)])
def test_kappa_of_one_and_the_same_answer_has_no_value(counts: tuple[int, int, int, int]) -> None:
    assert kappa(*counts) is None


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_kappa_does_not_depend_on_who_comes_first_or_which_answer_is_called_yes(a: int, b: int, c: int, d: int) -> None:
    value = kappa(a, b, c, d)
    assert value == kappa(a, c, b, d) == kappa(d, b, c, a)
    assert value is None or -1 <= value <= 1
    assert value is None or (value == 1) == (b == c == 0)

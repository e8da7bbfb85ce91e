"""Agreement: rules beside people, people beside each other."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.agreement import AGREEMENT, PEOPLE, agreement_table, kappa, people_table
from tests.analysis.labelled import Said, labelled

COUNTS = st.integers(0, 60)


def both(number: int, rule: Said, *people: Said) -> list[Said]:
    """A rule and people about the same chain."""
    return [one._replace(case=f"{number}/copy/0") for one in (rule, *people)]


def anna(present: bool, step: int | None = None, made: str = "1") -> Said:
    return Said(present, step, source="person", by="anna", made=made)


def ben(present: bool, step: int | None = None) -> Said:
    return Said(present, step, source="person", by="ben")


def test_rules_are_counted_against_people_on_the_chains_that_both_could_decide() -> None:
    said = [
        *both(1, Said(True, 4), anna(True, 6)),
        *both(2, Said(True, 9), anna(True, 8)),
        *both(3, Said(True, 2), anna(False)),
        *both(4, Said(False), anna(True, 3)),
        *both(5, Said(False), anna(False)),
        *both(6, Said(None), anna(True, 3)),
        *both(7, Said(True, 3), anna(True, 2), ben(False)),
        *both(8, Said(True, 1)),
        *both(9, anna(True, 1)),
        *both(10, Said(True, 4, source="judge"), anna(False)),
    ]
    frame = agreement_table(labelled(*said))
    assert frame.schema == pl.Schema(AGREEMENT)
    (row,) = frame.rows(named=True)
    assert row == {
        **{"mode": "tint", "n": 5, "both": 2, "rule_only": 1, "person_only": 1, "neither": 1},
        **{"kappa": pytest.approx(1 / 6), "precision": pytest.approx(2 / 3), "recall": pytest.approx(2 / 3)},
        "step_difference": 1.5,
    }


def test_the_rules_own_last_word_is_compared_although_a_person_overrules_it() -> None:
    said = both(1, Said(True, 4, made="1"), Said(False, made="2"), anna(False))
    (row,) = agreement_table(labelled(*said)).rows(named=True)
    assert (row["neither"], row["rule_only"]) == (1, 0)


def test_modes_are_told_apart_and_what_cannot_be_worked_out_is_null() -> None:
    said = [*both(1, Said(False), anna(False)), *both(2, Said(True, 1, mode="z"), anna(False)._replace(mode="z"))]
    first, second = agreement_table(labelled(*said)).rows(named=True)
    assert (first["mode"], first["kappa"], first["precision"], first["recall"]) == ("tint", None, None, None)
    assert (second["mode"], second["precision"], second["recall"], second["step_difference"]) == ("z", 0.0, None, None)


def test_a_mode_that_both_looked_for_but_never_decided_is_there_with_nothing() -> None:
    (row,) = agreement_table(labelled(*both(1, Said(None), anna(True, 1)))).rows(named=True)
    assert (row["n"], row["kappa"]) == (0, None)


def test_two_people_are_compared_by_their_newest_lists() -> None:
    said = [
        *both(1, anna(True, 2), ben(True, 5)),
        *both(2, anna(False), ben(False)),
        *both(3, anna(True, 1), anna(False, made="2"), ben(False)),
        *both(4, anna(True, 3), ben(False)),
        *both(5, anna(True, 3)),
    ]
    frame = people_table(labelled(*said))
    assert frame.schema == pl.Schema(PEOPLE)
    assert frame.rows(named=True) == [
        {
            **{"mode": "tint", "first": "anna", "second": "ben", "n": 4, "both": 1, "first_only": 1},
            **{"second_only": 0, "neither": 2, "kappa": 0.5, "step_difference": 3.0},
        }
    ]


def test_one_person_and_nobody_have_nobody_to_be_compared_with() -> None:
    assert people_table(labelled(*both(1, Said(True, 1), anna(True, 1)))).is_empty()
    assert people_table(labelled()).schema == pl.Schema(PEOPLE)
    assert agreement_table(labelled()).schema == pl.Schema(AGREEMENT)


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

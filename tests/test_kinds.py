"""Kinds of images and roles of comparisons are open: a study may add a word, and only a word."""

from __future__ import annotations

import pytest

from convergebench.documents import check_document
from convergebench.errors import StudyError
from convergebench.kinds import COMPARE_ROLES, KINDS, is_word, measured_as
from convergebench.studies.spec import ImagesTable
from convergebench.types import Compare, State

STATE = State("i1:a", "i1:a")


@pytest.mark.parametrize("word", [*KINDS, *COMPARE_ROLES, "document", "clean-2", "x"])
def test_a_short_lower_case_word_is_one(word: str) -> None:
    assert is_word(word)
    assert check_document({"kinds": [word]}, ImagesTable, where="here").kinds == (word,)
    assert Compare(STATE, None, word, 0, 0).role == word


@pytest.mark.parametrize("text", ["", "Clean", "two words", "a_b", "-a", "a-", "a" * 25, "é", "clean\n", "1st"])
def test_anything_else_is_refused_where_it_comes_in(text: str) -> None:
    assert not is_word(text)
    with pytest.raises(StudyError, match=r"kinds\.0: should be one lower-case word"):
        check_document({"kinds": [text]}, ImagesTable, where="here")
    with pytest.raises(StudyError, match="one short, lower-case word"):
        Compare(STATE, None, text, 0, 0)


def test_a_role_of_a_study_s_own_is_measured_as_a_return_or_a_source() -> None:
    assert measured_as("clean", has_reference=True) == "return"
    assert measured_as("clean", has_reference=False) == "source"
    assert [measured_as(role, has_reference=False) for role in COMPARE_ROLES] == list(COMPARE_ROLES)

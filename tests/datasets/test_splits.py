"""Splits deal out source images, never pictures."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.datasets.splits import Splits, ordered, read_splits
from convergebench.errors import StudyError


def sources(count: int) -> dict[str, str | None]:
    return {f"{number:064x}": None for number in range(count)}


def test_twelve_images_are_dealt_as_the_shares_say() -> None:
    dealt = read_splits("0.8,0.1,0.1").deal(sources(12), seed=0)
    assert Counter(dealt.values()) == {"train": 10, "validation": 1, "test": 1}


@given(st.integers(3, 200), st.integers(0, 5), st.floats(0.05, 0.6), st.floats(0.05, 0.3))
def test_every_source_is_in_one_split_and_no_split_is_empty(count: int, seed: int, some: float, more: float) -> None:
    dealt = Splits((some, more, 1 - some - more)).deal(sources(count), seed)
    assert dealt.keys() == sources(count).keys()
    assert set(dealt.values()) == {"train", "validation", "test"}


def test_another_seed_is_another_deal_and_the_same_seed_the_same() -> None:
    deals = [read_splits("0.5,0.5").deal(sources(20), seed) for seed in (1, 1, 2)]
    assert deals[0] == deals[1] != deals[2]


def test_photographs_and_drawings_can_be_kept_apart() -> None:
    dealt = read_splits("origin").deal({"a": "photograph", "b": "drawn", "c": None}, seed=0)
    assert dealt == {"a": "photograph", "b": "drawn", "c": "unknown"}


@pytest.mark.parametrize(
    "text", ["0.8", "0.8,0.3", "0.5,0.5,0", "a,b", "0.25,0.25,0.25,0.25", "nan,nan", "0.5,nan", "inf,-inf", ""]
)
def test_shares_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(StudyError, match="add up to 1"):
        read_splits(text)


def test_more_splits_than_images_are_refused() -> None:
    with pytest.raises(StudyError, match="3 splits need 3 different source images, this run has 2"):
        read_splits("0.8,0.1,0.1").deal(sources(2), seed=0)


def test_splits_stand_in_their_usual_order() -> None:
    assert ordered(["test", "unknown", "train", "drawn", "validation"]) == [
        "train", "validation", "test", "drawn", "unknown",
    ]  # fmt: skip

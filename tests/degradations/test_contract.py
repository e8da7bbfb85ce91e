"""What holds for every degradation: repeatable, of the same size, stronger with severity, at home at every size."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.degradations import load_degradation
from convergebench.degradations._table import TABLE
from convergebench.errors import StudyError
from convergebench.studies.restoration_table import DEGRADATIONS
from tests.degradations.scenes import psnr, scene

NAMES = tuple(TABLE)
PICTURE = scene()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_picture_and_another_seed_another(name: str) -> None:
    spoil = load_degradation(name)
    first, again, other = (spoil(PICTURE, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert (first != other).mean() > 0.05
    assert first.shape == PICTURE.shape
    assert first.dtype == np.uint8


@pytest.mark.parametrize("name", NAMES)
def test_the_clean_picture_is_left_alone_and_severity_0_is_an_exact_copy(name: str) -> None:
    kept = PICTURE.copy()
    spoil = load_degradation(name)
    spoil(kept, seed=1)
    copy = spoil(kept, seed=1, severity=0)
    assert np.array_equal(kept, PICTURE)
    assert np.array_equal(copy, PICTURE)
    assert not np.shares_memory(copy, kept)


@pytest.mark.parametrize("name", NAMES)
def test_more_severity_is_more_damage_for_nearly_every_seed(name: str) -> None:
    spoil = load_degradation(name)
    picture = scene(160, 160, seed=9)
    middle = np.s_[40:120]  # a timestamp covers what is above and below, at any severity
    falls = []
    for seed in range(10):
        spoilt = [spoil(picture, seed=seed, severity=severity) for severity in (0.5, 1.0, 2.0)]
        values = [psnr(one[middle], picture[middle]) for one in spoilt]
        falls.append(values[0] > values[1] > values[2])
    assert sum(falls) >= 9


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("old-photo-grey", "surveillance")])
def test_a_trace_of_severity_is_a_trace_of_damage(name: str) -> None:
    """Grey prints are grey and surveillance has its timestamp at any severity, so those two begin with a step."""
    grey = PICTURE[..., :1].repeat(3, axis=2)
    spoil = load_degradation(name)
    assert min(psnr(spoil(grey, seed=seed, severity=0.01), grey) for seed in range(8)) > 27


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    width=st.integers(1, 90),
    height=st.integers(1, 90),
    seed=st.integers(0, 2**63),
    severity=st.floats(0, 4),
)
def test_every_size_seed_and_severity_is_accepted(
    name: str, width: int, height: int, seed: int, severity: float
) -> None:
    picture = scene(width, height)
    spoilt = load_degradation(name)(picture, seed=seed, severity=severity)
    assert spoilt.shape == picture.shape
    assert spoilt.dtype == np.uint8


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", [0, 255])
def test_black_and_white_pictures_do_not_break_it(name: str, level: int) -> None:
    picture = np.full((40, 56, 3), level, np.uint8)
    assert load_degradation(name)(picture, seed=2, severity=4).shape == picture.shape


@pytest.mark.parametrize("name", NAMES)
def test_a_small_picture_is_spoilt_about_as_much_as_a_large_one(name: str) -> None:
    """Sizes of damage are shares of the picture, so the same scene at twice the size loses about the same.

    Less so where pixels are few: where resolution is lost, and for a disk with a radius of one pixel.
    """
    small = scene(128, 128, seed=5)
    large = small.repeat(2, axis=0).repeat(2, axis=1)
    spoil = load_degradation(name)
    losses = [[psnr(spoil(one, seed=seed), one) for seed in range(5)] for one in (small, large)]
    most = 2.5 if name in ("digital-zoom", "surveillance", "mixed", "defocus-blur") else 0.6
    assert abs(np.mean(losses[0]) - np.mean(losses[1])) < most


@pytest.mark.parametrize("severity", [-0.1, 4.1, float("nan"), float("inf")])
def test_a_severity_out_of_range_is_one_line(severity: float) -> None:
    with pytest.raises(StudyError, match=r"^severity .*: should be between 0 \(no damage\) and 4$"):
        load_degradation("mixed")(PICTURE, seed=0, severity=severity)


def test_titles_are_those_of_the_study() -> None:
    assert {name: load_degradation(name).title for name in DEGRADATIONS} == DEGRADATIONS
    assert set(NAMES) == {*DEGRADATIONS, "mixed"}
    for name in NAMES:
        assert load_degradation(name).summary.endswith("."), "the first line of the docstring is one sentence"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_picture_of_1024_takes_less_than_a_second_of_one_core(name: str) -> None:
    picture = scene(1024, 1024)
    spoil = load_degradation(name)
    spoil(picture, seed=0)
    seconds = []
    for seed in range(4):
        begun = time.process_time()
        spoil(picture, seed=seed)
        seconds.append(time.process_time() - begun)
    assert min(seconds) < 1

"""How long a failed call is waited for: the ceiling doubles, up to a limit; a provider's own pause comes first."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.engine.retry import RetryPolicy
from convergebench.errors import BadReply, Transient


class Longest(random.Random):
    """Draws the upper end, which shows the ceiling."""

    def uniform(self, a: float, b: float) -> float:
        return b


@pytest.mark.parametrize(("attempt", "ceiling"), [(1, 2.0), (2, 4.0), (3, 8.0), (4, 10.0), (9, 10.0)])
def test_the_ceiling_doubles_after_each_failure_up_to_the_longest_wait(attempt: int, ceiling: float) -> None:
    policy = RetryPolicy(first_wait=2.0, longest_wait=10.0, randomness=Longest())
    assert policy.wait(attempt, BadReply("no picture")) == ceiling
    assert policy.wait(attempt, Transient("busy")) == ceiling


@pytest.mark.parametrize(("first_wait", "longest"), [(5.0, 31.0), (0.25, 30.25)])
def test_the_pause_that_a_provider_asks_for_is_kept_with_a_second_of_jitter_at_most(
    first_wait: float, longest: float
) -> None:
    policy = RetryPolicy(first_wait=first_wait, randomness=Longest())
    assert policy.wait(1, Transient("busy", retry_after=30.0)) == longest


@given(attempt=st.integers(1, 60), seed=st.integers(0, 1000))
def test_waits_are_never_negative_and_bounded(attempt: int, seed: int) -> None:
    policy = RetryPolicy(randomness=random.Random(seed))
    assert 0.0 <= policy.wait(attempt, Transient("busy")) <= policy.longest_wait


class Shortest(random.Random):
    """Draws the lower end."""

    def uniform(self, a: float, b: float) -> float:
        return a


def test_jitter_begins_at_nothing() -> None:
    policy = RetryPolicy(randomness=Shortest())
    assert policy.wait(3, Transient("busy")) == 0.0
    assert policy.wait(3, Transient("busy", retry_after=30.0)) == 30.0

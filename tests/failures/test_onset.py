from __future__ import annotations

from collections.abc import Callable

import pytest

from convergebench.failures._onset import EVERY, IN_A_ROW, MOST, StepScore, confidence, find_onset
from convergebench.failures.base import Box, ChainView
from tests.failures.planted import astronaut, chain


def _chain(steps: int) -> ChainView:
    return chain([astronaut()] * (steps + 1))


def _by_score(score: Callable[[int], float | None], seen: list[int]) -> Callable[[int], StepScore | None]:
    def read(step: int) -> StepScore | None:
        seen.append(step)
        value = score(step)
        return None if value is None else StepScore(value, {"value": value}, f"at {step}", Box(0, 0, 1, 1))

    return read


@pytest.mark.parametrize("first", [1, 2, 5, 17, 22])
def test_the_onset_of_a_short_chain_is_the_first_step_beyond(first: int) -> None:
    result = find_onset(_chain(EVERY), _by_score(lambda step: 2.0 if step >= first else 0.1, []))
    assert result.findings[0].step == first
    assert result.findings[0].last is None


@pytest.mark.parametrize("first", [1, 3, 9, 30, 61, 97, 98])
def test_the_onset_of_a_long_chain_is_found_exactly_in_few_looks(first: int) -> None:
    seen: list[int] = []
    result = find_onset(_chain(100), _by_score(lambda step: 2.0 if step >= first else 0.1, seen))
    assert result.findings[0].step == first
    assert len(seen) == len(set(seen)) <= 24


def test_of_a_long_chain_the_first_the_last_and_ever_fewer_steps_between_are_measured() -> None:
    seen: list[int] = []
    find_onset(_chain(100), _by_score(lambda step: 0.1, seen))
    assert seen == [1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 45, 66, 98, 99, 100]


def test_two_steps_in_a_row_are_chance() -> None:
    assert not find_onset(_chain(12), _by_score(lambda step: 3.0 if step in (4, 5) else 0.0, [])).findings
    assert find_onset(_chain(12), _by_score(lambda step: 3.0 if step in (4, 5, 6) else 0.0, [])).findings[0].step == 4


def test_the_last_two_steps_alone_are_chance_too() -> None:
    assert not find_onset(_chain(9), _by_score(lambda step: 3.0 if step >= 8 else 0.0, [])).findings


def test_a_failure_that_goes_again_has_a_last_step() -> None:
    finding = find_onset(_chain(12), _by_score(lambda step: 2.0 if 3 <= step <= 7 else 0.5, [])).findings[0]
    assert (finding.step, finding.last) == (3, 7)


def test_steps_that_cannot_be_measured_are_passed_over() -> None:
    result = find_onset(_chain(12), _by_score(lambda step: None if step in (5, 6) else float(step >= 4) * 2, []))
    assert result.findings[0].step == 4
    assert 5 not in result.probes["value"]


def test_a_chain_that_mostly_cannot_be_measured_is_not_called_clean() -> None:
    result = find_onset(_chain(12), _by_score(lambda step: 0.0 if step < 3 else None, []))
    assert "2 of 12 steps" in result.cannot_tell


def test_fewer_steps_than_the_rule_needs_cannot_be_told() -> None:
    assert find_onset(_chain(IN_A_ROW - 1), _by_score(lambda step: 9.0, [])).cannot_tell


def test_steps_that_may_not_be_compared_are_not_looked_at() -> None:
    seen: list[int] = []
    find_onset(chain([astronaut()] * 9, compared="no"), _by_score(lambda step: 9.0, seen))
    assert seen == []


def test_what_is_shown_is_the_step_where_it_is_worst() -> None:
    finding = find_onset(_chain(8), _by_score(lambda step: 3.0 - abs(step - 6), [])).findings[0]
    assert (finding.step, finding.shown, finding.detail) == (4, 6, "at 6")
    assert finding.confidence == confidence(3.0)


def test_single_peaks_do_not_cost_more_looks_than_are_allowed() -> None:
    seen: list[int] = []
    find_onset(_chain(1000), _by_score(lambda step: 2.0 if step % 2 else 0.0, seen))
    assert len(seen) < MOST + 20


def test_confidence_is_a_half_at_the_threshold_and_grows() -> None:
    assert confidence(1.0) == 0.5
    values = [confidence(score) for score in (0.0, 0.5, 1.0, 2.0, 5.0, 1000.0)]
    assert values == sorted(values)
    assert values[-1] <= 1.0

"""From a metric's range to 0…100, flipped, unclipped."""

from __future__ import annotations

import pytest

from convergebench.analysis.audit.scaling import ScoreScale, scale_of
from convergebench.errors import StudyError
from convergebench.studies.analysis_settings import AuditSettings
from tests.analysis.audit.worlds import FACTS


def test_the_typical_range_becomes_0_to_100_and_lower_is_better_is_turned_round() -> None:
    brisque = scale_of(FACTS["brisque"], AuditSettings())
    assert [brisque.scaled(value) for value in (0, 75, 150)] == [100, 50, 0]
    assert scale_of(FACTS["musiq"], AuditSettings()).scaled(30) == pytest.approx(30)


def test_nothing_is_clipped() -> None:
    """The paper's own scores: −9.8 lies outside 0…150."""
    brisque = scale_of(FACTS["brisque"], AuditSettings())
    assert brisque.scaled(-9.8) == pytest.approx(100 + 100 * 9.8 / 150)
    assert brisque.scaled(180) == pytest.approx(-20)


def test_limits_will_do_where_no_typical_range_is_known() -> None:
    assert scale_of(FACTS["share"], AuditSettings()) == ScoreScale(0, 1, "higher")


def test_pi_has_our_upper_bound_and_says_so() -> None:
    assert scale_of(FACTS["pi"], AuditSettings()) == ScoreScale(0, 55, "lower", ours=True)


def test_without_an_upper_bound_the_error_names_the_setting_to_add() -> None:
    with pytest.raises(StudyError, match=r"endless has no finite range .*\[analysis.audit.ranges\]") as caught:
        scale_of(FACTS["endless"], AuditSettings())
    assert "\n" not in str(caught.value)


def test_a_diagnostic_cannot_be_audited() -> None:
    with pytest.raises(StudyError, match="noise has no better direction"):
        scale_of(FACTS["noise"], AuditSettings())

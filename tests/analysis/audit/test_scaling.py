"""From a metric's range to 0…100, flipped, unclipped; and settings that have no meaning."""

from __future__ import annotations

from math import inf

import pytest

from convergebench.analysis.audit.scaling import Scale, check_settings, scale_of
from convergebench.analysis.audit.settings import AuditSettings
from convergebench.errors import StudyError
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
    assert scale_of(FACTS["share"], AuditSettings()) == Scale(0, 1, "higher")


def test_pi_has_our_upper_bound_and_says_so() -> None:
    assert scale_of(FACTS["pi"], AuditSettings()) == Scale(0, 55, "lower", ours=True)


@pytest.mark.parametrize("name", ["endless", "pi"])
def test_without_an_upper_bound_the_error_names_the_setting_to_add(name: str) -> None:
    with pytest.raises(StudyError, match=rf"{name} has no finite range .*\[analysis.audit.ranges\]") as caught:
        scale_of(FACTS[name], AuditSettings(ranges={}))
    assert "\n" not in str(caught.value)


def test_a_diagnostic_cannot_be_audited() -> None:
    with pytest.raises(StudyError, match="noise has no better direction"):
        scale_of(FACTS["noise"], AuditSettings())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (AuditSettings(ranges={"pi": (5, 5)}), r"\[5, 5\]: give two finite numbers"),
        (AuditSettings(ranges={"pi": (0, inf)}), "give two finite numbers"),
        (AuditSettings(baseline=-1), "baseline -1"),
        (AuditSettings(gaps=(1, 5)), "gap 1 does not come after the baseline 1"),
        (AuditSettings(percentiles=(5, 101)), "percentile 101"),
        (AuditSettings(draws=0), "draws must be at least 1"),
        (AuditSettings(confidence=1.0), "confidence between 0 and 1"),
    ],
)
def test_settings_without_a_meaning_are_refused(wrong: AuditSettings, told: str) -> None:
    with pytest.raises(StudyError, match=told):
        check_settings(wrong)

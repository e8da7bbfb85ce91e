"""The error rates of a limit on `decay`: read from the test's numbers, and never better than they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convergebench.errors import Prerequisite
from convergebench.metrics import load_metric
from convergebench.metrics.no_reference.decay_rates import (
    USUAL_FALSE_ALARMS,
    DecayRates,
    ErrorRate,
    decay_rates,
    from_document,
)


def document(*limits: dict[str, Any]) -> dict[str, Any]:
    return {"version": 2, "pictures": {"untouched": 400, "worn": 900}, "limits": list(limits)}


def row(limit: float, alarms: float, missed: float) -> dict[str, Any]:
    rates = {str(steps): around(missed / divisor) for steps, divisor in ((5, 1), (10, 2), (20, 4))}
    return {"limit": limit, "false_alarms": around(alarms), "missed": around(missed), "missed_by_steps": rates}


def around(share: float) -> list[float]:
    return [share, share / 2, min(1, share * 1.5)]


@pytest.fixture
def rates() -> DecayRates:
    return from_document(document(row(10, 0.2, 0.1), row(20, 0.04, 0.3), row(30, 0.01, 0.6)))


def test_a_tested_limit_has_its_own_rates(rates: DecayRates) -> None:
    found = rates.at(20)
    assert found is rates.limits[1]
    assert found.false_alarms == ErrorRate(0.04, 0.02, 0.06)
    assert found.missed_by_steps[10].share == 0.15


def test_between_two_limits_each_rate_is_the_worse_one(rates: DecayRates) -> None:
    found = rates.at(19.9)
    assert found is not None
    assert found.limit == 19.9
    assert found.false_alarms == rates.limits[0].false_alarms
    assert found.missed == rates.limits[1].missed
    assert found.missed_by_steps == rates.limits[1].missed_by_steps


@pytest.mark.parametrize("limit", [9.999, 30.001, -1e9, float("inf"), float("nan")])
def test_nothing_is_said_of_limits_that_were_not_tested(rates: DecayRates, limit: float) -> None:
    assert rates.at(limit) is None


def test_the_ends_of_the_table_are_tested(rates: DecayRates) -> None:
    assert rates.at(10) is rates.limits[0]
    assert rates.at(30) is rates.limits[-1]


@pytest.mark.parametrize(("share", "limit"), [(0.5, 10), (0.2, 10), (0.199, 20), (0.04, 20), (0.02, 30), (0.001, None)])
def test_the_limit_of_a_share_is_the_strictest_that_keeps_it(
    rates: DecayRates, share: float, limit: float | None
) -> None:
    found = rates.strictest(share)
    assert (found and found.limit) == limit


def test_the_sentence_tells_both_errors_with_their_intervals(rates: DecayRates) -> None:
    found = rates.at(20)
    assert found is not None
    assert found.words == (
        "At this limit 4.0 % (2.0–6.0 %) of untouched photographs were refused in the test, and 15 % (8–22 %) of "
        "pictures remade ten times passed."
    )


def test_without_the_tenth_remaking_the_sentence_speaks_of_all() -> None:
    bare = {**row(10, 0.2, 0.1), "missed_by_steps": {"5": around(0.3)}}
    assert from_document(document(bare)).limits[0].words.endswith("10 % (5–15 %) of remade pictures passed.")


@pytest.mark.parametrize(
    "broken",
    [
        document(),
        document(row(20, 0.1, 0.1), row(10, 0.1, 0.1)),
        document(row(10, 0.1, 0.1), row(10, 0.1, 0.1)),
        document({**row(10, 0.1, 0.1), "missed": [0.1, 0.2, 0.3]}),
        document({**row(10, 0.1, 0.1), "false_alarms": [5.0, 2.0, 8.0]}),
        document({"limit": 10}),
        {"version": 2},
    ],
)
def test_a_file_that_cannot_be_right_is_refused_in_one_line(broken: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    path.write_text(json.dumps(broken))
    with pytest.raises(Prerequisite, match=r"rates\.json cannot be used \(.*install the package again: pip"):
        decay_rates(path)


def test_the_shipped_rates_are_whole_and_of_the_shipped_metric() -> None:
    shipped = decay_rates()
    assert len(shipped.limits) >= 10
    assert shipped.untouched > 0
    assert shipped.worn > 0
    assert all({5, 10, 20} <= row.missed_by_steps.keys() for row in shipped.limits)
    assert shipped.strictest(USUAL_FALSE_ALARMS) is not None
    assert shipped.placeholder or shipped.version == load_metric("decay").facts.version

"""What a chain was asked to do, as a hash that older runs share; and what is left of a run: calls, price, time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from convergebench.engine.plan import Chain, forecast, interleave
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Capabilities, Case, Limits, State
from tests.engine.parts import CASES, PAIR, CountingEditor, chains_of

SOURCE = State("i1:a", "i1:a")
CHAIN = Chain("counting", Case("first/plus/0", SOURCE, "first", "scene", (PAIR,)), RoundTrip(5), 5)


def test_the_plan_of_a_study_that_asks_nobody_is_what_it_always_was() -> None:
    assert CHAIN.plan("counting@1") == "d1:da0703e113477f058abde60a5710eae7"
    assert CHAIN.plan("counting@1", {}) == CHAIN.plan("counting@1")


def test_another_editor_role_or_clean_reference_is_another_plan() -> None:
    clean = replace(CHAIN, case=replace(CHAIN.case, clean=State("i1:b", "i1:b")))
    plans = {
        CHAIN.plan("counting@1"),
        CHAIN.plan("counting@2"),
        CHAIN.plan("counting@1", {"judge": "judge@1"}),
        CHAIN.plan("counting@1", {"judge": "judge@2"}),
        CHAIN.plan("counting@1", {"rater": "judge@1"}),
        clean.plan("counting@1"),
    }
    assert len(plans) == 6


class Priced(CountingEditor):
    """An editor with a price, one call at a time."""

    def __init__(self, dollars: float | None) -> None:
        super().__init__("priced")
        self.capabilities = Capabilities(dollars_per_call=dollars, seconds_per_call=36.0)
        self.limits = Limits(at_once=1)


def test_a_forecast_adds_up_what_is_left_of_every_chain_and_an_unknown_price_stays_unknown() -> None:
    chains = chains_of(CASES, 2, "priced")
    known, unknown = Priced(0.25), Priced(None)
    left = len(CASES) * 4 - 3
    done = {("priced", CASES[0].id): 3}
    (row,) = forecast(chains, {"priced": known}, done)
    assert (row.chains, row.calls) == (len(CASES), left)
    assert row.dollars == pytest.approx(0.25 * left)
    assert row.hours == pytest.approx(left * 36 / 3600)
    assert forecast(chains, {"priced": unknown}, done)[0].dollars is None


def test_an_editor_that_takes_a_few_requests_a_minute_needs_that_long() -> None:
    slow = Priced(0.0)
    slow.limits = Limits(at_once=4, per_minute=1)
    (row,) = forecast(chains_of(CASES, 2, "priced"), {"priced": slow}, {})
    assert row.hours == pytest.approx(len(CASES) * 4 / 60)
    slow.limits = Limits(at_once=2)
    (row,) = forecast(chains_of(CASES, 2, "priced"), {"priced": slow}, {})
    assert row.hours == pytest.approx(len(CASES) * 4 * 36 / 2 / 3600)


def test_editors_take_turns() -> None:
    one, two = chains_of(CASES, 1, "one"), chains_of(CASES[:1], 1, "two")
    names = [chain.editor for chain in interleave([*one, *two])]
    assert names == ["one", "two", *["one"] * (len(CASES) - 1)]

"""What a call is charged at, and what its row says."""

from __future__ import annotations

import math
from typing import Any

import pytest

from convergebench.engine.attempt import LONGEST_TEXT, Attempt, Charge, Price, Spending, charge_of, stored_text
from convergebench.errors import BadReply, EditorError, Exhausted, Refused, StudyError, Transient, Unavailable

PRICE = Price(0.04)
CALL = Attempt("s1:abc", 2, "mine", PRICE, begun=0.0)


@pytest.mark.parametrize(
    ("given", "price", "free"),
    [(None, Price(0.0, known=False), False), (0, Price(0.0), True), (999e9, Price(999e9), False)],
)
def test_a_price_is_an_amount_or_unknown(given: float | None, price: Price, free: bool) -> None:
    assert Price.of(given, "mine") == price
    assert price.free is free


@pytest.mark.parametrize("given", [-0.01, math.nan, math.inf, 1e12, "0.04"])
def test_what_is_no_amount_is_refused(given: Any) -> None:
    with pytest.raises(StudyError, match=r"mine says that a call costs .* dollars; a price"):
        Price.of(given, "mine")


@pytest.mark.parametrize(
    ("error", "price", "charge"),
    [
        (Transient("x"), PRICE, Charge(0.0)),
        (Transient("x", dollars=0.01), PRICE, Charge(0.01)),
        (Transient("x", unsettled=True), PRICE, Charge(0.04, settled=False)),
        (Transient("x", dollars=0.1, unsettled=True), PRICE, Charge(0.1, settled=False)),
        (Transient("x", unsettled=True), Price(0.0), Charge(0.0)),
        (Transient("x", unsettled=True), Price(0.0, known=False), Charge(0.0, settled=False)),
        (Transient("x", dollars=math.nan), PRICE, Charge(0.04, settled=False)),
        (Transient("x", dollars=math.nan), Price(0.0), Charge(0.0)),
    ],
)
def test_a_failed_call_counts_as_the_editor_says_or_at_its_price(
    error: EditorError, price: Price, charge: Charge
) -> None:
    assert charge_of(error, price) == charge


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Transient("why"), "transient"),
        (BadReply("why"), "bad-reply"),
        (Refused("why"), "refused"),
        (Exhausted("why"), "ended"),
        (Unavailable("why"), "unavailable"),
        (EditorError("why"), "error"),
    ],
)
def test_the_row_of_a_failure_has_its_outcome_its_words_and_its_cost(error: EditorError, outcome: str) -> None:
    row = CALL.failure(error, Charge(0.01))
    assert (row.step, row.attempt, row.editor, row.outcome, row.dollars, row.settled) == (
        *("s1:abc", 2, "mine", outcome, 0.01),
        True,
    )
    assert "why" in row.error


@pytest.mark.parametrize(("raw", "kept"), [('{"id": 1}', '{"id": 1}'), ({"id": 1}, None), (None, None)])
def test_the_reply_of_a_failure_is_kept_if_it_is_a_text(raw: Any, kept: str | None) -> None:
    assert CALL.failure(BadReply("no image", raw=raw), Charge(0.0)).raw == kept


def test_a_call_without_an_answer_counts_at_its_price() -> None:
    row = CALL.intent()
    assert (row.outcome, row.dollars, row.settled) == ("unknown", 0.04, False)


def test_the_seconds_of_parts_are_counted_once() -> None:
    parts = Spending()
    parts.seconds = CALL.seconds - 5.0
    assert CALL.row("ok", parts=parts).seconds == pytest.approx(5.0, abs=1.0)
    parts.seconds = CALL.seconds + 60.0
    assert CALL.row("ok", parts=parts).seconds == 0.0


def test_long_texts_are_cut_and_say_so() -> None:
    assert stored_text("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
    assert stored_text("x" * (LONGEST_TEXT + 7)) == "x" * LONGEST_TEXT + "… (7 more characters)"


def test_spending_begins_with_nothing() -> None:
    assert (Spending().dollars, Spending().seconds) == (0.0, 0.0)

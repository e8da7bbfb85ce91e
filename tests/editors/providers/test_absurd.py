"""Answers that are absurd in one place: numbers beyond measure, redirects to nowhere, encodings that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convergebench.editors.providers import download
from convergebench.errors import EditorError
from convergebench.wire import poll
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import SECRET, Provider
from tests.editors.providers.test_contract import ALL, BIG_BACK, ask

HUGE = 10**400
COUNTS = ("image_count", "cost_in_usd_ticks", "input_tokens", "output_tokens", "generated_images")
TOKENS = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
STATED = {"cost": HUGE, "usage": dict.fromkeys(COUNTS, HUGE), "usageMetadata": dict.fromkeys(TOKENS, HUGE)}
"""Wherever a provider states what a call took."""


@pytest.fixture(params=ALL, ids=lambda one: one.__name__)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Provider:
    one: Provider = request.param()
    monkeypatch.setenv(one.variable or "A_KEY", SECRET)
    monkeypatch.setattr(download, "PAUSES", (0.0,))
    monkeypatch.setattr(poll, "FIRST", 0.005)
    return one


def with_numbers(body: Any, number: str) -> bytes:
    return json.dumps({**body, **STATED}).replace(str(HUGE), number).encode()


@pytest.mark.parametrize("number", [str(HUGE), "1e308", "NaN"])
def test_no_number_in_a_reply_makes_a_price_that_nobody_could_pay(provider: Provider, number: str) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        fine = provider.success(asked, server, BIG_BACK)
        body = with_numbers(fine.body, number) if isinstance(fine.body, dict) else fine.body
        return Answer(fine.status, body, fine.headers)

    edited, _ = ask(provider, answer)
    assert 0 <= edited.dollars < 100


@pytest.mark.parametrize("place", ["javascript:1", "//[x"])
def test_a_redirect_to_nowhere_is_a_no_of_this_call(provider: Provider, place: str) -> None:
    with pytest.raises(EditorError) as told:
        ask(provider, lambda asked, server: Answer(307, headers={"Location": place}))
    assert (told.value.unsettled, told.value.dollars) == (False, 0.0)
    assert "307" in str(told.value)


def test_an_encoding_that_is_none_of_text_changes_nothing(provider: Provider) -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        fine = provider.success(asked, server, BIG_BACK)
        odd = {**fine.headers, "Content-Type": "application/json; charset=rot13"}
        return Answer(fine.status, fine.body, odd if isinstance(fine.body, dict) else fine.headers)

    assert ask(provider, answer)[0].image == BIG_BACK


def test_what_a_server_says_cannot_steer_the_terminal(provider: Provider) -> None:
    body = provider.failure(400, "\x1b[2Jgone\x07\x00 \u202e")
    with pytest.raises(EditorError) as told:
        ask(provider, lambda asked, server: Answer(400, body))
    assert str(told.value).isprintable()
    assert "gone" in str(told.value)

"""Grok Imagine at xAI: what is sent, what it cost, and a filter whose no looks like a success."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from convergebench.editors.find import make_editor
from convergebench.errors import EditorError, Refused, StudyError, Unavailable
from convergebench.types import Settings
from tests.editors.providers.fakes.xai import XAI
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request
from tests.editors.providers.provider import SECRET
from tests.editors.providers.trying import BACK, asked_of, body_of, survives_odd_bodies

SPEAKER = XAI()
IMAGE = {"b64_json": base64.b64encode(BACK).decode()}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XAI_API_KEY", SECRET)


def replying(body: Any, status: int = 200) -> Answerer:
    told = Answer(status, body)
    return lambda asked, server: told


def test_the_request_is_json_with_the_picture_as_an_address() -> None:
    body = body_of(SPEAKER)
    assert body["image"].keys() == {"url"}
    assert body["image"]["url"].startswith("data:image/png;base64,")
    assert {key: value for key, value in body.items() if key not in ("image", "prompt")} == {
        "model": "grok-imagine-image",
        "n": 1,
        "response_format": "b64_json",
    }


def test_resolutions_are_written_their_way() -> None:
    assert body_of(SPEAKER, settings=Settings(resolution="2K"))["resolution"] == "2k"


def test_there_is_no_seed_no_temperature_and_no_aspect_to_set() -> None:
    capabilities = make_editor("grok-imagine-image").capabilities
    assert (capabilities.seed, capabilities.temperature, capabilities.aspects) == (False, False, ())
    assert capabilities.resolutions == ("1K", "2K")


def test_quality_is_the_2_0_model_s_alone_and_decides_the_price() -> None:
    assert body_of(SPEAKER, "grok-imagine-image-2.0", quality="low")["quality"] == "low"
    assert make_editor("grok-imagine-image-2.0").capabilities.dollars_per_call == 0.06
    assert make_editor("grok-imagine-image-2.0", quality="low").capabilities.dollars_per_call == 0.04
    assert make_editor("grok-imagine-image-2.0", quality="low", dollars=1.0).capabilities.dollars_per_call == 1.0
    with pytest.raises(StudyError, match=r"2\.0 does"):
        make_editor("grok-imagine-image", quality="low")


def test_what_it_cost_is_what_the_reply_says() -> None:
    ticks = {"usage": {"cost_in_usd_ticks": 220_000_000}}
    assert asked_of("grok-imagine-image", replying({"data": [IMAGE], **ticks}))[0].dollars == pytest.approx(0.022)
    assert asked_of("grok-imagine-image", replying({"data": [IMAGE]}))[0].dollars == 0.02


def test_an_empty_list_is_a_filter_s_no() -> None:
    with pytest.raises(Refused) as refusal:
        asked_of("grok-imagine-image", replying({"data": [], "usage": {"cost_in_usd_ticks": 220_000_000}}))
    assert refusal.value.reason == "empty data"
    assert refusal.value.dollars == pytest.approx(0.022)


def test_a_reason_that_is_given_is_passed_on() -> None:
    with pytest.raises(Refused, match="a public figure"):
        asked_of("grok-imagine-image", replying({"data": [], "block_reason": "a public figure"}))


def test_a_mark_on_the_image_is_a_filter_s_no() -> None:
    with pytest.raises(Refused, match="moderation") as refusal:
        asked_of("grok-imagine-image", replying({"data": [{"respect_moderation": False, "url": ""}]}))
    assert refusal.value.reason == "respect_moderation"
    marked = {**IMAGE, "respect_moderation": True}
    assert asked_of("grok-imagine-image", replying({"data": [marked]}))[0].image == BACK


def test_a_filter_s_no_may_be_an_error_whose_words_say_so() -> None:
    error = {"code": "The caller does not have permission", "error": "Content violates moderation rules"}
    with pytest.raises(Refused):
        asked_of("grok-imagine-image", replying(error, 403))
    with pytest.raises(Unavailable):
        asked_of("grok-imagine-image", replying({"code": "x", "error": "Your team has no licence"}, 403))


def test_a_key_that_is_not_taken_ends_this_editor_though_it_is_a_400() -> None:
    body = {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xa***34."}
    with pytest.raises(Unavailable, match="rejects the key") as refused:
        asked_of(SPEAKER.use, replying(body, 400), path=SPEAKER.path)
    assert "xa" not in str(refused.value)


def test_a_wrong_request_is_no_refusal() -> None:
    with pytest.raises(EditorError, match="not supported") as wrong:
        asked_of("grok-imagine-image", replying({"code": "x", "error": "Argument not supported: size"}, 400))
    assert not isinstance(wrong.value, Refused)


def test_an_address_in_the_place_of_the_image_is_fetched() -> None:
    def answer(asked: Request, server: Loopback) -> Answer:
        return (
            Answer(body=BACK) if asked.method == "GET" else Answer(body={"data": [{"url": f"{server.address}/o.jpg"}]})
        )

    assert asked_of("grok-imagine-image", answer)[0].image == BACK


def test_a_model_that_has_ended_names_its_successor() -> None:
    editor: Any = make_editor("grok-imagine-image-quality")
    assert editor.lacks() == ["grok-imagine-image-quality was shut down on 2026-11-02; use grok-imagine-image-2.0"]


def test_odd_bodies_are_errors_and_never_tracebacks() -> None:
    survives_odd_bodies(SPEAKER)

"""GPT Image on the wire: sizes, qualities, prices; and what a failure means, by itself or as a tool."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.editors.base import ImageSize
from convergebench.editors.find import make_editor
from convergebench.editors.models.table import models
from convergebench.editors.providers.openai.client import OpenAIEditor
from convergebench.editors.providers.openai.prices import at_quality
from convergebench.editors.providers.openai.sizes import AREAS, EDGE, MOST, is_possible, nearest, size_for
from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient, Unavailable
from convergebench.types import Edited, EditRequest, Settings, Turn
from tests.editors.providers.fakes.openai_images import OpenAIImages, fault
from tests.editors.providers.fakes.openai_responses import painted, response
from tests.editors.providers.loopback import Answer, Answerer, Loopback, Request, serving
from tests.editors.providers.provider import SECRET
from tests.editors.providers.test_contract import picture

IN, OUT = picture(64, 48), picture(80, 48)
IMAGES, PAIR = "gpt-image-2", "gpt-6.1-sol+gpt-image-2.5-sunburst"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


def ask(
    answer: Answerer | Answer | dict[str, Any] | None = None,
    *,
    use: str = IMAGES,
    settings: Settings | None = None,
    history: tuple[Turn, ...] = (),
    image: bytes = IN,
    **options: Any,
) -> tuple[Edited, Loopback]:
    """One edit against a server that says this; by default, that all went well."""

    def well(asked: Request, server: Loopback) -> Answer:
        if asked.route.endswith("/responses"):
            return Answer(body=response(painted(OUT)))
        return OpenAIImages().success(asked, server, OUT)

    async def once(editor: OpenAIEditor) -> Edited:
        request = EditRequest(image, "image/png", "add a hat", settings or Settings(), seed=5, history=history)
        try:
            return await editor.edit(request)
        finally:
            await editor.close()

    told = answer if isinstance(answer, Answer) else Answer(body=answer)
    answerer = well if answer is None else answer if callable(answer) else lambda asked, server: told
    with serving(answerer) as server:
        editor = make_editor(use, base_url=f"{server.address}/v1", **options)
        assert isinstance(editor, OpenAIEditor)
        return asyncio.run(once(editor)), server


def fields(server: Loopback) -> dict[str, str]:
    """The form that was sent, without its image."""
    return {name: content.decode() for name, (file, content) in server.first.form.items() if not file}


# --- sizes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "resolution", "aspect", "asked"),
    [
        ((1024, 1024), None, None, "1024x1024"),
        ((1536, 864), None, None, "1536x864"),
        ((1000, 700), None, None, "1008x704"),
        ((512, 512), None, None, "816x816"),
        ((6000, 4000), None, None, "3520x2352"),
        ((1024, 1024), "1K", None, "1024x1024"),
        ((512, 288), "4K", None, "3840x2160"),
        ((1440, 2560), "2K", None, "1440x2560"),
        ((640, 640), "2K", "16:9", "2560x1440"),
        ((3000, 300), None, None, "1632x544"),
    ],
)
def test_the_size_is_the_input_s_as_nearly_as_it_is_made(
    own: tuple[int, int], resolution: str | None, aspect: str | None, asked: str
) -> None:
    assert size_for("gpt-image-2", ImageSize(*own), resolution, aspect) == asked


@given(st.integers(1, 9000), st.integers(1, 9000), st.sampled_from([None, *AREAS]))
def test_every_size_that_is_asked_for_can_be_made(width: int, height: int, resolution: str | None) -> None:
    asked = size_for("gpt-image-2.5-flare", ImageSize(width, height), resolution, None)
    size = ImageSize(*map(int, asked.split("x")))
    assert is_possible(size)
    if is_possible(ImageSize(width, height)) and resolution is None:
        assert size == (width, height)


def test_a_size_at_the_very_end_of_what_is_made_is_found() -> None:
    assert nearest(1.0, MOST * 4) == (2880, 2880)
    assert nearest(3.0, MOST) == (EDGE, EDGE / 3)


@pytest.mark.parametrize(
    ("own", "asked"), [((500, 480), "1024x1024"), ((1920, 1080), "1536x1024"), ((300, 900), "1024x1536")]
)
def test_older_models_are_asked_for_the_nearest_of_three(own: tuple[int, int], asked: str) -> None:
    assert size_for("gpt-image-1.5", ImageSize(*own), None, None) == asked
    assert size_for("chatgpt-image-latest", ImageSize(*own), "1K", None) == asked


def test_a_model_nobody_knows_chooses_itself() -> None:
    _, server = ask(use="openai:gpt-image-9")
    assert fields(server)["size"] == "auto"
    assert fields(server)["model"] == "gpt-image-9"


@pytest.mark.parametrize(
    ("use", "size"),
    [(IMAGES, "1000x1000"), (IMAGES, "big"), (IMAGES, "4096x1024"), ("gpt-image-1.5", "1040x1040"), (IMAGES, "16x16")],
)
def test_a_size_that_is_not_made_is_an_error_at_once(use: str, size: str) -> None:
    with pytest.raises(StudyError, match="does not support size"):
        make_editor(use, size=size)


# --- images.edit ------------------------------------------------------------------------------------


def test_what_is_sent_is_what_is_recorded_and_nothing_else() -> None:
    edited, server = ask()
    sent = {"size": "944x704", "quality": "high", "background": "opaque", "output_format": "png"}
    assert server.first.route == "/v1/images/edits"
    assert fields(server) == {"model": IMAGES, "prompt": "add a hat", "n": "1", **sent}
    assert server.first.form["image"] == ("image.png", IN)
    assert b"Content-Type: image/png" in server.first.body
    assert edited.used == {**sent, "made": {"size": "880x784", "quality": "high"}}


def test_settings_and_options_arrive() -> None:
    chosen = Settings(resolution="2K", aspect="16:9")
    edited, server = ask(
        use="gpt-image-2.5-flare", settings=chosen, quality="max", complexity="low", output_format="webp"
    )
    sent = fields(server)
    assert (sent["size"], sent["quality"], sent["complexity"]) == ("2560x1440", "max", "low")
    assert sent["output_format"] == "webp"
    assert edited.used["complexity"] == "low"
    assert fields(ask(use="gpt-image-1.5", input_fidelity="high")[1])["input_fidelity"] == "high"
    assert fields(ask(size="auto")[1])["size"] == "auto"


@pytest.mark.parametrize(
    ("use", "options"),
    [
        (IMAGES, {"quality": "max"}),
        ("gpt-image-2-2026-04-21", {"quality": "xhigh"}),
        ("gpt-image-1.5", {"quality": "xhigh"}),
        (IMAGES, {"input_fidelity": "low"}),
        ("gpt-image-1-mini", {"input_fidelity": "high"}),
        (PAIR, {"tool": "gpt-image-2", "quality": "max"}),
    ],
)
def test_an_option_that_a_model_has_not_is_an_error_at_once(use: str, options: dict[str, str]) -> None:
    with pytest.raises(StudyError):
        make_editor(use, **options)


def test_a_snapshot_is_asked_for_by_its_date() -> None:
    _, server = ask(use="gpt-image-2.5-flare-2026-09-08")
    assert fields(server)["model"] == "gpt-image-2.5-flare-2026-09-08"


def test_dollars_are_counted_from_tokens_by_kind() -> None:
    assert ask()[0].dollars == pytest.approx((20 * 5 + 1000 * 8 + 6000 * 30) / 1e6)
    bare = {"data": [{"b64_json": base64.b64encode(OUT).decode()}], "usage": {"input_tokens": 9, "output_tokens": 100}}
    assert ask(bare)[0].dollars == pytest.approx((9 * 8 + 100 * 30) / 1e6)
    assert ask({**bare, "usage": None})[0].dollars == 0.219
    assert ask(bare, dollars=1.5)[0].dollars == 1.5


def test_the_table_has_the_price_of_the_quality_that_is_asked_for() -> None:
    priced = [one for one in models().values() if one.provider == "openai" and one.price and one.price.call]
    assert len(priced) >= 5
    for model in priced:
        assert model.price is not None
        assert {"1K": model.price.call, **model.price.resolutions} == at_quality(model.id, "high")


def test_the_forecast_follows_the_quality() -> None:
    assert make_editor(IMAGES, quality="low").capabilities.dollars(Settings(resolution="4K")) == 0.024
    assert make_editor(IMAGES, quality="low").capabilities.dollars(Settings()) == 0.015
    assert make_editor("gpt-image-2.5-flare", quality="auto").capabilities.dollars_per_call == 0.2108
    assert make_editor("gpt-image-2.6-flare", quality="low").capabilities.dollars_per_call is None
    assert make_editor(IMAGES, quality="low", dollars=2.0).capabilities.dollars_per_call == 2.0


@pytest.mark.parametrize("use", [IMAGES, PAIR])
def test_another_quality_is_another_editor(use: str) -> None:
    assert make_editor(use).fingerprint != make_editor(use, quality="low").fingerprint


# --- failures, for both interfaces ------------------------------------------------------------------


@pytest.mark.parametrize("use", [IMAGES, PAIR])
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, fault("stopped by the safety system", "moderation_blocked"), Refused),
        (400, fault("stopped", "content_policy_violation"), Refused),
        (400, fault("Billing hard limit has been reached", "billing_hard_limit_reached"), Unavailable),
        (403, fault("Your organization must be verified to use the model"), Unavailable),
        (404, fault("The model does not exist", "model_not_found"), Unavailable),
        (429, fault("Rate limit reached for images per minute", "rate_limit_exceeded"), Transient),
        (429, fault("Rate limit reached on requests per day (RPD): Limit 50", "rate_limit_exceeded"), Unavailable),
        (429, fault("You exceeded your current quota", "insufficient_quota"), Unavailable),
        (500, b"<html>", Transient),
        (503, None, Transient),
    ],
)
def test_a_failure_is_what_it_means(use: str, status: int, body: Any, kind: type[EditorError]) -> None:
    with pytest.raises(kind) as error:
        ask(Answer(status, body), use=use)
    assert type(error.value) is kind


@pytest.mark.parametrize("use", [IMAGES, PAIR])
def test_a_key_that_is_not_taken_is_not_repeated_even_in_part(use: str) -> None:
    shown = f"Incorrect API key provided: {SECRET[:6]}*****{SECRET[-4:]}."
    with pytest.raises(Unavailable) as refused:
        ask(Answer(401, fault(shown, "invalid_api_key")), use=use)
    assert SECRET[:6] not in str(refused.value)


def test_a_redirect_is_not_followed() -> None:
    seen: list[str] = []

    def answer(asked: Request, server: Loopback) -> Answer:
        seen.append(asked.route)
        return Answer(307, b"", {"Location": f"{server.address}/elsewhere"})

    with pytest.raises(EditorError):
        ask(answer)
    assert seen == ["/v1/images/edits"]


def test_the_environment_redirects_nothing_and_replaces_no_key(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer another")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "the-other-key-of-mine")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    _, server = ask()
    assert server.first.headers["authorization"] == f"Bearer {SECRET}"
    assert server.first.headers["openai-organization"] == "org-mine"  # who pays
    assert "the-other-key-of-mine" not in str(server.first.headers)
    assert make_editor(IMAGES).base_url == "https://api.openai.com/v1"  # type: ignore[attr-defined]
    assert capfd.readouterr() == ("", "")


def test_a_proxy_that_cannot_be_one_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://here")
    with pytest.raises(Prerequisite, match="proxy"):
        ask()


ODD: list[Any] = [
    None,
    [],
    "text",
    3,
    {},
    {"data": None},
    {"data": {}, "output": {}},
    {"data": [None], "output": [None, 3, "x"]},
    {"data": [{"b64_json": None}], "output": [{"type": "image_generation_call", "result": None}]},
    {"data": [{"b64_json": 3}], "output": [{"type": "image_generation_call", "result": 3}]},
    {"data": [{"b64_json": "%%"}], "output": [{"type": "image_generation_call", "result": "%%"}]},
    {"data": [{"b64_json": ""}], "output": [{"type": "image_generation_call", "result": ""}]},
    {"data": [{"b64_json": "AAAA"}], "output": [{"type": "image_generation_call", "result": "AAAA"}]},
    {"data": [], "usage": [1], "output": [{"type": "message", "content": 4}, {"type": "reasoning", "summary": "x"}]},
    {"usage": {"input_tokens": -3}, "tool_usage": 9, "error": 5, "incomplete_details": []},
]


@pytest.mark.parametrize("use", [IMAGES, PAIR])
@pytest.mark.parametrize("body", ODD, ids=lambda body: json.dumps(body)[:50])
def test_an_odd_reply_is_a_bad_reply(use: str, body: Any) -> None:
    with pytest.raises(BadReply) as bad:
        ask(Answer(body=json.dumps(body).encode()), use=use)
    assert bad.value.raw is not None


@pytest.mark.parametrize("use", [IMAGES, PAIR])
@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"{", b"[" * 100_000, b'{"a":' * 700 + b"1" + b"}" * 700])
@pytest.mark.parametrize("status", [200, 500])
def test_bytes_that_are_no_json_are_tried_again(use: str, body: bytes, status: int) -> None:
    with pytest.raises((BadReply, Transient)):
        ask(Answer(status, body), use=use)


@pytest.mark.parametrize("use", ["gpt-image-1", "dall-e-2", "dall-e-3"])
def test_a_retired_model_names_its_successor(use: str) -> None:
    (lack,) = make_editor(use).lacks()  # type: ignore[attr-defined]
    assert "gpt-image-2.5" in lack

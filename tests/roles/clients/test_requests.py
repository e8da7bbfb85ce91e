"""The whole request of each protocol, key by key, and what the makers' own libraries would have sent."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from convergebench.images.encode import encode_png
from convergebench.roles.clients import chat
from convergebench.rubrics.rubric import load_rubric, question
from tests.roles.clients.protocols import Anthropic, Gemini, OpenAi
from tests.roles.server import MODEL, ChatResponse, serving
from tests.roles.test_served import ask

PICTURE = encode_png(np.full((6, 8, 3), 40, np.uint8))
ENCODED = base64.b64encode(PICTURE).decode()
WRITE = question(load_rubric("write-instruction"), {"edit_type": "Add an object"})
COUNT = question(load_rubric("semantics-forward"), {"instruction": "add a hat"})
SAID = json.dumps({"prompts": ["Put a red hat on the man at the left."]})
PROMPTS = {
    "type": "object",
    "properties": {
        "prompts": {"type": "array", "description": "a list with exactly one instruction", "items": {"type": "string"}}
    },
    "required": ["prompts"],
    "additionalProperties": False,
}


def test_openai_gets_a_chat_with_a_response_format() -> None:
    with serving(OpenAi().reply(SAID)) as server:
        answered = ask(server.table(temperature=0.5, seed=3, max_tokens=400, detail="low"), WRITE, (PICTURE,), 2)
        (request,) = server.requests
    assert answered.value == {"prompts": ["Put a red hat on the man at the left."]}
    url = {"url": f"data:image/png;base64,{ENCODED}", "detail": "low"}
    assert request.body == {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": WRITE["system"]},
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": url}, {"type": "text", "text": WRITE["text"]}],
            },
        ],
        "temperature": 0.5,
        "seed": 5,
        "max_tokens": 400,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "write_instruction", "strict": True, "schema": PROMPTS},
        },
    }


def test_openai_itself_is_told_the_limit_by_its_newer_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(OpenAi().reply(SAID)) as server:
        ask(server.table(max_tokens=400), WRITE, (PICTURE,))
        monkeypatch.setattr(chat, "OPENAI", "127.0.0.1")
        ask(server.table(max_tokens=400), WRITE, (PICTURE,))
    compatible, own = (request.body for request in server.requests)
    assert compatible == {"max_tokens": 400} | {name: one for name, one in own.items() if "tokens" not in name}
    assert own["max_completion_tokens"] == 400


def test_gemini_gets_contents_with_inline_pictures_and_a_json_schema() -> None:
    table: dict[str, Any] = {"api": "gemini", "temperature": 0.5, "seed": 3, "max_tokens": 400, "detail": "low"}
    with serving(Gemini().reply(SAID)) as server:
        answered = ask(server.table(**table), WRITE, (PICTURE,), 2)
        (request,) = server.requests
    assert answered.value == {"prompts": ["Put a red hat on the man at the left."]}
    assert request.path == f"/v1/models/{MODEL}:generateContent"
    assert request.body == {
        "systemInstruction": {"parts": [{"text": WRITE["system"]}]},
        "contents": [
            {
                "role": "user",
                "parts": [{"inlineData": {"mimeType": "image/png", "data": ENCODED}}, {"text": WRITE["text"]}],
            }
        ],
        "generationConfig": {
            "temperature": 0.5,
            "seed": 5,
            "maxOutputTokens": 400,
            "mediaResolution": "MEDIA_RESOLUTION_LOW",
            "responseMimeType": "application/json",
            "responseJsonSchema": PROMPTS,
        },
    }


def test_gemini_gets_what_google_s_own_library_sends() -> None:
    genai = pytest.importorskip("google.genai")
    types = genai.types
    schema = load_rubric("semantics-forward").reply.json_schema()
    with serving(Gemini().reply("{}")) as server:
        ask(server.table(api="gemini", temperature=0.5, seed=3, max_tokens=400, detail="high"), COUNT, (PICTURE,))
        options = types.HttpOptions(base_url=server.base_url.removesuffix("/v1"), api_version="v1")
        client = genai.Client(api_key="0123456789abcdef", http_options=options)
        client.models.generate_content(
            model=MODEL,
            contents=[types.Part.from_bytes(data=PICTURE, mime_type="image/png"), COUNT["text"]],
            config=types.GenerateContentConfig(
                system_instruction=COUNT["system"],
                temperature=0.5,
                seed=3,
                max_output_tokens=400,
                media_resolution="MEDIA_RESOLUTION_HIGH",
                response_mime_type="application/json",
                response_json_schema=schema,
            ),
        )
        client.close()
    ours, theirs = server.requests
    assert ours.path == theirs.path
    # the library adds a role that means nothing here, and spells one name as Google's older servers did
    del theirs.body["systemInstruction"]["role"]
    blob = theirs.body["contents"][0]["parts"][0]["inlineData"]
    blob["mimeType"] = blob.pop("mime_type", None) or blob["mimeType"]
    assert ours.body == theirs.body


def test_anthropic_gets_messages_with_base64_pictures_and_an_output_format() -> None:
    with serving(Anthropic().reply(SAID)) as server:
        answered = ask(server.table(api="anthropic", max_tokens=400, detail="original"), WRITE, (PICTURE,))
        (request,) = server.requests
    assert answered.value == {"prompts": ["Put a red hat on the man at the left."]}
    assert request.path == "/v1/messages"
    assert request.headers["anthropic-version"] == "2026-10-21"
    assert request.body == {
        "model": MODEL,
        "max_tokens": 400,
        "system": WRITE["system"],
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": ENCODED},
                        "transformations": {"oversized_image": "error"},
                    },
                    {"type": "text", "text": WRITE["text"]},
                ],
            }
        ],
        "output_config": {"format": {"type": "json_schema", "schema": PROMPTS}},
    }


def test_a_number_that_may_be_null_is_one_of_two_schemas_for_anthropic() -> None:
    with serving(Anthropic().reply("{}")) as server:
        ask(server.table(api="anthropic"), COUNT, (PICTURE,))
        schema = Anthropic().schema(server.requests[0])
    assert schema is not None
    field = schema["properties"]["carried_out"]
    assert field["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert set(field) == {"anyOf", "description"}


def test_what_is_not_given_is_not_sent() -> None:
    with serving([Gemini().reply(SAID), Anthropic().reply(SAID)]) as server:
        ask(server.table(api="gemini", max_tokens=0, structured=False), WRITE, (PICTURE,))
        ask(server.table(api="anthropic", structured=False), WRITE, (PICTURE,))
    gemini, anthropic = (set(request.body) for request in server.requests)
    assert gemini == {"contents", "systemInstruction"}
    assert anthropic == {"model", "max_tokens", "messages", "system"}


def test_further_keys_join_those_of_the_request() -> None:
    thinking = {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}, "safetySettings": []}
    effort = {"output_config": {"effort": "low"}, "thinking": {"type": "adaptive"}}
    with serving([Gemini().reply(SAID), Anthropic().reply(SAID)]) as server:
        ask(server.table(api="gemini", max_tokens=9, extra=thinking), WRITE, (PICTURE,))
        ask(server.table(api="anthropic", extra=effort), WRITE, (PICTURE,))
    gemini, anthropic = (request.body for request in server.requests)
    assert set(gemini["generationConfig"]) == {
        "maxOutputTokens",
        "responseMimeType",
        "responseJsonSchema",
        "thinkingConfig",
    }
    assert gemini["safetySettings"] == []
    assert set(anthropic["output_config"]) == {"format", "effort"}
    assert anthropic["thinking"] == {"type": "adaptive"}


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("models/gemini-3.8-flash", "/v1/models/gemini-3.8-flash:generateContent"),
        ("../../files?x=1#", "/v1/models/..%2F..%2Ffiles%3Fx%3D1%23:generateContent"),
    ],
)
def test_a_model_s_id_cannot_lead_to_another_path(model: str, path: str) -> None:
    with serving(Gemini().reply(SAID)) as server:
        ask(server.table(api="gemini", model=model), WRITE, (PICTURE,))
    assert server.requests[0].path == path


PRICES = {"input": 1.0, "output": 10.0}


@pytest.mark.parametrize(
    ("usage", "sent", "written"),
    [
        ({"promptTokenCount": 900, "toolUsePromptTokenCount": 100, "candidatesTokenCount": 20}, 1000, 20),
        ({"promptTokenCount": 900, "candidatesTokenCount": 20, "thoughtsTokenCount": 300}, 900, 320),
        ({"promptTokenCount": 900, "thoughtsTokenCount": 300}, 900, 300),
        ({"promptTokenCount": 900, "cachedContentTokenCount": 800, "candidatesTokenCount": 20}, 900, 20),
        ({"promptTokenCount": 900, "candidatesTokenCount": 20, "thoughtsTokenCount": -(10**9)}, 6000, 2048),
        ({"candidatesTokenCount": 20}, 6000, 2048),
        ([], 6000, 2048),
    ],
)
def test_gemini_s_thoughts_are_paid_for_and_nothing_is_given_back(usage: Any, sent: int, written: int) -> None:
    body = {**Gemini().reply(SAID).body, "usageMetadata": usage}
    with serving(ChatResponse(body=body)) as server:
        dollars = ask(server.table(api="gemini", dollars_per_million=PRICES), WRITE, (PICTURE,)).dollars
    assert dollars == pytest.approx((sent + 10 * written) / 1e6)


@pytest.mark.parametrize(
    ("usage", "sent", "written"),
    [
        ({"input_tokens": 900, "output_tokens": 20}, 900, 20),
        ({"input_tokens": 900, "cache_read_input_tokens": 50, "output_tokens": 20}, 950, 20),
        ({"input_tokens": 900, "cache_creation_input_tokens": 50, "output_tokens": 20}, 1000, 20),
        ({"input_tokens": 900, "cache_creation_input_tokens": "50", "output_tokens": 20}, 6000, 2048),
        ({"input_tokens": True, "output_tokens": 20}, 6000, 2048),
    ],
)
def test_anthropic_s_cache_is_paid_for(usage: Any, sent: int, written: int) -> None:
    body = {**Anthropic().reply(SAID).body, "usage": usage}
    with serving(ChatResponse(body=body)) as server:
        dollars = ask(server.table(api="anthropic", dollars_per_million=PRICES), WRITE, (PICTURE,)).dollars
    assert dollars == pytest.approx((sent + 10 * written) / 1e6)

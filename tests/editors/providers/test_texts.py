"""Every text of a server that an editor passes on is short enough to be looked through, and any file can hold it."""

from __future__ import annotations

import base64
import time
from typing import Any

import pytest

from convergebench.errors import EditorError
from tests.editors.providers.fakes.ark import Ark
from tests.editors.providers.fakes.comfyui import ComfyUI, entry
from tests.editors.providers.fakes.compatible import CompatibleKeyed
from tests.editors.providers.fakes.fal import Fal
from tests.editors.providers.fakes.gemini import Gemini, picture_part, reply
from tests.editors.providers.fakes.openai_images import OpenAIImages, fault
from tests.editors.providers.fakes.openai_responses import OpenAIResponses, failed, painted, response, thinking
from tests.editors.providers.fakes.xai import XAI
from tests.editors.providers.loopback import Answer
from tests.editors.providers.provider import SECRET, Provider
from tests.editors.providers.trying import BACK, asked_of

LONG = "many words \ud800 " * 100_000 + SECRET
IMAGE = base64.b64encode(BACK).decode()
FAULT = {"loc": ["body", LONG], "msg": LONG, "type": LONG}
SCENES: list[tuple[str, Provider, Answer]] = [
    ("why a question is blocked", Gemini(), Answer(body={"promptFeedback": {"blockReason": LONG}})),
    ("how it ended", Gemini(), Answer(body=reply(None, LONG, finishMessage=LONG))),
    ("who answered", Gemini(), Answer(body=reply([picture_part(BACK)]) | {"modelVersion": LONG})),
    ("what it thought", Gemini(), Answer(body=reply([{"text": LONG, "thought": True}, picture_part(BACK)]))),
    ("a signature", Gemini(), Answer(body=reply([picture_part(BACK, thoughtSignature=LONG * 3)]))),
    ("a code", OpenAIResponses(), Answer(body=response(failed(code=LONG, message=LONG)))),
    ("a filter's code", OpenAIImages(), Answer(400, fault(LONG, LONG))),
    ("who answered", OpenAIResponses(), Answer(body=response(thinking(LONG), painted(BACK), model=LONG))),
    ("what was made", OpenAIImages(), Answer(body={"data": [{"b64_json": IMAGE}], "size": LONG, "quality": LONG})),
    ("who answered", Ark(), Answer(body={"data": [{"b64_json": IMAGE}], "model": LONG})),
    ("a code", Ark(), Answer(body={"data": [{"error": {"code": LONG + "RiskDetection", "message": LONG}}]})),
    ("who answered", XAI(), Answer(body={"data": [{"b64_json": IMAGE}], "model": LONG})),
    ("a fault", Fal(), Answer(422, {"detail": [FAULT]})),
    ("an address", Fal(), Answer(body={"status_url": f"http://h\ud800/{LONG}", "response_url": "http://h\ud800/"})),
    ("what it thought", CompatibleKeyed(), Answer(body={"data": [{"b64_json": IMAGE}], "cot_output": LONG})),
]


@pytest.mark.parametrize(("provider", "told"), [pytest.param(*one[1:], id=f"{one[1].use}, {one[0]}") for one in SCENES])
def test_a_text_is_bounded_and_whole(provider: Provider, told: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provider.variable, SECRET)
    begun = time.process_time()
    texts = list(said_by(provider, told))
    assert time.process_time() - begun < 4
    for text in texts:
        text.encode()
        assert len(text) < 10_000_000
    short = texts[:2]
    assert all(len(text) < 1000 for text in short), [len(text) for text in short]


def said_by(provider: Provider, told: Answer) -> list[str]:
    """Name or reason and message first, then what may be longer."""
    try:
        edited, _ = asked_of(provider.use, lambda asked, server: told, path=provider.path, **provider.options)
    except EditorError as error:
        return [str(error), str(getattr(error, "reason", "")), error.raw or ""]
    return [edited.model or "", str(edited.used), edited.raw or "", edited.reasoning or ""]


def test_a_node_is_named_in_one_short_line(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = ComfyUI()
    error: dict[str, Any] = {"node_id": LONG, "node_type": "a\nb", "exception_message": LONG}

    def answer(asked: Any, server: Any) -> Answer:
        if not asked.route.startswith("/history/"):
            return provider.success(asked, server, BACK)
        return Answer(body={asked.route.rpartition("/")[2]: entry([], error=("execution_error", error))})

    with pytest.raises(EditorError) as failed_:
        asked_of(provider.use, answer, **provider.options)
    assert len(str(failed_.value)) < 1000
    assert "\n" not in str(failed_.value)
    str(failed_.value).encode()

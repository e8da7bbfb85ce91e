"""Every text of a server that an editor passes on is short enough to be looked through, and any file can hold it."""

from __future__ import annotations

import base64
import time
from typing import Any

import pytest

from convergebench.errors import EditorError
from tests.editors.providers.loopback import Told
from tests.editors.providers.speaker import SECRET, Speaker
from tests.editors.providers.speakers.ark import Ark
from tests.editors.providers.speakers.comfyui import ComfyUI, entry
from tests.editors.providers.speakers.compatible import CompatibleKeyed
from tests.editors.providers.speakers.fal import Fal
from tests.editors.providers.speakers.gemini import Gemini, picture_part, reply
from tests.editors.providers.speakers.openai_images import OpenAIImages, fault
from tests.editors.providers.speakers.openai_responses import OpenAIResponses, failed, painted, response, thinking
from tests.editors.providers.speakers.xai import XAI
from tests.editors.providers.trying import BACK, asked_of

LONG = "many words \ud800 " * 100_000 + SECRET
IMAGE = base64.b64encode(BACK).decode()
FAULT = {"loc": ["body", LONG], "msg": LONG, "type": LONG}
SCENES: list[tuple[str, Speaker, Told]] = [
    ("why a question is blocked", Gemini(), Told(body={"promptFeedback": {"blockReason": LONG}})),
    ("how it ended", Gemini(), Told(body=reply(None, LONG, finishMessage=LONG))),
    ("who answered", Gemini(), Told(body=reply([picture_part(BACK)]) | {"modelVersion": LONG})),
    ("what it thought", Gemini(), Told(body=reply([{"text": LONG, "thought": True}, picture_part(BACK)]))),
    ("a signature", Gemini(), Told(body=reply([picture_part(BACK, thoughtSignature=LONG * 3)]))),
    ("a code", OpenAIResponses(), Told(body=response(failed(code=LONG, message=LONG)))),
    ("a filter's code", OpenAIImages(), Told(400, fault(LONG, LONG))),
    ("who answered", OpenAIResponses(), Told(body=response(thinking(LONG), painted(BACK), model=LONG))),
    ("what was made", OpenAIImages(), Told(body={"data": [{"b64_json": IMAGE}], "size": LONG, "quality": LONG})),
    ("who answered", Ark(), Told(body={"data": [{"b64_json": IMAGE}], "model": LONG})),
    ("a code", Ark(), Told(body={"data": [{"error": {"code": LONG + "RiskDetection", "message": LONG}}]})),
    ("who answered", XAI(), Told(body={"data": [{"b64_json": IMAGE}], "model": LONG})),
    ("a fault", Fal(), Told(422, {"detail": [FAULT]})),
    ("an address", Fal(), Told(body={"status_url": f"http://h\ud800/{LONG}", "response_url": "http://h\ud800/"})),
    ("what it thought", CompatibleKeyed(), Told(body={"data": [{"b64_json": IMAGE}], "cot_output": LONG})),
]


@pytest.mark.parametrize(("speaker", "told"), [pytest.param(*one[1:], id=f"{one[1].use}, {one[0]}") for one in SCENES])
def test_a_text_is_bounded_and_whole(speaker: Speaker, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(speaker.variable, SECRET)
    begun = time.process_time()
    texts = list(said_by(speaker, told))
    assert time.process_time() - begun < 4
    for text in texts:
        text.encode()
        assert len(text) < 10_000_000
    short = texts[:2]
    assert all(len(text) < 1000 for text in short), [len(text) for text in short]


def said_by(speaker: Speaker, told: Told) -> list[str]:
    """Name or reason and message first, then what may be longer."""
    try:
        edited, _ = asked_of(speaker.use, lambda asked, server: told, path=speaker.path, **speaker.options)
    except EditorError as error:
        return [str(error), str(getattr(error, "reason", "")), error.raw or ""]
    return [edited.model or "", str(edited.used), edited.raw or "", edited.reasoning or ""]


def test_a_node_is_named_in_one_short_line(monkeypatch: pytest.MonkeyPatch) -> None:
    speaker = ComfyUI()
    error: dict[str, Any] = {"node_id": LONG, "node_type": "a\nb", "exception_message": LONG}

    def answer(asked: Any, server: Any) -> Told:
        if not asked.route.startswith("/history/"):
            return speaker.success(asked, server, BACK)
        return Told(body={asked.route.rpartition("/")[2]: entry([], error=("execution_error", error))})

    with pytest.raises(EditorError) as failed_:
        asked_of(speaker.use, answer, **speaker.options)
    assert len(str(failed_.value)) < 1000
    assert "\n" not in str(failed_.value)
    str(failed_.value).encode()

"""OpenAI's Responses API: POST /responses; a language model calls its image tool and tells what it thought."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.fakes.openai_images import fault
from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


def response(*output: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "gpt-6.1-sol-2026-10-01",
        "output": list(output),
        "usage": {
            "input_tokens": 1500,
            "input_tokens_details": {"cached_tokens": 500, "cache_write_tokens": 0},
            "output_tokens": 300,
            "output_tokens_details": {"reasoning_tokens": 200},
            "total_tokens": 1800,
        },
        "tool_usage": {
            "image_gen": {
                "input_tokens": 1020,
                "input_tokens_details": {"text_tokens": 20, "image_tokens": 1000},
                "output_tokens": 1700,
                "total_tokens": 2720,
            },
            "web_search": {"num_requests": 0},
        },
        **more,
    }


def thinking(*parts: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": part} for part in parts]
    return {"id": "rs_1", "type": "reasoning", "summary": summary}


def said(words: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": words, "annotations": []}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def painted(picture: bytes) -> dict[str, Any]:
    result = base64.b64encode(picture).decode()
    return {
        "id": "ig_1",
        "type": "image_generation_call",
        "status": "completed",
        "result": result,
        "revised_prompt": "x",
    }


def failed(**error: Any) -> dict[str, Any]:
    return {"id": "ig_1", "type": "image_generation_call", "status": "failed", "result": None, "error": error}


class OpenAIResponses(Provider):
    use = "gpt-6.1-sol+gpt-image-2.5-sunburst"
    variable = "OPENAI_API_KEY"
    path = "/v1"

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        thoughts = thinking("**Planning the hat**\n\nOn the head.", "**Checking the result**\n\nIt sits well.")
        return Answer(body=response(thoughts, painted(picture), said("Here it is.")))

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        details = {"categories": ["violence"], "moderation_stage": "output"}
        call = failed(
            code="moderation_blocked", message="This is not allowed.", type="image", moderation_details=details
        )
        return Answer(body=response(call, said("Sorry.")))

    def failure(self, status: int, message: str) -> Any:
        return fault(message)

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body=response(said("I would rather talk.")))

    def spent(self) -> Answer:
        return Answer(429, fault("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"))

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        words, picture = asked[0].json["input"][0]["content"]
        return base64.b64decode(picture["image_url"].partition(",")[2]), words["text"]

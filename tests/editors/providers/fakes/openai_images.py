"""OpenAI's Images API: POST /images/edits with a form; the picture comes as base64."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


def fault(message: str, code: str | None = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


class OpenAIImages(Provider):
    use = "gpt-image-2"
    variable = "OPENAI_API_KEY"
    path = "/v1"

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        return Answer(
            body={
                "created": 1,
                "data": [{"b64_json": base64.b64encode(picture).decode()}],
                "size": "880x784",
                "quality": "high",
                "output_format": "png",
                "background": "opaque",
                "usage": {
                    "input_tokens": 1020,
                    "input_tokens_details": {"text_tokens": 20, "image_tokens": 1000},
                    "output_tokens": 6000,
                    "output_tokens_details": {"text_tokens": 0, "image_tokens": 6000},
                    "total_tokens": 7020,
                },
            }
        )

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        return Answer(400, fault("This is not allowed.", "moderation_blocked", "image_generation_user_error"))

    def failure(self, status: int, message: str) -> Any:
        return fault(message)

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body={"created": 1, "data": []})

    def spent(self) -> Answer:
        return Answer(429, fault("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"))

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        form = asked[0].form
        return form["image"][1], form["prompt"][1].decode()

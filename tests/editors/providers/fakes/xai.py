"""xAI: POST /images/edits in JSON; the answer holds the image as base64 and what it cost."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


class XAI(Provider):
    use = "grok-imagine-image"
    variable = "XAI_API_KEY"
    path = "/v1"

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        image = {"b64_json": base64.b64encode(picture).decode(), "mime_type": "image/jpeg"}
        return Answer(body={"data": [image], "usage": {"cost_in_usd_ticks": 220_000_000}})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        return Answer(400, {"code": "invalid argument", "error": "Rejected by content moderation: not allowed."})

    def failure(self, status: int, message: str) -> Any:
        return {"code": "an error", "error": message}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body={"data": []})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        body = asked[0].json
        return base64.b64decode(body["image"]["url"].partition(",")[2]), body["prompt"]

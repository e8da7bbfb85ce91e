"""Ark: POST /images/generations with the image in the body; the answer holds it as base64."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


class Ark(Provider):
    use = "seedream-4.5"
    variable = "ARK_API_KEY"
    path = "/api/v3"

    def reply(self, *data: dict[str, Any]) -> dict[str, Any]:
        made = sum("b64_json" in one for one in data)
        usage = {"generated_images": made, "output_tokens": 16384 * made, "total_tokens": 16384 * made}
        return {"model": "seedream-4-5-251128", "created": 1, "data": list(data), "usage": usage}

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        return Answer(body=self.reply({"b64_json": base64.b64encode(picture).decode(), "size": "2080x1792"}))

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        return Answer(400, self.failure(400, "The image is not allowed.", "InputImageSensitiveContentDetected"))

    def failure(self, status: int, message: str, code: str = "") -> Any:
        return {"error": {"code": code or f"Code{status}", "message": message, "param": "", "type": "BadRequest"}}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body=self.reply())

    def spent(self) -> Answer:
        return Answer(403, self.failure(403, "Your account has an overdue balance.", "AccountOverdueError"))

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        body = asked[0].json
        return base64.b64decode(body["image"].partition(",")[2]), body["prompt"]

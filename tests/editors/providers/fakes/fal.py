"""fal's queue: POST /MODEL → addresses to look at; GET status until COMPLETED; GET the result; GET the image."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider

TASK = "/fal-ai/flux-pro/requests/r-1"


class Fal(Provider):
    use = "fal:fal-ai/flux-pro/kontext"
    variable = "FAL_KEY"

    def _taken(self, server: Loopback) -> Answer:
        at = f"{server.address}{TASK}"
        links = {"response_url": at, "status_url": f"{at}/status", "cancel_url": f"{at}/cancel"}
        return Answer(body={"status": "IN_QUEUE", "request_id": "r-1", "queue_position": 0, **links})

    def _answer(self, asked: Request, server: Loopback, result: Answer) -> Answer:
        """All of a call but its result."""
        if asked.method == "POST":
            return self._taken(server)
        if asked.route == f"{TASK}/status":
            looks = sum(one.route == asked.route for one in server.asked)
            status = ("IN_QUEUE", "IN_PROGRESS", "COMPLETED")[min(looks, 3) - 1]
            return Answer(200 if status == "COMPLETED" else 202, {"status": status, "request_id": "r-1"})
        return result

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.route.startswith("/files/"):
            return Answer(body=picture, headers={"Content-Type": "image/png"})
        image = {"url": f"{server.address}/files/out.png", "content_type": "image/png", "width": 464, "height": 400}
        result = {"images": [image], "seed": 5, "has_nsfw_concepts": [False], "timings": {}, "prompt": "…"}
        return self._answer(asked, server, Answer(body=result))

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        fault = {"loc": ["body", "prompt"], "msg": "this is not allowed", "type": "content_policy_violation"}
        return self._answer(asked, server, Answer(422, {"detail": [fault]}, {"X-Fal-Retryable": "false"}))

    def failure(self, status: int, message: str) -> Any:
        return {"detail": message}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return self._answer(asked, server, Answer(body={"images": [], "seed": 5}))

    def spent(self) -> Answer:
        return Answer(403, {"detail": "User is locked. Reason: Exhausted balance."})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        body = asked[0].json
        return base64.b64decode(body["image_url"].partition(",")[2]), body["prompt"]

    def key_sent(self, asked: Request) -> str:
        return asked.headers.get("authorization", "").removeprefix("Key ")

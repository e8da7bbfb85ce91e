"""Replicate: POST /models/OWNER/NAME/predictions and wait; GET urls.get until it is done; GET the output."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


class Replicate(Provider):
    use = "replicate:black-forest-labs/flux-kontext-pro"
    variable = "REPLICATE_API_TOKEN"
    path = "/v1"

    def prediction(self, server: Loopback, status: str, **more: Any) -> dict[str, Any]:
        at = f"{server.address}/v1/predictions/p-1"
        fixed = {"id": "p-1", "model": "black-forest-labs/flux-kontext-pro", "version": "hidden", "input": {}}
        return {
            **fixed,
            "status": status,
            "output": None,
            "error": None,
            "urls": {"get": at, "cancel": f"{at}/cancel"},
        } | more

    def _answer(self, asked: Request, server: Loopback, result: dict[str, Any]) -> Answer:
        if asked.method == "POST":
            return Answer(201, self.prediction(server, "starting"))
        looks = sum(one.method == "GET" for one in server.asked)
        return Answer(body=self.prediction(server, "processing") if looks == 1 else result)

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.route.startswith("/delivery/"):
            return Answer(body=picture, headers={"Content-Type": "image/png"})
        output = f"{server.address}/delivery/out.png"
        return self._answer(asked, server, self.prediction(server, "succeeded", output=output))

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        error = "The input or output was flagged as sensitive and is not allowed. (E005)"
        return self._answer(asked, server, self.prediction(server, "failed", error=error))

    def failure(self, status: int, message: str) -> Any:
        return {"title": "No", "detail": message, "status": status}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return self._answer(asked, server, self.prediction(server, "succeeded", output=[]))

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        body = asked[0].json["input"]
        return base64.b64decode(body["input_image"].partition(",")[2]), body["prompt"]

"""Black Forest Labs: POST /v1/MODEL → id and polling address; GET it until Ready; GET the signed address."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


class BlackForestLabs(Provider):
    use = "flux-kontext-pro"
    variable = "BFL_API_KEY"

    def _submitted(self, server: Loopback) -> Answer:
        address = f"{server.address}/v1/get_result?id=t-1"
        return Answer(body={"id": "t-1", "polling_url": address, "cost": 4.0, "input_mp": 1, "output_mp": 1})

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.method == "POST":
            return self._submitted(server)
        if asked.route == "/v1/get_result":
            looks = sum(one.route == "/v1/get_result" for one in server.asked)
            if looks == 1:
                return Answer(body={"id": "t-1", "status": "Pending", "result": None})
            sample = f"{server.address}/signed.png?sig=x"
            return Answer(body={"id": "t-1", "status": "Ready", "result": {"sample": sample, "seed": 5}})
        return Answer(body=picture, headers={"Content-Type": "image/png"})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        if asked.method == "POST":
            return self._submitted(server)
        return Answer(body={"id": "t-1", "status": "Content Moderated", "details": {"reason": "not allowed"}})

    def failure(self, status: int, message: str) -> Any:
        return {"detail": message}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        if asked.method == "POST":
            return self._submitted(server)
        return Answer(body={"id": "t-1", "status": "Ready", "result": {}})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        body = asked[0].json
        return base64.b64decode(body["input_image"]), body["prompt"]

    def key_sent(self, asked: Request) -> str:
        return asked.headers.get("x-key", "")

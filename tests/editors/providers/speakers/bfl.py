"""Black Forest Labs: POST /v1/MODEL → id and polling address; GET it until Ready; GET the signed address."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Asked, Loopback, Told
from tests.editors.providers.speaker import Speaker


class BlackForestLabs(Speaker):
    use = "flux-kontext-pro"
    variable = "BFL_API_KEY"

    def _submitted(self, server: Loopback) -> Told:
        address = f"{server.address}/v1/get_result?id=t-1"
        return Told(body={"id": "t-1", "polling_url": address, "cost": 4.0, "input_mp": 1, "output_mp": 1})

    def success(self, asked: Asked, server: Loopback, picture: bytes) -> Told:
        if asked.method == "POST":
            return self._submitted(server)
        if asked.route == "/v1/get_result":
            looks = sum(one.route == "/v1/get_result" for one in server.asked)
            if looks == 1:
                return Told(body={"id": "t-1", "status": "Pending", "result": None})
            sample = f"{server.address}/signed.png?sig=x"
            return Told(body={"id": "t-1", "status": "Ready", "result": {"sample": sample, "seed": 5}})
        return Told(body=picture, headers={"Content-Type": "image/png"})

    def refusal(self, asked: Asked, server: Loopback) -> Told:
        if asked.method == "POST":
            return self._submitted(server)
        return Told(body={"id": "t-1", "status": "Content Moderated", "details": {"reason": "not allowed"}})

    def failure(self, status: int, message: str) -> Any:
        return {"detail": message}

    def empty(self, asked: Asked, server: Loopback) -> Told:
        if asked.method == "POST":
            return self._submitted(server)
        return Told(body={"id": "t-1", "status": "Ready", "result": {}})

    def sent(self, asked: Sequence[Asked]) -> tuple[bytes, str]:
        body = asked[0].json
        return base64.b64decode(body["input_image"]), body["prompt"]

    def key_sent(self, asked: Asked) -> str:
        return asked.headers.get("x-key", "")

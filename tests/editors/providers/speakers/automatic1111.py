"""AUTOMATIC1111: POST /sdapi/v1/img2img answers with base64 pictures, and its facts as JSON inside JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Asked, Loopback, Told
from tests.editors.providers.speaker import Speaker


class Automatic1111(Speaker):
    use = "automatic1111:my-webui"
    filters = False

    def success(self, asked: Asked, server: Loopback, picture: bytes) -> Told:
        if asked.route != "/sdapi/v1/img2img":
            return Told(404, {"detail": "Not Found"})
        sent = asked.json
        info = {
            "prompt": sent["prompt"],
            "seed": sent["seed"],
            "steps": sent.get("steps", 50),
            "sampler_name": sent.get("sampler_name", "Euler"),
            "sd_model_name": "instruct-pix2pix-00-22000",
            "sd_model_hash": "fbc31a67aa",
        }
        images = [base64.b64encode(picture).decode()]
        return Told(body={"images": images, "parameters": sent, "info": json.dumps(info)})

    def refusal(self, asked: Asked, server: Loopback) -> Told:
        raise AssertionError("it has no filter")

    def failure(self, status: int, message: str) -> Any:
        return {"error": "HTTPException", "detail": message, "body": "", "errors": ""}

    def empty(self, asked: Asked, server: Loopback) -> Told:
        return Told(body={"images": [], "parameters": {}, "info": "{}"})

    def sent(self, asked: Sequence[Asked]) -> tuple[bytes, str]:
        body = asked[0].json
        return base64.b64decode(body["init_images"][0]), body["prompt"]

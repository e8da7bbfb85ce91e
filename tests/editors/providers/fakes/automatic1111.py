"""AUTOMATIC1111: POST /sdapi/v1/img2img answers with base64 pictures, and its facts as JSON inside JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider


class Automatic1111(Provider):
    use = "automatic1111:my-webui"
    filters = False

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.route != "/sdapi/v1/img2img":
            return Answer(404, {"detail": "Not Found"})
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
        return Answer(body={"images": images, "parameters": sent, "info": json.dumps(info)})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        raise AssertionError("it has no filter")

    def failure(self, status: int, message: str) -> Any:
        return {"error": "HTTPException", "detail": message, "body": "", "errors": ""}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body={"images": [], "parameters": {}, "info": "{}"})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        body = asked[0].json
        return base64.b64decode(body["init_images"][0]), body["prompt"]

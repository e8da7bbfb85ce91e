"""DashScope: POST …/multimodal-generation/generation → the image's address; errors have a code, sometimes with 200."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider

CODES = {
    400: "InvalidParameter",
    401: "InvalidApiKey",
    402: "Arrearage",
    403: "AccessDenied",
    404: "ModelNotFound",
    429: "Throttling.RateQuota",
    500: "InternalError.Algo",
    502: "InternalError",
    503: "ModelServiceUnavailable",
}


class DashScope(Provider):
    use = "qwen-image-edit-plus"
    variable = "DASHSCOPE_API_KEY"
    path = "/api/v1"

    def reply(self, content: list[dict[str, str]]) -> dict[str, Any]:
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        usage = {"image_count": 1, "width": 464, "height": 400}
        return {"output": {"choices": [choice]}, "usage": usage, "request_id": "q-1"}

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        if asked.method == "POST":
            return Answer(body=self.reply([{"image": f"{server.address}/oss/out.png?Expires=1&Signature=s"}]))
        return Answer(body=picture, headers={"Content-Type": "image/png"})

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        code = {"code": "DataInspectionFailed", "message": "Input data is not allowed here.", "request_id": "q-1"}
        return Answer(400, code)

    def failure(self, status: int, message: str) -> Any:
        return {"code": CODES[status], "message": message, "request_id": "q-1"}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body=self.reply([{"text": "nothing"}]))

    def spent(self) -> Answer:
        return Answer(400, {"code": "Arrearage", "message": "Access denied, your account is not in good standing."})

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        image, words = asked[0].json["input"]["messages"][0]["content"]
        return base64.b64decode(image["image"].partition(",")[2]), words["text"]

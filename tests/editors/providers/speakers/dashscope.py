"""DashScope: POST …/multimodal-generation/generation → the image's address; errors have a code, sometimes with 200."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Asked, Loopback, Told
from tests.editors.providers.speaker import Speaker

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


class DashScope(Speaker):
    use = "qwen-image-edit-plus"
    variable = "DASHSCOPE_API_KEY"
    path = "/api/v1"

    def reply(self, content: list[dict[str, str]]) -> dict[str, Any]:
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        usage = {"image_count": 1, "width": 464, "height": 400}
        return {"output": {"choices": [choice]}, "usage": usage, "request_id": "q-1"}

    def success(self, asked: Asked, server: Loopback, picture: bytes) -> Told:
        if asked.method == "POST":
            return Told(body=self.reply([{"image": f"{server.address}/oss/out.png?Expires=1&Signature=s"}]))
        return Told(body=picture, headers={"Content-Type": "image/png"})

    def refusal(self, asked: Asked, server: Loopback) -> Told:
        code = {"code": "DataInspectionFailed", "message": "Input data is not allowed here.", "request_id": "q-1"}
        return Told(400, code)

    def failure(self, status: int, message: str) -> Any:
        return {"code": CODES[status], "message": message, "request_id": "q-1"}

    def empty(self, asked: Asked, server: Loopback) -> Told:
        return Told(body=self.reply([{"text": "nothing"}]))

    def spent(self) -> Told:
        return Told(400, {"code": "Arrearage", "message": "Access denied, your account is not in good standing."})

    def sent(self, asked: Sequence[Asked]) -> tuple[bytes, str]:
        image, words = asked[0].json["input"]["messages"][0]["content"]
        return base64.b64decode(image["image"].partition(",")[2]), words["text"]

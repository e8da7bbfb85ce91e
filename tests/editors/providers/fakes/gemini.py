"""Gemini: POST /v1/models/MODEL:generateContent. Thoughts and drafts come before the picture; a no comes with 200."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tests.editors.providers.loopback import Answer, Loopback, Request
from tests.editors.providers.provider import Provider

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
SIGNATURE = base64.b64encode(b"signed" * 500).decode()
"""As long as an image that `raw` would take out."""


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def decoded(data: str) -> bytes:
    """The library sends base64 in the alphabet for addresses."""
    return base64.urlsafe_b64decode(data)


def reply(parts: list[Any] | None, finish: str = "STOP", **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"finishReason": finish, "index": 0, **more}
    if parts is not None:
        candidate["content"] = {"role": "model", "parts": parts}
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": 1130,
            "candidatesTokenCount": 1150,
            "thoughtsTokenCount": 200,
            "totalTokenCount": 2480,
            "promptTokensDetails": [
                {"modality": "TEXT", "tokenCount": 10},
                {"modality": "IMAGE", "tokenCount": 1120},
            ],
            "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1120}],
        },
        "modelVersion": "gemini-3-pro-image-001",
        "responseId": "r-1",
    }


def picture_part(data: bytes, **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": encoded(data)}, **more}


class Gemini(Provider):
    use = "gemini-3-pro-image"
    variable = "GEMINI_API_KEY"

    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        draft = picture_part(b"a draft" * 1000, thought=True)
        parts = [
            {"text": "**Planning the hat**\nI put it on the head.", "thought": True},
            draft,
            {"text": "**Checking the result**\nIt sits well.", "thought": True},
            {"text": "Here it is.", "thoughtSignature": SIGNATURE},
            picture_part(picture, thoughtSignature=SIGNATURE),
        ]
        return Answer(body=reply(parts))

    def refusal(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body=reply(None, "IMAGE_SAFETY", finishMessage="This is not allowed."))

    def failure(self, status: int, message: str) -> Any:
        return {"error": {"code": status, "message": message, "status": STATUS.get(status, "UNKNOWN")}}

    def empty(self, asked: Request, server: Loopback) -> Answer:
        return Answer(body=reply([{"text": "I would rather talk."}]))

    def spent(self) -> Answer:
        return Answer(429, limited("GenerateRequestsPerDayPerProjectPerModel", "3600s"))

    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        picture, words = asked[0].json["contents"][-1]["parts"]
        return decoded(picture["inlineData"]["data"]), words["text"]

    def key_sent(self, asked: Request) -> str:
        return asked.headers.get("x-goog-api-key", "")


def limited(limit: str, delay: str) -> dict[str, Any]:
    """A 429 as Google explains it."""
    kind = "type.googleapis.com/google.rpc."
    return {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {"@type": f"{kind}QuotaFailure", "violations": [{"quotaMetric": "requests", "quotaId": limit}]},
                {"@type": f"{kind}RetryInfo", "retryDelay": delay},
            ],
        }
    }

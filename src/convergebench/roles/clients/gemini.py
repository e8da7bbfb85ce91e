"""Google's Gemini protocol: `generateContent` of the Developer API, with pictures inside the request.

The shape of a request is that of google-genai; the library itself is not needed.
"""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import quote

from convergebench.errors import Prerequisite, Transient
from convergebench.roles.clients.base import Completion, ModelClient, ModelQuestion, count, merged, redacted, total
from convergebench.wire.client import HttpReply, clean
from convergebench.wire.google import GoogleError, google_error
from convergebench.wire.verdict import classify_failure

REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
     "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)  # fmt: skip
"""Finish reasons of a content filter."""
TRUNCATED = frozenset({"MAX_TOKENS", "CONTINUATION"})
COMPLETE = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED", ""})
"""Finish reasons of a whole reply; any further one (OTHER, MALFORMED_RESPONSE …) may not recur and is asked again."""


class GeminiClient(ModelClient):
    """`POST /models/MODEL:generateContent`."""

    formats = frozenset({"image/png", "image/jpeg", "image/webp"})
    header: ClassVar = "x-goog-api-key"
    key_form: ClassVar = "{}"

    @property
    def path(self) -> str:
        """The model's id is part of the path, so it is quoted."""
        return f"/models/{quote(self.table.model.removeprefix('models/'), safe='')}:generateContent"

    def body(self, question: ModelQuestion) -> dict[str, Any]:
        """The request; what is not given is not sent."""
        table = self.table
        pictures = [{"inlineData": {"mimeType": one.mime, "data": one.data}} for one in question.pictures]
        config: dict[str, Any] = {
            "temperature": table.temperature,
            "seed": question.seed,
            "maxOutputTokens": table.max_tokens or None,
            "mediaResolution": f"MEDIA_RESOLUTION_{table.detail.upper()}" if table.detail else None,
        }
        sent = {name: value for name, value in config.items() if value is not None}
        if question.schema is not None:
            # standard JSON schema, as for the other protocols; `responseSchema` would be a dialect of its own
            sent |= {"responseMimeType": "application/json", "responseJsonSchema": question.schema}
        body: dict[str, Any] = {"contents": [{"role": "user", "parts": [*pictures, {"text": question.text}]}]}
        if question.system:
            body["systemInstruction"] = {"parts": [{"text": question.system}]}
        if sent:
            body["generationConfig"] = sent
        return merged(body, table.extra)

    def read(self, body: Any, raw: str) -> Completion:
        """The first candidate without its thoughts, or the reason why there is none."""
        model = self.reported(body.get("modelVersion"))
        sent, written = _tokens(body.get("usageMetadata"))
        blocked = (body.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            return Completion("", model, "refused", clean(str(blocked)), sent, written, raw)
        candidate = body["candidates"][0]
        finish = clean(str(candidate.get("finishReason") or ""))
        # a reply that was stopped has no content, or one without parts
        parts = (candidate.get("content") or {}).get("parts") or []
        text = redacted("".join(part["text"] for part in parts if "text" in part and part.get("thought") is not True))
        if finish in REFUSALS:
            return Completion(text, model, "refused", finish, sent, written, raw)
        if finish in TRUNCATED:
            return Completion(text, model, "truncated", finish, sent, written, raw)
        return Completion(text, model, "complete" if finish in COMPLETE else "broken", finish, sent, written, raw)

    def failure(self, answer: HttpReply, status: int | None = None) -> Exception:
        """Google's details say more than the status: a wrong key comes as 400, a spent day as 429."""
        verdict, found = classify_failure(answer, status=status), google_error(answer.data)
        if found.key_rejected:  # its message may repeat the key
            return self.key_error(status or answer.status)
        if found.unavailable:
            return Prerequisite(verdict.message)
        if found.day_spent:
            return Prerequisite(f"{verdict.message} (today's quota is used up)")
        if verdict.kind == "busy":
            return Transient(verdict.message, retry_after=_pause(verdict.retry_after, found), raw=verdict.raw)
        return self.error_for(verdict, status or answer.status)


def _pause(asked: float | None, found: GoogleError) -> float | None:
    return found.retry_after if asked is None else asked


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """Thoughts are charged as output; a blocked question has neither thoughts nor candidates."""
    sent = total(count(usage, "promptTokenCount"), count(usage, "toolUsePromptTokenCount", missing=0))
    answered = (count(usage, name, missing=0) for name in ("candidatesTokenCount", "thoughtsTokenCount"))
    return sent, total(*answered)

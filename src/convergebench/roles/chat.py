"""A client for servers with OpenAI's chat protocol: vLLM, SGLang, Ollama, OpenAI and many more.

It sends single requests. Retries, pace and budget are up to the engine.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.images.decode import decode, probe
from convergebench.images.encode import encode_png
from convergebench.keys import require_key
from convergebench.redaction import redact
from convergebench.texts import storable
from convergebench.wire.client import NO_KEY, HttpReply, KeySource, Wire, clean
from convergebench.wire.verdict import classify_failure

AS_STORED = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""Formats that servers read; others are converted to PNG."""
MOST = 2_000_000
"""Largest response in bytes, as protection against endless ones; usual are a few thousand."""
MOST_TOKENS = 1_000_000_000
"""Larger counts in a response are ignored."""


@dataclass(frozen=True)
class Completion:
    """The text of a reply, the model as reported, and the token counts."""

    text: str
    model: str
    finish: str
    refusal: str
    sent: int | None
    """Tokens in, as the server counts them."""
    written: int | None


class ChatClient:
    """A model at a server. `key` names the environment variable that holds the key; empty = none is sent."""

    def __init__(self, base_url: str, model: str, *, key: str = "", seconds: float = 120.0, at_once: int = 4) -> None:
        self.base_url, self.model, self.key = base_url.rstrip("/"), model, key
        found = KeySource((key,)) if key else NO_KEY
        self._wire = Wire(self.base_url, key=found, seconds=seconds, at_once=at_once)

    def secret(self) -> str:
        """The key; `Prerequisite` says what to type if it is missing."""
        return require_key((self.key,), self.base_url) if self.key else ""

    async def complete(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Completion:
        """One completion; options that are None are not sent."""
        body = {"model": self.model, "messages": list(messages)}
        body |= {name: value for name, value in options.items() if value is not None}
        answer = await self._wire.send("POST", "/chat/completions", json=body, most=MOST)
        if answer.status != 200:
            raise self._failure(answer)
        return self._completion(answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    def _completion(self, answer: HttpReply) -> Completion:
        raw = clean(answer.text)
        try:
            body = answer.json()
        except BadReply as error:
            raise BadReply(str(error), raw=raw, unsettled=True) from error
        if isinstance(body, dict) and body.get("error"):  # some gateways report errors with status 200
            code = body["error"].get("code") if isinstance(body["error"], dict) else None
            raise self._failure(answer, code if isinstance(code, int) else 502)
        try:
            choice = body["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content") or "", message.get("refusal") or ""
            finish = choice.get("finish_reason") or ""
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            raise BadReply(f"{self.base_url} answered without a message", raw=raw, unsettled=True) from error
        if not (isinstance(text, str) and isinstance(refusal, str)):
            raise BadReply(f"{self.base_url} answered with a message that is not text", raw=raw, unsettled=True)
        usage = body.get("usage") or {}
        sent, written = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        model = self.redacted(str(body.get("model") or self.model))
        return Completion(self.redacted(text), model, str(finish), self.redacted(refusal), sent, written)

    def _failure(self, answer: HttpReply, status: int | None = None) -> Exception:
        """The error for a status."""
        verdict = classify_failure(answer, status=status)
        message = verdict.message
        if (status or answer.status) == 401:
            where = f"the key in {self.key}" if self.key else "a request without a key; name its variable with: key ="
            return Prerequisite(f"{self.base_url} answers 401: it does not take {where}")
        if verdict.kind in ("key", "credit"):
            return Prerequisite(message)
        if verdict.kind == "busy":
            return Transient(message, retry_after=verdict.retry_after, raw=verdict.raw)
        if verdict.kind == "refused":
            return Refused(message, reason=verdict.code, raw=verdict.raw)
        if verdict.kind == "gone":
            return StudyError(f"{message} (model {self.model})")
        # only this question fails, without a retry
        return EditorError(message, raw=verdict.raw)

    def redacted(self, text: str) -> str:
        """The text without keys; lone surrogates become question marks."""
        return redact(storable(text))


def picture(data: bytes, detail: str = "") -> dict[str, Any]:
    """A picture as a message part: its bytes unchanged if servers can read the format."""
    mime = probe(data).mime
    if mime not in AS_STORED:
        data, mime = encode_png(decode(data, alpha="white").pixels), "image/png"
    url = {"url": f"data:{mime};base64,{base64.b64encode(data).decode()}"}
    return {"type": "image_url", "image_url": url | ({"detail": detail} if detail else {})}


def _count(usage: Any, name: str) -> int | None:
    """A plausible token count; None otherwise, since a negative one would reduce the cost."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS else None

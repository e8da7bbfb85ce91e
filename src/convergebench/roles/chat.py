"""One client for every server that speaks OpenAI's chat protocol: vLLM, SGLang, Ollama, OpenAI and many more.

It sends one request and says what became of it. Trying again, pace and budget are the engine's business.
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
from convergebench.wire.client import NO_KEY, Answer, Key, Wire, clean
from convergebench.wire.verdict import judge

AS_STORED = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""What servers read. Anything else is sent as PNG of the same pixels."""
MOST = 2_000_000
"""Bytes of an answer. Replies are a few thousand; a server that never ends would fill the memory."""
MOST_TOKENS = 1_000_000_000
"""No request has more."""


@dataclass(frozen=True)
class Completion:
    """What came back: the text of the reply, who says to have written it, and what it took."""

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
        found = Key((key,)) if key else NO_KEY
        self._wire = Wire(self.base_url, key=found, seconds=seconds, at_once=at_once)

    def secret(self) -> str:
        """The key, or what to type."""
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
        """Let go of the connections."""
        await self._wire.close()

    def _completion(self, answer: Answer) -> Completion:
        raw = clean(answer.text)
        try:
            body = answer.json()
        except BadReply as error:
            raise BadReply(str(error), raw=raw, unsettled=True) from error
        if isinstance(body, dict) and body.get("error"):  # some gateways put an error into a reply that went well
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

    def _failure(self, answer: Answer, status: int | None = None) -> Exception:
        """What a status means for whoever asked."""
        verdict = judge(answer, status=status)
        said = verdict.message
        if (status or answer.status) == 401:
            where = f"the key in {self.key}" if self.key else "a request without a key; name its variable with: key ="
            return Prerequisite(f"{self.base_url} answers 401: it does not take {where}")
        if verdict.kind in ("key", "credit"):
            return Prerequisite(said)
        if verdict.kind == "busy":
            return Transient(said, retry_after=verdict.retry_after, raw=verdict.raw)
        if verdict.kind == "refused":
            return Refused(said, reason=verdict.code, raw=verdict.raw)
        if verdict.kind == "gone":
            return StudyError(f"{said} (model {self.model})")
        # wrong for this question; the next one may be right, so only this one fails, without another try
        return EditorError(said, raw=verdict.raw)

    def redacted(self, text: str) -> str:
        """The text without the key; halves of characters, which no file can hold, become question marks."""
        return redact(storable(text))


def picture(data: bytes, detail: str = "") -> dict[str, Any]:
    """A picture as a part of a message: the bytes as they are, where servers can read them."""
    mime = probe(data).mime
    if mime not in AS_STORED:
        data, mime = encode_png(decode(data, alpha="white").pixels), "image/png"
    url = {"url": f"data:{mime};base64,{base64.b64encode(data).decode()}"}
    return {"type": "image_url", "image_url": url | ({"detail": detail} if detail else {})}


def _count(usage: Any, name: str) -> int | None:
    """A count that can be one: a negative number would give money back."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS else None

"""One client for every server that speaks OpenAI's chat protocol: vLLM, SGLang, Ollama, OpenAI and many more.

It sends one request and says what became of it. Trying again, pace and budget are the engine's business.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.images.decode import decode, probe
from convergebench.images.encode import encode_png
from convergebench.redaction import redact

AS_STORED = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""What servers read. Anything else is sent as PNG of the same pixels."""
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
UNWILLING = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "moderation_blocked",
        "datainspectionfailed",
        "data_inspection_failed",
    }
)
"""Codes by which servers say that a filter stopped the request."""
LONGEST = 300
"""Characters of a server's message that are passed on."""
MOST = 8_000_000
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
        self._seconds, self._at_once = seconds, at_once
        self._client: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None

    def secret(self) -> str:
        """The key, or what to type."""
        if not self.key:
            return ""
        value = os.environ.get(self.key, "").strip()
        if not value:
            raise Prerequisite(f"{self.key} is not set; {self.base_url} wants a key: export {self.key}=…")
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise Prerequisite(f"{self.key} holds characters that no key has; set it again: export {self.key}=…")
        return value

    async def complete(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Completion:
        """One completion; options that are None are not sent."""
        body = {"model": self.model, "messages": list(messages)}
        body |= {name: value for name, value in options.items() if value is not None}
        secret = self.secret()
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        client = self._http()
        try:
            address = f"{self.base_url}/chat/completions"
            async with client.stream("POST", address, json=body, headers=headers) as reply:
                data = await self._all_of(reply)
        except httpx.TimeoutException as error:
            raise Transient(f"{self.base_url} does not answer ({type(error).__name__})") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise StudyError(f"base_url {self.base_url} is no address") from error
        except httpx.RequestError as error:
            raise Transient(f"{self.base_url} cannot be reached: {self._clean(str(error))}") from error
        if reply.status_code != 200:
            raise self._failure(reply.status_code, data.decode("utf-8", "replace"), reply.headers)
        return self._completion(data, reply.headers)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            loop, client = self._client
            self._client = None
            if loop is asyncio.get_running_loop():
                await client.aclose()

    def _http(self) -> httpx.AsyncClient:
        """Connections belong to an event loop; a new loop gets new ones."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            # the engine gives up after the same time; this one only catches a client used without it
            timeout = httpx.Timeout(self._seconds + 5.0, connect=min(10.0, self._seconds))
            limits = httpx.Limits(max_connections=self._at_once, max_keepalive_connections=self._at_once)
            # a redirect would carry the key to somewhere nobody named
            try:
                self._client = loop, httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)
            except (ValueError, ImportError, httpx.InvalidURL) as error:
                raise Prerequisite(
                    f"the proxy that the environment names is of no use: {self._clean(str(error))}"
                ) from error
        return self._client[1]

    async def _all_of(self, reply: httpx.Response) -> bytes:
        """The body, which is not read beyond all reason."""
        data = bytearray()
        async for piece in reply.aiter_bytes():
            data += piece
            if len(data) > MOST:
                raise BadReply(f"{self.base_url} answers {reply.status_code} and does not come to an end")
        return bytes(data)

    def _completion(self, data: bytes, headers: Mapping[str, str]) -> Completion:
        told = data.decode("utf-8", "replace")
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadReply(
                f"{self.base_url} answered with something that is not JSON", raw=self._clean(told)
            ) from error
        if isinstance(body, dict) and body.get("error"):  # some gateways put an error into a reply that went well
            code = body["error"].get("code") if isinstance(body["error"], dict) else None
            raise self._failure(code if isinstance(code, int) else 502, told, headers)
        try:
            choice = body["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content") or "", message.get("refusal") or ""
            finish = choice.get("finish_reason") or ""
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            raise BadReply(f"{self.base_url} answered without a message", raw=self._clean(told)) from error
        if not (isinstance(text, str) and isinstance(refusal, str)):
            raise BadReply(f"{self.base_url} answered with a message that is not text", raw=self._clean(told))
        usage = body.get("usage") or {}
        sent, written = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        model = self.redacted(str(body.get("model") or self.model))
        return Completion(self.redacted(text), model, str(finish), self.redacted(refusal), sent, written)

    def _failure(self, status: int, text: str, headers: Mapping[str, str]) -> Exception:
        """What a status means for whoever asked."""
        message, code = _told(text)
        said = f"{self.base_url} answers {status}" + (f": {self._clean(message)}" if message else "")
        raw = self._clean(text)
        if status == 401:  # its message tends to repeat part of the key
            where = f"the key in {self.key}" if self.key else "a request without a key; name its variable with: key ="
            return Prerequisite(f"{self.base_url} answers 401: it does not take {where}")
        if status in (402, 403) or code == "insufficient_quota":
            return Prerequisite(said)
        if status in BUSY:
            return Transient(said, retry_after=retry_after(headers), raw=raw)
        if code.lower() in UNWILLING or code.endswith("SensitiveContentDetected"):
            return Refused(said, reason=code, raw=raw)
        if status == 404:
            return StudyError(f"{said} (model {self.model})")
        # wrong for this question; the next one may be right, so only this one fails, without another try
        return EditorError(said, raw=raw)

    def redacted(self, text: str) -> str:
        """The text without the key, whatever its variable is called and however it was pasted there.

        Halves of characters, which JSON can hold and no file can, become question marks.
        """
        key = {"KEY": os.environ.get(self.key, "").strip()} if self.key else {}
        return redact(text.encode("utf-8", "replace").decode("utf-8"), {**os.environ, **key})

    def _clean(self, text: str) -> str:
        """One short line without the key."""
        line = " ".join(self.redacted(text).split())
        return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def picture(data: bytes, detail: str = "") -> dict[str, Any]:
    """A picture as a part of a message: the bytes as they are, where servers can read them."""
    mime = probe(data).mime
    if mime not in AS_STORED:
        data, mime = encode_png(decode(data, alpha="white").pixels), "image/png"
    url = {"url": f"data:{mime};base64,{base64.b64encode(data).decode()}"}
    return {"type": "image_url", "image_url": url | ({"detail": detail} if detail else {})}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The server's wish in seconds: `retry-after-ms`, or `Retry-After` as a number or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wish = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(wish):
            return max(0.0, wish)
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def _told(text: str) -> tuple[str, str]:
    """(message, code) of an error's body, whatever its shape."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    error = body.get("error", body) if isinstance(body, dict) else text
    if not isinstance(error, dict):
        return str(error), ""
    message = error.get("message") or error.get("detail") or ""
    return str(message), str(error.get("code") or error.get("type") or "")


def _count(usage: Any, name: str) -> int | None:
    """A count that can be one: a negative number would give money back."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS else None

"""Anthropic's Messages protocol, with replies held to a schema by `output_config.format`.

The API version that is sent has no `temperature`, `top_p`, `top_k` or seed: a request with one of them is rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from convergebench.errors import BadReply
from convergebench.roles.clients.base import (
    Completion,
    ModelClient,
    ModelQuestion,
    SentPicture,
    count,
    merged,
    redacted,
    total,
)

API_VERSION = "2026-10-21"
TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
CACHE_WRITE = 2
"""Tokens written to the prompt cache cost up to twice as much as others; those read from it cost less, and are counted
in full. Neither happens unless `extra` asks for it."""


class AnthropicClient(ModelClient):
    """`POST /messages`."""

    path = "/messages"
    more_headers: ClassVar = {"anthropic-version": API_VERSION}
    no_credit: ClassVar = frozenset({"billing_error"})

    def body(self, question: ModelQuestion) -> dict[str, Any]:
        """The request; what is not given is not sent."""
        table = self.table
        content = [*map(self._part, question.pictures), {"type": "text", "text": question.text}]
        body: dict[str, Any] = {
            "model": table.model,
            "max_tokens": table.max_tokens,
            "messages": [{"role": "user", "content": content}],
        }
        if question.system:
            body["system"] = question.system
        if question.schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": nullable_as_any_of(question.schema)}}
        return merged(body, table.extra)

    def read(self, body: Any, raw: str) -> Completion:
        """The text blocks, without those of thinking."""
        model = self.reported(body.get("model"))
        stopped = redacted(str(body.get("stop_reason") or ""))
        texts = [block["text"] for block in body["content"] if block["type"] == "text"]
        if not all(isinstance(one, str) for one in texts):
            raise BadReply(f"{self.base_url} answered with a message that is not text", raw=raw, unsettled=True)
        text = redacted("".join(texts))
        sent, written = _tokens(body.get("usage"))
        if stopped == "refusal":
            why = (body.get("stop_details") or {}).get("explanation")
            return Completion(redacted(str(why)) if why else text, model, "refused", stopped, sent, written, raw)
        ended: Any = "truncated" if stopped in TRUNCATED else "complete"
        return Completion(text, model, ended, stopped, sent, written, raw)

    def _part(self, picture: SentPicture) -> dict[str, Any]:
        block: dict[str, Any] = {
            "type": "image",
            "source": {"type": "base64", "media_type": picture.mime, "data": picture.data},
        }
        if self.table.detail == "original":  # else the server shrinks large pictures without a word
            block["transformations"] = {"oversized_image": "error"}
        return block


def nullable_as_any_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with `anyOf` in place of lists of types, which this protocol has no promise for."""
    found: dict[str, Any] = {
        name: {key: nullable_as_any_of(one) for key, one in value.items()} if name == "properties" else value
        for name, value in schema.items()
    }
    kinds = found.get("type")
    if not isinstance(kinds, list):
        return found
    about = {"description": found.pop("description")} if "description" in found else {}
    rest = {name: value for name, value in found.items() if name != "type"}
    return {"anyOf": [{"type": kind, **({} if kind == "null" else rest)} for kind in kinds], **about}


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    read, written = (count(usage, f"cache_{kind}_input_tokens", missing=0) for kind in ("read", "creation"))
    charged = None if written is None else written * CACHE_WRITE
    return total(count(usage, "input_tokens"), read, charged), count(usage, "output_tokens")

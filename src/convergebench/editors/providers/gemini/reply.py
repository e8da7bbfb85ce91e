"""Reads a Gemini reply: its last image that is not a draft, thoughts and text, or why there is no image."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convergebench.editors.providers.sdk import count, from_base64, raw_of, rows, table, text
from convergebench.errors import BadReply, EditorError, Refused
from convergebench.wire.client import clean
from convergebench.wire.raw import truncated

REFUSAL_REASONS = frozenset(
    {
        "SAFETY",
        "IMAGE_SAFETY",
        "PROHIBITED_CONTENT",
        "IMAGE_PROHIBITED_CONTENT",
        "RECITATION",
        "IMAGE_RECITATION",
        "BLOCKLIST",
        "SPII",
        "LANGUAGE",
    }
)
"""Finish reasons of a content filter. NO_IMAGE, IMAGE_OTHER, OTHER, MAX_TOKENS and the like may not recur: they are bad
replies, which are retried."""
LONGEST_SIGNATURES = 8_000_000
"""Most characters of thought signatures that are stored of a reply."""
ANSWERED_REASONS = frozenset({"STOP", "NO_IMAGE"})
"""Finish reasons at which text without an image is the model's own refusal."""


@dataclass(frozen=True, slots=True)
class GeminiReply:
    """A parsed reply."""

    raw: str
    image: bytes | None
    drafts: int
    """Images made while thinking."""
    thoughts: str | None
    words: str
    blocked: str
    """Why the prompt was blocked."""
    finish: str
    message: str
    version: str
    tokens: Mapping[str, int]

    def refusal(self, name: str, dollars: float) -> EditorError:
        """The error to raise if there is no image."""
        if self.blocked:
            why = self.message or self.words or "the prompt was blocked"
            return Refused(clean(f"{self.blocked}: {why}"), reason=self.blocked, raw=self.raw, dollars=dollars)
        why = self.message or self.words
        if self.finish in REFUSAL_REASONS:
            detail = f"{self.finish}: {why}" if why else self.finish
            return Refused(clean(detail), reason=self.finish, raw=self.raw, dollars=dollars)
        if self.words and self.finish in ANSWERED_REASONS:
            return Refused(clean(self.words), reason="text-only", raw=self.raw, dollars=dollars)
        drafts = f", only {self.drafts} drafts" if self.drafts else ""
        ended = f" (it ended with {self.finish}{f': {clean(why)}' if why else ''})" if self.finish else ""
        return BadReply(f"{name} sent no image{drafts}{ended}", raw=self.raw, dollars=dollars)


def read_reply(body: Any, name: str) -> GeminiReply:
    """Parse the reply of one call; `BadReply` if it has no usable form."""
    raw = raw_with_signatures(body, name)
    if not isinstance(body, dict):
        raise BadReply(f"{name} answered with a {type(body).__name__}", raw=raw, unsettled=True)
    first = next(iter(rows(body.get("candidates"))), {})
    parts = rows(table(first.get("content")).get("parts"))
    thoughts = [part for part in parts if part.get("thought") is True]
    answer_parts = [part for part in parts if part.get("thought") is not True]
    pictures = [table(part["inlineData"]).get("data") for part in answer_parts if "inlineData" in part]
    # invalid base64 counts as an empty image: it was made and paid for, but cannot be read
    image = (from_base64(pictures[-1]) or b"") if pictures else None
    feedback = table(body.get("promptFeedback"))
    return GeminiReply(
        raw=raw,
        image=image,
        drafts=sum("inlineData" in part for part in thoughts),
        thoughts=_joined(thoughts) or None,
        words=_joined(answer_parts),
        blocked=clean(text(feedback.get("blockReason"))),
        finish=clean(text(first.get("finishReason"))),
        message=text(feedback.get("blockReasonMessage")) or text(first.get("finishMessage")),
        version=clean(text(body.get("modelVersion"))),
        tokens=counted(table(body.get("usageMetadata")), made=image is not None),
    )


def counted(usage: Mapping[str, Any], *, made: bool) -> dict[str, int]:
    """Tokens by kind in the price table. Thoughts count as text; tokens without a kind as the more expensive one."""
    asked, answered = count(usage.get("promptTokenCount")), count(usage.get("candidatesTokenCount"))
    image_asked = _of("IMAGE", usage.get("promptTokensDetails"))
    details = rows(usage.get("candidatesTokensDetails"))
    image_answered = _of("IMAGE", details)
    if made and not image_answered:
        image_answered = max(0, answered - _of("TEXT", details))
    return {
        "text_input": max(0, asked - image_asked),
        "image_input": image_asked,
        "text_output": max(0, answered - image_answered) + count(usage.get("thoughtsTokenCount")),
        "image_output": image_answered,
    }


def raw_with_signatures(body: Any, name: str) -> str:
    """The reply without image bytes, but with thought signatures, which the next turn must send back."""
    plain = json.loads(raw_of(body, name))
    left = LONGEST_SIGNATURES
    # a reply that is too long to be stored was replaced by a note without parts
    for part, original in zip(_all_parts(plain), _all_parts(body), strict=False):
        signature = original.get("thoughtSignature")
        if isinstance(signature, str) and len(signature) <= left:
            part["thoughtSignature"] = signature
            left -= len(signature)
    return text(json.dumps(plain, ensure_ascii=False, separators=(",", ":")))


def _all_parts(body: Any) -> Iterator[dict[str, Any]]:
    for candidate in rows(table(body).get("candidates")):
        yield from rows(table(candidate.get("content")).get("parts"))


def _joined(parts: list[dict[str, Any]]) -> str:
    return truncated("\n\n".join(words for part in parts if (words := text(part.get("text")).strip())))


def _of(kind: str, details: Any) -> int:
    return sum(count(one.get("tokenCount")) for one in rows(details) if one.get("modality") == kind)

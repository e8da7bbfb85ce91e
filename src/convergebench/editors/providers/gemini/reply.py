"""What a Gemini model said: its last image that is no draft, its thoughts, its words, or why there is no image."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convergebench.editors.providers.sdk import count, from_base64, raw_of, rows, table, text
from convergebench.errors import BadReply, EditorError, Refused
from convergebench.wire.client import clean
from convergebench.wire.raw import beginning

UNWILLING = frozenset(
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
"""Ends by which a filter says no. NO_IMAGE, IMAGE_OTHER, OTHER, MAX_TOKENS and the like name no reason that would hold
the next time: they are bad replies, and tried again."""
LONGEST_SIGNATURES = 8_000_000
"""Characters of thought signatures that are kept of a reply."""
WILLING = frozenset({"STOP", "NO_IMAGE"})
"""Ends at which words without an image are the model's own answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that has been read."""

    raw: str
    image: bytes | None
    drafts: int
    """Images made while thinking."""
    thoughts: str | None
    words: str
    blocked: str
    """Why the question was not let through."""
    finish: str
    message: str
    version: str
    tokens: Mapping[str, int]

    def refusal(self, name: str, dollars: float) -> EditorError:
        """Why there is no image."""
        if self.blocked:
            why = self.message or self.words or "the question was not let through"
            return Refused(clean(f"{self.blocked}: {why}"), reason=self.blocked, raw=self.raw, dollars=dollars)
        why = self.message or self.words
        if self.finish in UNWILLING:
            said = f"{self.finish}: {why}" if why else self.finish
            return Refused(clean(said), reason=self.finish, raw=self.raw, dollars=dollars)
        if self.words and self.finish in WILLING:
            return Refused(clean(self.words), reason="text-only", raw=self.raw, dollars=dollars)
        drafts = f", only {self.drafts} drafts" if self.drafts else ""
        ended = f" (it ended with {self.finish}{f': {clean(why)}' if why else ''})" if self.finish else ""
        return BadReply(f"{name} sent no image{drafts}{ended}", raw=self.raw, dollars=dollars)


def read_reply(body: Any, name: str) -> Reply:
    """The reply of one call, or `BadReply`."""
    raw = kept(body, name)
    if not isinstance(body, dict):
        raise BadReply(f"{name} answered with a {type(body).__name__}", raw=raw, unsettled=True)
    first = next(iter(rows(body.get("candidates"))), {})
    parts = rows(table(first.get("content")).get("parts"))
    thoughts = [part for part in parts if part.get("thought") is True]
    spoken = [part for part in parts if part.get("thought") is not True]
    pictures = [table(part["inlineData"]).get("data") for part in spoken if "inlineData" in part]
    # what is no base64 is an image of no bytes: it was made and paid for, and cannot be read
    image = (from_base64(pictures[-1]) or b"") if pictures else None
    feedback = table(body.get("promptFeedback"))
    return Reply(
        raw=raw,
        image=image,
        drafts=sum("inlineData" in part for part in thoughts),
        thoughts=_joined(thoughts) or None,
        words=_joined(spoken),
        blocked=clean(text(feedback.get("blockReason"))),
        finish=clean(text(first.get("finishReason"))),
        message=text(feedback.get("blockReasonMessage")) or text(first.get("finishMessage")),
        version=clean(text(body.get("modelVersion"))),
        tokens=counted(table(body.get("usageMetadata")), made=image is not None),
    )


def counted(usage: Mapping[str, Any], *, made: bool) -> dict[str, int]:
    """Tokens by the kinds of the price table. Thoughts are charged as text; what has no kind is the dearer one."""
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


def kept(body: Any, name: str) -> str:
    """The reply without image bytes. Thought signatures are as long as images and stay: the next turn repeats them."""
    plain = json.loads(raw_of(body, name))
    left = LONGEST_SIGNATURES
    # a reply that is too long to be kept has become a note, without any parts
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
    return beginning("\n\n".join(said for part in parts if (said := text(part.get("text")).strip())))


def _of(kind: str, details: Any) -> int:
    return sum(count(one.get("tokenCount")) for one in rows(details) if one.get("modality") == kind)
